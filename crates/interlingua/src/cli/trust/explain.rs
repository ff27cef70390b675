//! `explain`: why a call is allowed or refused, by the rules of a running hub.

use super::arguments::ExplainArguments;
use crate::cli::client::{Client, Extras};
use crate::cli::screen::{Screen, plain};
use crate::cli::{Exit, Failure};
use interlingua_api::view::{ExplainRequest, ExplainView};

pub(crate) async fn explain(arguments: ExplainArguments) -> Result<Exit, Failure> {
    let bad = |_| Failure::new(Exit::Usage, "--args is not JSON");
    let given = arguments.args.map(|text| interlingua_model::Json::parse(text.into()).map_err(bad)).transpose()?;
    let request = ExplainRequest {
        principal: arguments.principal,
        action: arguments.action,
        resource: arguments.resource,
        arguments: given,
        protocol: arguments.protocol,
    };
    let client = Client::new(&arguments.hub)?;
    let view: ExplainView = client.post("/api/explain", &request, &Extras::default()).await?;
    let screen = Screen { json: arguments.hub.json };
    if screen.json {
        screen.value(&view)?;
    } else {
        let word = if view.allowed { "allowed" } else { "refused" };
        let why = why(&view);
        let by = view.refused_by.map(|link| format!(" (of {link})")).unwrap_or_default();
        screen.say(&plain(&format!("{word}: {why}{by}")))?;
    }
    Ok(if view.allowed { Exit::Done } else { Exit::Denied })
}

/// The built-in reasons in words; rules by their names.
fn why(view: &ExplainView) -> String {
    let reason = |name: &String| match (name.as_str(), view.allowed) {
        ("scopes", true) => "the scopes of the caller cover it".to_owned(),
        ("scopes", false) => "the scopes of the caller do not cover it".to_owned(),
        ("expired", _) => "the credential has expired".to_owned(),
        (rule, _) => rule.to_owned(),
    };
    let reasons: Vec<String> = view.because.iter().map(reason).collect();
    if reasons.is_empty() { "no rule says yes".to_owned() } else { reasons.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_reasons_are_told_in_words_and_rules_by_their_names() {
        let view = |allowed: bool, because: &[&str]| ExplainView {
            allowed,
            because: because.iter().map(|name| (*name).to_owned()).collect(),
            refused_by: None,
        };
        assert_eq!(why(&view(false, &["scopes"])), "the scopes of the caller do not cover it");
        assert_eq!(why(&view(true, &["owner", "hush"])), "owner, hush");
        assert_eq!(why(&view(false, &[])), "no rule says yes");
    }
}
