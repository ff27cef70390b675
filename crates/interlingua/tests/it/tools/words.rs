//! The file tools and a custom tool in plain words, English and Spanish, with the questions that this leads to.

use serde_json::json;

use super::{Talk, builder, install_example, labelled};

#[tokio::test]
async fn words_read_a_file_and_the_answer_tells_which_way_was_taken() {
    let hub = builder().file("workspace/notes.txt", "Two lemons\n").start().await;
    for words in ["read notes.txt", "show me notes.txt", "lee notes.txt", "muestra el archivo notes.txt"] {
        let reply = Talk::with(&hub).say(words).await;
        assert_eq!(reply["content"], "Two lemons\n", "{words}: {reply}");
        let route = labelled(&reply, "interlingua-route").unwrap_or_else(|| panic!("no route: {reply}"));
        assert_eq!(route["skill"], "local/read_file", "{words}");
        assert_eq!(route["why"], "phrase", "{words}");
    }
}

#[tokio::test]
async fn a_write_by_words_waits_for_a_yes_in_the_same_conversation() {
    let hub = builder().start().await;
    let file = hub.directory().join("workspace/a.txt");
    let mut talk = Talk::with(&hub);
    let asked = talk.say("write \"Two lemons\" to a.txt").await;
    let question = labelled(&asked, "interlingua-question").unwrap_or_else(|| panic!("no question: {asked}"));
    assert_eq!(question["kind"], "confirm", "{asked}");
    assert_eq!(question["arguments"], json!({"path": "a.txt", "content": "Two lemons"}), "{asked}");
    assert!(!file.exists(), "nothing is written before the yes");
    let done = talk.say("yes").await;
    assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), Some("Two lemons"), "{done}");
}

#[tokio::test]
async fn a_no_in_spanish_leaves_everything_as_it_was() {
    let hub = builder().start().await;
    let mut talk = Talk::with(&hub);
    let asked = talk.say_in_spanish("escribe \"dos limones\" en a.txt").await;
    assert!(asked["content"].as_str().is_some_and(|text| text.contains("sí o no")), "{asked}");
    let done = talk.say_in_spanish("no").await;
    assert!(!hub.directory().join("workspace/a.txt").exists(), "{done}");
}

#[tokio::test]
async fn what_is_missing_is_asked_for_and_the_answer_completes_the_call() {
    let builder = builder();
    install_example(builder.directory(), "search_flights");
    let hub = builder.start().await;
    let mut talk = Talk::with(&hub);
    let asked = talk.say("find flights from Madrid to London").await;
    let question = labelled(&asked, "interlingua-question").unwrap_or_else(|| panic!("no question: {asked}"));
    assert_eq!(question["kind"], "input", "{asked}");
    assert!(asked["content"].as_str().is_some_and(|text| text.contains("date")), "{asked}");
    let found = talk.say("2026-12-01").await;
    assert!(found["content"].as_str().is_some_and(|text| text.contains("Iberia at 08:15")), "{found}");
}

#[tokio::test]
async fn the_flight_example_is_found_in_words_and_in_spanish() {
    let builder = builder();
    install_example(builder.directory(), "search_flights");
    let hub = builder.start().await;
    let reply = Talk::with(&hub).say_in_spanish("busca vuelos de Madrid a Londres el 2026-12-01").await;
    assert!(reply["content"].as_str().is_some_and(|text| text.contains("Iberia at 08:15")), "{reply}");
    assert!(reply.to_string().contains("\"price\":120"), "the flights are also there as data: {reply}");
}

#[tokio::test]
async fn words_that_fit_several_skills_are_asked_back_with_the_candidates() {
    let builder = builder();
    for (name, phrase) in [("red_lamp", "switch on the lamp"), ("blue_lamp", "switch on the lamp")] {
        let keys = format!("effects: {{ reads: true }}\nphrases: {{ en: [{phrase}] }}");
        super::install(builder.directory(), name, &format!("echo '\"{name} is on\"'"), &keys);
    }
    let hub = builder.start().await;
    let mut talk = Talk::with(&hub);
    let asked = talk.say("switch on the lamp").await;
    let question = labelled(&asked, "interlingua-question").unwrap_or_else(|| panic!("no question: {asked}"));
    let text = asked["content"].as_str().unwrap_or_default();
    assert!(text.contains("local/red_lamp") && text.contains("local/blue_lamp"), "{asked}");
    assert_eq!(question["choices"].as_array().map(Vec::len), Some(2), "{asked}");
    let done = talk.say("red_lamp").await;
    assert!(done.to_string().contains("red_lamp is on"), "{done}");
}
