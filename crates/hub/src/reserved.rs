//! Built-in phrases: sentences that the hub always answers itself, such as greetings, questions for help and for the list of skills.
//!
//! Phrases of skills come from configuration, manifests of tools and definitions of websites. A phrase that equals a built-in sentence, in
//! any language, does not match its skill for that sentence, and is reported as a problem of its peer. A caller that addresses one peer by
//! name is not protected from that peer's phrases, because it chose the peer.

use std::sync::LazyLock;

use interlingua_machines::words::{Matcher, sentences};
use interlingua_model::{SkillId, Text};

/// The skill that answers a greeting, and that answers when nothing fits.
pub(super) const HELP_SKILL: (&str, &str) = ("hub", "help");
/// Greetings and questions for help. Languages that the hub does not speak are answered in English.
pub const HELP: [(&str, &str); 22] = [
    ("en", "(help|help me|can you help [me]|i need help)"),
    ("en", "(hello|hi|hey|greetings) [there]"),
    ("en", "good (morning|afternoon|evening)"),
    ("en", "what can you do [for me]"),
    ("en", "what can I (do|ask|say) [here]"),
    ("en", "what (are your skills|do you do|do you offer|skills do you have)"),
    ("en", "(who|what) are you"),
    ("en", "how does this work"),
    ("es", "(ayuda|ayúdame|necesito ayuda)"),
    ("es", "hola"),
    ("es", "(buenos días|buenas tardes|buenas noches)"),
    ("es", "qué (puedes|sabes) hacer [por mí]"),
    ("de", "(hilfe|hilf mir|kannst du mir helfen)"),
    ("de", "(hallo|guten tag|guten morgen|guten abend)"),
    ("de", "was (kannst du|kannst du tun|kannst du alles)"),
    ("fr", "(aide|aide-moi|à l'aide|peux-tu m'aider)"),
    ("fr", "(bonjour|bonsoir|salut)"),
    ("fr", "(que|qu'est-ce que tu) (peux-tu faire|sais-tu faire|peux faire|sais faire)"),
    ("pt", "(ajuda|ajuda-me|me ajude|preciso de ajuda)"),
    ("pt", "(olá|oi|bom dia|boa tarde|boa noite)"),
    ("pt", "o que (você pode|você sabe|podes|sabes) fazer"),
    ("pt", "que (podes|sabes) fazer"),
];

/// Questions for the list of skills; with a subject they are a search, and that is not reserved.
pub const LIST: [(&str, &str); 2] = [
    ("en", "(find|list|show) [all] skills [(for|about) {query}]"),
    ("es", "(busca|lista|muestra) [las] habilidades [(de|sobre|para) {query}]"),
];

static SENTENCES: LazyLock<Vec<String>> =
    LazyLock::new(|| HELP.iter().chain(&LIST).flat_map(|(_, pattern)| sentences(pattern)).collect());

/// Is it one of the skills that answer these sentences?
pub(super) fn answers(skill: &SkillId) -> bool {
    skill.peer.as_str() == HELP_SKILL.0 && matches!(skill.skill.as_str(), "help" | "find_skills")
}

/// The patterns of these phrases that match a built-in sentence, each with such a sentence.
pub fn claimed(phrases: &Matcher) -> Vec<(Text, &'static str)> {
    let mut claimed: Vec<(Text, &'static str)> = Vec::new();
    for sentence in SENTENCES.iter() {
        for pattern in phrases.spelling(sentence) {
            if claimed.iter().all(|(known, _)| *known != pattern) {
                claimed.push((pattern, sentence));
            }
        }
    }
    claimed
}

#[cfg(test)]
mod tests {
    use interlingua_model::{CardFrom, Effects, Json, Phrase, Schema, Skill, SkillKind};

    use super::*;

    fn matcher(patterns: &[&str]) -> Matcher {
        let effects = Effects::reads_only(CardFrom::Configuration);
        let input = Json::parse(r#"{"properties":{"what":{"type":"string"}}}"#.into()).unwrap();
        let mut skill = Skill::new(SkillId::new("peer", "skill"), SkillKind::Tool, "", Schema(input), effects);
        let phrase = |pattern: &&str| Phrase { locale: "en".into(), pattern: (*pattern).into() };
        skill.phrases = patterns.iter().map(phrase).collect();
        let (matcher, problems) = Matcher::compile([&skill]);
        assert_eq!(problems, []);
        matcher
    }

    #[test]
    fn a_phrase_that_says_a_reserved_sentence_in_one_of_its_ways_claims_it() {
        for claims in
            ["help", "HELP!", "(order|help) me", "bonjour", "Qué sabes hacer", "show [me] [all] skills", "olá"]
        {
            assert_eq!(claimed(&matcher(&[claims])).len(), 1, "{claims}");
        }
    }

    #[test]
    fn a_phrase_with_more_words_or_with_a_slot_in_their_place_claims_nothing() {
        for other in ["help with {what}", "help desk", "what can you {what}", "list skills of {what}", "good day"] {
            assert_eq!(claimed(&matcher(&[other])), [], "{other}");
        }
    }

    #[test]
    fn every_sentence_is_answered_by_the_phrases_that_it_is_from() {
        let patterns: Vec<&str> = HELP.iter().map(|(_, pattern)| *pattern).collect();
        assert_eq!(claimed(&matcher(&patterns)).len(), patterns.len());
        assert!(SENTENCES.len() > 60 && SENTENCES.len() < 1_000, "{}", SENTENCES.len());
    }
}
