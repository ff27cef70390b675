//! Which device gets a step, by what it reports, and why.

use super::*;

fn device(strain: Option<u8>, free_memory: Option<u64>, capabilities: &[&str]) -> Candidate {
    Candidate {
        strain,
        free_memory,
        capabilities: capabilities.iter().map(|&name| name.into()).collect(),
        device: true,
        ..Candidate::default()
    }
}

fn peers() -> Peers {
    let mut peers = Peers::default();
    peers.insert("hub", Candidate { capacity: 64, capabilities: ["print".into()].into(), ..Candidate::default() });
    peers.insert("printer-1", device(Some(3), Some(8_192), &["print"]));
    peers.insert("printer-2", device(Some(41), Some(3_200), &["print", GPU]));
    peers.insert("printer-3", device(Some(80), Some(8_192), &["print", GPU]));
    peers
}

fn want(capability: &str, memory: Option<u64>) -> Want {
    Want::Any { capability: Some(capability.into()), platform: None, memory }
}

fn chosen(peers: &Peers, want: &Want) -> (Placed, Option<String>) {
    let placed = peers.choose(want, |_| 0);
    let why = match &placed {
        Placed::With(peer) => peers.why(want, peer, |_| 0),
        Placed::Later | Placed::Nobody => None,
    };
    (placed, why.map(|why| why.to_string()))
}

#[test]
fn a_step_for_a_gpu_goes_to_the_least_loaded_device_that_has_one() {
    let (placed, why) = chosen(&peers(), &want(GPU, None));
    assert_eq!(placed, Placed::With("printer-2".into()));
    let said = "chosen: printer-2, 41 % CPU, 3.1 GiB free; printer-1 has no GPU; printer-3 has 80 % CPU, 8.0 GiB free";
    assert_eq!(why.as_deref(), Some(said));
}

#[test]
fn memory_that_a_step_needs_must_be_free_and_known() {
    let mut peers = peers();
    peers.insert("printer-4", device(Some(0), None, &[GPU]));
    let (placed, why) = chosen(&peers, &want(GPU, Some(4_096)));
    assert_eq!(placed, Placed::With("printer-3".into()));
    let why = why.expect("a reason");
    assert!(why.contains("printer-2 has 3.1 GiB free") && !why.contains("hub"), "{why}");
    assert_eq!(chosen(&peers, &want(GPU, Some(1 << 40))).0, Placed::Nobody);
}

#[test]
fn of_equal_load_the_one_with_more_free_memory_is_taken_and_an_unknown_load_is_in_the_middle() {
    let mut peers = Peers::default();
    peers.insert("a", device(Some(20), Some(1_000), &[]));
    peers.insert("b", device(Some(20), Some(2_000), &[]));
    peers.insert("c", device(None, Some(9_000), &[]));
    assert_eq!(peers.choose(&Want::ANYONE, |_| 0), Placed::With("b".into()));
    let busy = |peer: &PeerId| u32::from(peer.as_str() == "b");
    assert_eq!(peers.choose(&Want::ANYONE, busy), Placed::With("a".into()), "one thing at a time");
    peers.insert("d", device(Some(60), None, &[]));
    peers.remove(&"a".into());
    assert_eq!(peers.choose(&Want::ANYONE, busy), Placed::With("c".into()));
    let why = peers.why(&Want::ANYONE, &"c".into(), busy).expect("a reason");
    assert_eq!(&*why, "chosen: c, 8.7 GiB free; b is busy; d has 60 % CPU");
}

#[test]
fn a_reason_is_in_the_journal_and_short_however_many_devices_there_are() {
    let many: Peers = (0..1_000).map(|n| (format!("p{n:04}").into(), device(Some(9), None, &[]))).collect();
    let mut run = Run::with(plan(&["a"], Vec::new()), Rules::default(), many);
    let why = run.called[0].1.why.clone().expect("a reason");
    assert!(why.starts_with("chosen: p0000, 9 % CPU; p0001 ") && why.len() < 200, "{why}");
    run.restart();
    let placed = run.graph.step(&"a".into()).and_then(|step| step.placed.clone());
    assert_eq!(placed, Some(("p0000".into(), Some(why))));
}

#[test]
fn after_a_start_a_peer_that_is_not_known_yet_may_still_come() {
    let mut peers = peers();
    peers.gathering = true;
    assert_eq!(peers.choose(&Want::Peer("late".into()), |_| 0), Placed::Later);
    assert_eq!(peers.choose(&want("fax", None), |_| 0), Placed::Later);
    peers.gathering = false;
    assert_eq!(peers.choose(&Want::Peer("late".into()), |_| 0), Placed::Nobody);
    assert_eq!(peers.choose(&want("fax", None), |_| 0), Placed::Nobody);
}
