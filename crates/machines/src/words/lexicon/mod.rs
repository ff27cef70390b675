//! Language tables of the matcher: one for each language, and nothing anywhere else.
//!
//! A third language is a third table and a line in [`Language`]; the compiler then asks for its texts in `say`. All
//! words are in folded form (no accents, lower case); a test holds them to it.

mod en;
mod es;

use super::fold::fold;

/// A language the hub speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    English,
    Spanish,
}

impl Language {
    pub const ALL: [Language; 2] = [Language::English, Language::Spanish];

    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Spanish => "es",
        }
    }

    pub(super) fn lexicon(self) -> &'static Lexicon {
        match self {
            Language::English => &en::LEXICON,
            Language::Spanish => &es::LEXICON,
        }
    }
}

/// Which number of `5/1` is the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SlashOrder {
    DayFirst,
    MonthFirst,
    /// Both are usual: such a date is read only if one of the numbers cannot be a month.
    Unknown,
}

/// A language and the habits of its region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Locale {
    pub language: Language,
    pub(super) slash: SlashOrder,
}

impl Locale {
    pub const ENGLISH: Locale = Locale { language: Language::English, slash: SlashOrder::Unknown };
    pub const SPANISH: Locale = Locale { language: Language::Spanish, slash: SlashOrder::DayFirst };

    /// From a language tag (`en`, `es-MX`, `en_GB`) or a name (`english`, `Español`). None: a language not spoken here.
    pub fn of(tag: &str) -> Option<Locale> {
        const LONGEST_TAG: usize = 64;
        if tag.len() > LONGEST_TAG {
            return None;
        }
        let folded = fold(tag.trim());
        let mut subtags = folded.split(['-', '_']);
        let language = match subtags.next()? {
            "en" | "eng" | "english" | "ingles" => Language::English,
            "es" | "spa" | "spanish" | "espanol" | "castellano" => Language::Spanish,
            _ => return None,
        };
        let region = subtags.find(|subtag| subtag.len() == 2);
        let slash = match (language, region) {
            (Language::English, None) => SlashOrder::Unknown,
            (Language::English | Language::Spanish, Some("us" | "ph")) => SlashOrder::MonthFirst,
            (Language::English, Some(_)) | (Language::Spanish, _) => SlashOrder::DayFirst,
        };
        Some(Locale { language, slash })
    }

    /// What the speaker said of the language, or what the text itself gives away; English when neither does.
    pub fn detect(said: Option<&str>, text: &str) -> Locale {
        said.and_then(Locale::of).unwrap_or_else(|| Locale::of_text(text))
    }

    fn of_text(text: &str) -> Locale {
        // The first words are enough, and keep the cost of a long text out of here.
        const LOOKED_AT: usize = 40;
        let (mut english, mut spanish) = (0_u32, 0_u32);
        for word in text.split_whitespace().take(LOOKED_AT).map(|word| word.chars().take(24).collect::<String>()) {
            let core = super::token::core(&word);
            english += u32::from(Language::English.lexicon().common.contains(&core.as_str()));
            spanish += u32::from(Language::Spanish.lexicon().common.contains(&core.as_str()));
            spanish += 2 * u32::from(word.contains(['¿', '¡', 'ñ', 'Ñ']));
            spanish += u32::from(word.contains(['á', 'é', 'í', 'ó', 'ú']));
        }
        match spanish > english {
            true => Locale::SPANISH,
            false => Locale::ENGLISH,
        }
    }
}

/// Words with a meaning, by meaning. Where an entry has several words they are separated by one space.
#[derive(Debug)]
pub(super) struct Lexicon {
    /// January first.
    pub(super) months: [&'static [&'static str]; 12],
    /// Monday first.
    pub(super) weekdays: [&'static [&'static str]; 7],
    /// Days from today.
    pub(super) days: &'static [(&'static str, i8)],
    pub(super) numbers: &'static [(&'static str, u8)],
    /// Stands between tens and ones.
    pub(super) and: Option<&'static str>,
    /// May stand before a date, a time.
    pub(super) before_date: &'static [&'static str],
    pub(super) before_time: &'static [&'static str],
    /// Joins day, month and year.
    pub(super) of: &'static [&'static str],
    pub(super) this: &'static [&'static str],
    pub(super) next: &'static [&'static str],
    /// `in three days`.
    pub(super) within: &'static [&'static str],
    pub(super) day: &'static [&'static str],
    pub(super) week: &'static [&'static str],
    /// Endings of a day's number, as in `1st`.
    pub(super) ordinal: &'static [&'static str],
    pub(super) times: &'static [(&'static str, i8)],
    /// Said after an hour of the first, of the second half of the day.
    pub(super) am: &'static [&'static str],
    pub(super) pm: &'static [&'static str],
    /// A point stands before the decimals; otherwise a comma.
    pub(super) decimal_point: bool,
    pub(super) yes: &'static [&'static str],
    pub(super) no: &'static [&'static str],
    /// Count as true, as false, where a value is asked for; never as consent.
    pub(super) on: &'static [&'static str],
    pub(super) off: &'static [&'static str],
    pub(super) cancel: &'static [&'static str],
    /// Courtesy before and after a request.
    pub(super) before: &'static [&'static str],
    pub(super) after: &'static [&'static str],
    /// Frequent words that tell the language.
    pub(super) common: &'static [&'static str],
    /// Words too small to be a value by themselves: articles, prepositions, pronouns.
    pub(super) little: &'static [&'static str],
    /// Turn around what is said after them.
    pub(super) negations: &'static [&'static str],
    /// Begin a question.
    pub(super) asking: &'static [&'static str],
    /// Ask for something to be shown, and say nothing of what.
    pub(super) showing: &'static [&'static str],
}

/// Is this word in the list of any language spoken here?
pub(super) fn any_has(list: impl Fn(&Lexicon) -> &'static [&'static str], word: &str) -> bool {
    Language::ALL.into_iter().any(|language| list(language.lexicon()).contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_lexicon_is_in_folded_form() {
        for lexicon in Language::ALL.map(Language::lexicon) {
            let listed = lexicon.months.iter().chain(&lexicon.weekdays).copied().flatten();
            let pairs = lexicon.days.iter().chain(lexicon.times).map(|(word, _)| word);
            let numbers = lexicon.numbers.iter().map(|(word, _)| word);
            let lists = [
                lexicon.before_date,
                lexicon.before_time,
                lexicon.of,
                lexicon.this,
                lexicon.next,
                lexicon.within,
                lexicon.day,
                lexicon.week,
                lexicon.ordinal,
                lexicon.am,
                lexicon.pm,
                lexicon.yes,
                lexicon.no,
                lexicon.on,
                lexicon.off,
                lexicon.cancel,
                lexicon.before,
                lexicon.after,
                lexicon.common,
                lexicon.little,
                lexicon.negations,
                lexicon.asking,
                lexicon.showing,
            ];
            for word in listed.chain(pairs).chain(numbers).chain(lists.into_iter().flatten()) {
                assert_eq!(fold(word), *word);
                assert_eq!(word.split(' ').map(super::super::token::core).collect::<Vec<_>>().join(" "), *word);
            }
        }
    }

    #[test]
    fn a_locale_is_read_from_a_tag_or_a_name() {
        assert_eq!(Locale::of("en"), Some(Locale::ENGLISH));
        assert_eq!(Locale::of("Español"), Some(Locale::SPANISH));
        assert_eq!(Locale::of("es_MX"), Some(Locale::SPANISH));
        assert_eq!(Locale::of("en-GB").map(|locale| locale.slash), Some(SlashOrder::DayFirst));
        assert_eq!(Locale::of("en-Latn-US").map(|locale| locale.slash), Some(SlashOrder::MonthFirst));
        assert_eq!(Locale::of("fr"), None);
        assert_eq!(Locale::of(&"e".repeat(1 << 20)), None);
    }

    #[test]
    fn the_text_gives_its_language_away() {
        assert_eq!(Locale::detect(None, "busca vuelos de Madrid a París"), Locale::SPANISH);
        assert_eq!(Locale::detect(None, "¿qué hora es?"), Locale::SPANISH);
        assert_eq!(Locale::detect(None, "find the flights from Madrid to Paris"), Locale::ENGLISH);
        assert_eq!(Locale::detect(None, "zzz"), Locale::ENGLISH);
        assert_eq!(Locale::detect(Some("es"), "find the flights"), Locale::SPANISH);
        assert_eq!(Locale::detect(Some("klingon"), "lee el archivo de notas"), Locale::SPANISH);
    }
}
