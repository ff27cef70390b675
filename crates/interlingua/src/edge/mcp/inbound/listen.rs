//! What changed, for whoever listens: `subscriptions/listen` and the stream of a session.
//!
//! One change of a peer is often several: what comes within a moment is told once for each list.

use std::time::Duration;

use interlingua_core::{Kinds, Notice, Party, Text};
use interlingua_protocols::mcp::content::Addresses;
use interlingua_protocols::mcp::decode::Filter;
use interlingua_protocols::mcp::encode::notify::{self, Changed};
use interlingua_protocols::rpc::Id;
use tokio::time::Instant;

use super::{Scope, Spelling};
use crate::hub::news::{Heard, Listener};

/// How long more of the same is waited for.
const MOMENT: Duration = Duration::from_millis(50);
/// How many updates of resources are held within one moment.
const MAX_HELD: usize = 1_000;

/// Hears news and tells what its client wants to hear.
pub(super) struct Telling {
    news: Listener,
    scope: Scope,
    spelling: Spelling,
    subscription: Option<Id>,
    held: Held,
    /// When what is held is told.
    due: Option<Instant>,
}

#[derive(Default)]
struct Held {
    kinds: Kinds,
    updated: Vec<Text>,
}

impl Telling {
    pub(super) fn new(news: Listener, scope: Scope, spelling: Spelling, subscription: Option<Id>) -> Telling {
        Telling { news, scope, spelling, subscription, held: Held::default(), due: None }
    }

    /// The next notifications; `None` when there will be no more. Cancel safe. `filter` is asked for each time, since it may
    /// change.
    pub(super) async fn next(&mut self, filter: impl Fn() -> Filter) -> Option<Vec<Vec<u8>>> {
        loop {
            let told = match self.due {
                None => false,
                Some(due) => tokio::select! {
                    () = tokio::time::sleep_until(due) => true,
                    heard = self.news.next() => {
                        self.hold(heard)?;
                        false
                    }
                },
            };
            if told {
                self.due = None;
                let held = std::mem::take(&mut self.held);
                let told = self.told(&held, &filter());
                if !told.is_empty() {
                    return Some(told);
                }
            }
            if self.due.is_none() {
                let heard = self.news.next().await;
                self.hold(heard)?;
                self.due = Some(Instant::now() + MOMENT);
            }
        }
    }

    fn hold(&mut self, heard: Heard) -> Option<()> {
        let held = &mut self.held;
        let ours = |peer| match &self.scope {
            // What a view leaves out may have changed too: its client looks once in vain.
            Scope::All | Scope::View(_) => true,
            Scope::Peer(own) => own == peer,
        };
        match heard {
            Heard::Over => return None,
            // Anything may have changed.
            Heard::Missed => held.kinds = Kinds { tools: true, prompts: true, resources: true },
            Heard::Notice(Notice::Changed(peer, kinds)) if ours(&peer) => {
                held.kinds.tools |= kinds.tools;
                held.kinds.prompts |= kinds.prompts;
                held.kinds.resources |= kinds.resources;
            }
            Heard::Notice(Notice::Updated(peer, uri)) if ours(&peer) && held.updated.len() < MAX_HELD => {
                let uri = self.spelling.outward(&Party::Peer(peer), &uri);
                if !held.updated.contains(&uri) {
                    held.updated.push(uri);
                }
            }
            Heard::Notice(
                Notice::Changed(..)
                | Notice::Updated(..)
                | Notice::Up(_)
                | Notice::Down(..)
                | Notice::Card(_)
                | Notice::Telemetry(..)
                | Notice::Published(..),
            ) => {}
        }
        Some(())
    }

    fn told(&self, held: &Held, filter: &Filter) -> Vec<Vec<u8>> {
        let lists = [
            (held.kinds.tools && filter.tools, Changed::Tools),
            (held.kinds.prompts && filter.prompts, Changed::Prompts),
            (held.kinds.resources && filter.resources, Changed::Resources),
        ];
        let id = self.subscription.as_ref();
        let changed = lists.into_iter().filter(|(is, _)| *is).map(|(_, what)| notify::changed(what, id));
        let wanted = held.updated.iter().filter(|uri| filter.updates.contains(uri));
        changed.chain(wanted.map(|uri| notify::updated(uri, id))).collect()
    }
}
