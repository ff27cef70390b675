//! The richest message each caller can say, to callees who tell back what they heard, with as much around it as they can say:
//! what does not arrive, there or back, is declared lost.

mod callees;
mod callers;
mod losses;

use futures_util::{StreamExt, stream};
use serde_json::Value;

use self::callees::Listener;
use self::losses::covers;
use super::AT_ONCE;
use super::callees::Callee;
use super::callers::Caller;
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
pub(super) struct Carried {
    pub(super) caller: &'static str,
    pub(super) callee: &'static str,
    pub(super) said: Vec<&'static str>,
    pub(super) missing: Vec<&'static str>,
    pub(super) missing_back: Vec<&'static str>,
    pub(super) losses: Vec<String>,
}

/// Every pair, several at a time.
pub(super) async fn carried(stage: &Stage) -> Vec<Result<Carried, String>> {
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
