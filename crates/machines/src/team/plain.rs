//! Members without tools: a remote agent answers in words and calls no tool, so its text is read as a decision.
//!
//! A first line `vote: LABEL` (or `VOTE LABEL`) is a vote and the rest its reason; anything else is an answer. In a round
//! that offers no answer a label standing alone is a vote as well.

use super::{Called, Offer, Turn, Workflow};
use interlingua_model::content::Trust;
use interlingua_model::id::Text;

/// The one call a text stands for.
pub fn read_plain(text: &str, offer: Offer, choices: &[Text], trust: Trust) -> Turn {
    let text = text.trim();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let what = match vote(first, offer, choices) {
        Some((choice, reason)) => {
            let reason = if rest.trim().is_empty() { reason } else { rest.trim() };
            Workflow::Vote { choice: choice.into(), reason: reason.into() }
        }
        None if offer == Offer::StopOnly => Workflow::Stop { summary: text.into(), status: super::Stopped::Complete },
        // In a round that takes only votes this is refused, which tells the member what to say.
        None => Workflow::NewAnswer { content: None },
    };
    Turn { calls: vec![Called { id: "said".into(), what }], text: text.into(), trust }
}

/// Whom the line votes for, and what else it says.
fn vote<'a>(line: &'a str, offer: Offer, choices: &[Text]) -> Option<(&'a str, &'a str)> {
    if !offer.votes() {
        return None;
    }
    let word = line.get(..4).filter(|word| word.eq_ignore_ascii_case("vote")).map(|_| &line[4..]);
    let said = match word {
        Some(rest) => rest.trim_start_matches([':', ' ']),
        None if offer == Offer::VoteOnly => line.trim(),
        None => return None,
    };
    let end = said.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(said.len());
    let (choice, reason) = said.split_at(end);
    let known = choices.iter().any(|label| label.eq_ignore_ascii_case(choice));
    known.then(|| (choice, reason.trim_start_matches([':', '.', ',', '-', ' '])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, offer: Offer) -> Workflow {
        let choices: Vec<Text> = vec!["agent1".into(), "agent2".into()];
        read_plain(text, offer, &choices, Trust::Peer).calls.remove(0).what
    }

    fn vote_for(choice: &str, reason: &str) -> Workflow {
        Workflow::Vote { choice: choice.into(), reason: reason.into() }
    }

    #[test]
    fn a_first_line_with_a_vote_is_a_vote_and_the_rest_its_reason() {
        assert_eq!(read("Vote: agent2\nIt is shorter.", Offer::AnswerOrVote), vote_for("agent2", "It is shorter."));
        assert_eq!(read("VOTE Agent1 - clearer", Offer::AnswerOrVote), vote_for("Agent1", "clearer"));
    }

    #[test]
    fn anything_else_is_an_answer() {
        let answer = Workflow::NewAnswer { content: None };
        assert_eq!(read("Voters like agent2", Offer::AnswerOrVote), answer);
        assert_eq!(read("agent2", Offer::AnswerOrVote), answer);
        assert_eq!(read("vote: agent9", Offer::AnswerOrVote), answer);
        assert_eq!(read("vote: agent2", Offer::AnswerOnly), answer);
        assert_eq!(read("日本", Offer::AnswerOrVote), answer);
    }

    #[test]
    fn a_label_alone_is_a_vote_where_nothing_else_can_be_meant() {
        assert_eq!(read("agent2, because it is right", Offer::VoteOnly), vote_for("agent2", "because it is right"));
    }
}
