//! Provenance of a call: the wire it arrived by, and the chain of causes inside this hub and at the hubs before it.
//!
//! A call that the hub makes itself, for a plan, an agent, a team or a device, is made on behalf of another call and inherits that call's
//! whole origin: its wires, its lowest trust, the rules of every agent on the way, and its workspace. Nothing can be removed from an
//! origin, so a forbidden call stays forbidden whatever wraps it. Metadata of a wire is not part of an origin. What a previous hub reports
//! ([`Origin::told`]) can only add restrictions.

use serde::{Deserialize, Serialize};

use crate::consent::{Consent, Consents};
use crate::content::Trust;
use crate::id::TaskId;
use crate::wire::Wire;

/// What a program that holds the hub calls by.
const LOCAL: &str = "local";
/// A call that passed more protocols than this is refused. Each costs a policy decision for each link of the chain, and a truncated list
/// could be filled so that the forbidding protocol is cut off.
const MOST_PROTOCOLS: usize = 16;
/// Bytes of a protocol's name.
const LONGEST_NAME: usize = 64;

/// The wire of a call and its causes. It can only be extended: see the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Origin {
    /// The wire of the first of the causing calls.
    wire: Wire,
    led: Option<Box<Led>>,
}

/// Everything that a direct call does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Led {
    by: Maker,
    /// It was put in plain words, whatever its wire could have named.
    #[serde(default)]
    words: bool,
    /// What else it went by.
    #[serde(default)]
    also: Vec<Wire>,
    /// The lowest of whatever led to it.
    trust: Trust,
    /// The strictest rules of the agents on the way.
    #[serde(default)]
    consents: Option<Consents>,
    /// The run whose workspace its file tools work in.
    #[serde(default)]
    files: Option<TaskId>,
    /// It is a member's turn in a team.
    #[serde(default)]
    seat: bool,
}

/// Who made a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Maker {
    /// A caller outside the hub.
    Caller,
    /// The model of an agent of this hub.
    Agent,
    /// A team of this hub, of one of its members.
    Team,
    /// A plan, or its editor.
    Plan,
    /// A device that received words, for the tool that they seem to mean.
    Device,
}

/// How the target was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// A caller, or the configuration, named it.
    ByName,
    /// The model of an agent of this hub chose it.
    ByModel,
    /// Plain words seem to mean it.
    ByWords,
    /// It is a step of a plan.
    ByPlan,
    /// A caller named it in an argument: of `hub/call_skill`.
    ByArgument,
}

impl From<Wire> for Origin {
    /// An incoming call.
    fn from(wire: Wire) -> Origin {
        Origin { wire, led: None }
    }
}

impl Origin {
    /// A call of a program that holds the hub.
    pub fn program() -> Origin {
        Origin::from(Wire(LOCAL.into()))
    }

    /// The wire of the call itself; `None` for calls that the hub makes, and those of a program that embeds it.
    pub fn wire(&self) -> Option<&Wire> {
        (self.maker() == Maker::Caller && self.wire.0 != LOCAL).then_some(&self.wire)
    }

    /// Every protocol that it or a call which led to it went by, without generations. There is always one.
    pub fn protocols(&self) -> impl Iterator<Item = &str> {
        let also = self.led.as_ref().map(|led| led.also.as_slice()).unwrap_or_default();
        std::iter::once(self.wire.protocol()).chain(also.iter().map(Wire::protocol))
    }

    /// It says to have gone by more protocols than there are: nothing is decided about it.
    pub fn is_overlong(&self) -> bool {
        self.protocols().count() > MOST_PROTOCOLS
    }

    /// Who made the call itself.
    pub fn maker(&self) -> Maker {
        self.led.as_ref().map_or(Maker::Caller, |led| led.by)
    }

    /// Who chose what is called, as far as its origin says.
    pub fn chosen_by(&self) -> Chosen {
        match self.maker() {
            Maker::Caller if self.led.as_ref().is_some_and(|led| led.words) => Chosen::ByWords,
            // A team has the members that the configuration names.
            Maker::Caller | Maker::Team => Chosen::ByName,
            Maker::Agent => Chosen::ByModel,
            Maker::Plan => Chosen::ByPlan,
            Maker::Device => Chosen::ByWords,
        }
    }

    /// The lowest trust of what led to it.
    pub fn trust(&self) -> Trust {
        self.led.as_ref().map_or(Trust::Operator, |led| led.trust)
    }

    /// What the agents on the way may do without approval, and what not at all.
    pub fn consents(&self) -> Option<Consents> {
        self.led.as_ref().and_then(|led| led.consents)
    }

    /// The run whose workspace it uses, if that is not the hub's.
    pub fn files(&self) -> Option<TaskId> {
        self.led.as_ref().and_then(|led| led.files)
    }

    /// Is it a member's turn in a team?
    pub fn is_seat(&self) -> bool {
        self.led.as_ref().is_some_and(|led| led.seat)
    }

    /// Of a call that is made on behalf of one with this origin.
    #[must_use]
    pub fn child(&self, by: Maker, trust: Trust) -> Origin {
        let mut child = self.clone();
        let led = child.led();
        led.by = by;
        (led.words, led.seat) = (false, false);
        led.trust = led.trust.min(trust);
        child
    }

    /// What has this origin led to it, too.
    pub fn joins(&mut self, other: &Origin) {
        self.goes_by(other.wire.clone());
        let Some(other) = &other.led else { return };
        other.also.iter().for_each(|wire| self.goes_by(wire.clone()));
        self.lower(other.trust);
        other.consents.into_iter().for_each(|rules| self.bound_by(rules));
        let led = self.led();
        led.files = led.files.or(other.files);
    }

    /// Nothing of it is above this.
    pub fn lower(&mut self, trust: Trust) {
        if trust < self.trust() {
            self.led().trust = trust;
        }
    }

    /// It goes by this wire, too.
    pub fn goes_by(&mut self, wire: Wire) {
        if self.wire != wire && !self.led.as_ref().is_some_and(|led| led.also.contains(&wire)) {
            self.led().also.push(wire);
        }
    }

    /// An agent with these rules is on the way.
    pub fn bound_by(&mut self, rules: Consents) {
        let led = self.led();
        led.consents = Some(led.consents.map_or(rules, |before| before.stricter(rules)));
    }

    /// It works in the workspace of this run.
    pub fn works_in(&mut self, run: TaskId) {
        self.led().files = Some(run);
    }

    /// It is a member's turn.
    pub fn sits(&mut self) {
        self.led().seat = true;
    }

    /// It was put in plain words.
    pub fn in_words(&mut self) {
        self.led().words = true;
    }

    fn led(&mut self) -> &mut Led {
        self.led.get_or_insert_with(|| {
            Box::new(Led {
                by: Maker::Caller,
                words: false,
                also: Vec::new(),
                trust: Trust::Operator,
                consents: None,
                files: None,
                seat: false,
            })
        })
    }

    /// For the next hub: the protocols, the trust of the causes if it is below a caller's, and what agents may not do. An approval given
    /// here is not reported: no hub trusts that of another.
    pub fn tell(&self) -> String {
        let mut text = self.protocols().collect::<Vec<_>>().join(", ");
        if self.trust() < Trust::Caller {
            text.push_str(&format!("; trust={}", self.trust().as_str()));
        }
        // What an agent must ask for it asked for here; where the trust is low the next hub asks for itself.
        let denied = self.consents().map(|consents| consents.named(Consent::Deny)).unwrap_or_default();
        if !denied.is_empty() {
            text.push_str(&format!("; deny={}", denied.join(" ")));
        }
        text
    }

    /// Adds what the previous hub reports. Anybody can claim it, and it is accepted because it only removes rights; what cannot be read is
    /// ignored, as it could have been omitted. A call with low trust behind it counts as one of an agent: a change needs approval here.
    pub fn told(&mut self, text: &str) {
        let mut said = text.split(';').map(str::trim);
        let protocols = said.next().unwrap_or_default().split(',').map(str::trim);
        for protocol in protocols.filter(|name| is_name(name)) {
            // One too many is kept, so that it shows.
            if self.is_overlong() {
                break;
            }
            self.goes_by(Wire(protocol.to_owned().into()));
        }
        let mut rules = Consents::NONE;
        let mut low = false;
        for (key, value) in said.filter_map(|rule| rule.split_once('=')) {
            match key.trim() {
                "trust" => {
                    if let Some(trust) = Trust::parse(value.trim()) {
                        self.lower(trust);
                        low |= trust < Trust::Caller;
                    }
                }
                "deny" => rules.set(value.split_whitespace(), Consent::Deny),
                _ => {}
            }
        }
        if low || rules != Consents::NONE {
            self.bound_by(rules);
        }
    }
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !text.is_empty() && text.len() <= LONGEST_NAME && text.bytes().all(plain)
}

/// The form in journals. A direct call is written as its wire, as before origins existed.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Wire(Wire),
    Led { first: Wire, led: Box<Led> },
}

impl From<Written> for Origin {
    fn from(written: Written) -> Origin {
        match written {
            Written::Wire(wire) => Origin::from(wire),
            Written::Led { first, led } => Origin { wire: first, led: Some(led) },
        }
    }
}

impl From<Origin> for Written {
    fn from(origin: Origin) -> Written {
        match origin.led {
            None => Written::Wire(origin.wire),
            Some(led) => Written::Led { first: origin.wire, led },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(wire: &'static str) -> Origin {
        Origin::from(Wire(wire.into()))
    }

    fn protocols(origin: &Origin) -> Vec<&str> {
        origin.protocols().collect()
    }

    #[test]
    fn a_child_has_all_that_led_to_it_and_is_not_what_came_in() {
        let mut asked = came("mcp/2026-07-28");
        asked.goes_by(Wire("bus".into()));
        asked.works_in(TaskId(3));
        asked.sits();
        asked.in_words();
        asked.bound_by(Consents { destroys: Consent::Deny, ..Consents::NONE });
        let child = asked.child(Maker::Plan, Trust::Peer);
        assert_eq!(protocols(&child), ["mcp", "bus"]);
        assert_eq!((child.wire(), child.trust(), child.files()), (None, Trust::Peer, Some(TaskId(3))));
        assert_eq!((child.chosen_by(), child.is_seat()), (Chosen::ByPlan, false), "a seat is the member's own");
        assert_eq!(child.consents().map(|rules| rules.destroys), Some(Consent::Deny));
        let mut grandchild = child.child(Maker::Agent, Trust::Caller);
        grandchild.bound_by(Consents { writes: Consent::Ask, ..Consents::NONE });
        let rules = Consents { writes: Consent::Ask, destroys: Consent::Deny, ..Consents::NONE };
        assert_eq!((grandchild.trust(), grandchild.consents()), (Trust::Peer, Some(rules)), "nothing is taken back");
    }

    #[test]
    fn what_joins_adds_all_that_forbids() {
        let mut plan = came("api");
        plan.joins(&came("api"));
        assert_eq!(plan, came("api"), "the same once more");
        let mut edit = came("mcp/2026-07-28").child(Maker::Agent, Trust::World);
        edit.bound_by(Consents { destroys: Consent::Deny, ..Consents::NONE });
        plan.joins(&edit);
        assert_eq!(
            (protocols(&plan), plan.trust(), plan.consents()),
            (vec!["api", "mcp"], Trust::World, edit.consents())
        );
        assert_eq!(plan.maker(), Maker::Caller);
    }

    #[test]
    fn who_chose_a_call_is_known_by_its_maker() {
        let mut words = came("a2a/1.0");
        assert_eq!(words.chosen_by(), Chosen::ByName);
        words.in_words();
        assert_eq!(words.chosen_by(), Chosen::ByWords);
        assert_eq!(words.wire().map(|wire| &*wire.0), Some("a2a/1.0"), "it came in all the same");
        for (maker, chosen) in [
            (Maker::Agent, Chosen::ByModel),
            (Maker::Team, Chosen::ByName),
            (Maker::Plan, Chosen::ByPlan),
            (Maker::Device, Chosen::ByWords),
            (Maker::Caller, Chosen::ByName),
        ] {
            assert_eq!(words.child(maker, Trust::Caller).chosen_by(), chosen);
        }
        assert_eq!(Origin::program().wire(), None);
        assert_eq!(protocols(&Origin::program()), ["local"]);
    }

    #[test]
    fn what_one_hub_tells_the_next_one_reads_and_it_only_adds() {
        let mut asked = came("mcp/2026-07-28").child(Maker::Agent, Trust::World);
        asked.bound_by(Consents {
            unknown: Consent::Ask,
            writes: Consent::Ask,
            destroys: Consent::Deny,
            spends: Consent::Deny,
        });
        let text = asked.tell();
        assert_eq!(text, "mcp; trust=world; deny=destroys spends");
        let mut next = came("nlip");
        next.told(&text);
        assert_eq!(protocols(&next), ["nlip", "mcp"]);
        let denied = Consents { destroys: Consent::Deny, spends: Consent::Deny, ..Consents::NONE };
        assert_eq!((next.trust(), next.consents()), (Trust::World, Some(denied)));
        let before = next.clone();
        next.told("; trust=operator; deny=; deny=x; ;;=;");
        next.told("nlip, mcp; trust=peer; deny=spends");
        assert_eq!(next, before, "nothing is taken back");
        next.told(&format!("{}, a b, ü, ,", "x".repeat(100)));
        assert_eq!(next, before, "invalid names are ignored");
        assert!(!next.is_overlong());
        next.told(&(0..100).map(|number| format!("p{number},")).collect::<String>());
        assert!(next.is_overlong());
        assert_eq!(protocols(&next).len(), MOST_PROTOCOLS + 1, "no more than one too many is kept");
    }

    #[test]
    fn low_trust_alone_is_told_and_binds_like_an_agent() {
        let asked = came("api").child(Maker::Plan, Trust::Peer);
        assert_eq!(asked.tell(), "api; trust=peer");
        let mut next = came("a2a/1.0");
        next.told(&asked.tell());
        assert_eq!((next.trust(), next.consents()), (Trust::Peer, Some(Consents::NONE)));
        let mut plain = came("a2a/1.0");
        plain.told(&came("api").tell());
        assert_eq!((plain.trust(), plain.consents()), (Trust::Operator, None), "a caller's own words bind nothing");
    }

    #[test]
    fn a_journal_that_knew_only_wires_is_read_and_others_come_back_as_they_were() {
        let plain: Origin = serde_json::from_str("\"mcp/2026-07-28\"").expect("a wire");
        assert_eq!(plain, came("mcp/2026-07-28"));
        assert_eq!(serde_json::to_string(&plain).expect("writes"), "\"mcp/2026-07-28\"");
        let mut led = plain.child(Maker::Agent, Trust::Peer);
        led.bound_by(Consents::default());
        led.works_in(TaskId(9));
        let written = serde_json::to_string(&led).expect("writes");
        assert_eq!(serde_json::from_str::<Origin>(&written).expect("reads"), led);
    }
}
