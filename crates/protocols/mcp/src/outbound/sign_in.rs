//! The question that asks a person to sign in: a link to a page of the hub, which names the server.

use interlingua_model::{Addressee, Party, Question, QuestionId, QuestionKind, Secret, TaskId, Time};

use interlingua_net::client::oauth::SignIn;

/// What comes back with the answer: nothing of it goes to the server.
const MARK: &[u8] = br#"{"sign_in":true}"#;

pub(super) fn question(sign_in: &SignIn, expires: Time) -> Question {
    Question {
        id: QuestionId(TaskId(0), 0),
        to: Addressee::Caller,
        kind: QuestionKind::Visit { url: sign_in.url.clone() },
        text: format!("{} wants to know who you are: open the link and sign in", sign_in.peer).into(),
        asked_by: Party::Peer(sign_in.peer.clone()),
        expires,
        resume: Some(Secret::new(MARK)),
        name: None,
    }
}

/// Was it the hub that asked this?
pub(super) fn is_asked(question: &Question) -> bool {
    question.resume.as_ref().and_then(Secret::value) == Some(MARK)
}
