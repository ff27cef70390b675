//! Members that are not agents of this hub: a remote agent does not call the team's tools, so its reply is read as a decision.
//!
//! A structured part decides by the verbs themselves: `{"vote": {"agent_id": LABEL, "reason": TEXT}}`, `{"new_answer": {"content":
//! TEXT}}`, or a call of one of them, `{"name": "vote", "arguments": {…}}`; so does a text that is such an object. In other words a
//! first line `vote: LABEL` (or `VOTE LABEL`) is a vote and the rest its reason; anything else is an answer. In a round that offers no
//! answer a label standing alone is a vote as well.
//!
//! A vote counts for a label that the member was shown, never for a name: whether a name is right would tell who is who.

use bytes::Bytes;
use serde_json::json;

use super::tools::WORKFLOW;
use super::{Brief, Called, Offer, Turn, Workflow, offered_tools};
use interlingua_model::content::{Body, Part, Provenance, Trust};
use interlingua_model::id::Text;
use interlingua_model::json::{Json, Tree};

/// The key of the structured part that says what a member may decide.
pub const ROUND: &str = "interlingua/team";
/// Stands for a choice that is no label the member was shown. No member has a name with a space.
const UNKNOWN: &str = "this label";

/// The verbs of a round as a structured part, for a member whose program reads them.
pub fn verbs(brief: &Brief) -> Part {
    let verbs = offered_tools(brief)
        .into_iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input": tool.input.0}));
    let verbs: Vec<serde_json::Value> = verbs.collect();
    Part::new(Body::Data(json!({ROUND: {"verbs": verbs, "labels": brief.choices}}).into()), Provenance::hub())
}

/// What a whole reply decides. A structured part that names no verb is content like any other.
pub fn read_reply(parts: &[Part], offer: Offer, choices: &[Text]) -> Turn {
    let trust = parts.iter().map(|part| part.provenance.trust).min().unwrap_or(Trust::Peer).min(Trust::Peer);
    let text = parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n");
    let mut calls: Vec<Called> = Vec::new();
    let written = Json::parse(Bytes::copy_from_slice(text.trim().as_bytes())).ok();
    for data in parts.iter().filter_map(Part::as_data).chain(&written) {
        calls.extend(decisions(data, choices).map(|what| Called { id: "said".into(), what }));
    }
    if calls.is_empty() {
        return read_plain(&text, offer, choices, trust);
    }
    Turn { calls, text: text.into(), trust }
}

/// The verbs of an object, each with its arguments.
fn decisions(data: &Json, choices: &[Text]) -> impl Iterator<Item = Workflow> {
    let called = data.get("name").and_then(Tree::as_str).zip(data.get("arguments"));
    let own = WORKFLOW.into_iter().filter_map(|verb| Some((verb, data.get(verb)?)));
    let named = called.filter(|(name, _)| WORKFLOW.contains(name));
    named.into_iter().chain(own).map(|(verb, args)| decision(verb, args, choices))
}

fn decision(verb: &str, args: &Tree, choices: &[Text]) -> Workflow {
    match (Workflow::read(verb, &Json::from_tree(args.clone())), args.as_str()) {
        (Workflow::NewAnswer { content: None }, Some(content)) => Workflow::NewAnswer { content: Some(content.into()) },
        (Workflow::Vote { choice, reason }, said) => {
            let choice = said.unwrap_or(&choice);
            let label = choice.split_once('.').map_or(choice, |(label, _)| label).trim();
            let shown = choices.iter().find(|shown| shown.eq_ignore_ascii_case(label));
            Workflow::Vote { choice: shown.cloned().unwrap_or_else(|| UNKNOWN.into()), reason }
        }
        (decided @ (Workflow::NewAnswer { .. } | Workflow::Stop { .. } | Workflow::Other(_)), _) => decided,
    }
}

/// The one call a text stands for.
fn read_plain(text: &str, offer: Offer, choices: &[Text], trust: Trust) -> Turn {
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
        read_reply(&[Part::text(text, Provenance::hub())], offer, &choices).calls.remove(0).what
    }

    fn structured(data: serde_json::Value) -> Vec<Workflow> {
        let choices: Vec<Text> = vec!["agent1".into(), "agent2".into()];
        let part = Part::new(Body::Data(data.into()), Provenance::hub());
        let turn = read_reply(&[part], Offer::AnswerOrVote, &choices);
        assert_eq!(turn.trust, Trust::Peer, "whatever it claims");
        turn.calls.into_iter().map(|call| call.what).collect()
    }

    #[test]
    fn a_structured_part_decides_by_the_verbs_themselves() {
        let vote = json!({"agent_id": "Agent2.3", "reason": "clearer"});
        let content = Workflow::NewAnswer { content: Some("Forty-two.".into()) };
        assert_eq!(structured(json!({"vote": vote})), [vote_for("agent2", "clearer")]);
        assert_eq!(structured(json!({"name": "vote", "arguments": vote})), [vote_for("agent2", "clearer")]);
        assert_eq!(structured(json!({"new_answer": {"content": "Forty-two."}})), std::slice::from_ref(&content));
        assert_eq!(structured(json!({"new_answer": "Forty-two."})), std::slice::from_ref(&content));
        assert_eq!(read(r#"{"new_answer": "Forty-two."}"#, Offer::AnswerOrVote), content, "written as text");
        assert_eq!(structured(json!({"vote": vote, "new_answer": "x"})).len(), 2, "judged as one thing too many");
        assert_eq!(structured(json!({"temperature": 7})), [Workflow::NewAnswer { content: None }], "content");
    }

    #[test]
    fn attack_a_vote_for_a_name_or_an_unseen_label_is_for_nobody() {
        for choice in ["bob", "agent9", "", "agent1\nagent2"] {
            let [Workflow::Vote { choice, .. }] = &structured(json!({"vote": {"agent_id": choice}}))[..] else {
                panic!("a vote")
            };
            assert_eq!(&**choice, UNKNOWN);
        }
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
