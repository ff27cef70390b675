//! The port to a peer: the client side of a protocol, or something inside the hub.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::call::{Call, ClientTool};
use crate::card::Skill;
use crate::content::Input;
use crate::event::{Finished, Signal};
use crate::fault::Fault;
use crate::id::{MessageId, TaskId, Text, Time, Uri};
use crate::journal::Record;
use crate::loss::Loss;
use crate::principal::Principal;
use crate::question::Answer;
use crate::question::Question;
use crate::secret::Secret;
use crate::wire::Raw;

/// A call on its way to a peer, with all that the hub knows of it.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// Who calls, with every link of the chain.
    pub by: Principal,
    /// The exchange it belongs to.
    pub task: TaskId,
    /// Which dispatch of the call it is, from 1.
    pub attempt: u32,
    /// The idempotency key for the peer: the same on every attempt.
    pub key: MessageId,
    /// The skill that is called, as it was when the call was checked.
    pub skill: Arc<Skill>,
    /// The call, with its arguments resolved.
    pub call: Box<Call>,
    /// How much of the answer must be read.
    pub want: View,
    /// How many questions the task has had: the next one its peer asks gets this number.
    pub asked: u32,
    /// The peer's id of the call: re-attach instead of calling again, after a crash or to send it a cancel.
    pub remote: Option<Secret>,
    /// The peer ended its request with a question; this is the answer, and continues the same call.
    pub answering: Option<Box<Answering>>,
    /// The place that [`Peer::place`] gave for it.
    pub place: Option<Place>,
}

/// A place at a peer that runs only so many calls at a time, held until it is dropped.
#[derive(Clone)]
pub struct Place {
    _held: Arc<dyn Send + Sync>,
}

impl Place {
    /// Dropped with the last clone, `held` gives the place back.
    pub fn new(held: impl Send + Sync + 'static) -> Place {
        Place { _held: Arc::new(held) }
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Place")
    }
}

/// How a location is obtained.
pub enum Placing {
    /// There is one.
    Now(Place),
    /// Dropped before it resolves, the place in the line is given up. `Err`: nothing was begun.
    Later(Pin<Box<dyn Future<Output = Result<Place, Fault>> + Send>>),
}

impl std::fmt::Debug for Placing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Placing::Now(_) => "Now",
            Placing::Later(_) => "Later",
        })
    }
}

/// An answer on its way to the peer that asked. A peer that ended its request with several questions gets all answers at
/// once: the last one given, and the others in `also`.
#[derive(Debug, Clone)]
pub struct Answering {
    /// The question that was asked.
    pub question: Question,
    /// The answer's own id.
    pub message: MessageId,
    /// The answer.
    pub answer: Answer,
    /// The other questions that were asked together with it, and their answers.
    pub also: Vec<(Question, Answer)>,
}

/// How much of an answer a peer must read.
///
/// Head: nobody but the caller will see the answer, so a peer that answers at once, on the wire the call came by, may read
/// only its outcome and owned spans and leave the parts empty, the answer itself in [`Raw`]. Whatever goes on as an
/// [`Exchange`] is read in full: it may be kept on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The outcome alone.
    Head,
    /// Everything.
    Full,
}

/// How a peer has been reached lately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// From 0, of no use, to 100, reached always and quickly.
    pub score: u8,
    /// How many attempts of a hundred reached it, the latest counting most.
    pub reached: u8,
    /// How long it takes to answer a health probe.
    pub latency: Option<Duration>,
    /// When it was last reached.
    pub last: Option<Time>,
}

/// Dropping the future, or the exchange it returned, stops the work as far as the peer's protocol can.
///
/// A peer meets `Ask::Read` only when its card has resources, and `Ask::Complete` only when it says that it completes.
pub trait Peer: Send + Sync {
    /// Begins the call. `Err` means that nothing was begun and another peer may be tried; a failure after that is an
    /// outcome.
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling;

    /// The protocol it is called in, by the word callers know it by; `None` for what runs inside the hub.
    fn speaks(&self) -> Option<&'static str> {
        None
    }

    /// How well it was reachable lately; `None` if nothing has to be reached, or nothing was tried.
    fn standing(&self) -> Option<Standing> {
        None
    }

    /// Whether its card is signed by a trusted key; `None` if signatures are not checked.
    fn vouched(&self) -> Option<Vouched> {
        None
    }

    /// Does it offer completions of arguments?
    fn completes(&self) -> bool {
        false
    }

    /// Does a repeated call of this skill under the same key continue the earlier one, whatever the skill's effects? Then the hub may send
    /// it again after a crash. This does not cover a caller that asks twice.
    fn resumes(&self, _skill: &Skill) -> bool {
        false
    }

    /// A place for a call of this skill, where only so many run at a time. A call that may not be sent twice waits for it before
    /// the hub writes down that it was sent: a crash meanwhile leaves nothing in doubt. `None`: it needs none, or takes its
    /// place when it is called.
    fn place(&self, _skill: &Skill) -> Option<Placing> {
        None
    }

    /// How long a call of it may take when its caller does not say; `None` is what the hub says for all.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Would its agent look for the one of its tools that these words mean, and do nothing else with them? Then the hub does so
    /// itself, which can ask the speaker for what the words lack.
    fn leaves_words(&self, _input: &Input) -> bool {
        false
    }

    /// What of this call, as its caller made it, the peer cannot use: reported as a loss with the outcome. The encoder reports what a wire
    /// loses.
    fn loses(&self, _call: &Call) -> Vec<Loss> {
        Vec::new()
    }

    /// Does it have a model that can use tools of the caller's? For any other peer the hub reports them as lost.
    fn takes_tools(&self) -> bool {
        false
    }

    /// Refuses tools of the caller's that would stand in the place of skills that its model has in the name of `by`. Asked before
    /// anything of the call is stored.
    fn check_tools(&self, _by: &Principal, _offered: &[ClientTool]) -> Result<(), Fault> {
        Ok(())
    }

    /// Has it tell of a resource for as long as what this returns is held; what it tells is news of the hub. `None` when it
    /// tells of none, or of no more.
    fn follow(&self, _uri: &Uri) -> Option<Following> {
        None
    }
}

/// Whether a peer's card was signed by a trusted key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vouched {
    /// It has no signature.
    Unsigned,
    /// By a key that is trusted, which goes by this name.
    Verified(Text),
    /// By keys that are not known here.
    Unknown,
    /// In the name of a key that is trusted, and that key did not sign this.
    Altered,
}

impl Vouched {
    /// The word that lists show.
    pub fn as_str(&self) -> &'static str {
        match self {
            Vouched::Unsigned => "unsigned",
            Vouched::Verified(_) => "verified",
            Vouched::Unknown => "unknown",
            Vouched::Altered => "altered",
        }
    }
}

/// A subscription to a resource. Dropping it ends the subscription at the peer.
pub struct Following {
    _until_dropped: Box<dyn Send + Sync>,
}

impl Following {
    /// Dropping `held` ends the subscription.
    pub fn new(held: impl Send + Sync + 'static) -> Following {
        Following { _until_dropped: Box::new(held) }
    }
}

impl std::fmt::Debug for Following {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Following")
    }
}

/// The future of [`Peer::call`].
pub type Calling = Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send>>;

/// `Err` from [`Peer::call`] means nothing was begun: the hub may try another peer.
pub enum Reply {
    /// It answered at once. With the answer as it was written, for a caller that speaks the same protocol.
    Done(Box<Finished>, Option<Raw>),
    /// It continues: the hub reads its events.
    Live(Exchange),
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reply::Done(finished, _) => f.debug_tuple("Done").field(finished).finish(),
            Reply::Live(_) => f.write_str("Live"),
        }
    }
}

/// A running call.
pub type Exchange = Box<dyn Duplex>;

/// The running end of a call. Yields `Emitted`, and `Sent` when it learns more of the remote side.
pub trait Duplex: Send {
    /// What happens next; `None` once it is over. The last event is [`crate::Event::Finished`].
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>>;
    /// Hands on an answer, more input or a cancel. `Err` when the peer can do nothing with it.
    fn signal(&mut self, signal: Signal) -> Result<(), Fault>;
}
