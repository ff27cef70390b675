//! Permission of a tool call: by the effects that the skill declares, the rules of the agent, and the trust of what the model
//! has read (prompt injection).
//!
//! Text cannot give rights. What the model may call was fixed when the run began; what it read can only make the answer
//! stricter: with anything of a peer or the world in context, every call that changes something needs approval.

use interlingua_model::card::Effects;
use interlingua_model::content::Trust;
use interlingua_model::{Consent, Consents};

/// The strictest rule that applies.
pub fn permit(effects: Effects, consents: Consents, trust: Trust) -> Consent {
    let rules = [
        (effects.unknown, consents.unknown),
        // What nobody described has a rule of its own; who must not write at all must not call it either.
        (effects.writes && (!effects.unknown || consents.writes == Consent::Deny), consents.writes),
        (effects.destroys, consents.destroys),
        (effects.spends, consents.spends),
    ];
    let strictest = rules.into_iter().filter(|(applies, _)| *applies).map(|(_, consent)| consent).max();
    match strictest {
        None => Consent::Allow,
        Some(consent) if trust < Trust::Caller => consent.max(Consent::Ask),
        Some(consent) => consent,
    }
}
