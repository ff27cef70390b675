//! An initialized session with a server: its version, what it offers, and requests of the hub's own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::Version;
use crate::client::encode::{self, Manner, Outgoing};
use crate::client::list::{self, List, Server};
use interlingua_model::Json;
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;
use interlingua_wire::rpc::{self, Message};

use super::link::pipe::nobody_to_ask;
use super::link::{Calls, Link, Trouble};
use interlingua_net::client::answers::too_large;
use interlingua_net::client::transport_error::TransportError;

/// How long an answer to a request of the hub's own may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much of a list is read.
const MAX_PAGES: usize = 1_000;
const MAX_ITEMS: usize = 20_000;
/// How many bytes one list may have, all its pages together.
const MAX_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Session {
    pub(super) link: Link,
    pub(super) version: Version,
    pub(super) server: Server,
    ids: AtomicU64,
}

/// Why the hub has no answer to a request of its own.
#[derive(Debug)]
pub(super) enum Unanswered {
    Trouble(Trouble),
    Error(rpc::Error),
    Late,
}

impl From<Trouble> for Unanswered {
    fn from(trouble: Trouble) -> Unanswered {
        Unanswered::Trouble(trouble)
    }
}

impl From<TransportError> for Unanswered {
    fn from(lost: TransportError) -> Unanswered {
        Unanswered::Trouble(Trouble::Lost(lost))
    }
}

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unanswered::Trouble(trouble) => f.write_str(&trouble.told()),
            Unanswered::Error(error) => write!(f, "error {}: {}", error.code, error.message),
            Unanswered::Late => f.write_str("no answer in time"),
        }
    }
}

impl Session {
    /// `used`: ids that were used to greet it.
    pub(super) fn new(link: Link, version: Version, server: Server, used: u64) -> Session {
        Session { link, version, server, ids: AtomicU64::new(used + 1) }
    }

    pub(super) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// A request of the hub's own.
    pub(super) async fn ask(
        &self,
        method: &'static str,
        fill: impl FnOnce(&mut Object<'_>),
    ) -> Result<Members, Unanswered> {
        let outgoing = encode::request(self.next_id(), method, &Manner::own(self.version), fill);
        ask(&self.link, &outgoing, PATIENCE).await
    }

    /// All items of a list, page by page.
    pub(super) async fn list(&self, list: List) -> Result<Vec<Json>, Unanswered> {
        let (mut items, mut bytes) = (Vec::new(), 0);
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let at = cursor.take();
            let outgoing = {
                let manner = Manner { whole: list == List::Tools, ..Manner::own(self.version) };
                encode::request(self.next_id(), list.method(), &manner, |params| {
                    if let Some(cursor) = &at {
                        params.text("cursor", cursor);
                    }
                })
            };
            let result = ask(&self.link, &outgoing, PATIENCE).await?;
            let Some((page, next)) = list::page(list, &result) else {
                return Err(TransportError::broken(format!("{} has no list", list.method())).into());
            };
            bytes += page.iter().map(|item| item.as_bytes().len()).sum::<usize>();
            if bytes > MAX_BYTES {
                return Err(too_large(format!("{} lists more than {MAX_BYTES} bytes", list.method())).into());
            }
            // They stay for as long as the server is known; the page they came in does not.
            items.extend(page.iter().map(Json::alone));
            if next.is_none() || next == at || items.len() >= MAX_ITEMS {
                break;
            }
            cursor = next;
        }
        items.truncate(MAX_ITEMS);
        Ok(items)
    }

    /// Is it there? Any answer will do, also that it does not know the question.
    pub(super) async fn knock(&self) -> Result<(), Unanswered> {
        let method = if self.version.is_modern() { encode::DISCOVER } else { encode::PING };
        match self.ask(method, |_| {}).await {
            Ok(_) | Err(Unanswered::Error(_)) => Ok(()),
            Err(other) => Err(other),
        }
    }
}

/// One request and its answer; a server that asks meanwhile is told that nobody can be asked.
pub(super) async fn ask(link: &Link, outgoing: &Outgoing, patience: Duration) -> Result<Members, Unanswered> {
    let answered = tokio::time::timeout(patience, async {
        let calls = link.open(outgoing, None).await?;
        answer(link, calls).await
    });
    answered.await.unwrap_or(Err(Unanswered::Late))
}

pub(super) async fn answer(link: &Link, mut calls: Calls) -> Result<Members, Unanswered> {
    loop {
        match calls.next().await? {
            Message::Response(response) => return response.outcome.map_err(Unanswered::Error),
            Message::Request(request) => link.send(&nobody_to_ask(&request)).await?,
            Message::Notification(_) => {}
        }
    }
}
