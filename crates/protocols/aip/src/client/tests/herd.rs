//! A thousand devices lose their server in the same moment and reconnect one by one, not all at once.

use super::*;

const DEVICES: usize = 1_000;
/// How long nobody is let in.
const DOWN: Duration = Duration::from_secs(30);

/// Numbers that are the same in every run.
fn random(seed: &mut u128) -> u128 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// When each of them is let in again, by the real server.
fn returns(jitter: u8) -> Vec<Time> {
    let mut server = Server::new(Rules::default());
    let mut seed = 0x2545_f491_4f6c_dd1d;
    let back = NOW.after(DOWN);
    let mut returns = Vec::new();
    for number in 0..DEVICES {
        let id: Text = format!("dev{number}").into();
        let line = ClientConnection::new(Pulse::default(), Backoff { jitter, ..Backoff::device() }, NOW);
        let info = Json::parse(Bytes::from_static(b"{}")).expect("JSON");
        let mut device = Device::new(id.clone(), "run".into(), Tongue::Profile, line, info, "linux".into());
        let mut now = NOW;
        let mut step = |now: Time, what: device::Happening| {
            device.step(what, &mut Stamp { now, mint: &mut || random(&mut seed) });
            device.line().next_timer()
        };
        step(now, device::Happening::Tick);
        while now < back {
            let next = step(now, device::Happening::Closed).expect("it tries for ever");
            now = next;
            step(now, device::Happening::Tick);
        }
        let effects = device.step(device::Happening::Connected, &mut Stamp { now, mint: &mut || random(&mut seed) });
        let Some(device::Effect::Send(register)) = effects.into_iter().next() else { panic!("it registers first") };
        let connection = Connection(number as u64);
        let mut mint = || random(&mut seed);
        let sight = Sight { sender: "", others: &|_| false, clients: &|_, _| true, room: None };
        server.step(server::Happening::Frame(connection, *register), sight, &mut Stamp { now, mint: &mut mint });
        assert!(server.has_device(&id), "{id} is let in");
        returns.push(now);
    }
    returns.sort_unstable();
    returns
}

/// How many come within a tenth of a second, at most.
fn crowd(returns: &[Time]) -> usize {
    let count = |from: &Time| {
        let until = from.after(Duration::from_millis(100));
        returns.iter().filter(|at| (*from..until).contains(at)).count()
    };
    returns.iter().map(count).max().unwrap_or_default()
}

#[test]
fn p_46_p_49_a_thousand_devices_do_not_come_back_in_the_same_moment() {
    let spread = returns(50);
    assert!(crowd(&spread) <= DEVICES / 20, "{} of them at once", crowd(&spread));
    let (first, last) = (spread[0], spread[DEVICES - 1]);
    assert!(first >= NOW.after(DOWN) && last <= NOW.after(DOWN + Duration::from_secs(60)), "{first:?} to {last:?}");
    assert_eq!(crowd(&returns(0)), DEVICES, "without chance they would");
}
