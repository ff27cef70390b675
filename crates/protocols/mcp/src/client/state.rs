//! Stored state of a call that a server ended with questions, or took on as a task of its own. It is in sealed records, so that it survives
//! a restart of the hub, and comes back with the answer.

use interlingua_model::peer::Answering;
use interlingua_model::{BadLink, Json, PeerId, Question, Secret, Time};

use crate::question;
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;
use interlingua_wire::rpc;

/// The questions of an `input_required` result, or of a task that waits; `None` when the server asks something that is no
/// question, an error when it wants a person to open what nobody should. `state` alone, without requests, is to be sent back at once.
pub fn questions(
    requests: &Members,
    state: Option<&Json>,
    task: Option<&str>,
    peer: &PeerId,
    expires: Time,
) -> Result<Option<Vec<Question>>, BadLink> {
    let asked = requests.iter().map(|(key, request)| {
        let resume = Object::json(|object| {
            object.text("key", key);
            if let Some(state) = state {
                object.value("state", state);
            }
            if let Some(task) = task {
                object.text("task", task);
            }
        });
        let request = Members::of(&request);
        let params = request.object("params").unwrap_or(Members::absent());
        let method = request.text("method")?;
        let asked = question::decode(&method, &params, peer, expires, Some(Secret::new(resume.as_bytes())));
        let named = |asked| Question { name: Some(Box::new(key.into())), ..asked };
        asked.map(|asked| asked.map(named)).transpose()
    });
    asked.collect::<Option<Result<_, BadLink>>>().transpose()
}

/// The answers to one round of questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    given: Vec<(String, Json)>,
    state: Option<Json>,
}

impl Answers {
    /// For a server that only wants its state back.
    pub fn state(state: Json) -> Answers {
        Answers { given: Vec::new(), state: Some(state) }
    }

    pub(super) fn write(&self, params: &mut Object<'_>) {
        if !self.given.is_empty() {
            self.write_responses(params);
        }
        if let Some(state) = &self.state {
            params.value("requestState", state);
        }
    }

    pub fn write_responses(&self, params: &mut Object<'_>) {
        params.object("inputResponses", |responses| {
            for (key, answer) in &self.given {
                responses.value(key, answer);
            }
        });
    }
}

/// What goes back to a server that ended its request, or holds up its task, with questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Resumed {
    pub answers: Answers,
    /// The server's task that waits for them, when it is one.
    pub task: Option<String>,
}

/// All answers of a round. The error is for one that cannot be given to a server: then there is nothing to go on with.
pub fn resume(answering: &Answering) -> Result<Resumed, rpc::Error> {
    let mut resumed = Resumed { answers: Answers { given: Vec::new(), state: None }, task: None };
    let also = answering.also.iter().map(|(question, answer)| (question, answer));
    for (question, answer) in also.chain([(&answering.question, &answering.answer)]) {
        let lost = || rpc::Error::new(rpc::INTERNAL_ERROR, "what the server needs to go on is not there any more");
        let kept = question.resume.as_ref().and_then(read).ok_or_else(lost)?;
        let key = kept.text("key").ok_or_else(lost)?.into_owned();
        resumed.answers.given.push((key, question::encode_answer(question, answer)?));
        resumed.answers.state = kept.get("state");
        resumed.task = kept.text("task").map(std::borrow::Cow::into_owned);
    }
    Ok(resumed)
}

fn read(secret: &Secret) -> Option<Members> {
    Json::parse(bytes::Bytes::copy_from_slice(secret.value()?)).ok().map(|json| Members::of(&json))
}

/// A task of the server's, as the hub keeps it.
pub fn task(id: &str) -> Secret {
    Secret::new(Object::json(|object| object.text("task", id)).as_bytes())
}

/// The server's task behind what was kept.
pub fn kept_task(kept: &Secret) -> Option<String> {
    read(kept)?.text("task").map(std::borrow::Cow::into_owned)
}
