//! 11. Readers that come late, fall behind or come back all see the same sequence.

use super::*;
use interlingua_model::event::{Channel, Piece};

fn delta(n: usize) -> Record {
    let parts = vec![Part::text(format!("{n} "), Provenance::peer("peer".into()))];
    Record::emitted(Event::Said { message: "m7".into(), channel: Channel::Answer, piece: Piece::Delta, parts })
}

/// Twelve bursts of twenty-five deltas, each joined before it is numbered.
fn streamed() -> Walk {
    let mut walk = Walk::accept(call("writer/tell", OnDisconnect::Detach));
    walk.on(send("writer/tell", false));
    for burst in 0..12 {
        let mut batch = Vec::new();
        (burst * 25..(burst + 1) * 25).for_each(|n| join(&mut batch, delta(n)));
        assert_eq!(batch.len(), 1);
        walk.append(&Decision { records: batch, effects: Vec::new() });
    }
    walk
}

#[test]
fn scenario_11_three_hundred_deltas_are_twelve_records_and_lose_nothing() {
    let walk = streamed();
    assert_eq!(walk.task.seq, 3 + 12);
    let mut text = String::new();
    for (_, bytes) in &walk.journal {
        let record: Record = from_bytes(bytes).expect("readable");
        if let Some(Event::Said { parts, .. }) = record.event() {
            parts.iter().filter_map(Part::as_text).for_each(|piece| text.push_str(piece));
        }
    }
    let numbers: Vec<usize> = text.split_whitespace().map(|n| n.parse().expect("a number")).collect();
    assert_eq!(numbers, (0..300).collect::<Vec<_>>());
}

#[test]
fn scenario_11_a_snapshot_and_the_tail_after_it_are_the_whole() {
    let mut walk = streamed();
    let head = walk.journal.len();
    let snapshot = walk.folded(head);
    assert_eq!(snapshot.seq, walk.task.seq, "the tail begins right after what the snapshot holds");
    walk.on(chunk("a", 0, true));
    walk.on(completes());
    let all = walk.events_after(0);
    for after in 0..=walk.journal.len() {
        let tail = walk.events_after(after);
        assert_eq!(tail[..], all[all.len() - tail.len()..], "a reader from {after} sees the same");
    }
    assert_eq!(walk.events_after(head), ["a#0 last", "completed"]);
}

#[test]
fn scenario_11_after_the_outcome_nothing_follows() {
    let mut walk = streamed();
    walk.on(completes());
    for late in [completes(), progresses(1.0), chunk("b", 0, true), cancels(CancelWhy::Asked), Happening::PeerLost] {
        assert_eq!(walk.refuses(late), FaultKind::AlreadyFinished);
    }
    assert!(walk.task.next_timer().is_none());
}
