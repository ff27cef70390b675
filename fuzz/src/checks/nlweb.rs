//! What must hold of the NLWeb codec for any bytes: no panic, a request that is taken has something to ask, and what is said
//! of an answer can be read back.

use bytes::Bytes;
use interlingua_model::{Finished, Output};
use interlingua_nlweb::client::{Question, Reply, Request};
use interlingua_nlweb::decode::{self, Arrived};
use interlingua_nlweb::encode::{self, Envelope, Stand};

pub(crate) fn json(data: &[u8]) {
    let body = Bytes::copy_from_slice(data);
    let text = String::from_utf8_lossy(data);
    let ways = [
        Arrived { query: "", body: &body, form: false, depth: 64 },
        Arrived { query: "", body: &body, form: true, depth: 64 },
        Arrived { query: &text, body: &Bytes::new(), form: false, depth: 64 },
    ];
    for arrived in ways {
        match decode::ask(arrived) {
            Ok(asked) => {
                assert!(!asked.text.trim().is_empty() && asked.most > 0);
                let question = Question { text: &asked.text, modes: asked.modes, ..Question::default() };
                again(&question.request(asked.dialect), &asked.text);
            }
            Err(refused) => {
                encode::refused(&refused, "r".into());
            }
        }
    }
    let _ = decode::wait(&body, 64);
    let mut reply = Reply::default();
    reply.hear(&body, 64);
    let structured = reply.structured();
    assert!(structured.get("results").is_some_and(|results| results.is_array()));
    let finished = Finished::completed(Output { structured: Some(structured), ..Output::default() });
    if let Ok(asked) = decode::ask(Arrived { query: "query=x", body: &Bytes::new(), form: false, depth: 8 }) {
        encode::whole(&Envelope::of(&asked, "r".into(), "s".into()), &Stand::Finished(&finished));
    }
}

/// A request of ours says what it was made to say.
fn again(request: &Request, text: &str) {
    let empty = Bytes::new();
    let asked = match request {
        Request::Get(query) => decode::ask(Arrived { query, body: &empty, form: false, depth: 8 }),
        Request::Post(body) => {
            let body = Bytes::from(body.to_string());
            decode::ask(Arrived { query: "", body: &body, form: false, depth: 8 })
        }
    };
    assert_eq!(asked.map(|asked| asked.text.to_string()).as_deref(), Ok(text));
}
