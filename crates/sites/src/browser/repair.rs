//! Selector repair. An element is found by its selector. If nothing matches, or another element than before, the fallbacks are tried in
//! order: alternates, its fingerprint, its accessible name, a model's choice among the candidates; rows by their shape. Every repair is
//! reported, and a guessed element is pressed only after an approval if pressing may change something.

use std::time::Duration;

use crate::definition::advice::{Wanted, choice, read, reading};
use crate::definition::bind::{Bound, Doing};
use crate::definition::extract::{Field, clean};
use crate::definition::proposal::{Level, Mended};
use crate::definition::repair::{Called, Fingerprint, called, choose, choose_called, choose_rows, drifted, score};
use crate::definition::{Extract, Locator, Trouble};
use interlingua_model::Text;
use interlingua_model::json::Tree;
use serde_json::{Map, json};
use tokio::time::Instant;

use super::page::{Failed, Found};
use super::play::{Player, at_step};

/// How long a loaded page is given to show an element before others are looked at.
const PATIENCE: Duration = Duration::from_millis(2_500);

/// Why another element is used.
const NOT_THERE: &str = "is not there";
const ANOTHER: &str = "is another element than before";

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
        // The page's own names and the browser's words about them.
        let by = clean(&found.by);
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
    /// The step has this long: the time a person took to answer is not its.
    pub(super) until: Instant,
}

/// An element that could stand for the one that is missing.
struct Guess {
    index: usize,
    print: Fingerprint,
    level: Level,
    score: f64,
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
            return self.known_again(hand, op, &args, found).await;
        }
        let missing = found.why == "missing";
        if missing && let Some(mended) = self.meant(hand, op, &args, None).await? {
            return Ok(mended);
        }
        if missing && Instant::now() < hand.until {
            args["patience"] = 0.into();
            found = self.ask(hand, op, &args).await?;
            if found.ok {
                return self.known_again(hand, op, &args, found).await;
            }
        }
        Err(match self.page.is_gone() {
            true => Trouble::BrowserCrashed { step: hand.number },
            false => hand.refused(&found),
        })
    }

    /// What the selector found. If that does not look like what it found before, the one that does is meant; where there is
    /// none, a press that may change something needs a yes.
    async fn known_again(&mut self, hand: &Hand<'_>, op: &str, args: &Tree, found: Found) -> Result<Ready, Trouble> {
        let known = self.looked(hand);
        let drift = known.zip(found.print.as_ref()).and_then(|(known, print)| drifted(&known, print));
        let (Some(score), Some(print), false) = (drift, found.print.clone(), op == "wait") else {
            self.used(hand, &found);
            return Ok(Ready { found, until: hand.until });
        };
        if let Some(mended) = self.meant(hand, op, args, Some(&print)).await? {
            return Ok(mended);
        }
        let (found, until) = match self.may_guess(hand) {
            true => (found, hand.until),
            false => {
                let until = self.agreed(hand, &print, ANOTHER).await?;
                (self.ask_until(hand, op, args, until).await?, until)
            }
        };
        self.unchanged(hand, &found, &print)?;
        self.played.seen.push((hand.number, print.clone()));
        self.played.mended.push(Mended {
            step: hand.number,
            from: hand.at.first().to_owned(),
            to: hand.at.first().to_owned(),
            level: Level::Drift,
            score,
            seen: Some(print),
            fields: Vec::new(),
        });
        Ok(Ready { found, until })
    }

    /// What the element of this step looked like when it was last used, or when the definition was written.
    fn looked(&self, hand: &Hand<'_>) -> Option<Fingerprint> {
        self.beside.known.get(&hand.number).cloned().or_else(|| hand.at.known.as_deref().cloned())
    }

    async fn ask(&mut self, hand: &Hand<'_>, op: &str, args: &Tree) -> Result<Found, Trouble> {
        self.ask_until(hand, op, args, hand.until).await
    }

    async fn ask_until(&mut self, hand: &Hand<'_>, op: &str, args: &Tree, until: Instant) -> Result<Found, Trouble> {
        let mut found = self.page.engine(op, args, until).await.map_err(|failed| hand.trouble(failed))?;
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

    /// The element that is clearly meant, used; not the one that the selector finds. What was only guessed is pressed after a
    /// yes where that matters.
    async fn meant(
        &mut self,
        hand: &Hand<'_>,
        op: &str,
        args: &Tree,
        found: Option<&Fingerprint>,
    ) -> Result<Option<Ready>, Trouble> {
        let kind = if op == "wait" { "any" } else { "use" };
        let candidates = self.ask(hand, "candidates", &json!({"kind": kind})).await?.candidates;
        let guess = match self.guess(hand, &candidates) {
            Some(guess) => Some(guess),
            None => self.advised(hand, op, &candidates).await,
        };
        let another = |guess: &Guess| found.is_none_or(|found| found.selector != guess.print.selector);
        let Some(guess) = guess.filter(another) else { return Ok(None) };
        let why = if found.is_none() { NOT_THERE } else { ANOTHER };
        let until = match self.may_guess(hand) {
            true => hand.until,
            false => self.agreed(hand, &guess.print, why).await?,
        };
        let mut args = args.clone();
        args["picked"] = guess.index.into();
        let found = self.ask_until(hand, op, &args, until).await?;
        if !found.ok {
            return Ok(None);
        }
        self.unchanged(hand, &found, &guess.print)?;
        self.played.seen.push((hand.number, guess.print.clone()));
        self.played.mended.push(Mended {
            step: hand.number,
            from: hand.at.first().to_owned(),
            to: guess.print.selector.clone(),
            level: guess.level,
            score: guess.score,
            seen: Some(guess.print),
            fields: Vec::new(),
        });
        Ok(Some(Ready { found, until }))
    }

    /// By what the element looked like, then by what it is called.
    fn guess(&self, hand: &Hand<'_>, candidates: &[Fingerprint]) -> Option<Guess> {
        let by_sight = self.looked(hand).and_then(|seen| choose(&seen, candidates));
        let by_name = || choose_called(&self.called(hand), candidates);
        let (level, chosen) = match by_sight {
            Some(chosen) => (Level::Fingerprint, chosen),
            None => (Level::Name, by_name()?),
        };
        let print = candidates.get(chosen.index)?.clone();
        Some(Guess { index: chosen.index, print, level, score: chosen.score })
    }

    pub(super) fn called(&self, hand: &Hand<'_>) -> Called {
        // A button that ends a sequence is often called what the sequence is.
        let also = match (&hand.step.does, hand.parameter) {
            (Doing::Click(_), _) => Some(&*self.plan.action),
            (_, parameter) => parameter.map(|name| &**name),
        };
        called(hand.at.first(), hand.kind, also.as_slice())
    }

    /// A model's choice among the elements there are, without and then with a picture of them.
    async fn advised(&mut self, hand: &Hand<'_>, op: &str, candidates: &[Fingerprint]) -> Option<Guess> {
        // Waiting is for what comes by itself: nobody is asked about that.
        if op == "wait" {
            return None;
        }
        let (known, called) = (self.looked(hand), self.called(hand));
        let (plan, does) = (self.plan, hand.step.does.as_str());
        let hidden = plan.secrets();
        let wanted =
            Wanted { action: &plan.action, does, selector: hand.at.first(), called: &called, known: known.as_ref() };
        for level in [Level::Model, Level::Sight] {
            let picture = match level {
                // A picture cannot be searched for what must not be seen.
                Level::Sight if !hidden.is_empty() => return None,
                Level::Sight => Some(self.page.picture().await?),
                _ => None,
            };
            let choice = choice(wanted, candidates, &hidden, picture)?;
            let reply = self.beside.keeper.advise(choice.prompt.clone()).await?;
            if let Some(index) = choice.chosen(&reply) {
                let print = candidates.get(index)?.clone();
                let score = known.as_ref().map_or(0.0, |known| score(known, &print));
                return Some(Guess { index, print, level, score });
            }
        }
        None
    }

    /// A person says whether this element may be used. Returns how long the step has from then on.
    async fn agreed(&mut self, hand: &Hand<'_>, print: &Fingerprint, why: &str) -> Result<Instant, Trouble> {
        let short = |text: &str| clean(text).chars().take(80).collect::<String>();
        let name = [&print.name, &print.text, &print.id].into_iter().find(|text| !text.is_empty());
        let text = format!(
            "Step {} of {} ({}): {} {why}. Use \"{}\" ({}) instead?",
            hand.number,
            self.plan.action,
            hand.step.does.as_str(),
            hand.at.first(),
            short(name.map_or("", String::as_str)),
            short(&print.selector),
        );
        let begun = Instant::now();
        let aside = self.beside.seat.step_aside()?;
        let agreed = self.beside.voice.agrees(&text).await;
        self.beside.seat.come_back(aside).await?;
        if !agreed {
            return Err(hand.missing(
                "nobody said yes to another element, and a press that may change something is never guessed",
            ));
        }
        self.end += begun.elapsed();
        Ok(self.end.min(Instant::now() + hand.step.limit))
    }

    /// A page may change while somebody thinks: what was agreed to is what is used.
    fn unchanged(&self, hand: &Hand<'_>, found: &Found, agreed: &Fingerprint) -> Result<(), Trouble> {
        match &found.print {
            Some(print) if found.ok && print != agreed && drifted(agreed, print).is_some() => {
                Err(hand.unusable("it has changed meanwhile"))
            }
            _ if found.ok => Ok(()),
            _ => Err(hand.refused(found)),
        }
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

    /// Rows that a model finds in the texts of the elements, because the definition asks for that.
    pub(super) async fn read_by_model(
        &mut self,
        hand: &Hand<'_>,
        extract: &Extract,
    ) -> Result<Vec<Map<String, Tree>>, Trouble> {
        let selectors: Vec<String> = hand.at.tries.iter().map(ToString::to_string).collect();
        let text = [(Text::from("text"), Field::parse("."))];
        let found = self.read_rows(hand, &selectors, &[".".to_owned()], &text, extract.most).await?;
        let texts: Vec<String> =
            found.rows.iter().filter_map(|row| row.get("text")?.as_str()).map(str::to_owned).collect();
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let prompt = reading(&texts, &extract.fields, &self.plan.secrets());
        let failed = |problem: &str| Trouble::ExtractionInvalid {
            step: hand.number,
            field: "*".into(),
            problem: problem.to_owned(),
        };
        let reply = self.beside.keeper.advise(prompt).await.ok_or_else(|| failed("need a model, and none answers"))?;
        read(&reply, &texts, &extract.fields, extract.most).ok_or_else(|| failed("were not read by the model"))
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
