//! Agents and teams that events of a topic start (event triggers).
//!
//! Each has a [`listener`] that reads the log of events from where it stopped and starts one run for each event that matches. A run is a
//! call of the publisher: the hub checks it like any other, and it goes through the agent. So it may do only what the publisher may
//! and what the agent may, approvals included. [`progress`] is what survives a crash, [`answer`] what is published after a run.
//!
//! Deliberately absent: a queue. Events wait in the log, which has its own bounds, and a listener holds a few of them in memory.

mod answer;
mod listener;
mod progress;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interlingua_hub::Hub;
use interlingua_machines::bus::{Pattern, topic};
use interlingua_model::{Fault, Link, PeerId, Proof, Subject, Text, TopicId};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::DropGuard;

use super::configured::team_scopes;
use super::settings::{On, Sections};
use listener::Listener;
use progress::Progress;

/// An agent or a team, and what starts it.
#[derive(Debug, Clone)]
pub struct TopicStart {
    peer: PeerId,
    /// What the agent adds to the chain of the publisher: no right of its own.
    link: Link,
    wanted: Pattern,
    reply: Option<TopicId>,
    on: On,
}

impl TopicStart {
    fn new(name: &str, scopes: Vec<Text>, on: &On) -> Result<TopicStart, Fault> {
        let peer = PeerId::from(name);
        let subject = Subject::Agent(peer.clone());
        Ok(TopicStart {
            link: Link { subject, proof: Proof::InProcess, scopes, until: None },
            peer,
            wanted: Pattern::parse(&on.topic)?,
            reply: on.reply.as_deref().map(topic::named).transpose()?,
            on: on.clone(),
        })
    }
}

/// Everything that a configuration starts by topics.
pub fn topic_starts(sections: &Sections<'_>) -> Result<Vec<TopicStart>, Fault> {
    let agents = sections.agents.iter().filter_map(|(name, agent)| {
        let scopes = agent.skills.iter().map(|pattern| pattern.as_str().into()).collect();
        Some(TopicStart::new(name, scopes, agent.on.as_ref()?))
    });
    let teams = sections.teams.iter().filter_map(|(name, team)| {
        let scopes = team_scopes(team, sections).collect();
        Some(TopicStart::new(name, scopes, team.on.as_ref()?))
    });
    agents.chain(teams).collect()
}

/// The listeners that run. A configuration replaces all of them.
#[derive(Debug)]
pub struct Topics {
    /// One configuration at a time replaces them.
    turn: Semaphore,
    running: Mutex<Option<Listeners>>,
}

impl Default for Topics {
    fn default() -> Self {
        Topics { turn: Semaphore::new(1), running: Mutex::default() }
    }
}

#[derive(Debug)]
struct Listeners {
    stop: DropGuard,
    /// Closed when the last of them has ended.
    ended: watch::Receiver<()>,
}

impl Topics {
    /// Ends the listeners there are and starts these. What the old ones started is followed by the new ones.
    pub async fn replace(&self, hub: &Arc<Hub>, starts: Vec<TopicStart>) {
        // The semaphore is never closed.
        let _turn = self.turn.acquire().await.ok();
        let before = self.running().take();
        if let Some(Listeners { stop, mut ended }) = before {
            drop(stop);
            // Two listeners of one agent would start every event twice.
            let _closed = ended.changed().await;
        }
        let stop = hub.stopping().child_token();
        let (alive, ended) = watch::channel(());
        let alive = Arc::new(alive);
        for start in starts {
            // From here on every event counts. A store that fails is tried again, and reported, by the listener.
            let _marked = Progress::load(hub, &start.peer, &start.on.topic).await;
            let (listener, alive) = (Listener::new(hub.clone(), start, stop.clone()), alive.clone());
            // Not cut off anywhere: an event whose run is about to start would be lost.
            hub.spawn(async move {
                listener.run().await;
                drop(alive);
            });
        }
        *self.running() = Some(Listeners { stop: stop.drop_guard(), ended });
    }

    fn running(&self) -> MutexGuard<'_, Option<Listeners>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
