//! Control phrases: requests to the endpoint itself. The standard expresses these in natural language only (clauses 6.3 and 6.4), so they
//! are matched by rule, in English and Spanish; an application may add its own reading as a hook.

use super::terms::Term;

/// Something asked of the end-point, not of what stands behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// An address to which large content can be uploaded.
    Upload,
    /// What it can do.
    Skills,
    /// Who is speaking.
    Credentials,
    /// Limits, policies, formats, languages, addresses: one of them, or all.
    Terms(Option<Term>),
}

/// An application's own reading of a text; it is asked first.
pub type Hook<'a> = &'a dyn Fn(&str) -> Option<Wish>;

/// Longer texts are not about the exchange.
const LONGEST: usize = 400;
/// Nor is a data message that is longer than any of the questions it could be, with room for accents and punctuation.
const LONGEST_QUESTION: usize = 64;

/// What a control message wishes.
pub(super) fn of_control(text: &str) -> Option<Wish> {
    let said = Said::new(text)?;
    if said.asks_upload() {
        return Some(Wish::Upload);
    }
    if said.asks_skills_in_so_many_words()
        || said.any(&["capabilities", "skills", "capacidades", "habilidades", "help", "ayuda"])
    {
        return Some(Wish::Skills);
    }
    if let Some(terms) = said.asks_terms() {
        return Some(Wish::Terms(terms));
    }
    said.asks_credentials().then_some(Wish::Credentials)
}

/// What a data message wishes. Only the question itself counts: words about skills may be about anything.
pub(super) fn of_data(text: &str) -> Option<Wish> {
    if text.len() > LONGEST_QUESTION {
        return None;
    }
    let said = Said::new(text)?;
    said.asks_skills_in_so_many_words().then_some(Wish::Skills)
}

/// The words of a text without case, accents and punctuation, single spaces between and around them.
struct Said(String);

impl Said {
    fn new(text: &str) -> Option<Said> {
        if text.len() > LONGEST {
            return None;
        }
        let mut words = String::with_capacity(text.len() + 2);
        words.push(' ');
        for character in text.chars().flat_map(char::to_lowercase) {
            let plain = without_accent(character);
            if plain.is_alphanumeric() {
                words.push(plain);
            } else if !matches!(plain, '\'' | '-') && !words.ends_with(' ') {
                words.push(' ');
            }
        }
        if !words.ends_with(' ') {
            words.push(' ');
        }
        Some(Said(words))
    }

    fn has(&self, words: &str) -> bool {
        self.0
            .match_indices(words)
            .any(|(at, _)| self.0.as_bytes()[at - 1] == b' ' && self.0.as_bytes().get(at + words.len()) == Some(&b' '))
    }

    fn any(&self, several: &[&str]) -> bool {
        several.iter().any(|words| self.has(words))
    }

    fn asks_upload(&self) -> bool {
        const UPLOADING: [&str; 12] = [
            "upload",
            "uploads",
            "uploading",
            "out of band",
            "subir",
            "subo",
            "suba",
            "subida",
            "subidas",
            "cargar",
            "carga",
            "fuera de banda",
        ];
        const SENDING: [&str; 6] = ["send", "transfer", "put", "enviar", "envio", "transferir"];
        const LARGE: [&str; 7] = ["large", "big", "huge", "grande", "grandes", "pesado", "pesados"];
        self.any(&UPLOADING) || (self.any(&SENDING) && self.any(&LARGE))
    }

    fn asks_skills_in_so_many_words(&self) -> bool {
        const QUESTIONS: [&str; 17] = [
            "what can you do",
            "what can you do for me",
            "what can i ask you",
            "what do you offer",
            "what are your capabilities",
            "what are your skills",
            "which skills do you have",
            "what skills do you have",
            "list your skills",
            "describe your capabilities",
            "describe your nlip capabilities",
            "que puedes hacer",
            "que puedes hacer por mi",
            "que sabes hacer",
            "cuales son tus capacidades",
            "cuales son tus habilidades",
            "lista tus habilidades",
        ];
        QUESTIONS.contains(&self.0.trim())
    }

    /// Several at once, or the parameters as a whole, are all of them.
    fn asks_terms(&self) -> Option<Option<Term>> {
        const LIMITS: [&str; 6] = ["limit", "limits", "maximum size", "limite", "limites", "tamano maximo"];
        const POLICIES: [&str; 4] = ["policy", "policies", "politica", "politicas"];
        const FORMATS: [&str; 5] = ["format", "formats", "subformats", "formato", "formatos"];
        const LANGUAGES: [&str; 4] = ["language", "languages", "idioma", "idiomas"];
        const ENDPOINTS: [&str; 6] = ["endpoint", "endpoints", "end point", "end points", "address", "addresses"];
        const ALL: [&str; 5] = ["parameters", "configuration", "terms", "parametros", "configuracion"];
        let words: [&[&str]; 5] = [&LIMITS, &POLICIES, &FORMATS, &LANGUAGES, &ENDPOINTS];
        let mut asked = Term::ALL.into_iter().zip(words).filter(|(_, words)| self.any(words)).map(|(term, _)| term);
        match (asked.next(), asked.next(), self.any(&ALL)) {
            (None, _, false) => None,
            (Some(one), None, false) => Some(Some(one)),
            (_, Some(_), _) | (_, _, true) => Some(None),
        }
    }

    fn asks_credentials(&self) -> bool {
        const WORDS: [&str; 17] = [
            "authenticate",
            "authentication",
            "authorization",
            "authorize",
            "credential",
            "credentials",
            "log in",
            "login",
            "sign in",
            "who are you",
            "identify yourself",
            "autenticacion",
            "autentiquese",
            "autenticate",
            "credenciales",
            "iniciar sesion",
            "identifiquese",
        ];
        self.any(&WORDS)
    }
}

fn without_accent(character: char) -> char {
    match character {
        'á' | 'à' => 'a',
        'é' | 'è' => 'e',
        'í' => 'i',
        'ó' => 'o',
        'ú' | 'ü' => 'u',
        'ñ' => 'n',
        other => other,
    }
}
