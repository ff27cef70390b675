//! Which hub has a name: joining, beating, leaving, and eviction.
//!
//! A hub counts `beat` up once a second. Whoever wants its name looks at that count: a hub that has left, or whose count stands
//! still for `dead_after` of the looker's own time, is gone. No clock is compared. The lock file of a directory has an id: whoever
//! holds the lock that the row names knows that the process before it is gone, and does not wait.
//!
//! Eviction takes a hub its lanes, so it cannot write any more, even if it still runs.

use std::sync::Arc;
use std::time::Duration;

use interlingua_model::ports::Condition;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_postgres::Row;

use super::connection::{Session, Target};
use super::fault::{OpenFault, SqlError};
use super::{Options, note};

const BEAT: Duration = Duration::from_secs(1);
/// How often a hub that waits for a name looks.
const LOOK: Duration = Duration::from_millis(200);
/// Hubs that are gone and still have a row, for whoever looks what happened.
const ROWS: i64 = 1000;

/// The hub that has the name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Predecessor {
    no: i64,
    beat: i64,
    lock_id: Option<String>,
}

impl Predecessor {
    fn of(row: &Row) -> Result<Predecessor, tokio_postgres::Error> {
        Ok(Predecessor { no: row.try_get(0)?, beat: row.try_get(1)?, lock_id: row.try_get(2)? })
    }
}

/// What a hub that wants a name does next.
#[derive(Debug, PartialEq, Eq)]
enum Naming {
    /// The name is free, or who has it is gone.
    Take,
    Wait,
    /// Who has it lives.
    Refused,
}

/// What was seen of the hub that has the name.
#[derive(Debug)]
struct Watched {
    began: Instant,
    last: Option<Predecessor>,
    /// When its count changed last.
    changed: Instant,
}

impl Watched {
    fn new(now: Instant) -> Watched {
        Watched { began: now, last: None, changed: now }
    }

    fn judge(&mut self, found: Option<Predecessor>, lock_id: &str, dead_after: Duration, now: Instant) -> Naming {
        let Some(found) = found else { return Naming::Take };
        if !lock_id.is_empty() && found.lock_id.as_deref() == Some(lock_id) {
            return Naming::Take;
        }
        if self.last.as_ref() != Some(&found) {
            // The first look says nothing of how long it has been silent.
            if self.last.is_none() {
                self.began = now;
            }
            self.changed = now;
            self.last = Some(found);
        }
        if now - self.changed >= dead_after {
            Naming::Take
        } else if now - self.began >= dead_after && self.changed > self.began {
            Naming::Refused
        } else {
            Naming::Wait
        }
    }
}

/// A new number for this hub, with lanes. A hub of this name that is gone is evicted; one that lives is not, and after a wait this
/// one is refused.
pub(super) async fn join(session: &Session, options: &Options) -> Result<i64, OpenFault> {
    let fail = || OpenFault::database("join");
    let mut watched = Watched::new(Instant::now());
    loop {
        session.batch("BEGIN; SELECT 1 FROM meta WHERE name = 'schema' FOR UPDATE").await.map_err(fail())?;
        let found = predecessor(session, &options.name).await.map_err(fail())?;
        let waited = watched.last.is_some();
        match watched.judge(found, &options.lock_id, options.dead_after, Instant::now()) {
            Naming::Take => return take(session, options).await.map_err(fail()),
            Naming::Wait => session.batch("ROLLBACK").await.map_err(fail())?,
            Naming::Refused => {
                return Err(OpenFault::NameTaken { name: options.name.clone(), dead_after: options.dead_after });
            }
        }
        if !waited {
            tracing::warn!(
                event = "hub_name_taken",
                name = options.name,
                "another hub has this name; waiting until it has left or is silent"
            );
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn predecessor(session: &Session, name: &str) -> Result<Option<Predecessor>, SqlError> {
    let sql = "SELECT no, beat, lock_id FROM hubs WHERE name = $1 AND state < 3 FOR UPDATE";
    let rows = session.query(sql, &[&name]).await?;
    Ok(rows.first().map(Predecessor::of).transpose()?)
}

/// In the transaction that has looked.
async fn take(session: &Session, options: &Options) -> Result<i64, SqlError> {
    let evict = "WITH evicted AS (UPDATE hubs SET state = 4 WHERE name = $1 AND state < 3 RETURNING no)
         DELETE FROM lanes WHERE hub IN (SELECT no FROM evicted)";
    session.execute(evict, &[&options.name]).await?;
    let insert = "INSERT INTO hubs (name, build, state, lock_id) VALUES ($1, $2, 1, $3) RETURNING no";
    let rows = session.query(insert, &[&options.name, &env!("CARGO_PKG_VERSION"), &options.lock_id]).await?;
    let hub: i64 = rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
    let make = "INSERT INTO lanes SELECT $1::int8, lane, 0 FROM generate_series(0, $2::int4 - 1) AS lane";
    session.execute(make, &[&hub, &i32::from(options.writers.max(1))]).await?;
    // What hubs that are gone had begun to write, and rows that nobody looks at any more.
    let parts = "WITH gone AS (DELETE FROM parts WHERE hub IN (SELECT no FROM hubs WHERE state >= 3) RETURNING no)
         DELETE FROM chunks WHERE no IN (SELECT no FROM gone)";
    session.execute(parts, &[]).await?;
    session.execute("DELETE FROM hubs WHERE state >= 3 AND no <= $1", &[&hub.saturating_sub(ROWS)]).await?;
    session.batch("COMMIT").await?;
    Ok(hub)
}

/// Beats until it is asked to leave. What it finds shows in the condition: a database that does not answer, and an eviction.
pub(super) async fn beat(
    target: Arc<Target>,
    hub: i64,
    condition: Arc<watch::Sender<Condition>>,
    mut leaving: oneshot::Receiver<oneshot::Sender<()>>,
) {
    let (mut session, mut ticks) = (None, tokio::time::interval(BEAT));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            // A store that is dropped without being closed says nothing, as one that was killed.
            asked = &mut leaving => {
                let Ok(done) = asked else { return };
                if let Err(error) = leave(&target, hub).await {
                    tracing::warn!(event = "hub_not_left", error, "the hub could not sign off from its database");
                }
                // Whoever asked may be gone.
                let _ = done.send(());
                return;
            }
        }
        if !once(&target, hub, &condition, &mut session).await {
            return;
        }
    }
}

/// One beat; `false` when this hub was evicted.
async fn once(target: &Target, hub: i64, condition: &watch::Sender<Condition>, session: &mut Option<Session>) -> bool {
    if session.is_none() {
        match connect(target).await {
            Ok(new) => *session = Some(new),
            Err(error) => {
                tracing::warn!(event = "database_away", error, "the database cannot be reached");
                note(condition, Condition::Away);
            }
        }
    }
    let Some(open) = session.as_ref() else { return true };
    match open.execute("UPDATE hubs SET beat = beat + 1 WHERE no = $1 AND state < 3", &[&hub]).await {
        Ok(0) => {
            tracing::error!(
                event = "hub_evicted",
                "another hub took the place of this one; nothing is stored until the hub is restarted"
            );
            condition.send_replace(Condition::Failed);
            return false;
        }
        Ok(_) => {
            // A full disk is for the writers to find out.
            condition.send_if_modified(|now| {
                *now == Condition::Away && std::mem::replace(now, Condition::Writable) == Condition::Away
            });
        }
        Err(error) => {
            tracing::warn!(event = "database_away", error = error.said(), "the database does not answer");
            note(condition, Condition::Away);
            *session = None;
        }
    }
    true
}

/// Beats do not wait for a standby: a slow one would look like death.
async fn connect(target: &Target) -> Result<Session, String> {
    let session = target.connect().await.map_err(|error| error.to_string())?;
    session.batch("SET synchronous_commit = off").await.map_err(|error| error.said())?;
    Ok(session)
}

/// The name is free for the next one at once.
async fn leave(target: &Target, hub: i64) -> Result<(), String> {
    let session = target.connect().await.map_err(|error| error.to_string())?;
    let sql = "WITH left_hub AS (UPDATE hubs SET state = 3 WHERE no = $1 AND state < 3)
         DELETE FROM lanes WHERE hub = $1";
    session.execute(sql, &[&hub]).await.map(drop).map_err(|error| error.said())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEAD_AFTER: Duration = Duration::from_secs(10);

    fn hub(beat: i64) -> Option<Predecessor> {
        Some(Predecessor { no: 7, beat, lock_id: Some("theirs".into()) })
    }

    /// What follows when this is seen, second by second.
    fn judged(seen: impl IntoIterator<Item = Option<Predecessor>>) -> Vec<Naming> {
        let began = Instant::now();
        let mut watched = Watched::new(began);
        let looks = seen.into_iter().zip(0..);
        looks
            .map(|(found, second)| watched.judge(found, "mine", DEAD_AFTER, began + Duration::from_secs(second)))
            .collect()
    }

    #[test]
    fn a_free_name_and_one_whose_lock_is_ours_are_taken_at_once() {
        assert_eq!(judged([None]), [Naming::Take]);
        let mut own = hub(3);
        own.as_mut().unwrap().lock_id = Some("mine".into());
        assert_eq!(judged([own]), [Naming::Take]);
    }

    #[test]
    fn a_hub_that_is_silent_for_the_whole_time_is_dead_and_not_a_second_earlier() {
        let silent = judged(std::iter::repeat_n(hub(3), 11));
        assert!(silent[..10].iter().all(|found| *found == Naming::Wait), "{silent:?}");
        assert_eq!(silent[10], Naming::Take);
    }

    #[test]
    fn a_hub_that_beats_is_never_evicted_and_one_that_leaves_meanwhile_makes_way() {
        let beating = judged((0..11).map(hub));
        assert!(beating[..10].iter().all(|found| *found == Naming::Wait), "{beating:?}");
        assert_eq!(beating[10], Naming::Refused);
        assert_eq!(judged((0..3).map(hub).chain([None])).pop(), Some(Naming::Take));
        // A late beat counts: it is silent only since then.
        let late = judged((0..9).map(|_| hub(3)).chain([hub(4), hub(4)]));
        assert_eq!(late[10], Naming::Refused);
    }
}
