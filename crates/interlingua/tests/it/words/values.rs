//! Values in the sentence fill the arguments; ambiguous values are asked for.

use super::*;

#[tokio::test]
async fn a_number_and_a_choice_in_the_sentence_are_used_over_every_protocol() {
    let hub = hub(READS).await;
    for way in WAYS {
        for (words, skill, argument, answered) in [
            ("get order 1001", "orders/get_order", "\"order_id\":1001", "order 1001: open"),
            ("what is the status of order 1002?", "orders/get_order", "\"order_id\":1002", "order 1002: shipped"),
            ("list open orders", "orders/list_orders", "\"status\":\"open\"", "open orders: [1001, 1003]"),
            ("list SHIPPED orders", "orders/list_orders", "\"status\":\"shipped\"", "shipped orders: [1002]"),
        ] {
            let answer = said_by(&hub, way, words).await;
            assert!(texts(&answer).contains(answered), "{way}: {words}: {answer}");
            // The route says what was understood; a message of A2A has no place for it.
            let whole = answer.to_string();
            assert!(way == "a2a" || (whole.contains(skill) && whole.contains(argument)), "{way}: {words}: {answer}");
        }
    }
}

#[tokio::test]
async fn the_command_line_says_what_it_understood() {
    let hub = hub(READS).await;
    let (code, out, err) = ended(&typed(&hub, &["ask", "what is the status of order 1001"]));
    assert_eq!((code, out.as_str()), (Some(0), "order 1001: open\n"), "{err}");
    assert!(err.contains("→ orders/get_order with {\"order_id\":1001} (ranked)"), "{err}");
    let (code, out, err) = ended(&typed(&hub, &["ask", "list open orders"]));
    assert_eq!((code, out.as_str()), (Some(0), "open orders: [1001, 1003]\n"), "{err}");
    assert!(err.contains("→ orders/list_orders with {\"status\":\"open\"} (ranked)"), "{err}");
}

#[tokio::test]
async fn two_numbers_are_asked_about_and_the_answer_completes_the_call() {
    let hub = hub(READS).await;
    let asked = hub.post_json("/api/exchanges", &json!({"words": "get order 1001 or 1002"})).await.json();
    let question = &asked["questions"][0];
    assert_eq!(question["text"], "Which number for order id? You said 1001 and 1002.", "{asked}");
    let (task, id) = (question["task"].as_str().expect("a task"), &question["id"]);
    let answer = json!({"answer": {"question": id, "text": "1002"}});
    let taken = hub.post_json(&format!("/api/tasks/{task}/signals"), &answer).await;
    assert!(taken.status < 300, "{}", taken.text());
    let done = crate::support::reaches(&hub, task, "completed").await;
    assert!(done.to_string().contains("order 1002: shipped"), "{done}");
    let (code, out, err) = ended(&typed(&hub, &["ask", "list open or shipped orders"]));
    assert_eq!(code, Some(5), "{out}{err}");
    assert!(err.contains("You said open and shipped."), "{err}");
}

/// What plain words chose, and nobody described, still waits for an approval; the approver reads the arguments.
#[tokio::test]
async fn what_nobody_described_waits_for_an_approval_that_shows_the_arguments() {
    let hub = hub("").await;
    for (way, words) in [("nlip", "get order 1001"), ("ask", "cancel order 1001"), ("a2a", "list open orders")] {
        let answer = said_by(&hub, way, words).await;
        let text = texts(&answer);
        assert!(text.contains("Shall I run orders/"), "{way}: {answer}");
        assert!(text.contains("1001") || text.contains("\"status\":\"open\""), "{way}: {answer}");
        assert!(!text.contains("order 1001: open") && !text.contains("order 1001 cancelled"), "{way}: {answer}");
    }
    let (code, _, err) = ended(&typed(&hub, &["ask", "cancel order 1001"]));
    assert_eq!(code, Some(5), "{err}");
    assert!(err.contains("Shall I run orders/cancel_order for owner with {\"order_id\":1001}"), "{err}");
}

/// Choices are offered only where they are about what was said. That something else can be listed is no reason.
#[tokio::test]
async fn words_that_nothing_here_is_about_are_told_so_and_no_choices_are_offered() {
    let hub = Hub::start(env!("CARGO_BIN_EXE_interlingua"), "").await;
    for words in ["list open orders", "show open invoices of Paris"] {
        let (code, out, err) = ended(&typed(&hub, &["ask", words]));
        assert_eq!(code, Some(1), "{words}: {out}{err}");
        assert!(out.contains("I found no skill for that"), "{words}: {out}{err}");
    }
}
