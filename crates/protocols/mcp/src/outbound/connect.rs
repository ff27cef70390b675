//! Version negotiation: finds the era of a server by trying, never by one code of one error (2026-07-28, versioning).
//!
//! A program is sent `server/discover`; if it does not answer as a modern server does, or not soon, it is sent `initialize`. Over HTTP the
//! same, and at last the two-endpoint HTTP of 2024. The result is tried first the next time.

use std::pin::pin;
use std::time::Duration;

use crate::client::encode::{self, Manner};
use crate::client::list::{self, Server};
use crate::fault::UNSUPPORTED_VERSION;
use crate::wire::headers::SESSION;
use crate::{Era, Version};
use http::HeaderValue;
use interlingua_model::{Fault, FaultKind, Party, Retry, Text};
use interlingua_wire::members::Members;
use interlingua_wire::rpc;

use super::link::child::NotStarted;
use super::link::pipe::Pipe;
use super::link::streamable::{Endpoint, Streamable};
use super::link::{Link, Refused, Trouble, child, old_sse};
use super::session::{self, Session, Unanswered, answer};
use super::upstream::{ServerAddress, Unopened, Upstream, waits};
use crate::outbound::session::ask;
use interlingua_net::client::health;
use interlingua_net::client::transport_error::{TransportError, Why};

/// A program that does not answer `server/discover` by then is greeted the old way besides.
const PROBE: Duration = Duration::from_secs(2);
/// How long a server may take to be greeted; a program may first have to be fetched.
const START: Duration = Duration::from_secs(60);

/// How much of what a server says is shown.
const SHOWN: usize = 200;

const FIRST: u64 = 1;
const SECOND: u64 = 2;

impl Upstream {
    /// A session with the server, however it is reached.
    pub(super) async fn connect(&self) -> Result<Session, Unopened> {
        let connected = match tokio::time::timeout(START, self.greet()).await {
            Ok(connected) => connected,
            Err(_) => Err(Unanswered::Late),
        };
        let session = connected.map_err(|unanswered| match unanswered {
            Unanswered::Trouble(Trouble::SignIn(sign_in)) => Unopened::SignIn(sign_in),
            other => {
                let fault = self.unreachable(&other);
                if matches!(other, Unanswered::Late) {
                    let patience = START.as_secs();
                    let why = format!("{} did not answer `initialize` within {patience} seconds", self.told());
                    self.set_trouble(Some(why.into()));
                }
                Unopened::Fault(fault)
            }
        })?;
        self.remember(session.version.era());
        Ok(session)
    }

    async fn greet(&self) -> Result<Session, Unanswered> {
        match &self.place {
            ServerAddress::Program(..) => self.greet_program().await,
            ServerAddress::Http(endpoint) => self.greet_http(endpoint).await,
        }
    }

    /// Where the server is, as whoever runs the hub knows it.
    fn told(&self) -> String {
        match &self.place {
            ServerAddress::Program(program, _) => format!("program {:?}", program.command),
            ServerAddress::Http(endpoint) => health::told(&endpoint.uri),
        }
    }

    /// Why there is no session, with program or address and what the system said.
    fn why(&self, unanswered: &Unanswered) -> Text {
        let place = self.told();
        let text = match unanswered {
            Unanswered::Trouble(Trouble::Lost(lost)) if lost.cause.is::<NotStarted>() => lost.to_string(),
            Unanswered::Trouble(Trouble::Lost(lost)) if lost.why == Why::Refused => lost.to_string(),
            Unanswered::Trouble(Trouble::Lost(lost)) => format!("{place}: {}", lost.root()),
            Unanswered::Late => format!("{place} did not answer in time"),
            Unanswered::Error(error) => {
                let message: String = error.message.chars().take(SHOWN).collect();
                format!("{place} refuses to speak with this hub: error {}: {message}", error.code)
            }
            Unanswered::Trouble(trouble @ (Trouble::SessionGone | Trouble::Refused(_) | Trouble::TooMany)) => {
                format!("{place}: {}", trouble.told())
            }
            Unanswered::Trouble(Trouble::SignIn(_)) => waits(&self.name).public.to_string(),
        };
        text.into()
    }

    pub(super) fn unreachable(&self, why: &Unanswered) -> Fault {
        tracing::debug!(peer = %self.name, cause = %why, "no session");
        self.set_trouble(Some(self.why(why)));
        let name = &self.name;
        let (kind, text) = match why {
            Unanswered::Trouble(Trouble::Refused(Refused { status: 401 | 403, .. })) => {
                (FaultKind::Unreachable, format!("{name} wants credentials that the hub does not have"))
            }
            Unanswered::Trouble(Trouble::Refused(Refused { status, .. })) => {
                (FaultKind::Unreachable, format!("{name} cannot be reached: it answers HTTP {status}"))
            }
            Unanswered::Trouble(Trouble::Lost(lost)) if lost.why == Why::Refused => {
                (FaultKind::Unreachable, format!("{name} cannot be used: {lost}"))
            }
            Unanswered::Trouble(Trouble::SignIn(_)) => return waits(name),
            Unanswered::Late => (FaultKind::Unreachable, format!("{name} does not answer")),
            Unanswered::Error(_) => (FaultKind::Unreachable, format!("{name} refuses to speak with this hub")),
            Unanswered::Trouble(_) => (FaultKind::Unreachable, format!("{name} cannot be reached")),
        };
        Fault::new(kind, Party::Peer(name.clone()), text).retry(Retry::After(None))
    }

    async fn greet_program(&self) -> Result<Session, Unanswered> {
        let link = self.start_program().await?;
        if self.remembered() == Some(Era::Legacy) {
            match initialize(&link, SECOND).await {
                Ok(session) => return Ok(session),
                Err(why) => tracing::debug!(peer = %self.name, cause = %why, "not greeted as it was before"),
            }
        }
        match probe_program(&link).await {
            Err(Unanswered::Trouble(_)) if link.is_closed() => {
                // There are programs that end over a question they do not know: asked no more, they may be greeted.
                initialize(&self.start_program().await?, SECOND).await
            }
            Err(why) => {
                link.close();
                Err(why)
            }
            greeted => greeted,
        }
    }

    async fn start_program(&self) -> Result<Link, TransportError> {
        let ServerAddress::Program(program, answers) = &self.place else {
            return Err(TransportError::unconnected("it is no program"));
        };
        let pipe =
            child::start(&self.name, (program, answers), &self.tail, self.changes.clone(), &self.supervisor).await?;
        Ok(Link::Pipe(pipe))
    }

    async fn greet_http(&self, endpoint: &Endpoint) -> Result<Session, Unanswered> {
        if self.remembered() == Some(Era::Legacy)
            && let Ok(session) = self.initialize_http(endpoint).await
        {
            return Ok(session);
        }
        let version = Version::LATEST;
        let http = std::sync::Arc::new(Streamable::new(endpoint, Some(version), None, self.changes.clone()));
        let link = Link::Streamable(http);
        match discovered(discover(&link).await) {
            Verdict::Modern(server) => return Ok(Session::new(link, version, *server, FIRST)),
            Verdict::Legacy => {}
            Verdict::Neither(why) => return Err(why),
        }
        match self.initialize_http(endpoint).await {
            Err(Unanswered::Trouble(Trouble::Refused(refused))) if matches!(refused.status, 400 | 404 | 405) => {
                let pipe = old_sse::open(endpoint, self.changes.clone()).await?;
                initialize_old(pipe).await
            }
            greeted => greeted,
        }
    }

    async fn initialize_http(&self, endpoint: &Endpoint) -> Result<Session, Unanswered> {
        let greeting = std::sync::Arc::new(Streamable::new(endpoint, None, None, self.changes.clone()));
        let outgoing = encode::initialize(SECOND, Version::LATEST_LEGACY);
        let (calls, head) = greeting.open_with_head(&outgoing, None).await?;
        let result = answer(&Link::Streamable(greeting), calls).await?;
        let version = chosen(&result)?;
        let session: Option<HeaderValue> = head.get(SESSION).cloned();
        let http = Streamable::new(endpoint, Some(version), session, self.changes.clone());
        let http = std::sync::Arc::new(http);
        let link = Link::Streamable(http.clone());
        initialized(&link, version).await?;
        self.supervisor.run_until_stop(http.listen());
        Ok(Session::new(link, version, Server::decode(&result), SECOND))
    }
}

/// What the answer to `server/discover` shows.
enum Verdict {
    Modern(Box<Server>),
    Legacy,
    Neither(Unanswered),
}

fn discovered(result: Result<Members, Unanswered>) -> Verdict {
    match result {
        Ok(result) if list::is_discovery(&result) && list::supports(&result, "supportedVersions", Version::LATEST) => {
            Verdict::Modern(Box::new(Server::decode(&result)))
        }
        Err(Unanswered::Error(error)) if error.code == UNSUPPORTED_VERSION => {
            let data = error.data.as_ref().map(Members::of).unwrap_or(Members::absent());
            // It is modern and knows none of our modern versions; it may still know an older one.
            tracing::debug!(supported = ?data.get("supported"), "a version this hub does not know");
            Verdict::Legacy
        }
        Ok(_) | Err(Unanswered::Error(_)) => Verdict::Legacy,
        Err(Unanswered::Trouble(Trouble::Refused(refused))) if !matches!(refused.status, 401 | 403 | 429 | 503) => {
            Verdict::Legacy
        }
        Err(why) => Verdict::Neither(why),
    }
}

/// A server that refuses the version and lists it in the same breath is asked once more, as it asks for.
async fn discover(link: &Link) -> Result<Members, Unanswered> {
    let outgoing = encode::request(FIRST, encode::DISCOVER, &Manner::own(Version::LATEST), |_| {});
    match ask(link, &outgoing, START).await {
        Err(Unanswered::Error(error)) if error.code == UNSUPPORTED_VERSION && offers_ours(&error) => {
            ask(link, &outgoing, START).await
        }
        answered => answered,
    }
}

fn offers_ours(error: &rpc::Error) -> bool {
    error.data.as_ref().is_some_and(|data| list::supports(&Members::of(data), "supported", Version::LATEST))
}

/// Asks the modern way, and after a while the old way besides: whichever is answered first as it should be.
async fn probe_program(link: &Link) -> Result<Session, Unanswered> {
    let modern = |server: Box<Server>| Session::new(link.clone(), Version::LATEST, *server, SECOND);
    let mut asked = pin!(discover(link));
    match tokio::time::timeout(PROBE, &mut asked).await {
        Ok(result) => match discovered(result) {
            Verdict::Modern(server) => return Ok(modern(server)),
            Verdict::Legacy => return initialize(link, SECOND).await,
            Verdict::Neither(why) => return Err(why),
        },
        Err(_) => tracing::debug!("no answer yet; greeted the old way besides"),
    }
    let mut greeted = pin!(initialize(link, SECOND));
    tokio::select! {
        result = &mut asked => match discovered(result) {
            Verdict::Modern(server) => Ok(modern(server)),
            Verdict::Legacy | Verdict::Neither(_) => greeted.await,
        },
        greeting = &mut greeted => match greeting {
            Ok(session) => Ok(session),
            Err(why) => match discovered(asked.await) {
                Verdict::Modern(server) => Ok(modern(server)),
                Verdict::Legacy | Verdict::Neither(_) => Err(why),
            },
        },
    }
}

async fn initialize(link: &Link, id: u64) -> Result<Session, Unanswered> {
    let outgoing = encode::initialize(id, Version::LATEST_LEGACY);
    let result = session::ask(link, &outgoing, START).await?;
    let version = chosen(&result)?;
    initialized(link, version).await?;
    Ok(Session::new(link.clone(), version, Server::decode(&result), id))
}

async fn initialize_old(pipe: std::sync::Arc<Pipe>) -> Result<Session, Unanswered> {
    initialize(&Link::Pipe(pipe), SECOND).await
}

fn chosen(result: &Members) -> Result<Version, TransportError> {
    list::chosen_version(result).ok_or_else(|| TransportError::unconnected("it chose a version this hub does not know"))
}

async fn initialized(link: &Link, version: Version) -> Result<(), TransportError> {
    link.send(&encode::notification(encode::INITIALIZED, &Manner::own(version), |_| {})).await
}

#[cfg(test)]
mod tests {
    use interlingua_process::child::Program;

    use super::*;
    use interlingua_hub::supervisor::Supervisor;
    use interlingua_net::client::answers::Answers;

    fn program(command: &str, args: &[&str]) -> Upstream {
        let program = Program {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            directory: None,
            environment: Vec::new(),
            allowed: Vec::new(),
        };
        Upstream::new("slow".into(), ServerAddress::Program(program, Answers::default()), Supervisor::new(), None, None)
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_never_answers_is_named_with_the_time_it_had() {
        let upstream = program("sleep", &["600"]);
        assert!(matches!(upstream.connect().await, Err(Unopened::Fault(_))));
        let why = upstream.trouble().expect("a reason");
        assert_eq!(&*why, "program \"sleep\" did not answer `initialize` within 60 seconds");
    }
}
