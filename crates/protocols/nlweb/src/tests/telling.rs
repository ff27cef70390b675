//! What a stream sends before its end, and what it leaves for the end.

use interlingua_model::json::Tree;
use interlingua_model::{
    Blob, Body, Carried, Channel, Chunk, Digest, Entry, Event, Fault, FaultKind, Finished, Json, Loss, LossKind,
    MessageId, Output, Part, Piece, Provenance, Record, Time,
};
use serde_json::json;

use super::super::encode::{Envelope, Frame, Several, Stand, Streamed, Telling, encode, lost, whole};
use super::{envelope, get, nested};

fn said(channel: Channel, rows: &[Tree]) -> Event {
    let part = |row: &Tree| Part::new(Body::Data(Json::from_tree(row.clone())), Provenance::hub());
    let parts = rows.iter().map(part).collect();
    Event::Said { message: MessageId::from("items"), channel, piece: Piece::Whole, parts }
}

fn row(name: &str, index: u64) -> Tree {
    json!({"name": name, "index": index})
}

fn finished(rows: &[Tree]) -> Finished {
    Finished::completed(Output { structured: Some(Json::from_tree(json!({"results": rows}))), ..Output::default() })
}

/// Names and places of the items in these events.
fn items(frames: &[Frame]) -> Vec<(String, Option<u64>)> {
    let lists = frames.iter().filter_map(|frame| frame.data["results"].as_array());
    let item = |item: &Tree| (item["name"].as_str().unwrap_or_default().to_owned(), item["index"].as_u64());
    lists.flatten().map(item).collect()
}

fn names(frames: &[Frame]) -> Vec<String> {
    items(frames).into_iter().map(|(name, _)| name).collect()
}

/// What an event adds to a stream.
pub(super) fn told(answer: &mut Streamed, event: Event) -> Vec<Frame> {
    told_by("airline", answer, event).value
}

fn told_by(site: &str, answer: &mut Streamed, event: Event) -> Carried<Vec<Frame>> {
    let entry = Entry { seq: 1, at: Time(0), record: Record::emitted(event) };
    let Carried { value, losses } = encode(&entry, &mut Telling { answer, site });
    Carried { value: value.into_iter().collect(), losses }
}

fn begun(envelope: &Envelope, rows: &[Tree]) -> (Streamed, Vec<Frame>) {
    let mut answer = Streamed::new(envelope.clone());
    let frames = told(&mut answer, said(Channel::Answer, rows));
    (answer, frames)
}

#[test]
fn q_23_q_42_an_item_is_told_once_and_says_its_place() {
    for version in ["0.54", "0.55"] {
        let envelope = envelope(&nested(version, json!({})));
        let (mut answer, first) = begun(&envelope, &[row("b", 2)]);
        assert_eq!(names(&first), ["b"], "{version}");
        assert!(told(&mut answer, said(Channel::Answer, &[row("b", 2)])).is_empty(), "{version}: again");
        let rest = told(&mut answer, Event::Finished(finished(&[row("a", 1), row("b", 2)])));
        assert_eq!(names(&rest), ["a"], "{version}");
        if version == "0.55" {
            assert_eq!([&first[..], &rest[..]].concat().len(), 3, "two results and the end");
            assert_eq!((items(&first)[0].1, items(&rest)[0].1), (Some(2), Some(1)));
        }
    }
    let plain = json!({"name": "b", "reviews": [{"name": "good"}]});
    let (_, frames) = begun(&envelope(&get("query=x")), &[plain]);
    assert_eq!(names(&frames), ["b"], "what an item holds is no item");
}

#[test]
fn q_23_what_is_no_answer_and_what_is_not_certain_is_not_told_early() {
    let envelope = |more: Tree| envelope(&nested("0.54", more));
    let aside = said(Channel::Reasoning, &[row("b", 0)]);
    assert!(told(&mut Streamed::new(envelope(json!({}))), aside).is_empty());
    let few = envelope(json!({"max_results": 2}));
    let (mut answer, frames) = begun(&few, &[row("c", 7), row("a", 0)]);
    assert_eq!(names(&frames), ["a"], "seven may stand before the other");
    let end = told(&mut answer, Event::Finished(finished(&[row("a", 0), row("b", 3), row("c", 7)])));
    assert_eq!(names(&end), ["b"], "two in all");
    let scored = |name: &str, score: u64| json!({"name": name, "score": score});
    let good = envelope(json!({"min_score": 80}));
    let (_, frames) = begun(&good, &[scored("low", 60), scored("high", 90), json!({"name": "unscored"})]);
    assert_eq!(names(&frames), ["high"]);
}

#[test]
fn one_of_several_tells_its_rows_and_the_end_tells_all_of_them() {
    let envelope = envelope(&nested("0.55", json!({})));
    let mut several = Several::default();
    several.fail(Fault::hub(FaultKind::Unreachable, "down"));
    let mut answer = Streamed::of_several(envelope, several);
    let mut ended = finished(&[row("a", 7)]);
    ended.output.artifacts = vec!["a1".into()];
    let first = told_by("airline", &mut answer, Event::Finished(ended));
    assert_eq!((names(&first.value), items(&first.value)[0].1), (vec!["a".to_owned()], Some(0)), "a place of its own");
    assert_eq!(first.losses, [Loss::new("output.artifacts", LossKind::Dropped)]);
    let second = told_by("hotel", &mut answer, Event::Finished(finished(&[row("b", 7)])));
    assert_eq!((names(&second.value), second.losses), (vec!["b".to_owned()], Vec::new()));
    let merged = answer.merged().expect("several").expect("rows make up for one failure");
    assert_eq!(merged.losses, first.losses);
    assert!(names(&answer.end(&Stand::Finished(&merged.value))).is_empty(), "each is told once");
}

#[test]
fn rows_of_an_artifact_are_told_once() {
    let data = || {
        Part::new(Body::Data(json!({"flights": [{"number": "TP553"}, {"number": "LH1790"}]}).into()), Provenance::hub())
    };
    let chunk = Chunk { artifact: "offers".into(), index: 0, last: true, parts: vec![data()], header: None };
    let mut answer = Streamed::new(envelope(&nested("0.55", json!({}))));
    let first = told_by("", &mut answer, Event::Artifact(chunk));
    assert_eq!(names(&first.value), ["TP553", "LH1790"]);
    let named = Part { name: Some("offers".into()), ..data() };
    let output = Output { parts: vec![named], ..Output::default() };
    let end = told_by("", &mut answer, Event::Finished(Finished::completed(output)));
    assert!(names(&end.value).is_empty(), "{:?}", end.value);
    assert_eq!(
        end.losses,
        [Loss::new("output.parts.name", LossKind::Dropped)],
        "its content is there, its name is not"
    );
}

#[test]
fn what_a_model_says_of_the_items_takes_the_place_of_the_answers_words() {
    let mut asked = nested("0.55", json!({}));
    asked.modes.summarize = true;
    let mut answer = Streamed::new(envelope(&asked));
    answer.envelope.words = Some(Part::text("one thing", Provenance::hub()));
    let mut ended = finished(&[row("a", 0)]);
    ended.output.parts = vec![Part { label: Some("x".into()), ..Part::text("own words", Provenance::hub()) }];
    let end = told_by("", &mut answer, Event::Finished(ended));
    let texts: Vec<&Tree> = end.value.iter().flat_map(|frame| frame.data["results"].as_array()).flatten().collect();
    assert_eq!(texts[1], &json!({"@type": "SearchSummary", "text": "one thing"}), "{texts:?}");
    assert_eq!(end.losses, [Loss::new("output.parts.label", LossKind::Dropped)], "of the words that it had");
}

#[test]
fn q_23_nothing_found_is_said_as_ever() {
    let nothing = Finished::completed(Output::default());
    let empty = Json::from_tree(json!({"results": []}));
    let no_rows = Finished::completed(Output { structured: Some(empty), ..Output::default() });
    for (version, found) in [("0.54", &nothing), ("0.55", &nothing), ("0.55", &no_rows)] {
        let envelope = envelope(&nested(version, json!({})));
        let end = told(&mut Streamed::new(envelope), Event::Finished(found.clone()));
        assert!(end.iter().any(|frame| frame.data["results"] == json!([])), "{version}: {end:?}");
    }
    let end = told(&mut Streamed::new(envelope(&get("query=x"))), Event::Finished(nothing));
    assert_eq!(end[0].data["message_type"], "no_results");
}

#[test]
fn q_06_q_22_files_links_and_documents_are_items_with_an_address() {
    let part = |body: Body, uri: &str| Part { uri: Some(uri.into()), ..Part::new(body, Provenance::hub()) };
    let mut picture =
        part(Body::Blob(Blob::Stored { digest: Digest([7; 32]), len: 9 }), "https://hub.example/content/x");
    (picture.name, picture.media) = (Some("p.png".into()), Some("image/png".into()));
    let text = |text: &str| Body::Text { text: text.into(), language: None };
    let parts = vec![
        Part::text("look", Provenance::hub()),
        picture,
        part(Body::Link, "https://l.example/page"),
        part(text("page one"), "matrix://report"),
        Part::new(Body::Blob(Blob::Inline(bytes::Bytes::from_static(b"<script>"))), Provenance::hub()),
    ];
    let output = Output { parts, ..Output::default() };
    assert!(lost(&output).is_empty());
    let finished = Finished::completed(output);
    let said = whole(&envelope(&nested("0.55", json!({}))), &Stand::Finished(&finished));
    let results = said["results"].as_array().unwrap();
    assert_eq!(results.len(), 5, "{said}");
    assert_eq!((&results[0]["@type"], &results[0]["name"]), (&json!("MediaObject"), &json!("p.png")));
    assert_eq!(
        (&results[0]["url"], &results[0]["encodingFormat"]),
        (&json!("https://hub.example/content/x"), &json!("image/png"))
    );
    assert_eq!((&results[0]["contentSize"], &results[0]["sha256"]), (&json!("9"), &json!(Digest([7; 32]).to_string())));
    assert_eq!((&results[1]["url"], &results[1]["name"]), (&json!("https://l.example/page"), &json!("page")));
    assert_eq!((&results[2]["@id"], &results[2]["url"]), (&json!("matrix://report"), &json!("")), "no link of the web");
    assert_eq!((&results[2]["name"], &results[2]["text"]), (&json!("report"), &json!("page one")));
    let inline = "data:application/octet-stream;base64,PHNjcmlwdD4=";
    assert_eq!(
        (&results[3]["contentUrl"], &results[3]["url"]),
        (&json!(inline), &json!("")),
        "no link to what a peer sent"
    );
    assert_eq!(results[4], json!({"@type": "SearchSummary", "text": "look"}), "the words are not theirs");
    let flat = whole(&envelope(&get("query=x")), &Stand::Finished(&finished));
    assert_eq!(flat["results"][0]["url"], "https://hub.example/content/x");
}
