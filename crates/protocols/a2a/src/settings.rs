//! The settings of the section `a2a`, as the running endpoint uses them.

mod configured;
mod peer;
mod sections;

pub use configured::A2a;
pub use peer::{A2aBinding, A2aPeer, A2aSignature, Basic};

use std::time::Duration;

use crate::discover::{Capabilities, Credential, Readers};

use super::Signing;
use super::push::Private;
use interlingua_access::settings::Anonymous;

#[derive(Debug, Clone)]
pub struct Settings {
    pub enabled: bool,
    pub capabilities: Capabilities,
    pub credential: Credential,
    /// Who cards are for that are asked for by nobody in particular.
    pub readers: Readers,
    pub push_private: Private,
    /// How long a message id is remembered, where not as long as the hub does.
    pub replay: Option<Duration>,
    /// Whoever sends a message must know our extension.
    pub extension_required: bool,
    /// The hub's own address, where it is not the one a card is asked for at.
    pub url: Option<String>,
    pub signing: Option<Signing>,
}

impl Settings {
    /// `hub`: where others reach the hub, as configured for all protocols.
    pub fn new(a2a: &A2a, anonymous: Anonymous, hub: Option<&str>) -> Settings {
        Settings {
            enabled: a2a.enabled,
            capabilities: Capabilities { streaming: a2a.streaming, push: a2a.push, extended_card: a2a.extended_card },
            credential: match anonymous {
                Anonymous::Refused => Credential::Required,
                Anonymous::Public => Credential::Offered,
            },
            push_private: if a2a.push_private_addresses { Private::Allowed } else { Private::Refused },
            readers: if a2a.old_clients { Readers::Any } else { Readers::New },
            replay: a2a.replay.map(|span| span.0),
            extension_required: a2a.extension_required,
            url: a2a.url.as_deref().or(hub).map(|url| url.trim_end_matches('/').to_owned()),
            // A text that is no key was refused when the configuration was checked.
            signing: a2a.sign_with.as_ref().and_then(|key| key.expose().text()).and_then(Signing::from_pem),
        }
    }
}
