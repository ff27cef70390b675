//! Intent resolution, `resolve` for plain words: phrases first, then full-text ranking, a model where one is configured for it, and a
//! question instead of a guess.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use interlingua_machines::audit::arguments::{Keep, kept};
use interlingua_machines::task::Asking;
use interlingua_machines::words::answer::{Consent, FormAnswer, consent, to_form};
use interlingua_machines::words::given::{Unclear, given};
use interlingua_machines::words::rank::{Bar, Ranked, rank, refit, subject};
use interlingua_machines::words::{Found, Language, Locale, Match, fill, say};
use interlingua_machines::{task, words};
use interlingua_model::{
    Addressee, Answer, Body, Call, Choice, Fault, FaultKind, Input, Json, KindSet, Noun, Part, PeerId, Principal,
    Question, QuestionKind, Schema, Skill, SkillId, SkillKind, Text, Time, Why,
};

use super::Hub;
use super::asking::is_ask;
use super::prepared::{Prepared, Ready, leaves_words, no_such_skill, ready};
use super::registry::Catalogue;
use super::reserved::{self, HELP_SKILL};
use super::slot_cache;

/// The argument under which the answer to "which one?" comes back.
const CHOSEN: &str = "skill";
/// The same of "which parameter is that?".
const PARAMETER: &str = "parameter_meant";
/// How many hits of the full-text index are looked at.
const MAX_HITS: usize = 32;
/// The same where they are only compared with those that would be offered.
const MAX_RELATED: usize = 1_000;
/// How many skills of a peer a refusal names.
const MAX_NAMED: usize = 16;

/// Words on their way to a skill.
struct Spoken<'a> {
    call: &'a Call,
    input: &'a Input,
    text: Cow<'a, str>,
    locale: Locale,
}

impl Hub {
    /// Which skill the words mean, of one peer or of all. Words that mean nothing here go to the hub's own help; one peer's
    /// caller is refused, since help of the hub's would pass for an answer of that peer. A greeting is answered with what the
    /// caller can ask for.
    pub(super) async fn by_words(
        &self,
        by: &Principal,
        call: &Call,
        catalogue: &Catalogue,
        of: Option<&PeerId>,
    ) -> Result<Prepared, Fault> {
        let Some(input) = call.input() else { return Err(no_words()) };
        let text = input.words();
        let locale = Locale::detect(input.parts.iter().find_map(language), &text);
        let spoken = Spoken { call, input, text, locale };
        let may = |id: &SkillId| {
            let leads_back =
                |skill: &Skill| skill.kind == SkillKind::Agent && leaves_words(catalogue, &skill.id.peer, input);
            of.is_none_or(|peer| id.peer == *peer)
                // Words are not led to what only takes words elsewhere.
                && !id.is_call_skill()
                && !is_ask(id)
                && catalogue.skill(id, None).is_some_and(|skill| !leads_back(skill) && self.may_call(by, skill))
        };
        if let Some(chosen) = chosen(input) {
            let chosen = chosen.parse().map_err(|_| no_words())?;
            return self.meant(catalogue, &spoken, &chosen, &may);
        }
        if of.is_none()
            && let Some(found) = self.reserved(catalogue, &spoken, &may)
        {
            return found_ready(catalogue, &found.skill, Why::Phrase, overlaid(&found.args, input))
                .map(Prepared::Ready);
        }
        match self.matched(catalogue, &spoken, &may) {
            Match::One(found) => {
                let args = overlaid(&found.args, input);
                found_ready(catalogue, &found.skill, Why::Phrase, args).map(Prepared::Ready)
            }
            Match::Several(found) => {
                let skills = found.into_iter().map(|found| found.skill).collect();
                self.which(call, catalogue, skills, locale)
            }
            Match::None if self.greets(catalogue, &spoken) => {
                let args = of.map(|peer| serde_json::json!({ "peer": peer.as_str() }));
                help(catalogue, Why::Phrase, args.map_or_else(Json::empty_object, Json::from_tree))
            }
            Match::None => match (self.by_rank(by, &spoken, catalogue, &may).await?, of) {
                (Some(prepared), _) => Ok(prepared),
                (None, Some(peer)) => Err(nothing_fits(peer, catalogue, &may)),
                (None, None) => help(catalogue, Why::LastResort, serde_json::json!({ "unmatched": true }).into()),
            },
        }
    }

    /// Sentences that are the hub's own, whatever peers claim them.
    fn reserved(&self, catalogue: &Catalogue, spoken: &Spoken<'_>, may: &impl Fn(&SkillId) -> bool) -> Option<Found> {
        let own = |id: &SkillId| reserved::answers(id) && may(id);
        match catalogue.matcher.match_words(&spoken.text, self.now(), Some(spoken.locale), own) {
            // With a subject it is a search, and a peer may know better.
            Match::One(found) => Some(found).filter(|found| found.args == Json::empty_object()),
            Match::Several(_) | Match::None => None,
        }
    }

    /// What the phrases say. Where those of the hub that are not reserved are as good as those of a peer, the peer's are meant.
    fn matched(&self, catalogue: &Catalogue, spoken: &Spoken<'_>, may: &impl Fn(&SkillId) -> bool) -> Match {
        match catalogue.matcher.match_words(&spoken.text, self.now(), Some(spoken.locale), may) {
            Match::Several(mut found) => {
                if found.iter().any(|found| found.skill.peer.as_str() != HELP_SKILL.0) {
                    found.retain(|found| found.skill.peer.as_str() != HELP_SKILL.0);
                }
                match found.len() {
                    1 => found.pop().map_or(Match::None, Match::One),
                    _ => Match::Several(found),
                }
            }
            other @ (Match::One(_) | Match::None) => other,
        }
    }

    /// Is it a greeting, or a question for help, to one peer? The hub's own phrases are no phrases of that peer.
    fn greets(&self, catalogue: &Catalogue, spoken: &Spoken<'_>) -> bool {
        let help = |id: &SkillId| (id.peer.as_str(), id.skill.as_str()) == HELP_SKILL;
        let found = catalogue.matcher.match_words(&spoken.text, self.now(), Some(spoken.locale), help);
        matches!(found, Match::One(_))
    }

    async fn by_rank(
        &self,
        by: &Principal,
        spoken: &Spoken<'_>,
        catalogue: &Catalogue,
        may: &(impl Fn(&SkillId) -> bool + Sync),
    ) -> Result<Option<Prepared>, Fault> {
        let prepared = match self.ranked(catalogue, &spoken.text, may).await? {
            Ranked::One(id) => self.with_given(catalogue, &id, spoken),
            Ranked::Several(skills) => self.which(spoken.call, catalogue, skills, spoken.locale),
            Ranked::None => {
                let Some((id, args)) = self.by_model(by, catalogue, &spoken.text, may).await else { return Ok(None) };
                found_ready(catalogue, &id, Why::Ranked, overlaid(&args, spoken.input)).map(Prepared::Ready)
            }
        };
        prepared.map(Some)
    }

    /// What the index makes of a text, and the shape of the sentence of its hits.
    async fn ranked(
        &self,
        catalogue: &Catalogue,
        text: &str,
        may: &(impl Fn(&SkillId) -> bool + Sync),
    ) -> Result<Ranked, Fault> {
        let mut hits = self.search_index(text, MAX_HITS).await?;
        hits.retain(|hit| hit.skill.parse().is_ok_and(|id| may(&id)));
        refit(&mut hits, text, |id| catalogue.skill(id, None).map(|skill| &**skill));
        let bar = Bar { threshold: self.settings.load().match_threshold, ..Bar::default() };
        match rank(&hits, bar) {
            Ranked::Several(skills) => self.related(text, skills).await,
            clear @ (Ranked::One(_) | Ranked::None) => Ok(clear),
        }
    }

    /// Of several, those that know a word of what the sentence is about: that they list or show something too is no reason to be
    /// offered.
    async fn related(&self, text: &str, mut skills: Vec<SkillId>) -> Result<Ranked, Fault> {
        let Some(subject) = subject(text) else { return Ok(Ranked::Several(skills)) };
        let known: HashSet<Text> =
            self.search_index(&subject, MAX_RELATED).await?.into_iter().map(|hit| hit.skill).collect();
        skills.retain(|skill| known.contains(skill.to_string().as_str()));
        Ok(if skills.is_empty() { Ranked::None } else { Ranked::Several(skills) })
    }

    /// A skill with what the sentence gives it; what is unclear there is asked first. An agent is given the words themselves.
    fn with_given(&self, catalogue: &Catalogue, id: &SkillId, spoken: &Spoken<'_>) -> Result<Prepared, Fault> {
        let skill = catalogue.skill(id, None).ok_or_else(|| no_such_skill(id))?;
        let Spoken { input, text, .. } = spoken;
        let meant = input.args.as_ref().and_then(|args| args.get(PARAMETER)?.as_str());
        let given = given(skill, text, input.args.as_ref(), meant);
        if skill.kind == SkillKind::Agent && given.args == Json::empty_object() && answered(input).is_none() {
            return ready(catalogue, skill, Why::Ranked, None).map(Prepared::Ready).ok_or_else(|| no_such_skill(id));
        }
        match given.unclear.first().filter(|_| skill.kind == SkillKind::Tool) {
            Some(unclear) => self.ask_about(spoken, skill, unclear),
            None => found_ready(catalogue, id, Why::Ranked, overlaid(&given.args, input)).map(Prepared::Ready),
        }
    }

    /// Asks what a value in the sentence is for, or which of several values is meant.
    fn ask_about(&self, spoken: &Spoken<'_>, skill: &Skill, unclear: &Unclear) -> Result<Prepared, Fault> {
        let language = spoken.locale.language;
        let (text, form, choices) = match (unclear.said.as_slice(), unclear.names.as_slice()) {
            ([value], names @ [_, _, ..]) => {
                let named: Vec<&str> = names.iter().map(|name| &**name).collect();
                let form = serde_json::json!({
                    "type": "object",
                    "properties": { PARAMETER: { "type": "string", "enum": named } },
                    "required": [PARAMETER],
                });
                let choices = names.iter().map(|name| Choice { id: name.clone(), text: name.clone() });
                (say::which_parameter(language, value, names), Schema(form.into()), choices.collect())
            }
            (said, names) => {
                let form = words::form(&skill.input, names);
                (say::ask_about(language, &form, names, said), form, Vec::new())
            }
        };
        if !spoken.call.caller.can_answer.has(KindSet::INPUT) {
            return Err(Fault::caller(FaultKind::Unanswered, text));
        }
        let kind = QuestionKind::Input { form, choices };
        let asking = Asking { to: Addressee::Caller, kind, text: text.into(), expires: self.question_expires() };
        Ok(Prepared::Ask(asking, None))
    }

    /// What a model makes of words that nothing else understands: one of the skills this principal may call, with arguments
    /// that fit its schema as far as they go. One answer that does not fit is told what was wrong.
    async fn by_model(
        &self,
        by: &Principal,
        catalogue: &Catalogue,
        text: &str,
        may: &(impl Fn(&SkillId) -> bool + Sync),
    ) -> Option<(SkillId, Json)> {
        // Strangers' words cost nothing.
        if by.is_anonymous() || text.trim().is_empty() {
            return None;
        }
        let name = self.settings.load().model.clone()?;
        if !self.has_model(&name) {
            return None;
        }
        let key = slot_cache::key(by, text);
        if let Some(filled) = self.filled.known(&key, self.now()).filter(|(id, _)| may(id)) {
            return Some(filled);
        }
        let known: Vec<Arc<Skill>> = catalogue
            .newest()
            .filter(|skill| skill.kind == SkillKind::Tool && skill.id.peer.as_str() != HELP_SKILL.0 && may(&skill.id))
            .take(fill::MAX_SHOWN)
            .cloned()
            .collect();
        let shown: Vec<&Skill> = known.iter().map(|skill| &**skill).collect();
        if shown.is_empty() {
            return None;
        }
        let mut wrong: Option<Text> = None;
        for _ in 0..2 {
            let prompt = fill::prompt(text, &shown, self.now(), wrong.as_deref());
            let reply = self.ask_model(&name, prompt, "plain words").await?;
            let (id, args) = fill::read(&reply, &shown)?;
            let skill = catalogue.skill(&id, None)?;
            // What is missing can be asked for; what is wrong cannot stay.
            let whole = words::missing(&skill.input, &args).is_empty();
            match self.schemas.check(skill.input.0.digest(), &skill.input, &args) {
                Err(fault) if whole => wrong = Some(fault.public),
                Ok(()) | Err(_) => {
                    self.filled.keep(key, id.clone(), args.clone(), self.now());
                    return Some((id, args));
                }
            }
        }
        None
    }

    /// The speaker said which one was meant.
    fn meant(
        &self,
        catalogue: &Catalogue,
        spoken: &Spoken<'_>,
        chosen: &SkillId,
        may: &impl Fn(&SkillId) -> bool,
    ) -> Result<Prepared, Fault> {
        catalogue.skill(chosen, None).filter(|skill| may(&skill.id)).ok_or_else(|| no_such_skill(chosen))?;
        let only = |id: &SkillId| id == chosen;
        match catalogue.matcher.match_words(&spoken.text, self.now(), Some(spoken.locale), only) {
            Match::One(found) => {
                let args = overlaid(&found.args, spoken.input);
                found_ready(catalogue, chosen, Why::Ranked, args).map(Prepared::Ready)
            }
            Match::Several(_) | Match::None => self.with_given(catalogue, chosen, spoken),
        }
    }

    /// Asks which of several skills is meant; a caller that cannot be asked gets the list.
    fn which(
        &self,
        call: &Call,
        catalogue: &Catalogue,
        skills: Vec<SkillId>,
        locale: Locale,
    ) -> Result<Prepared, Fault> {
        let candidates: Vec<(SkillId, Text)> = skills
            .into_iter()
            .filter_map(|id| Some((id.clone(), catalogue.skill(&id, None)?.description.clone())))
            .collect();
        let text = say::which_one(locale.language, &candidates);
        if !call.caller.can_answer.has(KindSet::INPUT) {
            return Err(Fault::caller(FaultKind::Unanswered, text));
        }
        let names: Vec<String> = candidates.iter().map(|(id, _)| id.to_string()).collect();
        let form = serde_json::json!({
            "type": "object",
            "properties": { CHOSEN: { "type": "string", "enum": names } },
            "required": [CHOSEN],
        });
        let choices = candidates.into_iter().map(|(id, text)| Choice { id: id.to_string().into(), text }).collect();
        let asking = Asking {
            to: Addressee::Caller,
            kind: QuestionKind::Input { form: Schema(form.into()), choices },
            text: text.into(),
            expires: self.question_expires(),
        };
        Ok(Prepared::Ask(asking, None))
    }
}

impl Hub {
    /// Do these words match exactly one skill, by one of its phrases?
    pub fn names_a_skill(&self, by: &Principal, input: &Input) -> bool {
        let catalogue = self.registry.catalogue();
        let may = |id: &SkillId| catalogue.skill(id, None).is_some_and(|skill| self.may_call(by, skill));
        matches!(catalogue.matcher.match_words(&input.words(), self.now(), None, may), Match::One(_))
    }
}

/// Routes that words have led to say what they were found to say.
fn found_ready(catalogue: &Catalogue, id: &SkillId, why: Why, args: Json) -> Result<Ready, Fault> {
    let skill = catalogue.skill(id, None).ok_or_else(|| no_such_skill(id))?;
    let empty = args == Json::empty_object();
    let told = if empty { None } else { kept(Keep::Full, &args, &skill.input.0) };
    // An agent whose phrase has no slots is given the words themselves.
    let args = Some(args).filter(|_| !(empty && skill.kind == SkillKind::Agent));
    let mut ready = ready(catalogue, skill, why, args).ok_or_else(|| no_such_skill(id))?;
    ready.route.args = told;
    Ok(ready)
}

fn help(catalogue: &Catalogue, why: Why, args: Json) -> Result<Prepared, Fault> {
    let help = SkillId::new(HELP_SKILL.0, HELP_SKILL.1);
    let mut ready = found_ready(catalogue, &help, why, args)?;
    ready.route.args = None;
    Ok(Prepared::Ready(ready))
}

fn chosen(input: &Input) -> Option<&str> {
    input.args.as_ref()?.get(CHOSEN)?.as_str()
}

/// What was answered of the skill's own arguments.
fn answered(input: &Input) -> Option<Json> {
    let args = input.args.as_ref()?;
    let serde_json::Value::Object(members) = args.tree() else { return Some(args.clone()) };
    let ours = |name: &str| name == PARAMETER || (name == CHOSEN && chosen(input).is_some());
    if !members.keys().any(|name| ours(name)) {
        return Some(args.clone());
    }
    let own: serde_json::Map<String, serde_json::Value> =
        members.iter().filter(|(name, _)| !ours(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
    (!own.is_empty()).then(|| Json::from_tree(own.into()))
}

/// What the words say, and over it what was answered since.
fn overlaid(said: &Json, input: &Input) -> Json {
    answered(input).map_or_else(|| said.clone(), |answered| task::merge_args(Some(said), &answered))
}

fn language(part: &Part) -> Option<&str> {
    match &part.body {
        Body::Text { language, .. } => language.as_deref(),
        Body::Data(_) | Body::Blob(_) | Body::Link | Body::Code { .. } | Body::Place { .. } | Body::Other { .. } => {
            None
        }
    }
}

/// Names what this peer can do, as far as the caller may call it.
fn nothing_fits(peer: &PeerId, catalogue: &Catalogue, may: &impl Fn(&SkillId) -> bool) -> Fault {
    let own = catalogue.newest().filter(|skill| skill.id.peer == *peer && may(&skill.id));
    let mut names: Vec<&str> = own.map(|skill| skill.id.skill.as_str()).take(MAX_NAMED + 1).collect();
    let more = if names.len() > MAX_NAMED { ", …" } else { "" };
    names.truncate(MAX_NAMED);
    let text = format!("'{peer}' has no skill for these words; it has: {}{more}", names.join(", "));
    Fault::caller(FaultKind::NotFound(Noun::Skill), text)
}

fn no_words() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Skill), "there are no words to go by")
}

/// The question for required arguments that are missing, in the caller's language.
pub(super) fn missing_question(schema: &Schema, missing: &[Text], call: &Call) -> (Text, Schema) {
    let form = words::form(schema, missing);
    let text = say::ask_for(language_of(call), &form, missing);
    (text.into(), form)
}

/// The language that the caller speaks.
pub(super) fn language_of(call: &Call) -> Language {
    let words = call.input().map(Input::words).unwrap_or_default();
    let said = call.input().and_then(|input| input.parts.iter().find_map(language));
    Locale::detect(said, &words).language
}

/// Reads a person's words as an answer; `None` if they do not fit the question.
pub(super) fn parse_answer(question: &Question, input: Input, now: Time) -> Option<Answer> {
    let text = input.words();
    let locale = input.parts.iter().find_map(language).and_then(Locale::of);
    match &question.kind {
        QuestionKind::Input { form, choices } if input.args.is_none() => {
            match to_form(form, choices, &text, now, locale) {
                FormAnswer::Given(args) => Some(Answer::Given(Input { args: Some(args), ..input })),
                FormAnswer::Cancel => Some(Answer::Declined),
                FormAnswer::Unfit => None,
            }
        }
        QuestionKind::Confirm(_) => match consent(&text, locale) {
            Consent::Yes => Some(Answer::Granted),
            Consent::No | Consent::Cancel => Some(Answer::Declined),
            Consent::Unclear => None,
        },
        QuestionKind::Credential { .. } | QuestionKind::Visit { .. } if words::answer::is_cancel(&text) => {
            Some(Answer::Declined)
        }
        QuestionKind::Credential { .. } | QuestionKind::Visit { .. } | QuestionKind::Roots => None,
        QuestionKind::Input { .. } | QuestionKind::Model(_) | QuestionKind::Tool { .. } => Some(Answer::Given(input)),
    }
}
