//! The state table of a team, row by row, in a running hub: members with scripted models, a tool for each at which it waits until the test
//! releases it, and the run's own records as they are read from outside.

use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{told, words};
use crate::support::{self, reaches, start, until};

/// Seats in the order of registration; labels in the order of names.
const ANN: u64 = 0;
const BOB: u64 = 1;
const CID: u64 = 2;

/// Answers, votes for itself, and presents.
const BOB_LINES: &str = r#"
replies:
  - { when: "You received", again: true, say: "It is forty-two, said bob." }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent2, reason: mine } }] }
  - { when: "", again: true, call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
"#;

/// Never comes to an end.
const HANGS: &str = "replies: [{ events: [{ wait: 600000 }], again: true }]";

/// A team at work.
struct Panel {
    hub: Hub,
    task: String,
}

impl Panel {
    /// Members by name, each with the lines of its model; `team` is more configuration of the team.
    async fn begin(members: &[(&str, &str)], team: &str) -> Panel {
        let mut builder = support::builder();
        let (mut models, mut agents) = (String::new(), String::new());
        for (name, lines) in members {
            let go = builder.directory().join(format!("go_{name}"));
            let wait = format!("while [ ! -e {} ]; do sleep 0.05; done; echo '{{}}'", go.display());
            let gate = format!(
                "name: gate_{name}\ndescription: Waits.\neffects: {{ reads: true }}\ntimeout: 5m\ncommand: {}\n",
                json!(["sh", "-c", wait])
            );
            builder = builder.file(&format!("tools/gate_{name}.yaml"), gate).file(&format!("{name}.yaml"), lines);
            models += &format!("  of_{name}: {{ provider: scripted, file: ./{name}.yaml }}\n");
            agents +=
                &format!("  {name}: {{ model: of_{name}, skills: [\"local/gate_*\", local/steps, local/pause] }}\n");
        }
        let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
        let config = format!(
            "tools: {{ directory: ./tools }}\nmodels:\n{models}agents:\n{agents}\
             teams:\n  panel: {{ agents: [{}]{team} }}\n",
            names.join(", ")
        );
        let pause = "name: pause\ndescription: Takes two seconds.\neffects: { reads: true }\n\
                     command: [sh, -c, 'sleep 2; echo {}']\n";
        let hub = builder.file("tools/pause.yaml", pause).config(&config).start().await;
        let task = start(&hub, json!({"skill": "panel/chat", "text": "What is the answer?"})).await;
        Panel { hub, task }
    }

    /// The member goes on from its gate.
    fn opens(&self, member: &str) {
        std::fs::write(self.hub.directory().join(format!("go_{member}")), "").expect("a file");
    }

    /// What was written down so far: name and content of each step.
    async fn steps(&self) -> Vec<(String, Value)> {
        let page = self.hub.get(&format!("/api/tasks/{}/timeline?limit=500", self.task)).await.json();
        let items = page["items"].as_array().cloned().unwrap_or_default();
        items
            .into_iter()
            .map(|item| (item["step"].as_str().unwrap_or_default().to_owned(), item["data"].clone()))
            .collect()
    }

    /// The steps of this name of a member.
    async fn of(&self, name: &str, seat: u64) -> Vec<Value> {
        let steps = self.steps().await.into_iter();
        steps.filter(|(step, data)| step == name && data["seat"] == seat).map(|(_, data)| data).collect()
    }

    /// The first step of this name of a member, once it is there.
    async fn reaches(&self, name: &str, seat: u64) -> Value {
        let mut found = Vec::new();
        until(&format!("{name} of {seat}"), async || {
            found = self.of(name, seat).await;
            !found.is_empty()
        })
        .await;
        found.remove(0)
    }

    /// The one step of this name, of the whole team.
    async fn only(&self, name: &str) -> Value {
        let mut found: Vec<Value> =
            self.steps().await.into_iter().filter(|(step, _)| step == name).map(|(_, data)| data).collect();
        assert_eq!(found.len(), 1, "{name}: {:?}", self.steps().await);
        found.remove(0)
    }

    async fn completes(&self) -> String {
        reaches(&self.hub, &self.task, "completed").await;
        told(&self.hub, &self.task).await
    }
}

/// Ann's first round begins without an answer and waits; her vote at its end has not seen Bob's answer.
#[tokio::test]
async fn c_01_c_06_c_07_c_14_rounds_see_all_there_is_late_votes_are_ignored_and_all_votes_end_it() {
    let ann = r#"
replies:
  - { when: There are no answers yet, call: [{ name: local__gate_ann }] }
  - { when: "", again: true, call: [{ name: vote, arguments: { agent_id: agent2, reason: it is short } }] }
"#;
    let panel = Panel::begin(&[("ann", ann), ("bob", BOB_LINES)], "").await;
    panel.reaches("voted", BOB).await;
    assert_eq!(panel.of("round_begun", BOB).await[1]["seen"], json!([0, 1]), "the author looks again, at all there is");
    assert_eq!(panel.of("round_begun", ANN).await.len(), 1, "who is at work goes on");
    panel.opens("ann");
    assert_eq!(panel.completes().await, "It is forty-two, said bob.");
    assert_eq!(panel.of("vote_ignored", ANN).await, [json!({"seat": ANN, "why": "Unseen"})]);
    let rounds = panel.of("round_begun", ANN).await;
    assert_eq!((rounds.len(), &rounds[0]["seen"], &rounds[1]["seen"]), (2, &json!([0, 0]), &json!([0, 1])));
    let voted = panel.of("voted", ANN).await;
    assert_eq!(voted, [json!({"seat": ANN, "vote": {"choice": BOB, "revision": 1, "reason": "it is short"}})]);
    let chosen = panel.only("chosen").await;
    assert_eq!(chosen, json!({"winner": BOB, "votes": 2, "tied": false, "how": "AllVoted"}));
    let presented = panel.only("presented").await;
    assert_eq!(presented, json!({"text": "It is forty-two, said bob.", "source": "Presented"}));
}

#[tokio::test]
async fn c_02_words_and_reasoning_of_a_round_reach_the_caller_with_their_source() {
    let bob = BOB_LINES.replace(
        "  - { when: \"\", again: true, call:",
        "  - { when: \"\", again: true, think: 'Hm, seven times six. ', say: 'I have it. ', call:",
    );
    let builder = support::builder().file("bob.yaml", bob.replace("agent2", "agent1"));
    let config = "models: { of_bob: { provider: scripted, file: ./bob.yaml } }\nagents: { bob: { model: of_bob } }\n\
                  teams: { panel: { agents: [bob] } }\n";
    let hub = builder.config(config).start().await;
    let body = json!({"skill": "panel/chat", "text": "What is the answer?"});
    let (_connection, mut stream) =
        support::streaming(&hub, http::Method::POST, "/api/exchanges", &[], Some(body)).await;
    let mut heard: Vec<(String, String)> = Vec::new();
    while let Some(data) = stream.next().await {
        let event: Value = serde_json::from_str(&data).expect("JSON");
        if let Some(message) = event["message"].as_str().filter(|_| event["channel"] == "reasoning") {
            let parts = event["parts"].as_array().cloned().unwrap_or_default();
            heard.push((message.to_owned(), parts.iter().filter_map(|part| part["text"].as_str()).collect()));
        }
    }
    let said: String = heard.iter().map(|(_, text)| text.as_str()).collect();
    assert!(said.contains("Hm, seven times six.") && said.contains("I have it."), "{heard:?}");
    assert!(heard.iter().all(|(source, _)| source.starts_with("bob-")), "{heard:?}");
}

#[tokio::test]
async fn c_03_other_tools_run_and_news_is_told_after_their_results() {
    let ann = r#"
replies:
  - { when: There are no answers yet, call: [{ name: new_answer, arguments: { content: Forty-one. } }] }
  - { when: peers have answered, call: [{ name: vote, arguments: { agent_id: agent2, reason: I was told of it } }] }
  - { when: "(your own)", call: [{ name: local__gate_ann }] }
"#;
    let bob = BOB_LINES
        .replace("replies:\n", "replies:\n  - { when: There are no answers yet, call: [{ name: local__gate_bob }] }\n");
    let panel = Panel::begin(&[("ann", ann), ("bob", &bob)], "").await;
    panel.reaches("answered", ANN).await;
    until("ann's second round", async || panel.of("round_begun", ANN).await.len() == 2).await;
    panel.opens("bob");
    panel.reaches("answered", BOB).await;
    assert_eq!(panel.of("informed", ANN).await, [] as [Value; 0], "not before her tool has returned");
    panel.opens("ann");
    assert_eq!(panel.completes().await, "It is forty-two, said bob.");
    assert_eq!(panel.of("informed", ANN).await, [json!({"seat": ANN, "news": [[BOB, 1]]})]);
    let voted = panel.of("voted", ANN).await;
    assert_eq!(voted.last().expect("a vote")["vote"]["reason"], "I was told of it", "in the same round");
    assert_eq!(panel.of("round_begun", ANN).await.len(), 2);
}

/// A tool that was not given to the member does not run, and one that was has its result before the model's next turn.
#[tokio::test]
async fn c_03_a_permitted_tools_result_is_the_next_thing_the_model_reads_and_another_tool_does_not_run() {
    let ann = r#"
replies:
  - { when: "You received", say: "It is forty-two, said ann." }
  - { when: There are no answers yet, call: [{ name: local__fails }] }
  - { when: out of paper, again: true, call: [{ name: new_answer, arguments: { content: It ran. } }] }
  - { when: "counted", call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
  - { when: "(your own)", call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
  - { call: [{ name: local__steps }] }
"#;
    let panel = Panel::begin(&[("ann", ann)], "").await;
    assert_eq!(panel.completes().await, "It is forty-two, said ann.");
    let answers: Vec<Value> = panel.of("answered", ANN).await.iter().map(|step| step["text"].clone()).collect();
    assert_eq!(answers, [json!("Forty-two.")], "given after the result, and not after that of the other tool");
    let audit = panel.hub.get("/api/audit").await.text();
    assert!(audit.contains("local/steps"), "the call went through the hub's door: {audit}");
    let all = panel.hub.get("/api/tasks?all=true").await.text();
    assert!(!all.contains("local/fails"), "no task of a tool that is not permitted: {all}");
}

/// The backends fail each in a way of its own; who is left decides.
#[tokio::test]
async fn c_10_the_error_of_a_failing_backend_is_recorded_with_its_member_and_the_others_go_on() {
    let breaks_off = "replies: [{ events: [{ text: 'I ' }], again: true }]";
    let refuses = "replies: [{ events: [{ fail: { status: 401 } }], again: true }]";
    let panel = Panel::begin(&[("ann", breaks_off), ("bob", BOB_LINES), ("cid", refuses)], "").await;
    assert_eq!(panel.completes().await, "It is forty-two, said bob.");
    for seat in [ANN, CID] {
        let killed = panel.of("killed", seat).await;
        assert_eq!(killed.len(), 1, "{killed:?}");
        let why = &killed[0]["why"];
        assert!(why["kind"].is_string() && why["public"].as_str().is_some_and(|text| !text.is_empty()), "{killed:?}");
        assert_eq!(panel.of("answered", seat).await.len() + panel.of("voted", seat).await.len(), 0);
    }
    let (ann, cid) = (panel.of("killed", ANN).await, panel.of("killed", CID).await);
    assert_ne!(ann[0]["why"], cid[0]["why"], "each its own error");
    assert_eq!((panel.of("killed", BOB).await.len(), panel.of("voted", BOB).await.len()), (0, 1));
}

#[tokio::test]
async fn c_04_c_13_an_answer_voids_every_vote_and_all_look_again() {
    let ann = r#"
replies:
  - { when: "Answer agent2.", again: true, call: [{ name: vote, arguments: { agent_id: agent2, reason: it is better } }] }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
  - { when: "", again: true, call: [{ name: new_answer, arguments: { content: Forty-one. } }] }
"#;
    let bob = BOB_LINES
        .replace("replies:\n", "replies:\n  - { when: There are no answers yet, call: [{ name: local__gate_bob }] }\n");
    let panel = Panel::begin(&[("ann", ann), ("bob", &bob)], "").await;
    assert_eq!(panel.reaches("voted", ANN).await["vote"]["choice"], ANN);
    panel.opens("bob");
    assert_eq!(panel.completes().await, "It is forty-two, said bob.");
    let answered = panel.of("answered", BOB).await;
    assert_eq!((&answered[0]["revision"], &answered[0]["text"]), (&json!(1), &json!("Forty-two.")));
    let choices: Vec<Value> = panel.of("voted", ANN).await.iter().map(|vote| vote["vote"]["choice"].clone()).collect();
    assert_eq!(choices, [json!(ANN), json!(BOB)], "her first vote was taken back, and she voted again");
    assert_eq!(panel.only("chosen").await["votes"], 2, "the vote that was void is not counted");
    assert_eq!(panel.of("round_begun", ANN).await.last().expect("a round")["seen"], json!([1, 1]));
    assert_eq!(panel.of("round_begun", BOB).await.last().expect("a round")["seen"], json!([1, 1]), "its author too");
}

/// Bob does wrong three times, in two rounds: each begins with a fresh attempt. Ann does so three times in one.
#[tokio::test]
async fn c_05_c_08_c_09_c_10_what_is_wrong_is_told_and_tried_again_and_the_third_time_ends_a_member() {
    let ann = "replies: [{ say: I think., again: true }]";
    let bob = r#"
replies:
  - { when: "You received", say: "It is forty-two, said bob." }
  - { when: There are no answers yet, call: [{ name: new_answer, arguments: { content: "  " } }] }
  - { when: an answer needs content, call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
  - { when: "(your own)", call: [{ name: vote, arguments: { agent_id: agent9, reason: x } }] }
  - { when: vote for one of agent2, say: "Whom, then?" }
  - { when: Your turn has not ended, call: [{ name: vote, arguments: { agent_id: agent2, reason: mine } }] }
"#;
    let panel = Panel::begin(&[("ann", ann), ("bob", bob)], "").await;
    assert_eq!(panel.completes().await, "It is forty-two, said bob.");
    let refused: Vec<Value> = panel.of("refused", BOB).await.iter().map(|step| step["why"].clone()).collect();
    assert_eq!(refused, [json!("Empty"), json!({"UnknownChoice": "agent9"}), json!("NoDecision")]);
    assert_eq!(panel.of("killed", BOB).await.len(), 0);
    assert_eq!(panel.of("refused", ANN).await.len(), 2, "told twice");
    let killed = panel.of("killed", ANN).await;
    assert_eq!((killed.len(), killed[0].to_string().contains("3 attempts")), (1, true), "{killed:?}");
}

#[tokio::test]
async fn c_08_a_vote_before_there_is_an_answer_is_told_to_answer() {
    let bob = r#"
replies:
  - { when: "You received", say: "It is forty-two, said bob." }
  - { when: There are no answers yet, call: [{ name: vote, arguments: { agent_id: agent1, reason: x } }] }
  - { when: there is no answer to vote for yet, call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
  - { when: "(your own)", call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
"#;
    let panel = Panel::begin(&[("bob", bob)], "").await;
    assert_eq!(panel.completes().await, "It is forty-two, said bob.");
    assert_eq!(panel.of("refused", 0).await, [json!({"seat": 0, "why": "NothingToVoteFor"})]);
}

/// The limit is a second, the grace another. Ann is told once, goes on calling tools, and is out after ten.
#[tokio::test]
async fn c_11_c_12_a_member_whose_time_is_over_is_told_once_denied_ten_times_and_then_out() {
    let ann = r#"
replies:
  - { when: There are no answers yet, call: [{ name: local__gate_ann }] }
  - { when: Your time is nearly over, call: [{ name: local__pause }] }
  - { when: "", again: true, call: [{ name: local__steps }] }
"#;
    let bob = BOB_LINES
        .replace("replies:\n", "replies:\n  - { when: There are no answers yet, call: [{ name: local__gate_bob }] }\n");
    let panel = Panel::begin(&[("ann", ann), ("bob", &bob)], ", times: { first_round: 1s, grace: 1s }").await;
    panel.reaches("noticed", ANN).await;
    assert_eq!(panel.of("killed", ANN).await.len(), 0, "it goes on running");
    panel.opens("ann");
    let killed = panel.reaches("killed", ANN).await;
    assert!(killed.to_string().contains("10 calls were denied"), "{killed}");
    assert_eq!((panel.of("noticed", ANN).await.len(), panel.of("denied", ANN).await.len()), (1, 10));
    // Bob's time is over as well: what he decides is taken.
    panel.opens("bob");
    assert_eq!(panel.completes().await, "It is forty-two, said bob.");
    assert_eq!(panel.of("denied", BOB).await.len(), 0);
}

/// Bob has a vote, Cid the later answer, Ann hangs.
#[tokio::test]
async fn c_15_when_time_is_over_the_votes_so_far_decide_and_the_answer_is_used_as_it_is() {
    let cid = r#"
replies:
  - { when: There are no answers yet, call: [{ name: local__gate_cid }] }
  - { when: "(your own)", again: true, events: [{ wait: 600000 }] }
  - { when: "", call: [{ name: new_answer, arguments: { content: Forty-three. } }] }
"#;
    let members = [("ann", HANGS), ("bob", BOB_LINES), ("cid", cid)];
    let panel = Panel::begin(&members, ", times: { whole: 5s }").await;
    panel.reaches("answered", BOB).await;
    panel.opens("cid");
    assert_eq!(panel.completes().await, "Forty-two.", "as it was given");
    assert_eq!(panel.of("answered", CID).await.len(), 1);
    let chosen = panel.only("chosen").await;
    assert_eq!(chosen, json!({"winner": BOB, "votes": 1, "tied": false, "how": "TimeOver"}));
}

#[tokio::test]
async fn c_16_when_time_is_over_without_an_answer_the_team_has_failed() {
    let panel = Panel::begin(&[("ann", HANGS), ("bob", HANGS)], ", times: { whole: 1s }").await;
    let failed = reaches(&panel.hub, &panel.task, "failed").await;
    assert_eq!(failed["finished"]["fault"]["kind"], "deadline", "{failed}");
}

/// Both have answered, and then fail. The first registered of those with an answer counts, though the other was first.
#[tokio::test]
async fn c_17_when_all_have_ended_an_answer_survives_its_author() {
    let bob = r#"
replies:
  - { when: There are no answers yet, call: [{ name: local__gate_bob }] }
  - { when: "{}", call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
"#;
    let cid = "replies: [{ call: [{ name: new_answer, arguments: { content: Forty-three. } }] }]";
    let panel = Panel::begin(&[("ann", "replies: []"), ("bob", bob), ("cid", cid)], "").await;
    panel.reaches("killed", CID).await;
    panel.opens("bob");
    assert_eq!(panel.completes().await, "Forty-two.");
    assert_eq!(panel.only("chosen").await["how"], "AllKilled");
    assert_eq!(panel.only("presented").await["source"], "Stored", "nobody who has ended is asked");
}

#[tokio::test]
async fn h_21_the_order_of_registration_decides_a_tie() {
    let lines = |own: &str, name: &str| {
        format!(
            "replies:\n  - {{ when: You received, say: \"So says {name}.\" }}\n  \
             - {{ when: There are no answers yet, call: [{{ name: local__gate_{name} }}] }}\n  \
             - {{ when: \"(your own)\", again: true, call: [{{ name: vote, arguments: {{ agent_id: {own}, reason: mine }} }}] }}\n  \
             - {{ when: \"\", call: [{{ name: new_answer, arguments: {{ content: The answer of {name}. }} }}] }}\n"
        )
    };
    for (first, second) in [("zoe", "ann"), ("ann", "zoe")] {
        let label = |name: &str| if name == "ann" { "agent1" } else { "agent2" };
        let (one, two) = (lines(label(first), first), lines(label(second), second));
        let panel = Panel::begin(&[(first, &one), (second, &two)], "").await;
        // The second answers first, so it is not the order of answers that decides.
        panel.opens(second);
        panel.reaches("answered", 1).await;
        panel.opens(first);
        assert_eq!(panel.completes().await, format!("So says {first}."));
        let chosen = panel.only("chosen").await;
        assert_eq!((&chosen["winner"], &chosen["votes"], &chosen["tied"]), (&json!(0), &json!(1), &json!(true)));
    }
}

#[tokio::test]
async fn r_36_two_calls_of_a_team_s_own_tools_never_run_beside_each_other() {
    let bob = r#"
replies:
  - { when: "You received", say: "It is forty-two, said bob." }
  - { when: There are no answers yet, call: [{ name: new_answer, arguments: { content: One. } }, { name: new_answer, arguments: { content: Two. } }] }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
  - { when: another call of the same response was refused, call: [{ name: vote, arguments: { agent_id: agent1, reason: x } }, { name: new_answer, arguments: { content: Three. } }] }
  - { when: another call of the same response was refused, call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
"#;
    let panel = Panel::begin(&[("bob", bob)], ", nlip: true").await;
    assert_eq!(panel.completes().await, "It is forty-two, said bob.");
    let mixed = json!({"seat": 0, "why": "Mixed"});
    assert_eq!(panel.of("refused", 0).await, [mixed.clone(), mixed], "two answers, and an answer beside a vote");
    let answered = panel.of("answered", 0).await;
    assert_eq!((answered.len(), &answered[0]["text"]), (1, &json!("Forty-two.")), "nothing of them was carried out");
}

#[tokio::test]
async fn h_14_a_tool_that_is_not_offered_in_a_round_is_not_carried_out_in_it() {
    let bob = r#"
replies:
  - { when: "You received", say: "It is forty-two, said bob." }
  - { when: There are no answers yet, call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
  - { when: "(your own)", call: [{ name: new_answer, arguments: { content: Forty-three. } }] }
  - { when: new_answer cannot be called in this round, call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
"#;
    let panel = Panel::begin(&[("bob", bob)], ", answers_each: 1").await;
    assert_eq!(panel.completes().await, "It is forty-two, said bob.");
    assert_eq!(panel.of("refused", 0).await, [json!({"seat": 0, "why": {"NotOffered": "new_answer"}})]);
    assert_eq!(panel.of("answered", 0).await.len(), 1);
}

/// A member at another hub is asked by its NLIP address, in words.
#[tokio::test]
async fn a_member_elsewhere_takes_part_by_nlip() {
    let script = "scenes: [{ play: [{ answer: { text: \"vote: agent1\\nIt is right.\" } }] }]";
    let far = support::builder()
        .known_owner()
        .file("scribe.yaml", script)
        .config("scripts: { scribe: ./scribe.yaml }\n")
        .start()
        .await;
    let config = format!(
        "models: {{ of_bob: {{ provider: scripted, file: ./bob.yaml }} }}\nagents: {{ bob: {{ model: of_bob }} }}\n\
         peers: {{ far: {{ nlip: {{ url: \"{}\", token: {} }}, effects: reads }} }}\nteams: {{ panel: {{ agents: [bob, far] }} }}\n",
        far.url("/agents/scribe/nlip"),
        interlingua_testkit::OWNER_TOKEN
    );
    let hub = support::builder().file("bob.yaml", BOB_LINES.replace("agent2", "agent1")).config(&config).start().await;
    let answer = hub.post_json("/api/exchanges", &json!({"skill": "panel/chat", "text": "What is it?"})).await.json();
    assert_eq!(words(&answer), "It is forty-two, said bob.", "{answer}");
    let steps = hub.get(&format!("/api/tasks/{}/timeline?limit=200", answer["task"].as_str().expect("a task"))).await;
    assert!(steps.text().contains("It is right."), "its vote counts: {}", steps.text());
}
