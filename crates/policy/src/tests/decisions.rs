//! Decisions by the rules of the examples and by rules of the tests.

use super::*;
use interlingua_model::{HubId, Owner, PeerId};

const OFFICE: &str = include_str!("../../../../examples/policies/office.cedar");
const DEFAULT: &str = include_str!("../../../../examples/policies/default.cedar");

#[test]
fn a_rule_names_itself_or_its_place() {
    let ruling = read(
        "@id(\"mine\")\npermit (principal == User::\"ann\", action, resource);\n\npermit (principal == User::\"bob\", action, resource);",
    );
    let skill = skill("files", "read", &["reads"]);
    let (ann, bob, eve) = (user("ann", &[]), user("bob", &[]), user("eve", &[]));
    let decision = |by| decide(&*ruling.judge, &asked(by, Action::Call, &skill), "{}");
    assert_eq!(because(&decision(&ann)), ["mine"]);
    assert_eq!(because(&decision(&bob)), ["rules.cedar:4"]);
    assert!(silent(&decision(&eve)), "no rule says yes, none says no");
}

#[test]
fn a_prohibition_wins_over_any_permission() {
    let ruling = read(
        "permit (principal, action, resource);\n@id(\"no\") forbid (principal, action, resource == Skill::\"files/delete\");",
    );
    let ann = user("ann", &[]);
    assert!(may(&ruling, &ann, &skill("files", "read", &[]), "{}"));
    let delete = skill("files", "delete", &["destroys"]);
    let refused = decide(&*ruling.judge, &asked(&ann, Action::Call, &delete), "{}");
    assert_eq!((refused.effect, because(&refused)), (Effect::Forbidden, vec!["no"]));
}

#[test]
fn roles_come_with_the_credential_or_from_configuration_and_contain_one_another() {
    let roles = Roles(vec![
        ("clerk".into(), vec!["user:ann".into(), "role:manager".into()]),
        ("manager".into(), vec!["user:meg".into(), "role:clerk".into()]),
    ]);
    let ruling = read_with("permit (principal in Role::\"clerk\", action, resource);", &roles);
    let skill = skill("hotels", "search", &[]);
    for (by, expected) in [
        (user("ann", &[]), true),
        (user("meg", &[]), true),
        (user("eve", &[]), false),
        (user("eve", &["role:clerk"]), true),
        (user("eve", &["role:manager"]), true),
        (user("eve", &["clerk"]), false),
        (link(Subject::Agent("ann".into()), &[]), false),
    ] {
        assert_eq!(may(&ruling, &by, &skill, "{}"), expected, "{by:?}");
    }
}

#[test]
fn kinds_of_principals_are_told_apart() {
    let ruling = read("permit (principal is Device, action, resource in Peer::\"lab\");");
    let in_lab = skill("lab", "measure", &[]);
    let name: PeerId = "one".into();
    for (subject, expected) in [
        (Subject::Device(name.clone()), true),
        (Subject::Agent(name.clone()), false),
        (Subject::User("one".into()), false),
        (Subject::Hub(HubId::from("one")), false),
        (Subject::Anonymous, false),
    ] {
        assert_eq!(may(&ruling, &link(subject.clone(), &[]), &in_lab, "{}"), expected, "{subject}");
    }
    assert!(!may(&ruling, &link(Subject::Device(name), &[]), &skill("files", "measure", &[]), "{}"));
}

#[test]
fn arguments_are_looked_at_only_for_rules_that_read_them() {
    let ruling = read(
        "permit (principal, action, resource);\nforbid (principal, action == Action::\"call\", resource in Peer::\"local\") when { context.arguments.hasTag(\"path\") && context.arguments.getTag(\"path\") like \"/etc/*\" };",
    );
    let ann = user("ann", &[]);
    let (local, other) = (skill("local", "read", &[]), skill("hotels", "search", &[]));
    assert_eq!(ruling.judge.could(&asked(&ann, Action::Call, &other)), Could::Yes);
    assert_eq!(ruling.judge.could(&asked(&ann, Action::Call, &local)), Could::Depends);
    assert_eq!(ruling.judge.could(&asked(&ann, Action::List, &local)), Could::Yes, "the rule is about calls");
    assert!(may(&ruling, &ann, &local, r#"{"path":"/tmp/x"}"#));
    assert!(!may(&ruling, &ann, &local, r#"{"path":"/etc/passwd"}"#));
    assert!(may(&ruling, &ann, &local, "{}"));
    assert!(may(&ruling, &ann, &other, r#"{"path":"/etc/passwd"}"#));
}

#[test]
fn an_argument_may_stand_inside_an_object_or_be_a_list() {
    let ruling = read(
        "permit (principal, action, resource);\nforbid (principal, action, resource) when { context.arguments.hasTag(\"where/city\") && context.arguments.getTag(\"where/city\") == \"Ulm\" };\nforbid (principal, action, resource) when { context.arguments.hasTag(\"paths\") && context.arguments.getTag(\"paths\") like \"*/etc/*\" };",
    );
    let (ann, tool) = (user("ann", &[]), skill("a", "b", &[]));
    assert!(!may(&ruling, &ann, &tool, r#"{"where":{"city":"Ulm"}}"#));
    assert!(may(&ruling, &ann, &tool, r#"{"where":{"city":"Bonn"},"city":"Ulm"}"#));
    assert!(!may(&ruling, &ann, &tool, r#"{"paths":["/tmp/x","/etc/passwd"]}"#));
    assert!(may(&ruling, &ann, &tool, r#"{"paths":["/tmp/x"],"where":null}"#));
}

#[test]
fn a_number_that_a_rule_cannot_compare_refuses_the_call() {
    let ruling = read(
        "permit (principal, action, resource);\nforbid (principal, action, resource) when { context.numbers.hasTag(\"count\") && context.numbers.getTag(\"count\") > 10 };\nforbid (principal, action, resource) when { context.decimals.hasTag(\"price\") && context.decimals.getTag(\"price\").greaterThan(decimal(\"9.5\")) };",
    );
    let (ann, tool) = (user("ann", &[]), skill("a", "b", &[]));
    for (args, expected) in [
        (r#"{"count":10}"#, true),
        (r#"{"count":11}"#, false),
        (r#"{"count":-3}"#, true),
        (r#"{"count":null}"#, true),
        (r#"{}"#, true),
        (r#"{"count":9.5}"#, false),
        (r#"{"count":1e30}"#, false),
        (r#"{"count":123456789012345678901234567890}"#, false),
        (r#"{"count":"3"}"#, false),
        (r#"{"count":[1]}"#, false),
        (r#"{"price":9.5}"#, true),
        (r#"{"price":9}"#, true),
        (r#"{"price":9.51}"#, false),
        (r#"{"price":0.00001}"#, false),
        (r#"{"price":9.500000}"#, true),
        (r#"{"price":95e-1}"#, true),
        (r#"{"price":0.095E+2}"#, true),
        (r#"{"price":950000000000000000000e-20}"#, true),
        (r#"{"price":-0.0}"#, true),
        (r#"{"price":1e1}"#, false),
        (r#"{"price":0.96e1}"#, false),
        (r#"{"price":9.50000000000000000001}"#, false),
        (r#"{"price":95000000000000000000001e-22}"#, false),
        (r#"{"price":1e400}"#, false),
        (r#"{"price":1e-2147483648}"#, false),
        (r#"{"price":99999999999999999999}"#, false),
        (r#"{"price":"1"}"#, false),
    ] {
        assert_eq!(may(&ruling, &ann, &tool, args), expected, "{args}");
    }
}

#[test]
fn attack_another_spelling_of_a_number_does_not_evade_a_rule_about_its_text() {
    let ruling = read(
        "permit (principal, action, resource);\nforbid (principal, action, resource) when { context.arguments.hasTag(\"sum\") && context.arguments.getTag(\"sum\") like \"*100.5*\" };",
    );
    let (ann, tool) = (user("ann", &[]), skill("a", "b", &[]));
    for sum in ["100.5", "100.50", "1.005e2", "1005E-1", "[1.005e2]", r#"{"of":[0.1005e3]}"#] {
        assert!(!may(&ruling, &ann, &tool, &format!(r#"{{"sum":{sum}}}"#)), "{sum}");
    }
    assert!(may(&ruling, &ann, &tool, r#"{"sum":100.4}"#));
}

#[test]
fn the_time_of_day_is_looked_at_each_time() {
    let ruling = read("permit (principal, action, resource) when { context.time.toTime() < duration(\"18h\") };");
    let (ann, tool) = (user("ann", &[]), skill("a", "b", &[]));
    let at = |now| decide(&*ruling.judge, &Asked { now, ..asked(&ann, Action::Call, &tool) }, "{}").allows();
    assert!(at(NOON));
    assert!(!at(Time(NOON.0 + 7 * HOUR)));
    assert!(at(Time(NOON.0 + 23 * HOUR)));
    assert!(!at(Time(u64::MAX)), "a time nobody can write is no time");
}

#[test]
fn what_is_not_known_yet_leaves_it_open() {
    let ruling = read(
        "permit (principal, action, resource) when { context.protocol == \"mcp\" };\nforbid (principal, action, resource) when { context.provenance == \"world\" };",
    );
    let (ann, tool) = (user("ann", &[]), skill("a", "b", &[]));
    let whole = asked(&ann, Action::Call, &tool);
    let could = |asked: Asked<'_>| ruling.judge.could(&asked);
    assert_eq!(could(whole), Could::Yes);
    assert_eq!(could(Asked { wire: None, ..whole }), Could::Depends);
    assert_eq!(could(Asked { trust: None, ..whole }), Could::Depends);
    assert_eq!(could(Asked { wire: Some("nlip"), ..whole }), Could::No);
    assert_eq!(could(Asked { trust: Some(Trust::World), ..whole }), Could::No);
}

#[test]
fn the_default_rules_are_what_holds_without_a_file() {
    let ruling = read(DEFAULT);
    let (mut open, closed) = (skill("a", "open", &[]), skill("a", "closed", &[]));
    open.public = true;
    let nobody = Link { proof: Proof::None, ..link(Subject::Anonymous, &[]) };
    let (ann, boss) = (user("ann", &["*"]), user("boss", &["*", "approve", "register"]));
    let may = |by, action, skill| decide(&*ruling.judge, &asked(by, action, skill), "{}").allows();
    for action in [Action::List, Action::Call] {
        assert!(may(&nobody, action, &open) && !may(&nobody, action, &closed));
        assert!(may(&ann, action, &open) && may(&ann, action, &closed));
    }
    assert!(may(&ann, Action::Read, &closed) && !may(&nobody, Action::Read, &closed));
    assert!(may(&boss, Action::Approve, &closed) && !may(&ann, Action::Approve, &closed));
    let peer = PeerId::from("new");
    let registers = |by: &Link| {
        let on = Object::Peer(&peer);
        decide(&*ruling.judge, &Asked { by, action: Action::Register, on, wire: None, trust: None, now: NOON }, "{}")
            .allows()
    };
    assert!(registers(&boss) && !registers(&ann));
}

#[test]
fn the_office_works_as_its_comments_say() {
    let ruling = read(OFFICE);
    assert!(ruling.warnings.is_empty(), "{:?}", ruling.warnings);
    let (ann, meg) = (user("ann", &["role:clerk"]), user("meg", &["role:manager"]));
    let agent = link(Subject::Agent("researcher".into()), &[]);
    let (search, book) = (skill("hotels", "search", &["reads"]), skill("hotels", "book", &["writes", "spends"]));
    let delete = skill("files", "delete", &["destroys"]);
    assert!(may(&ruling, &user("eve", &[]), &search, "{}"));
    assert!(!may(&ruling, &user("eve", &[]), &book, "{}"));
    assert!(may(&ruling, &ann, &book, r#"{"amount":499.99}"#));
    assert!(!may(&ruling, &ann, &book, r#"{"amount":500.01}"#));
    assert!(may(&ruling, &meg, &book, r#"{"amount":500.01}"#));
    assert!(!may(&ruling, &meg, &skill("local", "read_file", &["reads"]), r#"{"path":"/srv/card.pem"}"#));
    let told = |trust| {
        let asked = Asked { trust: Some(trust), ..asked(&agent, Action::Call, &book) };
        decide(&*ruling.judge, &asked, "{}").allows()
    };
    assert!(told(Trust::Caller) && !told(Trust::World));
    let at = |now| decide(&*ruling.judge, &Asked { now, ..asked(&meg, Action::Call, &delete) }, "{}").allows();
    assert!(at(NOON) && !at(Time(NOON.0 + 11 * HOUR)));
    let owner = Owner([Subject::User("ann".into())].into());
    let reads = |by: &Link| {
        let on = Object::Artifact { id: "one", owner: &owner };
        decide(&*ruling.judge, &Asked { by, action: Action::Read, on, wire: None, trust: None, now: NOON }, "{}").effect
    };
    assert_eq!(reads(&user("aud", &["role:auditor"])), Effect::Allowed);
    assert_eq!(reads(&ann), Effect::Silent);
}

#[test]
fn an_artifact_can_be_given_to_its_owner_by_name() {
    let ruling = read(
        "permit (principal, action == Action::\"read\", resource is Artifact) when { resource.owner == principal.subject };",
    );
    let owner = Owner([Subject::User("ann".into())].into());
    for (name, expected) in [("ann", true), ("eve", false)] {
        let by = user(name, &[]);
        let on = Object::Artifact { id: "one", owner: &owner };
        let asked = Asked { by: &by, action: Action::Read, on, wire: None, trust: None, now: NOON };
        assert_eq!(decide(&*ruling.judge, &asked, "{}").allows(), expected, "{name}");
    }
}

#[test]
fn the_owner_is_in_no_rule() {
    let ruling = read("permit (principal, action, resource);");
    let owner = link(Subject::HubOwner, &[]);
    assert_eq!(ruling.judge.could(&asked(&owner, Action::Call, &skill("a", "b", &[]))), Could::No);
}

#[test]
fn the_same_rules_have_the_same_version_and_others_another() {
    let permit = "permit (principal, action, resource);";
    let version = |text, roles: &Roles| read_with(text, roles).judge.version();
    let none = Roles::default();
    assert_eq!(version(permit, &none), version(permit, &none));
    assert_ne!(version(permit, &none), version("forbid (principal, action, resource);", &none));
    assert_ne!(version(permit, &none), version(permit, &Roles(vec![("a".into(), vec!["user:b".into()])])));
}
