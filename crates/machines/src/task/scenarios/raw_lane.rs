//! 8. Caller and callee speak the same wire: the original bytes travel beside the events, into the journal and out again.

use super::*;
use interlingua_model::{Raw, Wire};

fn raw(bytes: &'static [u8]) -> Option<Raw> {
    Some(Raw { wire: Wire("wire/1".into()), json: Json::parse(Bytes::from_static(bytes)).expect("JSON") })
}

#[test]
fn scenario_08_the_bytes_of_an_answer_are_kept_as_they_came() {
    let original: &'static [u8] = br#"{"id":1, "x-new":1.000000000000000000001,"b":2,"a":3}"#;
    let mut walk = Walk::accept(call("search/find", OnDisconnect::Cancel));
    walk.on(send("search/find", true));
    let finished = Event::Finished(Finished::completed(Output::default()));
    walk.on(Happening::Peer { event: finished, losses: Vec::new(), raw: raw(original) });
    let last: Record = from_bytes(&walk.journal.last().expect("records").1).expect("readable");
    let Record::Emitted { raw: Some(kept), .. } = last else { panic!("{last:?}") };
    assert_eq!(&kept.json.as_bytes()[..], original);
}

#[test]
fn scenario_08_events_with_their_own_bytes_are_never_joined() {
    let progress = |raw| {
        let event = Event::Progress { done: Some(1.0), total: None, note: None };
        Record::Emitted { event, losses: Vec::new(), raw }
    };
    let mut batch = Vec::new();
    [progress(raw(b"{\"id\":1}")), progress(raw(b"{\"id\":2}")), progress(None)]
        .into_iter()
        .for_each(|r| join(&mut batch, r));
    assert_eq!(batch.len(), 3);
}
