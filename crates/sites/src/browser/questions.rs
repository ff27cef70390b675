//! Progress and questions to the caller while a sequence is played.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::definition::bind::Bound;
use interlingua_model::json::Tree;
use interlingua_model::peer::Dispatch;
use interlingua_model::{
    Addressee, Answer, Channel, Confirm, Digest, Event, Json, KindSet, Level, MessageId, Part, Party, PeerId, Piece,
    Provenance, Question, QuestionId, QuestionKind, Skill, TaskId, Text, Time,
};
use tokio::sync::mpsc;

use super::host::BrowserHost;

/// A page waits so long for a yes: it takes a context that others may need.
pub(super) const WAITING: Duration = Duration::from_secs(300);

pub(super) struct CallerQuestions {
    pub(super) events: mpsc::Sender<Event>,
    pub(super) key: MessageId,
    pub(super) of: usize,
    pub(super) id: PeerId,
    /// Who can be asked, and how; `None` where nobody listens.
    pub(super) asking: Option<Asking>,
}

pub(super) struct Asking {
    pub(super) task: TaskId,
    pub(super) skill: Arc<Skill>,
    pub(super) args: Option<Json>,
    pub(super) to: Addressee,
    pub(super) now: Time,
    /// One question at a time is open, so answers need no name.
    pub(super) answers: Mutex<Option<mpsc::Receiver<Answer>>>,
}

impl Asking {
    /// A yes is the caller's to give only where it counts; otherwise it waits for whom it does.
    pub(super) fn of(
        dispatch: &Dispatch,
        hidden: &[Text],
        keeper: &dyn BrowserHost,
        answers: mpsc::Receiver<Answer>,
    ) -> Asking {
        let asks = dispatch.call.caller.can_answer.has(KindSet::CONFIRM) && keeper.approves(&dispatch.by);
        Asking {
            task: dispatch.task,
            skill: Arc::clone(&dispatch.skill),
            args: dispatch.call.input().and_then(|input| input.args.as_ref()).map(|args| shown(args, hidden)),
            to: if asks { Addressee::Caller } else { Addressee::Approvers },
            now: keeper.now(),
            answers: Mutex::new(Some(answers)),
        }
    }
}

/// Arguments as a person is shown them: without secrets.
fn shown(args: &Json, hidden: &[Text]) -> Json {
    let Tree::Object(members) = args.tree() else { return args.clone() };
    let mut members = members.clone();
    for (name, value) in &mut members {
        if hidden.iter().any(|hidden| **hidden == **name) {
            *value = "(secret)".into();
        }
    }
    Json::from_tree(Tree::Object(members))
}

impl CallerQuestions {
    /// Whoever is too slow to hear of every step hears of the next.
    pub(super) fn progress(&self, number: usize, step: &Bound) {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred steps at most")]
        let (done, total) = ((number - 1) as f64, self.of as f64);
        let note = format!("step {number} of {}: {}", self.of, step.does.as_str());
        let _ = self.events.try_send(Event::Progress { done: Some(done), total: Some(total), note: Some(note.into()) });
    }

    pub(super) async fn note(&self, level: Level, number: usize, text: &str) {
        let said = Event::Said {
            message: MessageId::from(format!("{}.note.{number}", self.key)),
            channel: Channel::Note(level),
            piece: Piece::Whole,
            parts: vec![Part::text(text, Provenance::peer(self.id.clone()))],
        };
        // Nobody reads any more: the call is being dropped.
        let _ = self.events.send(said).await;
    }

    /// Asks for a human yes. Silence is a no.
    pub(super) async fn agrees(&self, text: &str) -> bool {
        let Some(asking) = &self.asking else { return false };
        let take = || asking.answers.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut answers) = take() else { return false };
        if self.events.send(Event::Asked(self.question(asking, text))).await.is_err() {
            return false;
        }
        let answer = tokio::time::timeout(WAITING, answers.recv()).await;
        *asking.answers.lock().unwrap_or_else(PoisonError::into_inner) = Some(answers);
        matches!(answer, Ok(Some(Answer::Granted)))
    }

    fn question(&self, asking: &Asking, text: &str) -> Question {
        let confirm = Confirm {
            // Of what is asked: the yes is to this element, and the call itself was agreed to before.
            call: Digest::of_fields([self.key.as_str().as_bytes(), text.as_bytes()]),
            skill: asking.skill.id.clone(),
            args: asking.args.clone(),
            parts: Box::default(),
            effects: asking.skill.effects,
            basis: None,
            relays: None,
        };
        Question {
            // The task numbers its questions itself.
            id: QuestionId(asking.task, 0),
            to: asking.to,
            kind: QuestionKind::Confirm(confirm.into()),
            text: text.into(),
            asked_by: Party::Peer(self.id.clone()),
            expires: asking.now.after(WAITING),
            resume: None,
            name: None,
        }
    }
}
