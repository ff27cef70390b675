//! HTTP client of the commands: over the hub's socket, or over TCP with or without TLS.
//!
//! There is one connection for each request, driven by the reader of the answer: nothing runs in the background, so leaving a command
//! closes what it opened.

mod events;
mod transport;

use std::future::Future;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Once;

use bytes::Bytes;
use http::{Method, Request, StatusCode, Uri, header};
use http_body_util::Full;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(super) use events::Events;
pub(super) use transport::{Answer, Way};

use super::arguments::{HubArguments, Token};
use super::{Exit, Failure, did_you_mean};
use crate::config::SOCKET;
use interlingua_access::owner_token;
use interlingua_api::view::{ErrorBody, FieldView};

/// No answer to a command is larger, streams aside.
const LIMIT: usize = 64 << 20;
/// No sentence is longer.
const SHORT: usize = 4 << 10;
/// No file of a result is larger.
const LARGEST: usize = 1 << 30;
/// Where a hub keeps its data when nobody says otherwise.
const DATA: &str = "data";

/// Runs a command that talks to a hub; Ctrl-C ends it.
pub(super) fn attached(work: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start: {}", error.kind())))?;
    runtime.block_on(work)
}

#[derive(Debug)]
pub(super) struct Client {
    way: Way,
    token: Option<Token>,
}

/// What a request brings along.
#[derive(Debug, Default)]
pub(super) struct Extras<'a> {
    pub(super) key: Option<&'a str>,
    pub(super) last_event: Option<&'a str>,
}

impl Client {
    pub(super) fn new(arguments: &HubArguments) -> Result<Client, Failure> {
        let way = match &arguments.hub {
            Some(url) => Way::to(&uri(url)?, arguments.ca.as_deref())?,
            None => nearby(arguments.data.as_deref())?,
        };
        Ok(Client { way, token: arguments.token.clone() })
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let answer = self.send(Method::GET, path, None, "application/json", &Extras::default()).await?;
        read(&answer.whole(LIMIT).await?)
    }

    /// The bytes at an address that this hub told. Only its path counts: no other host is asked.
    pub(super) async fn bytes(&self, address: &str) -> Result<Vec<u8>, Failure> {
        let uri = uri(address)?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        self.send(Method::GET, path, None, "*/*", &Extras::default()).await?.whole(LARGEST).await
    }

    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        extras: &Extras<'_>,
    ) -> Result<T, Failure> {
        let answer = self.send(Method::POST, path, Some(json(body)?), "application/json", extras).await?;
        read(&answer.whole(LIMIT).await?)
    }

    pub(super) async fn delete(&self, path: &str) -> Result<(), Failure> {
        self.send(Method::DELETE, path, None, "application/json", &Extras::default()).await.map(|_| ())
    }

    /// A call whose events come as they happen.
    pub(super) async fn post_events(
        &self,
        path: &str,
        body: &impl Serialize,
        extras: &Extras<'_>,
    ) -> Result<Events, Failure> {
        self.send(Method::POST, path, Some(json(body)?), "text/event-stream", extras).await.map(Events::new)
    }

    pub(super) async fn get_events(&self, path: &str, extras: &Extras<'_>) -> Result<Events, Failure> {
        self.send(Method::GET, path, None, "text/event-stream", extras).await.map(Events::new)
    }

    /// What the hub says where it has no view of this name. Its Owner is told which there are.
    pub(super) async fn lacks_view(&self, view: &str) -> Result<Option<String>, Failure> {
        let path = format!("/mcp/{view}");
        let answer = self.exchange(Method::GET, &path, None, "text/event-stream", &Extras::default()).await?;
        if answer.status != StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let said: serde_json::Value = read(&answer.whole(LIMIT).await?)?;
        Ok(Some(super::screen::plain(said["error"]["message"].as_str().unwrap_or("there is no view of this name"))))
    }

    /// Is the hub ready? If not, why. Nobody needs a credential to ask.
    pub(super) async fn unready(&self) -> Result<Option<String>, Failure> {
        let answer = self.exchange(Method::GET, "/readyz", None, "text/plain", &Extras::default()).await?;
        if answer.status.is_success() {
            return Ok(None);
        }
        let status = answer.status;
        let said = answer.whole(SHORT).await.unwrap_or_default();
        let said = super::screen::plain(String::from_utf8_lossy(&said).trim());
        Ok(Some(if said.is_empty() { format!("the hub answered {status}") } else { said }))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        accept: &str,
        extras: &Extras<'_>,
    ) -> Result<Answer, Failure> {
        let answer = self.exchange(method, path, body, accept, extras).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(refused(answer).await) }
    }

    /// Whatever the answer is.
    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        accept: &str,
        extras: &Extras<'_>,
    ) -> Result<Answer, Failure> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.way.host())
            .header(header::ACCEPT, accept);
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.0));
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        if let Some(key) = extras.key {
            request = request.header("idempotency-key", key);
        }
        if let Some(event) = extras.last_event {
            request = request.header("last-event-id", event);
        }
        let request = request
            .body(Full::new(body.unwrap_or_default()))
            .map_err(|_| Failure::new(Exit::Usage, "an argument has characters that cannot be sent"))?;
        self.way.send(request).await
    }
}

/// The hub of the data directory that was named, or of `./data` where a hub has kept something there: never another one in its
/// place. Elsewhere the one at the default port, and a person is told so.
fn nearby(named: Option<&Path>) -> Result<Way, Failure> {
    let data = named.unwrap_or(Path::new(DATA));
    let socket: PathBuf = data.join(SOCKET);
    match UnixStream::connect(&socket) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {}
        Ok(_) | Err(_) => return Ok(Way::Socket(socket)),
    }
    if named.is_some() || is_of_a_hub(data) {
        return Err(nobody_home(data));
    }
    let way = Way::default_port();
    TOLD.call_once(|| super::screen::Screen::people().note(&format!("hub {way:?}")));
    Ok(way)
}

/// The data directory of the hub that a command talks to, where it is a hub of this machine that was found by it.
pub(super) fn data(arguments: &HubArguments) -> Option<&Path> {
    match &arguments.hub {
        Some(_) => None,
        None => Some(arguments.data.as_deref().unwrap_or(Path::new(DATA))).filter(|data| is_of_a_hub(data)),
    }
}

/// Once a command, however many requests it makes.
static TOLD: Once = Once::new();

/// Folders called `data` are everywhere; one with the Owner's token or a socket is a hub's.
fn is_of_a_hub(data: &Path) -> bool {
    [owner_token::FILE, SOCKET].iter().any(|name| data.join(name).symlink_metadata().is_ok())
}

fn nobody_home(data: &Path) -> Failure {
    let shown = data.display();
    let text = format!(
        "no hub runs with the data directory {shown}\n  start it with `interlingua serve --data {shown}`, or name another hub with --hub URL"
    );
    Failure::new(Exit::Unreachable, text)
}

fn uri(url: &str) -> Result<Uri, Failure> {
    let uri: Option<Uri> = url.parse().ok();
    let usable = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
    uri.filter(usable).ok_or_else(|| Failure::new(Exit::Usage, "--hub: expected a URL with http:// or https://"))
}

fn json(body: &impl Serialize) -> Result<Bytes, Failure> {
    let bytes = serde_json::to_vec(body);
    bytes.map(Bytes::from).map_err(|_| Failure::new(Exit::Usage, "the arguments cannot be written as JSON"))
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(bytes).map_err(|_| {
        Failure::new(Exit::Failed, "the hub's answer is not what this program knows; are they one version?")
    })
}

/// What the hub says is wrong, with the exit code it stands for.
async fn refused(answer: Answer) -> Failure {
    let status = answer.status;
    let body = answer.whole(LIMIT).await.unwrap_or_default();
    match serde_json::from_slice::<ErrorBody>(&body) {
        Ok(ErrorBody { error }) => {
            let mut message = super::screen::plain(&error.message);
            // What the message says already, place and problem, is not said twice.
            let told = |field: &&FieldView| {
                let name = field.path.rsplit('/').next().unwrap_or_default();
                error.message.ends_with(&field.problem) && error.message.contains(name)
            };
            for field in error.fields.iter().filter(|field| !told(field)) {
                let place = if field.path.is_empty() { String::new() } else { format!("{}: ", field.path) };
                message.push_str(&super::screen::plain(&format!("\n  {place}{}", field.problem)));
            }
            message.extend(next_step(&error.kind, &error.message).map(|step| format!("\n  {step}")));
            Failure::new(Exit::of_fault(error.exit_code), message)
        }
        Err(_) => {
            let exit = if matches!(status.as_u16(), 401 | 403) { Exit::Denied } else { Exit::Failed };
            Failure::new(exit, format!("the hub answered {status}"))
        }
    }
}

/// What to type next, where a newcomer would not know.
fn next_step(kind: &str, message: &str) -> Option<&'static str> {
    match kind {
        "not_found" if message.starts_with("no skill '") => Some(did_you_mean::WHAT),
        "not_found" if message.starts_with("no peer offers '") => Some(did_you_mean::WHAT),
        "not_found" if message.starts_with("no peer '") => Some(did_you_mean::WHO),
        "not_found" if message.starts_with("no such question") => {
            Some("`interlingua approve` lists the calls that wait for your approval")
        }
        "invalid_input" if message.starts_with("this question wants an answer") => {
            Some("`interlingua answer ID ANSWER` gives it")
        }
        "not_found" if message.starts_with("no such agent") => Some("`interlingua agents` lists who there is"),
        "not_found" if message.starts_with("task not found") => Some("`interlingua tasks` lists yours"),
        "unauthenticated" => {
            Some("say who you are with --token or INTERLINGUA_TOKEN; `interlingua token create` makes a token")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::{Exit, SOCKET, Way, is_of_a_hub, nearby};

    #[test]
    fn only_the_hub_of_the_directory_that_was_named_is_talked_to() {
        let data = tempfile::tempdir().expect("a directory");
        assert!(!is_of_a_hub(data.path()));
        let alone = nearby(Some(data.path())).expect_err("there was never one");
        assert_eq!(alone.exit, Exit::Unreachable);
        let hub = UnixListener::bind(data.path().join(SOCKET)).expect("a socket");
        assert!(matches!(nearby(Some(data.path())), Ok(Way::Socket(_))));
        drop(hub);
        assert!(is_of_a_hub(data.path()), "as after kill -9");
        let killed = nearby(Some(data.path())).expect_err("it is gone");
        assert!(killed.message.starts_with("no hub runs with the data directory"), "{}", killed.message);
    }
}
