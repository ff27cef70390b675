//! Invariants of the NLWeb codec for any bytes: no panic, an accepted request has a question, and an encoded answer can be read back.

use bytes::Bytes;
use interlingua_model::{Finished, Output};
use interlingua_nlweb::Asked;
use interlingua_nlweb::client::{Question, Reply, Request};
use interlingua_nlweb::decode::{Arrived, Context, Incoming, Invalid, decode};
use interlingua_nlweb::encode::{self, Envelope, Stand};
use interlingua_nlweb::wire::Operation;

pub(crate) fn json(data: &[u8]) {
    let body = Bytes::copy_from_slice(data);
    let text = String::from_utf8_lossy(data);
    let ways = [("", &body, false), ("", &body, true), (&*text, &Bytes::new(), false)];
    for (query, body, form) in ways {
        match asked(query, body, form) {
            Ok(asked) => {
                assert!(!asked.text.trim().is_empty() && asked.most > 0);
                let question = Question { text: &asked.text, modes: asked.modes, ..Question::default() };
                again(&question.request(asked.dialect), &asked.text);
            }
            Err(invalid) => {
                encode::refused(&invalid, "r".into());
            }
        }
    }
    let _ = decoded(Arrived { at: Operation::Await, query: "", body: &body, form: false });
    let mut reply = Reply::default();
    reply.hear(&body, 64);
    let structured = reply.structured();
    assert!(structured.get("results").is_some_and(|results| results.is_array()));
    let finished = Finished::completed(Output { structured: Some(structured), ..Output::default() });
    if let Ok(asked) = asked("query=x", &Bytes::new(), false) {
        encode::whole(&Envelope::of(&asked, "r".into(), "s".into()), &Stand::Finished(&finished));
    }
}

fn decoded(arrived: Arrived<'_>) -> Result<Incoming, Invalid> {
    let context = Context { id: &|| "m".into(), depth: 64, site: None, only_read: false, hop: None };
    decode(arrived, &context).map(|decoded| decoded.value)
}

fn asked(query: &str, body: &Bytes, form: bool) -> Result<Asked, Invalid> {
    decoded(Arrived { at: Operation::Ask, query, body, form }).map(|incoming| incoming.reply)
}

/// A request of ours says what it was made to say.
fn again(request: &Request, text: &str) {
    let asked = match request {
        Request::Get(query) => asked(query, &Bytes::new(), false),
        Request::Post(body) => asked("", &Bytes::from(body.to_string()), false),
    };
    assert_eq!(asked.map(|asked| asked.text.to_string()).as_deref(), Ok(text));
}
