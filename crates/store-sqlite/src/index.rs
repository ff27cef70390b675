//! The skill index port: full-text ranking with FTS5, in memory. It is derived from the cards of the registered peers, so nothing of it is
//! stored.
//!
//! A score lies between 0 and 1 and is comparable between requests:
//!
//! `score = coverage * (0.5 + 0.5 * rank / best rank)`
//!
//! `coverage` is the share of the request's words that the skill knows, each weighted by how rare it is among the skills
//! (`ln(1 + (N - n + 0.5) / (n + 0.5))`). A word that no skill knows is likely a value ("Paris") and weighs a quarter of an
//! average one. `rank` is bm25 over the columns name, title, description and keywords, weighted 4, 4, 1 and 3. So a skill that knows
//! every word and ranks best has 1; one that knows a rare half of the words stays near one half, whatever bm25 says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use interlingua_model::id::Text;
use interlingua_model::ports::{Hit, Indexed, Pending, SkillIndex, StoreFault};
use rusqlite::{Connection, params};

use super::fault::Refused;
use super::words;

const SCHEMA: &str = "
CREATE TABLE skills (id INTEGER PRIMARY KEY, peer TEXT NOT NULL, skill TEXT NOT NULL);
CREATE INDEX skills_by_peer ON skills (peer);
CREATE VIRTUAL TABLE words USING fts5 (
    name, title, description, keywords,
    content = '', contentless_delete = 1, prefix = '3 4 5', tokenize = 'unicode61 remove_diacritics 2'
);
";
/// bm25 of FTS5 is negative, better ones further from zero.
const RANK: &str = "SELECT rowid, -bm25(words, 4.0, 4.0, 1.0, 3.0) FROM words WHERE words MATCH ?1";
/// What a word unknown to all skills weighs, of an average known one.
const UNKNOWN: f64 = 0.25;

#[derive(Debug, Clone)]
pub(super) struct Ranking(Arc<Mutex<Connection>>);

impl Ranking {
    pub(super) fn new() -> rusqlite::Result<Ranking> {
        let db = Connection::open_in_memory()?;
        db.execute_batch(SCHEMA)?;
        Ok(Ranking(Arc::new(Mutex::new(db))))
    }

    async fn work<T, F>(&self, work: F) -> Result<T, StoreFault>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, Refused> + Send + 'static,
    {
        let db = self.0.clone();
        let done = tokio::task::spawn_blocking(move || {
            let mut db = db.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut db).map_err(StoreFault::from)
        });
        done.await.unwrap_or(Err(StoreFault::Closed))
    }
}

impl SkillIndex for Ranking {
    fn replace(&self, peer: &str, skills: Vec<Indexed>) -> Pending<'_, ()> {
        let peer = peer.to_owned();
        Box::pin(self.work(move |db| replace(db, &peer, &skills)))
    }

    fn search(&self, words: &str, limit: usize) -> Pending<'_, Vec<Hit>> {
        let queries = words::queries(words);
        Box::pin(self.work(move |db| search(db, &queries, limit)))
    }
}

fn replace(db: &mut Connection, peer: &str, skills: &[Indexed]) -> Result<(), Refused> {
    let change = db.transaction()?;
    change.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM skills WHERE peer = ?1)", [peer])?;
    change.execute("DELETE FROM skills WHERE peer = ?1", [peer])?;
    for skill in skills {
        let id = change
            .prepare_cached("INSERT INTO skills (peer, skill) VALUES (?1, ?2)")?
            .insert(params![peer, skill.skill])?;
        change
            .prepare_cached(
                "INSERT INTO words (rowid, name, title, description, keywords) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![id, skill.skill, skill.title, skill.description, skill.keywords])?;
    }
    Ok(change.commit()?)
}

/// What is known of one skill while the words are gone through.
#[derive(Debug, Default, Clone, Copy)]
struct Match {
    covered: f64,
    rank: f64,
}

fn search(db: &Connection, queries: &[String], limit: usize) -> Result<Vec<Hit>, Refused> {
    let skills: f64 = db.prepare_cached("SELECT count(*) FROM skills")?.query_row([], |row| row.get(0))?;
    let mut matches: HashMap<i64, Match> = HashMap::new();
    let (mut known, mut known_weight, mut unknown) = (0.0, 0.0, 0.0);
    for query in queries {
        let hits = ranked(db, query)?;
        if hits.is_empty() {
            unknown += 1.0;
            continue;
        }
        let weight = rarity(skills, hits.len());
        known += 1.0;
        known_weight += weight;
        for (id, rank) in hits {
            let entry = matches.entry(id).or_default();
            entry.covered += weight;
            entry.rank += rank;
        }
    }
    if matches.is_empty() {
        return Ok(Vec::new());
    }
    let whole = known_weight + UNKNOWN * unknown * known_weight / known;
    best(db, matches, whole, limit)
}

fn ranked(db: &Connection, query: &str) -> rusqlite::Result<Vec<(i64, f64)>> {
    db.prepare_cached(RANK)?.query_map([query], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn rarity(skills: f64, with_word: usize) -> f64 {
    let with_word = with_word as f64;
    (1.0 + (skills - with_word + 0.5) / (with_word + 0.5)).ln()
}

fn best(db: &Connection, matches: HashMap<i64, Match>, whole: f64, limit: usize) -> Result<Vec<Hit>, Refused> {
    let top = matches.values().map(|found| found.rank).fold(f64::MIN_POSITIVE, f64::max);
    let score = |found: Match| (found.covered / whole * (0.5 + 0.5 * (found.rank / top))).clamp(0.0, 1.0);
    let mut scored: Vec<(i64, f64)> = matches.into_iter().map(|(id, found)| (id, score(found))).collect();
    // Equal scores in the order the skills were made known, so that an answer is the same twice.
    scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.truncate(limit);
    let mut select = db.prepare_cached("SELECT skill FROM skills WHERE id = ?1")?;
    let hits = scored.into_iter().map(|(id, score)| {
        let skill: Text = select.query_row([id], |row| row.get(0))?;
        Ok(Hit { skill, score })
    });
    hits.collect()
}
