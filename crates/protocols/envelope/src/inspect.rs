//! Sessions as their owner sees them: the list, and one session with the heads of its last messages, the keys of its context and its
//! notifications. Nobody else sees them, and a caller without a credential has its token and no list: such callers cannot be told apart.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua_endpoint::ports::{MessageHead, Notification, RoutedSession, RoutedSessionPage, RoutedSessions};
use interlingua_model::ports::Records;
use interlingua_model::{Digest, Fault, Json, Principal, Time};

use super::notes::{Note, Place};
use super::session::{Rules, Session};
use super::sessions::{KIND, Sessions};
use super::settings::Settings;
use crate::Endpoint;

/// How many records are read at once, and how often: an owner of few sessions among many gets short pages, not long waits.
const READ: usize = 500;
const MAX_READS: usize = 20;
/// Of the keys of a context so many are shown, each cut after so many characters.
const MOST_KEYS: usize = 100;
const LONGEST_KEY: usize = 100;

/// The sessions of this hub, for its own API.
#[derive(Debug)]
pub(super) struct OwnedSessions(pub(super) Arc<Endpoint>);

impl RoutedSessions for OwnedSessions {
    fn list<'a>(
        &'a self,
        by: &'a Principal,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<RoutedSessionPage, Fault>> {
        Box::pin(async move {
            let (routing, now) = (&self.0.own, self.0.hub.now());
            routing.sessions.page(by, after, limit, &routing.settings(), now).await
        })
    }

    fn read<'a>(&'a self, by: &'a Principal, id: &'a str) -> BoxFuture<'a, Result<Option<RoutedSession>, Fault>> {
        Box::pin(async move {
            let (routing, now) = (&self.0.own, self.0.hub.now());
            routing.sessions.one(by, id, &routing.settings(), now).await
        })
    }
}

impl Sessions {
    async fn page(
        &self,
        by: &Principal,
        after: Option<&str>,
        limit: usize,
        settings: &Settings,
        now: Time,
    ) -> Result<RoutedSessionPage, Fault> {
        let mut page = RoutedSessionPage { items: Vec::new(), next: after.map(str::to_owned) };
        if by.is_anonymous() {
            return Ok(RoutedSessionPage { next: None, ..page });
        }
        let owner = by.owner();
        let theirs = |session: &Session| *session.owner() == owner && !session.is_expired(&settings.rules, now);
        let records = self.records(settings);
        for _ in 0..MAX_READS {
            let read = records.list(KIND, page.next.as_deref(), READ, now).await?;
            let is_last = read.len() < READ;
            for item in read {
                if page.items.len() == limit {
                    return Ok(page);
                }
                let session = serde_json::from_slice(&item.value).ok().filter(theirs);
                page.items.extend(session.map(|session| shown(&session, &settings.rules)));
                page.next = Some(item.key.to_string());
            }
            if is_last {
                return Ok(RoutedSessionPage { next: None, ..page });
            }
        }
        Ok(page)
    }

    async fn one(
        &self,
        by: &Principal,
        id: &str,
        settings: &Settings,
        now: Time,
    ) -> Result<Option<RoutedSession>, Fault> {
        if by.is_anonymous() {
            return Ok(None);
        }
        let (owner, records) = (by.owner(), self.records(settings));
        let key = Session::key(&owner, id);
        let Some(item) = records.get(KIND, &key.to_string(), now).await? else { return Ok(None) };
        let session: Session = serde_json::from_slice(&item.value).map_err(Fault::internal)?;
        if *session.owner() != owner || session.is_expired(&settings.rules, now) {
            return Ok(None);
        }
        let notes = Place { records: &**records, seals: &settings.seals, key, now }.read().await?;
        Ok(Some(RoutedSession {
            context_keys: context_keys(&session, &key, settings),
            notifications: notes.into_iter().map(notification).collect(),
            ..shown(&session, &settings.rules)
        }))
    }

    fn records(&self, settings: &Settings) -> &Arc<dyn Records> {
        &self.table(settings).records
    }
}

fn shown(session: &Session, rules: &Rules) -> RoutedSession {
    let head = |head: &crate::session::Head| MessageHead {
        message: head.message().to_owned(),
        kind: head.kind().as_str(),
        at: head.at(session.created()),
    };
    RoutedSession {
        id: session.id().to_string(),
        conversation: session.conversation().to_string(),
        turn: session.turn(),
        created: session.created(),
        used: session.active(),
        expires: session.expires(rules),
        messages: session.heads().iter().map(head).collect(),
        context_keys: Vec::new(),
        notifications: Vec::new(),
    }
}

/// The names of what its caller stored. The values come back by `metadata.context: true` alone.
fn context_keys(session: &Session, key: &Digest, settings: &Settings) -> Vec<String> {
    let sealed = session.context.as_ref();
    let plain = sealed.and_then(|sealed| settings.seals.open(&key.0, &sealed.0).ok());
    let context = plain.and_then(|plain| Json::parse(bytes::Bytes::copy_from_slice(&plain)).ok());
    let members = context.as_ref().and_then(|context| context.tree().as_object());
    let names = members.into_iter().flat_map(|members| members.keys()).take(MOST_KEYS);
    names.map(|name| name.chars().take(LONGEST_KEY).collect()).collect()
}

fn notification(note: Note) -> Notification {
    Notification { message: note.message.to_string(), at: note.at, size: note.size, content: note.content }
}
