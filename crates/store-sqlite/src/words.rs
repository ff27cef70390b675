//! Full-text queries from the words of a request, for English and Spanish.
//!
//! Accents and case are folded by the index (`unicode61 remove_diacritics 2`). This module removes stop words and also searches plurals in
//! the singular. There is no stemming beyond that: a longer form in the index is found by prefix.

/// More words than this do not make a request clearer.
const WORDS: usize = 24;
/// Shorter words are matched whole: as prefixes they would match nearly everything.
const PREFIX: usize = 3;

/// Each distinct word that carries meaning, as a query of its own.
pub(super) fn queries(words: &str) -> Vec<String> {
    let mut seen = Vec::new();
    for word in words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        if !EMPTY.contains(&word.as_str()) && !seen.contains(&word) {
            seen.push(word);
        }
        if seen.len() == WORDS {
            break;
        }
    }
    seen.iter().map(|word| query(word)).collect()
}

/// Only letters and digits are left in a word, so the quotes cannot be broken out of.
fn query(word: &str) -> String {
    let mut forms = vec![term(word)];
    if let Some(singular) = word.strip_suffix('s').filter(|singular| singular.chars().count() >= PREFIX) {
        forms.push(term(singular));
    }
    // "ciudades", "searches": whole, because a shorter prefix would match other words.
    if let Some(singular) = word.strip_suffix("es").filter(|singular| singular.chars().count() > PREFIX) {
        forms.push(format!("\"{singular}\""));
    }
    forms.join(" OR ")
}

fn term(word: &str) -> String {
    if word.chars().count() < PREFIX { format!("\"{word}\"") } else { format!("\"{word}\"*") }
}

/// Words that say nothing about what is wanted. Spanish ones with and without their accents: people leave them out.
const EMPTY: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "can", "could", "do", "does", "for", "from", "give",
    "have", "how", "i", "if", "in", "into", "is", "it", "its", "like", "me", "my", "need", "of", "on", "or", "please",
    "s", "so", "some", "t", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "this", "to",
    "us", "want", "was", "we", "what", "when", "where", "which", "who", "will", "with", "would", "you", "your", "al",
    "algo", "como", "con", "cual", "cuál", "cuando", "cuándo", "cómo", "dame", "de", "del", "donde", "dónde", "el",
    "ella", "en", "es", "esa", "ese", "eso", "esta", "está", "este", "esto", "favor", "hay", "la", "las", "le", "lo",
    "los", "más", "mas", "mi", "mis", "o", "para", "pero", "por", "puede", "puedes", "que", "quiero", "qué", "se",
    "si", "sin", "sobre", "su", "sus", "sí", "te", "tu", "tus", "un", "una", "unas", "unos", "y", "yo",
];
