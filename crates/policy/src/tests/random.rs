//! For random rules and questions: the index omits nothing, an answer before the arguments holds with them, and a skill that cannot be
//! called is not listed.

use proptest::prelude::*;

use super::*;

fn principal_head() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("principal".to_owned()),
        Just("principal is User".to_owned()),
        Just("principal is Agent in Role::\"r0\"".to_owned()),
        (0..3).prop_map(|n| format!("principal == User::\"u{n}\"")),
        (0..3).prop_map(|n| format!("principal in Role::\"r{n}\"")),
    ]
}

fn action_head() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("action".to_owned()),
        Just("action in Action::\"use\"".to_owned()),
        Just("action == Action::\"call\"".to_owned()),
        Just("action in [Action::\"call\", Action::\"approve\"]".to_owned()),
        Just("action == Action::\"list\"".to_owned()),
    ]
}

fn resource_head() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("resource".to_owned()),
        Just("resource is Skill".to_owned()),
        (0..2).prop_map(|n| format!("resource in Peer::\"p{n}\"")),
        (0..2, 0..2).prop_map(|(p, s)| format!("resource == Skill::\"p{p}/s{s}\"")),
        (0..2).prop_map(|n| format!("resource is Skill in Peer::\"p{n}\"")),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        1 => Just("when { context.effects.writes }".to_owned()),
        1 => Just("unless { context.protocol == \"mcp\" }".to_owned()),
        1 => Just("when { context.provenance == \"world\" }".to_owned()),
        1 => Just("when { context.time.toTime() < duration(\"13h\") }".to_owned()),
        1 => Just("when { context.arguments.hasTag(\"a\") && context.arguments.getTag(\"a\") like \"x*\" }".to_owned()),
        1 => Just("unless { context.numbers.hasTag(\"n\") && context.numbers.getTag(\"n\") > 3 }".to_owned()),
    ]
}

fn rule() -> impl Strategy<Value = String> {
    let effect = prop_oneof![3 => Just("permit"), 1 => Just("forbid")];
    (effect, principal_head(), action_head(), resource_head(), condition())
        .prop_map(|(effect, whom, action, what, when)| format!("{effect} ({whom}, {action}, {what}) {when};\n"))
}

fn caller() -> impl Strategy<Value = Link> {
    let subject = prop_oneof![
        (0..3).prop_map(|n| Subject::User(format!("u{n}").into())),
        (0..3).prop_map(|n| Subject::Agent(format!("u{n}").as_str().into())),
        Just(Subject::Anonymous),
    ];
    let roles = proptest::collection::vec((0..3).prop_map(|n| format!("role:r{n}")), 0..3);
    (subject, roles).prop_map(|(subject, roles)| link(subject, &roles.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// By what it came, how far what led to it is trusted, and when.
type Circumstances = (Option<&'static str>, Option<Trust>, Time);

fn circumstances() -> impl Strategy<Value = Circumstances> {
    let wire = prop_oneof![Just(None), Just(Some("mcp")), Just(Some("nlip"))];
    let trust = prop_oneof![Just(None), Just(Some(Trust::World)), Just(Some(Trust::Caller))];
    let now = prop_oneof![Just(NOON), Just(Time(NOON.0 + 3 * HOUR))];
    (wire, trust, now)
}

fn arguments() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("{}"), Just(r#"{"a":"xyz"}"#), Just(r#"{"a":"y","n":2}"#), Just(r#"{"n":7}"#),]
}

/// What Cedar says of all rules together, without our sorting and keeping.
fn plainly(rules: &[String], asked: &Asked<'_>, args: &str) -> bool {
    // A rule written so that its head fits everything is found by every question; the condition holds the head.
    let all: String = rules.iter().map(|rule| headless(rule)).collect();
    read(&all).judge.decide(asked, Some(&json(args))).allows()
}

fn headless(rule: &str) -> String {
    let (head, rest) = rule.split_once(") ").expect("a rule");
    let (effect, head) = head.split_once(" (").expect("a rule");
    let mut parts = head.splitn(2, ", ");
    let whom = parts.next().unwrap_or_default();
    let (action, what) = parts.next().unwrap_or_default().rsplit_once(", ").expect("three parts");
    let said = [("principal", whom), ("action", action), ("resource", what)];
    let conditions: String = (said.iter())
        .filter(|(plain, written)| plain != written)
        .map(|(_, written)| format!("when {{ {} }} ", spelled(written)))
        .collect();
    format!("{effect} (principal, action, resource) {conditions}{rest}")
}

/// `x is T in Y` is said otherwise in a condition only by its pieces.
fn spelled(head: &str) -> String {
    match head.split_once(" is ").and_then(|(of, rest)| Some((of, rest.split_once(" in ")?))) {
        Some((of, (kind, within))) => format!("{of} is {kind} && {of} in {within}"),
        None => head.to_owned(),
    }
}

/// Somebody asks for something, under some circumstances.
fn question() -> impl Strategy<Value = (Link, Action, Skill, Circumstances, &'static str)> {
    let action = prop_oneof![Just(Action::List), Just(Action::Call), Just(Action::Approve)];
    let skill = (0..2, 0..2, any::<bool>())
        .prop_map(|(p, s, writes)| skill(&format!("p{p}"), &format!("s{s}"), if writes { &["writes"] } else { &[] }));
    (caller(), action, skill, circumstances(), arguments())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Effect and reasons: both are told in the audit and to whoever asks why.
    #[test]
    fn a_judge_that_remembers_says_what_one_says_that_was_never_asked(
        rules in proptest::collection::vec(rule(), 1..8),
        questions in proptest::collection::vec(question(), 1..4),
    ) {
        let rules = rules.concat();
        let mut expected = Vec::new();
        for (by, action, skill, (wire, trust, now), args) in &questions {
            let asked = Asked { by, action: *action, on: Object::Skill(skill), wire: *wire, trust: *trust, now: *now };
            let args = json(args);
            expected.push((asked, read(&rules).judge.decide(&asked, Some(&args)), read(&rules).judge.could(&asked), args));
        }
        let remembers = read(&rules).judge;
        for (asked, decision, could, args) in expected.iter().chain(&expected) {
            prop_assert_eq!(&remembers.could(asked), could, "{:?} {}", asked, &rules);
            prop_assert_eq!(&remembers.decide(asked, Some(args)), decision, "{:?} {}", asked, &rules);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_found_kept_and_foretold_is_what_cedar_says_of_all_rules(
        rules in proptest::collection::vec(rule(), 1..8),
        by in caller(),
        (peer, name, writes) in (0..2, 0..2, any::<bool>()),
        (wire, trust, now) in circumstances(),
        args in arguments(),
    ) {
        let skill = skill(&format!("p{peer}"), &format!("s{name}"), if writes { &["writes"] } else { &[] });
        let ruling = read(&rules.concat());
        for action in [Action::List, Action::Call, Action::Approve] {
            let asked = Asked { by: &by, action, on: Object::Skill(&skill), wire, trust, now };
            let decision = ruling.judge.decide(&asked, Some(&json(args)));
            prop_assert_eq!(decision.allows(), plainly(&rules, &asked, args), "{:?} {}", decision, rules.concat());
            let again = ruling.judge.decide(&asked, Some(&json(args)));
            prop_assert_eq!(&decision, &again, "what was kept says the same");
            match ruling.judge.could(&asked) {
                Could::Yes => prop_assert!(decision.allows()),
                Could::No => prop_assert!(!decision.allows()),
                Could::Depends => {}
            }
        }
    }
}
