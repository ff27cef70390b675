//! Converts the section `teams` to the rules of a team.

use interlingua_machines::team::{Ending, Member, Mode, Novelty, Purse, Rules, TeamPlan, Times, Updates};
use interlingua_model::{Fault, PeerId};

use super::{self as settings, micro};

/// How many answers a member at work is told of in one round.
const SOURCES: u32 = 2;

/// The plan of a team without its task; `is_agent` knows the agents of this hub.
pub fn plan(config: &settings::Team, is_agent: impl Fn(&str) -> bool) -> Result<TeamPlan, Fault> {
    let members = config.agents.iter().map(|name| {
        let subtask = config.shares.get(name).map(|share| share.as_str().into());
        Member { subtask, outside: !is_agent(name), ..Member::new(name.as_str()) }
    });
    let mut plan = TeamPlan::new("", members);
    plan.rules = rules(config);
    plan.check()?;
    Ok(plan)
}

fn rules(config: &settings::Team) -> Rules {
    let times = &config.times;
    Rules {
        mode: match config.strategy {
            settings::Strategy::Vote => Mode::Voting,
            settings::Strategy::Decompose => {
                Mode::Decomposition { presenter: config.presenter.as_deref().map(PeerId::from) }
            }
        },
        ending: match config.ending {
            settings::Ending::Present => Ending::Present,
            settings::Ending::Reuse => Ending::Reuse,
            settings::Ending::Synthesize => Ending::Synthesize,
        },
        skip_voting: config.skip_voting,
        answers_each: config.answers_each,
        answers_all: config.answers_all,
        defer_voting: config.defer_voting,
        novelty: match config.novelty {
            settings::Novelty::Lenient => Novelty::Lenient,
            settings::Novelty::Balanced => Novelty::Balanced,
            settings::Novelty::Strict => Novelty::Strict,
        },
        lead: Some(config.lead).filter(|lead| *lead > 0),
        updates: match config.updates {
            settings::Updates::Midstream => Updates::Midstream { sources: SOURCES },
            settings::Updates::Restart => Updates::AtRestart,
            settings::Updates::Never => Updates::Never,
        },
        times: Times {
            whole: times.whole.0,
            first_round: times.first_round.map(|span| span.0),
            later_round: times.later_round.map(|span| span.0),
            grace: times.grace.0,
        },
        restarts: config.restarts,
        purse: Purse { tokens: config.budget.tokens, micro_money: config.budget.money.map(micro) },
    }
}
