//! Mistakes in rules, reported with their positions.

use super::*;
use interlingua_model::policy::Noticed;

fn flaws(text: &str) -> Vec<String> {
    match Cedar.read(&[source(text)], &Roles::default()) {
        Ok(_) => Vec::new(),
        Err(flaws) => flaws.iter().map(ToString::to_string).collect(),
    }
}

fn only(text: &str) -> String {
    let found = flaws(text);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[test]
fn a_slip_is_told_with_line_and_column() {
    let told = only("permit (principal, action, resource);\n\npermit (principal, action resource);");
    assert!(told.starts_with("rules.cedar:3:27: "), "{told}");
}

#[test]
fn an_unknown_name_is_told_with_the_nearest() {
    for (rule, near) in [
        ("permit (principal == Usr::\"a\", action, resource);", "User"),
        ("permit (principal, action == Action::\"cal\", resource);", "call"),
        ("permit (principal, action == Action::\"call\", resource) when { context.protocl == \"mcp\" };", "protocol"),
        ("permit (principal, action == Action::\"call\", resource) when { resource.publc };", "public"),
    ] {
        let told = flaws(rule).join("\n");
        assert!(told.starts_with("rules.cedar:1:") && told.contains(near), "{told}");
        assert!(!told.contains("policy0"), "{told}");
    }
}

#[test]
fn a_rule_that_compares_what_cannot_be_compared_is_refused() {
    let told = only("permit (principal, action, resource) when { context.protocol > 3 };");
    assert!(told.starts_with("rules.cedar:1:"), "{told}");
}

#[test]
fn a_rule_that_hides_what_it_reads_is_refused() {
    let named = only("permit (principal, action, resource) when { context.arguments.hasTag(principal.name) };");
    assert!(named.contains("must be written out"), "{named}");
    let passed = only("permit (principal, action, resource) when { context == context };");
    assert!(passed.contains("`context` can only be used"), "{passed}");
    let bag = only("permit (principal, action, resource) when { context.numbers == context.numbers };");
    assert!(bag.contains("can only be used with a name"), "{bag}");
}

#[test]
fn an_unguarded_argument_is_refused() {
    let told = flaws("forbid (principal, action, resource) when { context.numbers.getTag(\"amount\") > 3 };");
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn blanks_names_given_twice_and_half_names_are_refused() {
    assert!(only("permit (principal == ?principal, action, resource);").contains("write it out"));
    let twice =
        only("@id(\"a\") permit (principal, action, resource);\n@id(\"a\") forbid (principal, action, resource);");
    assert_eq!(twice, "rules.cedar:2:1: the name `a` is given twice; first at rules.cedar:1");
    assert!(only("permit (principal, action, resource == Skill::\"search\");").contains("PEER/SKILL"));
}

#[test]
fn all_mistakes_of_all_files_are_told() {
    let sources = [
        Source { name: "a.cedar".into(), text: "permit (principal, action, rsrc);".into() },
        Source { name: "b.cedar".into(), text: "permit (principal, action, resource) when { contxt };".into() },
    ];
    let flaws = Cedar.read(&sources, &Roles::default()).expect_err("both are wrong");
    let files: Vec<&str> = flaws.iter().map(|flaw| &*flaw.source).collect();
    assert!(files.contains(&"a.cedar") && files.contains(&"b.cedar"), "{flaws:?}");
}

#[test]
fn peers_and_roles_are_noticed_with_their_places() {
    let ruling = read(
        "permit (principal in Role::\"clerk\", action, resource in Peer::\"hotels\");\nforbid (principal, action, resource == Skill::\"files/delete\");",
    );
    let names: Vec<(Noticed, &str, usize)> =
        ruling.names.iter().map(|named| (named.what, &*named.name, named.line)).collect();
    assert!(names.contains(&(Noticed::Role, "clerk", 1)), "{names:?}");
    assert!(names.contains(&(Noticed::Peer, "hotels", 1)), "{names:?}");
    assert!(names.contains(&(Noticed::Peer, "files", 2)), "{names:?}");
}

#[test]
fn agents_are_noticed_as_entities_and_in_texts() {
    let ruling = read(
        "permit (principal == Agent::\"planner\", action, resource);\npermit (principal, action, resource) when { principal.subject == \"agent:desk\" };",
    );
    let names: Vec<(Noticed, &str, usize)> =
        ruling.names.iter().map(|named| (named.what, &*named.name, named.line)).collect();
    assert_eq!(names, [(Noticed::Agent, "planner", 1), (Noticed::Agent, "desk", 2)]);
}

#[test]
fn no_rules_at_all_allow_nothing() {
    let ruling = read("// nothing yet\n");
    assert!(!may(&ruling, &user("ann", &[]), &skill("a", "b", &[]), "{}"));
}
