//! The session that a site gave with its last answer, by caller and conversation.
//!
//! In memory and bounded: without its session a site is still sent the earlier questions.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::client::Session;
use interlingua_model::peer::Dispatch;
use interlingua_model::{ConversationId, Owner};

/// Conversations of one site; the one that rested longest is evicted.
const MOST: usize = 256;
/// Bytes of one session. A longer one is not kept.
const LONGEST: usize = 4 * 1024;

type Key = (Owner, ConversationId);

/// Sessions, the one used last at the end.
#[derive(Debug, Default)]
pub(super) struct Conversations(Mutex<VecDeque<(Key, Session)>>);

impl Conversations {
    pub(super) fn of(&self, dispatch: &Dispatch) -> Option<Session> {
        let key = key(dispatch)?;
        self.sessions().iter().find(|(kept, _)| *kept == key).map(|(_, session)| session.clone())
    }

    pub(super) fn keep(&self, dispatch: &Dispatch, session: &Session) {
        let Some(key) = key(dispatch) else { return };
        let bytes: usize = [&session.conversation, &session.state].into_iter().flatten().map(String::len).sum();
        let mut sessions = self.sessions();
        sessions.retain(|(kept, _)| *kept != key);
        if (1..=LONGEST).contains(&bytes) {
            sessions.push_back((key, session.clone()));
        }
        if sessions.len() > MOST {
            sessions.pop_front();
        }
    }

    fn sessions(&self) -> MutexGuard<'_, VecDeque<(Key, Session)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(dispatch: &Dispatch) -> Option<Key> {
    Some((dispatch.by.owner(), dispatch.call.conversation.clone()?))
}
