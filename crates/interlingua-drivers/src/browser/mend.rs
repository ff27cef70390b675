//! An element is found by its selector; when nothing matches, by the ladder: alternates, what it looked like, what it is
//! called; rows by their shape. Nothing is mended silently, and nothing is pressed that was only guessed where pressing
//! may change something.

use std::time::Duration;

use interlingua_core::Text;
use interlingua_core::json::Tree;
use interlingua_core::site::bind::{Bound, Doing};
use interlingua_core::site::extract::Field;
use interlingua_core::site::proposal::{Level, Mended};
use interlingua_core::site::repair::{Fingerprint, called, choose, choose_called, choose_rows};
use interlingua_core::site::{Locator, Trouble};
use serde_json::{Map, json};
use tokio::time::Instant;

use super::page::{Failed, Found};
use super::play::{Player, at_step};

/// How long a loaded page is given to show an element before others are looked at.
const PATIENCE: Duration = Duration::from_millis(2_500);

/// A step that needs an element.
pub(super) struct Hand<'a> {
    pub(super) number: usize,
    pub(super) at: &'a Locator,
    /// The tag such an element usually has.
    pub(super) kind: &'static str,
    pub(super) parameter: Option<&'a Text>,
    pub(super) step: &'a Bound,
    pub(super) until: Instant,
}

impl Hand<'_> {
    pub(super) fn trouble(&self, failed: Failed) -> Trouble {
        match failed {
            Failed::Error(error) => self.unusable(&error),
            failed => at_step(self.number, failed),
        }
    }

    pub(super) fn unusable(&self, reason: &str) -> Trouble {
        Trouble::NotActionable { step: self.number, selector: self.at.first().to_owned(), reason: reason.to_owned() }
    }

    fn missing(&self, more: &str) -> Trouble {
        let mut tried: Vec<String> = self.at.tries.iter().map(ToString::to_string).collect();
        tried.push(more.to_owned());
        Trouble::SelectorNotFound { step: self.number, selector: self.at.first().to_owned(), tried }
    }

    /// What the engine found in the way.
    fn refused(&self, found: &Found) -> Trouble {
        let by = &found.by;
        match found.why.as_str() {
            "missing" => self.missing("nothing else fits"),
            "option" => Trouble::OptionNotFound {
                step: self.number,
                selector: self.at.first().to_owned(),
                option: match &self.step.does {
                    Doing::Select { option, .. } if !option.secret => option.value.clone(),
                    _ => String::new(),
                },
            },
            "hidden" => self.unusable("it cannot be seen"),
            "disabled" => self.unusable("it is disabled"),
            "moving" => self.unusable("it does not stand still"),
            "covered" => self.unusable(&format!("it is covered by {by}")),
            "readonly" => self.unusable("it is read-only"),
            "unfit" => self.unusable(&format!("{by} takes no such input")),
            "value" => self.unusable(&format!("a field of type {by} does not take this value")),
            "selector" => self.unusable(&format!("the selector is not one: {by}")),
            why => self.unusable(why),
        }
    }
}

/// An element that can be used now.
pub(super) struct Ready {
    pub(super) found: Found,
}

impl Player<'_> {
    /// Waits for the element of a step, or for the one that is meant.
    pub(super) async fn ready(&mut self, hand: &Hand<'_>, op: &str, args: Tree) -> Result<Ready, Trouble> {
        let mut args = args;
        args["tries"] = hand.at.tries.iter().map(|one| Tree::from(&**one)).collect();
        let patience = match op {
            "wait" => hand.step.limit.min(PATIENCE * 2),
            _ => PATIENCE,
        };
        args["patience"] = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX).into();
        let mut found = self.ask(hand, op, &args).await?;
        if found.ok {
            self.used(hand, &found);
            return Ok(Ready { found });
        }
        let missing = found.why == "missing";
        if missing
            && self.may_guess(hand)
            && let Some(mended) = self.meant(hand, op, &args).await?
        {
            return Ok(mended);
        }
        if missing && Instant::now() < hand.until {
            args["patience"] = 0.into();
            found = self.ask(hand, op, &args).await?;
            if found.ok {
                self.used(hand, &found);
                return Ok(Ready { found });
            }
        }
        Err(match self.page.is_gone() {
            true => Trouble::BrowserCrashed { step: hand.number },
            false if missing && !self.may_guess(hand) => {
                hand.missing("a press that may change something is never guessed")
            }
            false => hand.refused(&found),
        })
    }

    async fn ask(&mut self, hand: &Hand<'_>, op: &str, args: &Tree) -> Result<Found, Trouble> {
        let mut found = self.page.engine(op, args, hand.until).await.map_err(|failed| hand.trouble(failed))?;
        let href = std::mem::take(&mut found.href);
        self.went(Found { href, ..Found::default() });
        Ok(found)
    }

    fn may_guess(&self, hand: &Hand<'_>) -> bool {
        let presses = matches!(hand.step.does, Doing::Click(_));
        !(hand.step.commits || (presses && self.plan.changes))
    }

    /// Remembers what was used, and whether that was the first choice.
    fn used(&mut self, hand: &Hand<'_>, found: &Found) {
        let alternate = usize::try_from(found.used).ok().filter(|used| *used > 0);
        if let Some(other) = alternate.and_then(|used| hand.at.tries.get(used)) {
            self.played.mended.push(Mended {
                step: hand.number,
                from: hand.at.first().to_owned(),
                to: other.to_string(),
                level: Level::Alternate,
                score: 1.0,
                seen: found.print.clone(),
                fields: Vec::new(),
            });
        }
        if let Some(seen) = &found.print {
            self.played.seen.push((hand.number, seen.clone()));
        }
    }

    /// The element that is clearly meant, used.
    async fn meant(&mut self, hand: &Hand<'_>, op: &str, args: &Tree) -> Result<Option<Ready>, Trouble> {
        let kind = if op == "wait" { "any" } else { "use" };
        let candidates = self.ask(hand, "candidates", &json!({"kind": kind})).await?.candidates;
        let seen = (self.known)(hand.number).or_else(|| hand.at.known.as_deref().cloned());
        // A button that ends a sequence is often called what the sequence is.
        let also = match (&hand.step.does, hand.parameter) {
            (Doing::Click(_), _) => Some(&*self.plan.action),
            (_, parameter) => parameter.map(|name| &**name),
        };
        let names = called(hand.at.first(), hand.kind, also.as_slice());
        let by_sight =
            seen.as_ref().and_then(|seen| choose(seen, &candidates)).map(|chosen| (Level::Fingerprint, chosen));
        let by_name = || choose_called(&names, &candidates).map(|chosen| (Level::Name, chosen));
        let Some((level, chosen)) = by_sight.or_else(by_name) else { return Ok(None) };
        let mut args = args.clone();
        args["picked"] = chosen.index.into();
        let found = self.ask(hand, op, &args).await?;
        if !found.ok {
            return Ok(None);
        }
        let used: Fingerprint = candidates.into_iter().nth(chosen.index).unwrap_or_default();
        self.played.seen.push((hand.number, used.clone()));
        self.played.mended.push(Mended {
            step: hand.number,
            from: hand.at.first().to_owned(),
            to: used.selector.clone(),
            level,
            score: chosen.score,
            seen: Some(used),
            fields: Vec::new(),
        });
        Ok(Some(Ready { found }))
    }

    /// Rows as the page shows them. None at all, or none with any field, may mean that the page was rebuilt.
    pub(super) async fn rows(
        &mut self,
        hand: &Hand<'_>,
        fields: &[(Text, Field)],
        most: usize,
    ) -> Result<Vec<Map<String, Tree>>, Trouble> {
        let selectors: Vec<String> = hand.at.tries.iter().map(ToString::to_string).collect();
        let written: Vec<String> = fields.iter().map(|(_, field)| field.selector.to_string()).collect();
        let found = self.read_rows(hand, &selectors, &written, fields, most).await?;
        let empty = found.rows.iter().all(Map::is_empty);
        if !empty || fields.iter().any(|(_, field)| field.list) {
            self.used(hand, &found);
            return Ok(found.rows);
        }
        let groups = self.ask(hand, "alike", &json!({})).await?.groups;
        let Some(again) = choose_rows(hand.at.first(), fields, &groups) else { return Ok(found.rows) };
        let mended = self.read_rows(hand, std::slice::from_ref(&again.selector), &again.fields, fields, most).await?;
        if mended.rows.iter().all(Map::is_empty) {
            return Ok(found.rows);
        }
        self.played.mended.push(Mended {
            step: hand.number,
            from: hand.at.first().to_owned(),
            to: again.selector,
            level: Level::Shape,
            score: again.score,
            seen: None,
            fields: fields.iter().map(|(name, _)| name.clone()).zip(again.fields).collect(),
        });
        Ok(mended.rows)
    }

    async fn read_rows(
        &mut self,
        hand: &Hand<'_>,
        tries: &[String],
        places: &[String],
        fields: &[(Text, Field)],
        most: usize,
    ) -> Result<Found, Trouble> {
        let wanted: Vec<Tree> = fields
            .iter()
            .zip(places)
            .map(|((name, field), place)| {
                json!({"name": &**name, "selector": place, "attribute": field.attribute.as_deref(), "list": field.list})
            })
            .collect();
        let found = self.ask(hand, "rows", &json!({"tries": tries, "fields": wanted, "most": most})).await?;
        match (found.ok, found.too_much) {
            (true, false) => Ok(found),
            (true, true) => Err(Trouble::ExtractionInvalid {
                step: hand.number,
                field: "*".into(),
                problem: "hold more text than one call may take".to_owned(),
            }),
            (false, _) => Err(hand.refused(&found)),
        }
    }
}
