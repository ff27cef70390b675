//! `on` of an agent or a team: the topic whose events start it.

use interlingua_machines::bus::{Pattern, topic};
use interlingua_settings::{Found, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

/// No more runs at once.
const MOST_RUNS: u16 = 64;

/// Starts a run for each event of a topic, in the name of its publisher.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct On {
    /// The topic: names with dots between them. `*` stands for one name, `**` at the end for all that follow.
    pub topic: String,
    /// The topic on which the answers are published. Default: they are not.
    pub reply: Option<String>,
    /// How many of these runs may be in progress at the same time. Further events wait in the log.
    #[serde(default = "four")]
    pub runs: u16,
    /// How many events of one publisher may start a run. The rest are dropped.
    #[serde(default = "sixty_a_minute")]
    pub rate: Rate,
    /// How long an event may wait for its run. Then it is dropped.
    #[serde(default = "an_hour")]
    pub within: Span,
    /// The work of an event may be done twice. An event whose run was interrupted, or failed temporarily, then starts another one.
    /// Default: an event starts at most one run.
    #[serde(default)]
    pub idempotent: bool,
}

impl On {
    /// A topic and nothing else said.
    pub fn topic(topic: &str) -> On {
        On {
            topic: topic.to_owned(),
            reply: None,
            runs: four(),
            rate: sixty_a_minute(),
            within: an_hour(),
            idempotent: false,
        }
    }

    pub(super) fn check(&self, path: &str, found: &mut Found) {
        let pattern = Pattern::parse(&self.topic);
        found.refuse_for(format!("{path}.topic"), pattern.as_ref().err().map(|fault| fault.public.to_string()));
        let reply = self.reply.as_deref().map(topic::named).transpose();
        found.refuse_for(format!("{path}.reply"), reply.as_ref().err().map(|fault| fault.public.to_string()));
        if let (Ok(pattern), Ok(Some(reply))) = (pattern, reply) {
            let text = "its own answers would start it: use a topic that `topic` does not match";
            found.require(!pattern.covers(&reply), &format!("{path}.reply"), text);
        }
        let runs = (1..=MOST_RUNS).contains(&self.runs);
        found.require(runs, &format!("{path}.runs"), "must be 1 to 64");
        found.require(self.rate.count > 0, &format!("{path}.rate"), "must be more than 0");
        found.require(!self.within.0.is_zero(), &format!("{path}.within"), "must be longer than 0");
    }
}

fn four() -> u16 {
    4
}

fn sixty_a_minute() -> Rate {
    Rate { count: 60, per: std::time::Duration::from_secs(60) }
}

fn an_hour() -> Span {
    Span::hours(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(on: &On) -> Vec<String> {
        let mut found = Found::default();
        on.check("agents.a.on", &mut found);
        found.problems.into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn topics_are_topics_and_no_answer_starts_its_own_agent() {
        let on = On { reply: Some("orders.done".to_owned()), ..On::topic("orders.new.*") };
        assert!(problems(&on).is_empty());
        for (topic, reply, place) in [
            ("orders..new", "orders.done", "agents.a.on.topic"),
            ("orders.**", "orders.done", "agents.a.on.reply"),
            ("**", "orders.done", "agents.a.on.reply"),
            ("orders.new", "orders.*", "agents.a.on.reply"),
        ] {
            let on = On { reply: Some(reply.to_owned()), ..On::topic(topic) };
            assert_eq!(problems(&on), [place], "{topic} {reply}");
        }
    }

    #[test]
    fn limits_are_more_than_nothing() {
        let on = On::topic("a");
        assert_eq!(problems(&On { runs: 0, ..on.clone() }), ["agents.a.on.runs"]);
        assert_eq!(problems(&On { runs: 65, ..on.clone() }), ["agents.a.on.runs"]);
        let none = Rate { count: 0, ..on.rate };
        assert_eq!(problems(&On { rate: none, ..on.clone() }), ["agents.a.on.rate"]);
        assert_eq!(problems(&On { within: Span::seconds(0), ..on }), ["agents.a.on.within"]);
    }
}
