//! Step player: runs a bound sequence strictly in order; the first step that fails ends it.

use std::collections::HashMap;
use std::time::Duration;

use crate::definition::bind::{Bound, Doing, Plan};
use crate::definition::proposal::{Level, Mended};
use crate::definition::repair::{Fingerprint, drifted};
use crate::definition::{Extract, Trouble, extract};
use bytes::Bytes;
use interlingua_model::Text;
use interlingua_model::address::{Address, Origin};
use interlingua_model::json::Tree;
use serde_json::{Map, json};
use tokio::time::Instant;

use super::host::BrowserHost;
use super::lease::Seat;
use super::page::{Failed, Found, Page};
use super::proxy::Rules;
use super::questions::CallerQuestions;
use super::repair::{Hand, Ready};
use super::watch::InUse;

/// After a press a new page may be on its way; most are not.
const TURNING: Duration = Duration::from_secs(5);
/// Pictures of one call.
const MAX_PICTURES: usize = 20;

/// What came of it.
#[derive(Debug, Default)]
pub struct Played {
    /// Rows of the last extract; `None` when the sequence has none.
    pub rows: Option<Vec<Tree>>,
    /// Extracts that have names.
    pub named: Map<String, Tree>,
    pub address: String,
    /// A text on the page was longer than is read of one.
    pub cut: bool,
    pub trace: Vec<Tree>,
    pub mended: Vec<Mended>,
    /// What each element looked like, by step from 1.
    pub seen: Vec<(usize, Fingerprint)>,
    pub pictures: Vec<Bytes>,
    /// The session it was played in, and how that was found.
    pub session: Option<(Text, &'static str)>,
}

/// Where it stopped, and what there is so far.
#[derive(Debug)]
pub struct Stopped {
    pub trouble: Trouble,
    /// A step that cannot be taken back was begun.
    pub committed: bool,
    pub so_far: Played,
}

/// One sequence on one page.
pub(super) struct Player<'a> {
    pub(super) page: &'a mut Page,
    pub(super) plan: &'a Plan,
    pub(super) rules: &'a Rules,
    pub(super) beside: Beside<'a>,
    pub(super) played: Played,
    /// For the whole; a question stops this clock.
    pub(super) end: Instant,
    committed: bool,
}

/// Who helps where the page does not.
pub(super) struct Beside<'a> {
    /// What elements looked like the last time, by step from 1.
    pub(super) known: &'a HashMap<usize, Fingerprint>,
    pub(super) voice: &'a CallerQuestions,
    pub(super) keeper: &'a dyn BrowserHost,
    /// Given up while a person thinks.
    pub(super) seat: &'a Seat,
    /// Shows where it is to those who watch.
    pub(super) in_use: &'a InUse,
}

impl<'a> Player<'a> {
    pub(super) fn new(page: &'a mut Page, plan: &'a Plan, rules: &'a Rules, beside: Beside<'a>) -> Player<'a> {
        let end = Instant::now() + plan.limit;
        Player { page, plan, rules, beside, played: Played::default(), end, committed: false }
    }

    pub(super) async fn play(mut self) -> Result<Played, Box<Stopped>> {
        let plan = self.plan;
        for (number, step) in (1..).zip(&plan.steps) {
            self.beside.voice.progress(number, step);
            self.beside.in_use.at(number);
            let begun = Instant::now();
            let until = self.end.min(begun + step.limit);
            self.committed |= step.commits;
            let done = self.step(number, step, until).await;
            let trouble = done.err().map(|trouble| self.explained(trouble)).or_else(|| self.astray(number));
            if let Some(trouble) = trouble {
                return Err(self.stopped(number, step, trouble, begun).await);
            }
            self.note(number, step, begun, None);
            if step.picture {
                self.picture().await;
            }
        }
        Ok(self.played)
    }

    /// Why a page is gone, where the hub itself has ended it.
    fn explained(&self, trouble: Trouble) -> Trouble {
        match trouble {
            Trouble::BrowserCrashed { step } if self.page.chromium.cuts.just_now() => Trouble::PageTooLarge { step },
            trouble => trouble,
        }
    }

    async fn step(&mut self, number: usize, step: &Bound, until: Instant) -> Result<(), Trouble> {
        match &step.does {
            Doing::Navigate(address) => self.navigate(number, address, until).await,
            Doing::Click(at) => self.click(Hand { number, at, kind: "button", parameter: None, step, until }).await,
            Doing::Type { into, text } => {
                let hand = Hand { number, at: into, kind: "input", parameter: text.parameter.as_ref(), step, until };
                let args = json!({"text": text.value, "secret": text.secret});
                let Ready { found, until } = self.ready(&hand, "fill", args).await?;
                if found.insert {
                    self.page.insert(&text.value, until).await.map_err(|failed| hand.trouble(failed))?;
                    self.page.engine("filled", &json!({}), until).await.map_err(|failed| hand.trouble(failed))?;
                }
                Ok(())
            }
            Doing::Select { from, option } => {
                let hand = Hand { number, at: from, kind: "select", parameter: option.parameter.as_ref(), step, until };
                self.ready(&hand, "choose", json!({"text": option.value, "secret": option.secret})).await.map(|_| ())
            }
            Doing::Wait(at) => {
                let hand = Hand { number, at, kind: "", parameter: None, step, until };
                self.ready(&hand, "wait", json!({})).await.map(|_| ())
            }
            Doing::Extract(extract) => {
                let hand = Hand { number, at: &extract.rows, kind: "", parameter: None, step, until };
                self.extract(&hand, extract).await
            }
        }
    }

    async fn navigate(&mut self, step: usize, address: &Address, until: Instant) -> Result<(), Trouble> {
        drop((self.rules.take_refused(), self.rules.take_unreached()));
        match self.page.navigate(&address.to_string(), until).await {
            Ok(()) => {
                let shown = self.page.engine("where", &json!({}), until).await;
                self.went(shown.map_err(|failed| at_step(step, failed))?);
                Ok(())
            }
            // No tunnel: either nobody is there, or the door was kept shut. The browser asks for addresses of its own
            // meanwhile, so that one that was refused is to blame only where the site's own could be reached.
            Err(Failed::Error(error)) => {
                let (unreached, refused) = (self.rules.take_unreached(), self.rules.take_refused());
                Err(match (unreached, refused.into_iter().next()) {
                    (Some(why), _) => Trouble::NavigationFailed { step, error: why },
                    (None, Some(address)) if error.contains("TUNNEL") => Trouble::NavigationBlocked { step, address },
                    (None, _) => Trouble::NavigationFailed { step, error },
                })
            }
            Err(failed) => Err(at_step(step, failed)),
        }
    }

    async fn click(&mut self, hand: Hand<'_>) -> Result<(), Trouble> {
        let until = loop {
            let Ready { found, until } = self.ready(&hand, "press", json!({})).await?;
            let pressed = self.page.press(found.x, found.y, until).await.map_err(|failed| hand.trouble(failed))?;
            if pressed {
                break until;
            }
            if Instant::now() >= until {
                return Err(hand.unusable("something else is always in the way"));
            }
        };
        // Late is no failure here: the next step waits for what it needs.
        match self.page.settled(until.min(Instant::now() + TURNING)).await {
            Ok(()) | Err(Failed::Late) => {}
            Err(failed) => return Err(hand.trouble(failed)),
        }
        if let Ok(shown) = self.page.engine("where", &json!({}), until).await {
            self.went(shown);
        }
        Ok(())
    }

    async fn extract(&mut self, hand: &Hand<'_>, extract: &Extract) -> Result<(), Trouble> {
        self.page.settled(hand.until).await.map_err(|failed| hand.trouble(failed))?;
        let raw = match extract.by_model {
            true => self.read_by_model(hand, extract).await?,
            false => self.rows(hand, &extract.fields, extract.most).await?,
        };
        let mut rows = Vec::with_capacity(raw.len());
        for row in raw {
            let mut read = Map::new();
            for (name, field) in &extract.fields {
                self.played.cut |= row.get(&**name).is_some_and(is_cut);
                if let Some(value) = field.value(hand.number, name, row.get(&**name))? {
                    read.insert(name.to_string(), value);
                }
            }
            rows.push(Tree::Object(read));
        }
        if let Some(name) = &extract.name {
            self.played.named.insert(name.to_string(), Tree::Array(rows.clone()));
        }
        self.played.rows = Some(rows);
        Ok(())
    }

    pub(super) fn went(&mut self, found: Found) {
        if !found.href.is_empty() {
            self.played.address = found.href;
        }
    }

    /// A page that led somewhere the site may not go.
    fn astray(&self, step: usize) -> Option<Trouble> {
        let address = &self.played.address;
        let shown = || self.plan.shown(address).chars().take(200).collect();
        let blocked = || Some(Trouble::NavigationBlocked { step, address: shown() });
        match Address::parse(address) {
            _ if address.is_empty() || address.starts_with("about:blank") => None,
            Ok(parsed) if allowed(&self.plan.origins, &parsed.origin) => None,
            Ok(_) => blocked(),
            // The browser's own page for an address that could not be opened.
            Err(_) => Some(Trouble::NavigationFailed { step, error: "the page cannot be shown".to_owned() }),
        }
    }

    fn note(&mut self, number: usize, step: &Bound, begun: Instant, trouble: Option<&Trouble>) {
        let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut line = json!({"step": number, "action": step.does.as_str(), "ms": ms});
        if let Some(at) = step.does.locator() {
            line["selector"] = at.first().into();
        }
        let healed = |mended: &&Mended| mended.step == number && mended.level != Level::Drift;
        if let Some(mended) = self.played.mended.iter().rfind(healed) {
            line["healed"] = true.into();
            line["from"] = mended.from.as_str().into();
            line["to"] = mended.to.as_str().into();
            line["level"] = mended.level.as_str().into();
            line["score"] = ((mended.score * 100.0).round() / 100.0).into();
        }
        if let Some((_, seen)) = self.played.seen.iter().rfind(|(at, _)| *at == number)
            && let Some(score) = self.beside.known.get(&number).and_then(|known| drifted(known, seen))
        {
            line["drift"] = ((score * 100.0).round() / 100.0).into();
        }
        if let Some(trouble) = trouble {
            line["error"] = trouble.code().into();
        }
        self.played.trace.push(line);
    }

    async fn picture(&mut self) {
        if self.played.pictures.len() < MAX_PICTURES
            && let Some(picture) = self.page.picture().await
        {
            self.played.pictures.push(picture);
        }
    }

    async fn stopped(mut self, number: usize, step: &Bound, trouble: Trouble, begun: Instant) -> Box<Stopped> {
        self.note(number, step, begun, Some(&trouble));
        if !self.page.is_gone() {
            self.picture().await;
        }
        Box::new(Stopped { trouble, committed: self.committed, so_far: self.played })
    }
}

fn allowed(origins: &[Origin], origin: &Origin) -> bool {
    origins.contains(origin)
}

pub(super) fn at_step(step: usize, failed: Failed) -> Trouble {
    match failed {
        Failed::Gone => Trouble::BrowserCrashed { step },
        Failed::Late => Trouble::Timeout { step },
        Failed::Error(error) => Trouble::NavigationFailed { step, error },
    }
}

/// Is a text of a field longer than is kept?
fn is_cut(said: &Tree) -> bool {
    match said {
        Tree::String(text) => extract::is_cut(text),
        Tree::Array(texts) => texts.iter().any(is_cut),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Object(_) => false,
    }
}
