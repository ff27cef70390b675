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
        let why = if view.because.is_empty() { "no rule says yes".to_owned() } else { view.because.join(", ") };
        let by = view.refused_by.map(|link| format!(" (of {link})")).unwrap_or_default();
        screen.say(&plain(&format!("{word}: {why}{by}")))?;
    }
    Ok(if view.allowed { Exit::Done } else { Exit::Denied })
}
