//! The richest message of each caller, to callees that echo it with as much as they can add: what does not arrive, in either direction, is
//! declared as a loss.

mod callees;
mod callers;
mod losses;

use futures_util::{StreamExt, stream};
use serde_json::Value;

use self::callees::Listener;
use self::losses::covers;
use super::callees::Callee;
use super::callers::Caller;
use super::page;
use super::play::AT_ONCE;
use super::red::{tell, unbroken};
use super::stage::Stage;

/// One thing a message holds: what it is called in the page, and a word of it that can be looked for.
type Held = (&'static str, &'static str);

const TEXT: Held = ("text", "alpha-text");
const DATA: Held = ("data", "gamma-data");
/// What only those can say who have parts.
const PARTS: [Held; 7] = [
    ("language", "french"),
    ("label", "beta-label"),
    ("bytes", "ZGVsdGEtYnl0ZXM="),
    ("link", "https://epsilon.example/"),
    ("code", "zeta_code"),
    ("place", "eta street"),
    ("extension", "theta-other"),
];
/// What comes back beside what was heard, of those who can say it.
const BACK: [Held; 2] = [("bytes", "a2FwcGEtYnl0ZXM="), ("link", "https://lambda.example/")];

/// What of the message arrived, and what was declared lost.
#[derive(Debug, Clone)]
struct Carried {
    caller: &'static str,
    callee: &'static str,
    said: Vec<&'static str>,
    missing: Vec<&'static str>,
    missing_back: Vec<&'static str>,
    losses: Vec<String>,
}

/// Every pair of a wire and a callee, and the section of the page.
pub(super) async fn played() {
    let stage = Stage::set(&[], "").await;
    let carried = carried(&stage).await;
    let wrong: Vec<String> = carried.iter().filter_map(|row| row.as_ref().err().cloned()).collect();
    assert!(wrong.is_empty(), "{} pairs:\n{}", wrong.len(), wrong.join("\n"));
    let carried: Vec<Carried> = carried.into_iter().flatten().collect();
    page::holds("The richest message", &written(&carried));
}

const HEAD: &str = "\
All that a caller can say in one message (text in two languages, a label, data, bytes, a link, code, a place, an extension), to those
who tell back what they heard, with bytes and a link beside it where they can. The messages are written by the tests themselves, not by
the SDKs above. Whatever is missing is declared lost by its kind: a declaration excuses no other kind. Who knows no names chooses a
tool by words, which then are not told back.

| from | to | says | does not arrive | does not come back | declared |
|---|---|---|---|---|---|
";

fn written(carried: &[Carried]) -> String {
    let mut text = String::from(HEAD);
    let listed = |list: &[String]| if list.is_empty() { "–".to_owned() } else { list.join(", ") };
    for row in carried {
        let [said, there, back] = [&row.said, &row.missing, &row.missing_back]
            .map(|list| listed(&list.iter().map(ToString::to_string).collect::<Vec<_>>()));
        let declared = listed(&row.losses);
        let line = format!("| {} | {} | {said} | {there} | {back} | {declared} |\n", row.caller, row.callee);
        text += &line;
    }
    text
}

/// Several at a time.
async fn carried(stage: &Stage) -> Vec<Result<Carried, String>> {
    let pairs = Caller::WIRES.into_iter().flat_map(|caller| Callee::ALL.map(|callee| (caller, callee)));
    let said = pairs.map(|(caller, callee)| async move {
        let listener = Listener::of(callee);
        let said = callers::says(caller, &listener);
        let title = format!("{} → {}, richest message", caller.title(), callee.title());
        let answer = unbroken(title, callers::say(caller, stage, &listener)).await?;
        judged(caller, callee, &listener, &said, &answer).inspect_err(|red| tell(red))
    });
    stream::iter(said).buffered(AT_ONCE).collect().await
}

fn judged(caller: Caller, callee: Callee, to: &Listener, said: &[Held], answer: &Value) -> Result<Carried, String> {
    let told = answer.to_string();
    let absent = |held: &[Held]| -> Vec<&'static str> {
        held.iter().filter(|(_, word)| !told.contains(word)).map(|(what, _)| *what).collect()
    };
    let (missing, missing_back) = (absent(said), absent(to.gives));
    let declared = losses::of(answer);
    let shown: String = told.chars().take(1_500).collect();
    let wrong = |what: &str| Err(format!("{} → {}, richest message: {what}: {shown}", caller.title(), callee.title()));
    if !told.contains(to.mark(said)) {
        return wrong("it was not told back");
    }
    let undeclared = |way: &str, missing: &[&'static str]| -> Vec<&'static str> {
        missing.iter().filter(|what| !declared.iter().any(|loss| covers(loss, way, what))).copied().collect()
    };
    let there = undeclared("input", &missing);
    let back = undeclared("output", &missing_back);
    if !there.is_empty() || !back.is_empty() {
        return wrong(&format!("{there:?} and on the way back {back:?} are lost, and not declared ({declared:?})"));
    }
    Ok(Carried {
        caller: caller.title(),
        callee: callee.title(),
        said: said.iter().map(|(what, _)| *what).collect(),
        missing,
        missing_back,
        losses: declared.iter().map(|loss| format!("`{}` {}", loss.what, loss.kind)).collect(),
    })
}
