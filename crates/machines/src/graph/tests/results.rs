//! Results of earlier steps in the input of later ones.

use super::*;

/// `b` waits for `a` and is called with these arguments and words.
fn using(args: &str, words: &str) -> Plan {
    let mut plan = plan(&["a", "b"], vec![edge("a", "b", Dependency::Unconditional)]);
    (plan.nodes[1].args, plan.nodes[1].words) = (Some(json(args)), words.into());
    plan
}

fn given(run: &Run) -> Filled {
    run.graph.filled(run.graph.step(&"b".into()).expect("a step")).expect("filled")
}

fn refusal(run: &Run) -> (FaultKind, String) {
    match run.ending("b") {
        Some(Ending::Failed(fault)) => (fault.kind, fault.public.to_string()),
        other => panic!("it did not fail: {other:?}"),
    }
}

#[test]
fn a_result_is_given_as_it_is_in_arguments_and_as_text_in_words() {
    let args =
        r#"{"all":{"$result":"a"},"one":[{"$result":"a","pointer":"/list/1"}],"said":"is {{a/name}}, {{ a/list }}"}"#;
    let mut run = Run::new(using(args, "print {{a/list/0}} of {{nobody}} {{"));
    run.end("a", Ending::Completed(Some(json(r#"{"name":"x {{b}}","list":[1,{"k":true}]}"#))));
    assert_eq!(run.running(), ["b"]);
    let filled = given(&run);
    let wanted =
        r#"{"all":{"name":"x {{b}}","list":[1,{"k":true}]},"one":[{"k":true}],"said":"is x {{b}}, [1,{\"k\":true}]"}"#;
    assert_eq!(
        filled.args.map(|args| args.tree().clone()),
        Some(json(wanted).tree().clone()),
        "a result is inserted once"
    );
    assert_eq!((&*filled.words, filled.used), ("print 1 of {{nobody}} {{", true));
    run.restart();
    assert_eq!(&*given(&run).words, "print 1 of {{nobody}} {{", "the same after a restart");
}

#[test]
fn what_names_no_result_is_left_as_it_is() {
    let args = r#"{"a":{"$result":"a","more":1},"b":{"$result":7},"c":"{{}} {{ x }}"}"#;
    let mut run = Run::new(using(args, ""));
    run.end("a", done());
    let filled = given(&run);
    assert_eq!(filled.args.as_ref().map(Json::as_str), Some(args));
    assert!(!filled.used);
}

#[test]
fn a_result_that_is_not_there_fails_the_step_without_a_call() {
    for (args, ending, said) in [
        (r#"{"x":{"$result":"a","pointer":"/no"}}"#, Ending::Completed(Some(json("{}"))), "which has nothing at /no"),
        (r#"{"x":"{{a/no}}"}"#, done(), "which has nothing at /no"),
        (r#"{"x":{"$result":"a"}}"#, failed(), "which failed"),
    ] {
        let mut run = Run::new(using(args, ""));
        run.end("a", ending);
        let text = format!("step b uses the result of a, {said}");
        assert_eq!(refusal(&run), (FaultKind::InvalidInput, text));
        assert_eq!(run.called.len(), 1, "only the first was called");
        assert!(run.graph.is_over());
    }
}

#[test]
fn a_plan_whose_step_does_not_wait_for_what_it_uses_is_refused() {
    let refused = |plan: Plan| plan.check().expect_err("refused").public.to_string();
    let mut apart = using(r#"{"x":{"$result":"a"}}"#, "");
    apart.edges.clear();
    assert_eq!(refused(apart), "step b uses the result of a: add a dependency from a to it");
    let mut words = using("{}", "{{a}}");
    words.edges.clear();
    assert_eq!(refused(words), "step b uses the result of a: add a dependency from a to it");
    assert_eq!(
        refused(using(r#"{"x":[{"$result":"z"}]}"#, "")),
        "step b uses the result of z, and there is no such step"
    );
    assert_eq!(using("{}", "{{z}}").check(), Ok(()), "braces around something else are words");
}

#[test]
fn attack_results_that_are_used_again_and_again_have_a_bound() {
    let many: Vec<String> = (0..100).map(|_| r#"{"$result":"a"}"#.to_owned()).collect();
    let mut run = Run::new(using(&format!(r#"{{"x":[{}]}}"#, many.join(",")), ""));
    run.end("a", Ending::Completed(Some(json(&format!("\"{}\"", "y".repeat(100_000))))));
    assert_eq!(refusal(&run).0, FaultKind::TooLarge);
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let args = format!(r#"{{"x":{}{{"$result":"a"}}{}}}"#, "[".repeat(100), "]".repeat(100));
    let mut run = Run::new(using(&args, ""));
    run.end("a", Ending::Completed(Some(json(&deep))));
    assert_eq!(refusal(&run).0, FaultKind::InvalidInput, "deeper than input may be");
}
