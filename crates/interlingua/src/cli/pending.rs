//! Display of a pending approval for an approver: the caller and its protocol, the skill and its arguments, why approval is needed, and the
//! deadline.

use interlingua_machines::words::folded;

use super::screen::plain;
use super::table::Table;
use interlingua_api::view::QuestionView;

/// How much of a description is read before a decision.
const DESCRIPTION: usize = 200;

/// Everything there is to decide by, a line for each.
pub(super) fn described(question: &QuestionView) -> String {
    let Some(confirm) = &question.confirm else { return plain(&question.text) };
    let mut lines = vec![format!("{} wants to run {}", caller(question), confirm.skill)];
    let mut line = |name: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("  {name:<10} {value}")));
    };
    line("offered by", question.peer.as_ref().map(|peer| offered(peer, question.protocol.as_deref())));
    line("about", about(question));
    line("effects", Some(confirm.effects.words()));
    line("arguments", arguments(question));
    // What comes beside the arguments is in the hub's own words, folded like them.
    line("whole", (!confirm.parts.is_empty()).then(|| question.text.clone()));
    line("why", (!question.why.is_empty()).then(|| question.why.join(", ").replace('_', " ")));
    line("trust", question.trust.clone().filter(|trust| trust == "peer" || trust == "world"));
    line("last time", question.confirm.as_ref().map(|_| last(question)));
    line("until", Some(question.expires.clone()));
    line("id", Some(question.id.clone()));
    plain(&lines.join("\n"))
}

/// For those who read a list and decide elsewhere.
pub(super) fn table(questions: &[QuestionView]) -> Table {
    let mut table = Table::new(&["id", "caller", "skill", "effects", "until", "arguments"]);
    for question in questions {
        let confirm = question.confirm.as_ref();
        let effects = confirm.map(|confirm| confirm.effects.words()).unwrap_or_default();
        let skill = confirm.map(|confirm| confirm.skill.as_str()).unwrap_or_default();
        let arguments = arguments(question).unwrap_or_default();
        let (id, until) = (super::ids::short(&question.id), super::list::briefly(&question.expires));
        table.row([&*id, &owner(question), skill, &effects, &until, &arguments]);
    }
    table
}

/// The chain, what it came in by, and who of this hub made the call.
fn caller(question: &QuestionView) -> String {
    let maker = question.led_by.as_deref().filter(|maker| *maker != "caller");
    let maker = maker.map(|maker| format!(", through a {maker} of this hub")).unwrap_or_default();
    format!("{}{maker}", owner(question))
}

fn owner(question: &QuestionView) -> String {
    let owner = question.owner.as_deref().unwrap_or("somebody").replace('>', " > ");
    question.wire.as_ref().map_or_else(|| owner.clone(), |wire| format!("{owner} by {wire}"))
}

fn offered(peer: &str, protocol: Option<&str>) -> String {
    protocol.map_or_else(|| peer.to_owned(), |protocol| format!("{peer} ({protocol})"))
}

fn about(question: &QuestionView) -> Option<String> {
    let said = question.description.as_ref().or(question.title.as_ref()).filter(|said| !said.is_empty())?;
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(match line.char_indices().nth(DESCRIPTION) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    })
}

/// What was approved before of the same skill for the same caller.
fn last(question: &QuestionView) -> String {
    let Some(last) = &question.last else { return "never approved for this caller".into() };
    let with = last.arguments.as_ref().map(|arguments| format!(" with {}", folded::arguments(arguments.as_str())));
    format!("{} by {}{}", last.at, last.by, with.unwrap_or_default())
}

pub(super) fn arguments(question: &QuestionView) -> Option<String> {
    let arguments = question.confirm.as_ref()?.arguments.as_ref()?;
    Some(folded::arguments(arguments.as_str()))
}
