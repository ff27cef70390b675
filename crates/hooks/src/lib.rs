//! Configured hooks: programs and addresses (webhooks).
//!
//! Both receive one JSON object and answer with one, or with nothing:
//!
//! | received | what |
//! |---|---|
//! | `hook`, `before`, `after` or `on` | its name; the phase, `dispatch`; `on`: the occasion, `confirm` or `notification` |
//! | `task`, `by`, `wire`, `skill`, `effects`, `arguments`, `text` | the call; what is absent is not there |
//! | `question`, `until` | on confirm: what `/api/confirmations` calls the pending approval, and when it expires |
//! | `by`, `wire`, `session`, `message`, `content` | on notification: who sent it, how, to which session, its id and its content |
//! | `outcome`, `result`, `answer`, `fault` | after: the outcome, its structured result, its text, kind and text of a failure |
//!
//! | answered | means |
//! |---|---|
//! | nothing, or `{}` | continue; on confirm and on notification nothing else may be answered |
//! | `{"refuse": "why"}` | the call does not happen; after: the result is withheld |
//! | `{"arguments": {…}}` | before: these instead, if they fit the skill |
//! | `{"result": …}` | after a completed call: this structured result instead, if it fits the skill |

mod command;
#[doc(hidden)]
pub mod fuzzing;
mod message;
pub mod settings;
mod url;

use std::sync::Arc;

use indexmap::IndexMap;
use interlingua_model::Fault;

use self::settings::{Asks, Failure, Hook as Configured, Moment, Occasion};
use interlingua_hub::Hub;
use interlingua_hub::hooks::{Attached, Hook, Hooks, OnFailure, When};

/// Makes the hooks: all that they can be refused for is refused here.
pub fn prepare(hub: &Hub, hooks: &IndexMap<String, Configured>) -> Result<Hooks, Fault> {
    let attached = hooks.iter().map(|(name, hook)| attached(hub, name, hook).map(Arc::new));
    Ok(Hooks(attached.collect::<Result<Vec<_>, Fault>>()?))
}

fn attached(hub: &Hub, name: &str, hook: &Configured) -> Result<Attached, Fault> {
    let asked: Arc<dyn Hook> = match &hook.asks {
        Asks::Program { command, environment } => Arc::new(command::Program::new(hook, command, environment)?),
        Asks::Address(address) => Arc::new(url::Address::new(hub, address)?),
    };
    Ok(Attached {
        name: name.into(),
        when: match hook.at {
            Moment::Before(_) => When::Before,
            Moment::After(_) => When::After,
            Moment::On(Occasion::Confirm) => When::Confirm,
            Moment::On(Occasion::Notification) => When::Notification,
        },
        skills: hook.skills.clone(),
        timeout: hook.timeout.0,
        on_failure: match hook.on_failure {
            Failure::Refuse => OnFailure::Refuse,
            Failure::Pass => OnFailure::Pass,
        },
        hook: asked,
    })
}
