//! Texts of the hub for people, in every language it has.
//!
//! Names and titles come from peers: they are shown shortened and with nothing hidden in them, as data.

use super::field::field;
use super::folded;
use super::lexicon::Language;
use super::value::Kind;
use Language::{English, Spanish};
use interlingua_model::card::Schema;
use interlingua_model::content::Part;
use interlingua_model::event::Why;
use interlingua_model::id::{PeerId, SkillId, TaskId, Text};
use interlingua_model::json::{Json, Tree};
use interlingua_model::principal::Owner;
use interlingua_model::visible::visible_line;

/// Asks for what is missing: one field by its type, several by their names.
pub fn ask_for(language: Language, form: &Schema, missing: &[Text]) -> String {
    match missing {
        [name] => ask_for_one(language, form, name),
        names => {
            let labels: Vec<String> = names.iter().map(|name| label(name)).collect();
            match language {
                English => format!("I still need: {}.", join(language, &labels)),
                Spanish => format!("Todavía necesito: {}.", join(language, &labels)),
            }
        }
    }
}

fn ask_for_one(language: Language, form: &Schema, name: &str) -> String {
    let label = label(name);
    let described = description(form, name).map(|text| format!(" ({text})")).unwrap_or_default();
    let kind = field(form, name).map_or(Kind::Text, |field| field.kind);
    // A name that says no more than its type is not repeated.
    let plain = matches!(&*label, "date" | "time" | "when" | "day" | "fecha" | "hora" | "on" | "at");
    let detail = if plain { described.clone() } else { format!(" ({label})") };
    match (kind, language) {
        (Kind::Date, English) => format!("On which date{detail}?"),
        (Kind::Date, Spanish) => format!("¿En qué fecha{detail}?"),
        (Kind::Time, English) => format!("At what time{detail}?"),
        (Kind::Time, Spanish) => format!("¿A qué hora{detail}?"),
        (Kind::Moment, English) => format!("On which date and at what time{detail}?"),
        (Kind::Moment, Spanish) => format!("¿En qué fecha y a qué hora{detail}?"),
        (Kind::Boolean, English) => format!("{label}{described}: yes or no?"),
        (Kind::Boolean, Spanish) => format!("{label}{described}: ¿sí o no?"),
        (Kind::Number | Kind::Integer, English) => format!("Which number for {label}{described}?"),
        (Kind::Number | Kind::Integer, Spanish) => format!("¿Qué número para {label}{described}?"),
        (Kind::Choice(picks), language) => {
            // More than this is read by nobody.
            let options: Vec<String> = picks.iter().take(12).map(|pick| shown(&spelt(&pick.value), 40)).collect();
            match language {
                English => format!("Which {label}{described}: {}?", either(language, &options)),
                Spanish => format!("¿Cuál para {label}{described}: {}?", either(language, &options)),
            }
        }
        (Kind::Text | Kind::Word | Kind::Path | Kind::Email | Kind::Url, English) => {
            format!("What is the {label}{described}?")
        }
        (Kind::Text | Kind::Word | Kind::Path | Kind::Email | Kind::Url, Spanish) => {
            format!("¿Cuál es el valor de {label}{described}?")
        }
    }
}

/// Asks for parameters of which the words said something that is not clear, and repeats what they said.
pub fn ask_about(language: Language, form: &Schema, names: &[Text], said: &[Text]) -> String {
    let asked = ask_for(language, form, names);
    let said: Vec<String> = said.iter().map(|value| shown(value, 40)).collect();
    match language {
        _ if said.is_empty() => asked,
        English => format!("{asked} You said {}.", join(language, &said)),
        Spanish => format!("{asked} Dijiste {}.", join(language, &said)),
    }
}

/// Asks which parameter a value is for.
pub fn which_parameter(language: Language, value: &str, names: &[Text]) -> String {
    let labels: Vec<String> = names.iter().map(|name| label(name)).collect();
    let (value, labels) = (shown(value, 40), either(language, &labels));
    match language {
        English => format!("You said {value}. Which is that: {labels}?"),
        Spanish => format!("Dijiste {value}. ¿Qué es: {labels}?"),
    }
}

/// Beside a list, to somebody anonymous: others may find more, whatever that is.
pub fn to_anonymous(language: Language) -> &'static str {
    match language {
        English => "Callers who say who they are may find more: you are anonymous here; show a token.",
        Spanish => "Quien dice quién es puede encontrar más: aquí eres anónimo; muestra un token.",
    }
}

/// Several fit, or none well enough: which one is meant? Each candidate is a skill and its title.
pub fn which_one(language: Language, candidates: &[(SkillId, Text)]) -> String {
    let head = match language {
        English => "I am not sure what you mean. Which of these?",
        Spanish => "No estoy seguro de lo que quieres decir. ¿Cuál de estas?",
    };
    let mut said = head.to_owned();
    for (number, (skill, title)) in (1..).zip(candidates) {
        said.push_str(&format!("\n{number}. {} ({})", shown(title, 80), shown(&skill.to_string(), 120)));
    }
    said
}

/// Asks for approval of the whole of a call of `owner`: what is too long to show is named, measured and digested, never left
/// out.
pub fn confirm(language: Language, owner: &Owner, skill: &SkillId, args: Option<&Json>, parts: &[Part]) -> String {
    let (owner, skill) = (folded::name(&owner.to_string()), folded::name(&skill.to_string()));
    let args = args.map(|args| folded::arguments(args.as_str()));
    let is_silent = !parts.is_empty() && parts.iter().all(|part| part.as_text() == Some(""));
    let (run, whose, with, saying, nothing, end) = match language {
        English => ("Shall I run", "for", "with", "saying", ", without any text", "? Answer yes or no."),
        Spanish => ("¿Ejecuto", "para", "con", "diciendo", ", sin ningún texto", "? Responde sí o no."),
    };
    let args = args.map(|args| format!(" {with} {args}")).unwrap_or_default();
    let parts = match folded::parts(parts) {
        _ if is_silent => nothing.to_owned(),
        Some(parts) => format!(", {saying} {parts}"),
        None => String::new(),
    };
    format!("{run} {skill} {whose} {owner}{args}{parts}{end}")
}

/// Where and how this caller gives the approval that its call waits for.
pub fn approve_there(language: Language, task: TaskId, hub: Option<&str>) -> String {
    let hub = at(language, hub);
    match language {
        English => format!("It waits for your approval{hub}: `interlingua approve {task}`."),
        Spanish => format!("Espera tu aprobación{hub}: `interlingua approve {task}`."),
    }
}

/// The same for a caller who may not approve: somebody else has to, and finds the call by its id.
pub fn approver_has_to(language: Language, task: TaskId, hub: Option<&str>) -> String {
    let hub = at(language, hub);
    match language {
        English => format!("You may not approve it: an approver of this hub has to{hub}; its id is {task}."),
        Spanish => format!("No puedes aprobarlo: tiene que hacerlo un aprobador de este hub{hub}; su id es {task}."),
    }
}

/// For a client that is held no longer by a call that waits for approvers: it was not run, and where its result will be. `later`: what
/// else gives this very client the result, such as a tool that it can call.
pub fn not_run_yet(question: &str, task: TaskId, later: Option<&str>) -> String {
    let later = match later {
        Some(later) => format!("{later} gives its result, and so does `interlingua tasks {task}`"),
        None => format!("`interlingua tasks {task}` shows its result"),
    };
    format!("This has not been run yet: it waits for an approval. {question} Once it is approved, {later}.")
}

/// A call waits for an approver of another hub: in that hub's own words, marked as such.
pub fn waits_there(peer: &PeerId, words: &str) -> String {
    format!("waits for approval at {}: {}", folded::name(peer.as_str()), folded::quoted(words))
}

fn at(language: Language, hub: Option<&str>) -> String {
    let Some(hub) = hub else { return String::new() };
    let hub = shown(hub, 200);
    match language {
        English => format!(" at {hub}"),
        Spanish => format!(" en {hub}"),
    }
}

/// Another hub asks for approval of what it was called for: what it says it would run, and its own words, marked as such.
pub fn relayed(language: Language, peer: &PeerId, skill: &SkillId, args: Option<&Json>, words: &str) -> String {
    let (peer, skill, words) = (folded::name(peer.as_str()), folded::name(&skill.to_string()), folded::quoted(words));
    let args = args.map(|args| folded::arguments(args.as_str()));
    let (asks, with, says, end) = match language {
        English => ("asks for approval to run", "with", "It says", "Answer yes or no."),
        Spanish => ("pide aprobación para ejecutar", "con", "Dice", "Responde sí o no."),
    };
    let args = args.map(|args| format!(" {with} {args}")).unwrap_or_default();
    format!("{peer} {asks} {skill}{args}. {says}: {words}. {end}")
}

/// The answer did not fit; the question follows again.
pub fn ask_again(language: Language, question: &str) -> String {
    match language {
        English => format!("I did not understand that answer. {question}"),
        Spanish => format!("No entendí esa respuesta. {question}"),
    }
}

pub fn cancelled(language: Language) -> &'static str {
    match language {
        English => "Cancelled.",
        Spanish => "Cancelado.",
    }
}

/// A text was a new request, not the answer that was waited for.
pub fn withdrawn(language: Language) -> &'static str {
    match language {
        English => "I took that as a new request and withdrew the open question.",
        Spanish => "Lo tomé como una petición nueva y retiré la pregunta abierta.",
    }
}

/// A text was taken as the answer that was waited for.
pub fn taken_as_answer(language: Language) -> &'static str {
    match language {
        English => "I took that as the answer to the open question.",
        Spanish => "Lo tomé como la respuesta a la pregunta abierta.",
    }
}

/// Which way was taken, and why.
pub fn route(language: Language, skill: &SkillId, why: Why) -> String {
    let skill = shown(&skill.to_string(), 120);
    let why = match (language, why) {
        (English, Why::Named) => "it was named",
        (Spanish, Why::Named) => "se nombró",
        (English, Why::OnlyOne) => "nothing else can do it",
        (Spanish, Why::OnlyOne) => "nadie más puede hacerlo",
        (English, Why::BestClass) => "it is the most direct way",
        (Spanish, Why::BestClass) => "es la vía más directa",
        (English, Why::FrontDoor) => "it is the front door",
        (Spanish, Why::FrontDoor) => "es la puerta de entrada",
        (English, Why::Phrase) => "your words are one of its phrases",
        (Spanish, Why::Phrase) => "tus palabras son una de sus frases",
        (English, Why::Ranked) => "it fits your words best",
        (Spanish, Why::Ranked) => "es la que mejor encaja con tus palabras",
        (English, Why::Failover) => "the first choice did not answer",
        (Spanish, Why::Failover) => "la primera opción no respondió",
        (English, Why::LastResort) => "it is the last resort",
        (Spanish, Why::LastResort) => "es el último recurso",
    };
    match language {
        English => format!("Done by {skill}: {why}."),
        Spanish => format!("Hecho por {skill}: {why}."),
    }
}

/// `departure_date` is said `departure date`.
fn label(name: &str) -> String {
    shown(&name.replace(['_', '-'], " "), 60)
}

fn description(form: &Schema, name: &str) -> Option<String> {
    let text = form.0.get("properties")?.get(name)?.get("description").and_then(Tree::as_str)?;
    let short = shown(text.trim_end_matches('.'), 120);
    (!short.is_empty()).then_some(short)
}

fn spelt(value: &Tree) -> String {
    match value {
        Tree::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Shortened, on one line, with nothing hidden in it.
pub(super) fn shown(text: &str, longest: usize) -> String {
    let cut: String = text.chars().take(longest).collect();
    let more = if text.chars().nth(longest).is_some() { "…" } else { "" };
    format!("{}{more}", visible_line(&cut).trim())
}

fn join(language: Language, items: &[String]) -> String {
    joined(
        items,
        match language {
            English => " and ",
            Spanish => " y ",
        },
    )
}

fn either(language: Language, items: &[String]) -> String {
    joined(
        items,
        match language {
            English => " or ",
            Spanish => " o ",
        },
    )
}

fn joined(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., end] => format!("{}{last}{end}", before.join(", ")),
    }
}
