//! Settings that every peer has, whatever protocol it speaks.

use indexmap::IndexMap;
use interlingua_model::address::Origin;
use interlingua_model::{CardFrom, Effects, Skill, glob};
use schemars::JsonSchema;
use serde::Deserialize;

use super::check::Found;
use super::phrases::Phrases;
use super::scalar::Span;

/// What all peers have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Peer {
    pub title: Option<String>,
    pub description: Option<String>,
    pub effects: Option<EffectsOverride>,
    pub skills: IndexMap<String, SkillSettings>,
    pub trust_hints: bool,
    pub public: bool,
    pub hub: bool,
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    pub timeout: Option<Span>,
    /// Checked: each is an origin.
    pub origins: Vec<String>,
}

/// Settings of some skills of a peer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SkillSettings {
    /// Their effects; overrides what the peer declares.
    pub effects: Option<EffectsOverride>,
    /// Phrases that mean one of them, such as `["status of order {order_id}"]`: words, `{slot}` for an argument of that name,
    /// `[…]` for optional words, `(a|b)` for alternatives. A list is English; for other languages write a map by language.
    pub phrases: Phrases,
}

/// Effects of skills. Only the configuration can remove effects. One word, or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Words")]
pub struct EffectsOverride(Effects);

impl EffectsOverride {
    /// They only read, whatever the peer declares.
    pub const READS: EffectsOverride = EffectsOverride(Effects::reads_only(CardFrom::Configuration));
    /// They may do anything, whatever the peer declares.
    pub const UNKNOWN: EffectsOverride =
        EffectsOverride(Effects { claimed_by: CardFrom::Configuration, ..Effects::unknown() });

    pub fn effects(self) -> Effects {
        self.0
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected reads, writes, destroys, spends or unknown, or a list of these")]
#[schemars(rename = "Effects")]
enum Words {
    One(Word),
    Several(Vec<Word>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Effect")]
enum Word {
    Reads,
    Writes,
    Destroys,
    Spends,
    Unknown,
}

impl TryFrom<Words> for EffectsOverride {
    type Error = &'static str;

    fn try_from(words: Words) -> Result<EffectsOverride, Self::Error> {
        let words = match words {
            Words::One(word) => vec![word],
            Words::Several(words) => words,
        };
        let says = |word: Word| words.contains(&word);
        let reads = words.iter().all(|word| *word == Word::Reads);
        match reads {
            _ if words.is_empty() => Err("expected at least one of reads, writes, destroys, spends, unknown"),
            true => Ok(EffectsOverride::READS),
            false => Ok(EffectsOverride(Effects {
                destroys: says(Word::Destroys),
                spends: says(Word::Spends),
                unknown: says(Word::Unknown),
                ..Effects::writes(CardFrom::Configuration)
            })),
        }
    }
}

impl JsonSchema for EffectsOverride {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Words::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Words::json_schema(generator)
    }
}

impl Default for Peer {
    fn default() -> Peer {
        Peer {
            title: None,
            description: None,
            effects: None,
            skills: IndexMap::new(),
            trust_hints: false,
            public: false,
            hub: false,
            allow: vec!["*".into()],
            deny: Vec::new(),
            timeout: None,
            origins: Vec::new(),
        }
    }
}

impl Peer {
    /// Is this skill of the peer offered at all? A deny wins over an allow.
    pub fn offers(&self, skill: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| glob::matches(pattern, skill));
        any(&self.allow) && !any(&self.deny)
    }

    /// What configuration says of a skill, what counts first: by its name, then by each pattern that fits.
    fn settings_of<'s>(&'s self, skill: &'s str) -> impl Iterator<Item = &'s SkillSettings> {
        let fits = self.skills.iter().filter(move |(pattern, _)| glob::matches(pattern, skill));
        self.skills.get(skill).into_iter().chain(fits.map(|(_, settings)| settings))
    }

    /// What configuration says that a skill does: by its name, by the first pattern that fits and says it, else of all.
    pub fn said_of(&self, skill: &str) -> Option<Effects> {
        let said = self.settings_of(skill).find_map(|settings| settings.effects).or(self.effects);
        said.map(EffectsOverride::effects)
    }

    /// A skill with the phrases that configuration has for it, under the name that the peer has for it.
    pub fn phrased(&self, name: &str, mut skill: Skill) -> Skill {
        let said = self.settings_of(name).map(|settings| &settings.phrases).find(|phrases| !phrases.is_empty());
        skill.phrases.extend(said.into_iter().flat_map(Phrases::iter).cloned());
        skill
    }

    /// What a skill does, by what configuration says of it and what the peer claims: a claim may add effects; only
    /// configuration takes any away. What neither says is unknown.
    pub fn effects_of(&self, skill: &str, claimed: Effects) -> Effects {
        match self.said_of(skill) {
            Some(said) if !said.unknown => said,
            None if self.trust_hints => claimed,
            said => Effects {
                destroys: claimed.destroys || said.is_some_and(|said| said.destroys),
                spends: claimed.spends || said.is_some_and(|said| said.spends),
                claimed_by: if said.is_some() { CardFrom::Configuration } else { CardFrom::Manifest },
                ..Effects::unknown()
            },
        }
    }

    /// A skill with the effects that the peer claims, as far as they are believed.
    pub fn believed(&self, mut skill: Skill) -> Skill {
        skill.effects = self.effects_of(skill.id.skill.as_str(), skill.effects);
        skill.public = self.public;
        let name = skill.id.skill.clone();
        self.phrased(name.as_str(), skill).sealed()
    }

    /// What others may name on its behalf. `names`: whether such a peer names any address at all.
    pub fn check_origins(&self, path: &str, names: bool, found: &mut Found) {
        let path = format!("{path}.origins");
        found.require(
            names || self.origins.is_empty(),
            &path,
            "this peer names no other addresses: `origins` are of no use",
        );
        for given in &self.origins {
            if let Err(problem) = Origin::parse(given) {
                found.refuse(&path, format!("expected an origin, such as `https://files.example:9443`: {problem}"));
            }
        }
    }

    /// A pattern that names nothing, or one that an earlier pattern leaves nothing to, says something else than it seems to.
    pub fn check_skills(&self, path: &str, found: &mut Found) {
        let mut before: Vec<(&str, &SkillSettings)> = Vec::new();
        for (pattern, settings) in &self.skills {
            let path = format!("{path}.skills.{pattern}");
            let fits = !pattern.is_empty() && !pattern.contains(|c: char| c.is_control() || c.is_whitespace());
            found.require(fits, &path, "expected the name of a skill, without its peer; `*` stands for any letters");
            let says = settings.effects.is_some() || !settings.phrases.is_empty();
            found.require(says, &path, "expected `effects`, `phrases`, or both");
            let is_pattern = pattern.contains('*');
            let hides = |earlier: &SkillSettings| {
                let effects = settings.effects.is_some() && earlier.effects.is_some();
                effects || (!settings.phrases.is_empty() && !earlier.phrases.is_empty())
            };
            let covered =
                before.iter().find(|(earlier, said)| is_pattern && glob::matches(earlier, pattern) && hides(said));
            if let Some((earlier, _)) = covered {
                found.refuse(&path, format!("`{earlier}` before it fits all of these; put the narrower one first"));
            }
            if is_pattern {
                before.push((pattern, settings));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::Effects;

    use super::{EffectsOverride, Peer, SkillSettings};

    #[test]
    fn what_a_skill_does_is_said_by_name_by_pattern_or_for_all() {
        let said = |json: &str| serde_json::from_str::<EffectsOverride>(json).map(EffectsOverride::effects);
        let names = |effects: Effects| effects.names().collect::<Vec<_>>().join(" ");
        for (json, expected) in [
            (r#""reads""#, "reads idempotent"),
            (r#"["writes"]"#, "reads writes"),
            (r#""destroys""#, "reads writes destroys"),
            (r#"["reads","spends","destroys"]"#, "reads writes destroys spends"),
            (r#""unknown""#, "reads writes unknown"),
        ] {
            assert_eq!(said(json).map(names).unwrap_or_default(), expected, "{json}");
        }
        assert!(said("[]").is_err() && said(r#""harmless""#).is_err());
        let mut peer = Peer::default();
        let claimed = Effects::claimed(&["reads", "idempotent"]);
        assert!(peer.effects_of("x", claimed).unknown, "a claim takes nothing away");
        assert!(peer.effects_of("x", Effects::claimed(&["reads", "spends"])).spends, "a claim adds");
        peer.effects = Some(EffectsOverride::READS);
        let destroys = said(r#""destroys""#).expect("a word");
        let does = |effects| SkillSettings { effects: Some(effects), ..SkillSettings::default() };
        peer.skills = [
            ("delete_*".to_owned(), does(EffectsOverride(destroys))),
            ("delete_draft".to_owned(), does(EffectsOverride::READS)),
            ("delete_all".to_owned(), SkillSettings::default()),
        ]
        .into_iter()
        .collect();
        assert!(peer.effects_of("delete_all", claimed).destroys, "an entry that does not say it hides none that does");
        assert!(peer.effects_of("delete_draft", claimed).only_read());
        assert!(peer.effects_of("list", Effects::unknown()).only_read());
    }

    #[test]
    fn a_deny_wins_over_an_allow() {
        let mut peer = Peer { deny: vec!["delete_*".into()], ..Peer::default() };
        assert!(peer.offers("read") && !peer.offers("delete_all"));
        peer.allow = vec!["search".into()];
        assert!(peer.offers("search") && !peer.offers("read"));
    }
}
