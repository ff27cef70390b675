//! Events that belong to no task, on a WebSocket: submessages of ours labelled `interlingua-topic`.
//!
//! | from a client | |
//! |---|---|
//! | `{"subscribe": PATTERN, "after": N}` | events on these topics; `after` is the number of the last one seen |
//! | `{"unsubscribe": PATTERN}` | no more of them |
//! | `{"publish": TOPIC, "content": {…}, "readers": [NAME, …]}` | an event, for all or for those named |
//!
//! | from a hub | |
//! |---|---|
//! | `{"seq", "topic", "id", "from", "by", "at", "content"}` | one event; its content is in the message as well |

use interlingua_machines::bus;
use interlingua_model::json::{Kind, Reader};
use interlingua_model::{Json, Text};
use serde_json::json;

use super::invalid::{Invalid, Problem};
use super::labels;
use super::wire::{Message, Submessage};

/// What a client wants of topics.
#[derive(Debug, Clone, PartialEq)]
pub enum Topic {
    Subscribe { pattern: Text, after: Option<u64> },
    Unsubscribe { pattern: Text },
    Publish { topic: Text, content: Json, readers: Vec<Text> },
}

/// What was found so far.
#[derive(Default)]
struct Found {
    wish: Option<(Verb, Text)>,
    after: Option<u64>,
    content: Option<Json>,
    readers: Vec<Text>,
}

#[derive(Clone, Copy)]
enum Verb {
    Subscribe,
    Unsubscribe,
    Publish,
}

impl Topic {
    pub(super) fn decode(content: &Json) -> Result<Topic, Invalid> {
        if !content.is_object() {
            return Err(bad("must be an object"));
        }
        let mut found = Found::default();
        Reader::of(content).object(|key, reader| found.take(&key, content, reader))?;
        let Found { wish, after, content, readers } = found;
        match wish.ok_or_else(|| bad("one of subscribe, unsubscribe, publish is required"))? {
            (Verb::Subscribe, pattern) => Ok(Topic::Subscribe { pattern, after }),
            (Verb::Unsubscribe, pattern) => Ok(Topic::Unsubscribe { pattern }),
            (Verb::Publish, topic) => {
                let content = content.ok_or_else(|| bad("content is required, an object"))?;
                Ok(Topic::Publish { topic, content, readers })
            }
        }
    }
}

impl Found {
    fn take(&mut self, key: &str, frame: &Json, reader: &mut Reader<'_>) -> Result<(), Invalid> {
        let verb = match key {
            "subscribe" => Verb::Subscribe,
            "unsubscribe" => Verb::Unsubscribe,
            "publish" => Verb::Publish,
            _ => return self.take_more(key, frame, reader),
        };
        let named = string(reader, "names a topic")?;
        if self.wish.replace((verb, named)).is_some() {
            return Err(bad("wants two things"));
        }
        Ok(())
    }

    fn take_more(&mut self, key: &str, frame: &Json, reader: &mut Reader<'_>) -> Result<(), Invalid> {
        match key {
            "after" => {
                let json = Json::slice(frame.as_bytes(), reader.skip()?);
                self.after = Some(json.tree().as_u64().ok_or_else(|| bad("after is a number"))?);
            }
            "content" if reader.kind()? == Kind::Object => {
                self.content = Some(Json::slice(frame.as_bytes(), reader.skip()?));
            }
            "content" => return Err(bad("content is an object")),
            "readers" => {
                let json = Json::slice(frame.as_bytes(), reader.skip()?);
                let names = json.tree().as_array().ok_or_else(|| bad("readers is a list"))?;
                let name = |name: &serde_json::Value| name.as_str().map(Text::from);
                let names: Option<Vec<Text>> = names.iter().map(name).collect();
                self.readers = names.ok_or_else(|| bad("readers is a list of names"))?;
            }
            _ => drop(reader.skip()?),
        }
        Ok(())
    }
}

fn string(reader: &mut Reader<'_>, problem: &'static str) -> Result<Text, Invalid> {
    if reader.kind()? != Kind::String {
        return Err(bad(problem));
    }
    Ok(reader.string()?.into())
}

fn bad(problem: &'static str) -> Invalid {
    Invalid { path: labels::TOPIC.into(), problem: Problem::BadTopic(problem) }
}

/// One event, as its subscribers read it.
pub fn encode(seq: u64, event: &bus::Message) -> Message {
    let mut told = json!({
        "seq": seq,
        "topic": event.topic.as_ref().map(interlingua_model::TopicId::as_str),
        "id": event.id.as_str(),
        "from": event.from.as_str(),
        "by": event.by.to_string(),
        "at": event.at.to_string(),
    });
    told["content"] = event.content.tree().clone();
    Message::new(Submessage::json(event.content.clone())).with(Submessage::json(told.into()).labelled(labels::TOPIC))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: serde_json::Value) -> Result<Topic, String> {
        Topic::decode(&value.into()).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn a_client_says_one_thing_about_topics() {
        let pattern: Text = "travel.**".into();
        assert_eq!(
            read(json!({"subscribe": "travel.**", "after": 7})),
            Ok(Topic::Subscribe { pattern: pattern.clone(), after: Some(7) })
        );
        assert_eq!(read(json!({"unsubscribe": "travel.**", "x": [1]})), Ok(Topic::Unsubscribe { pattern }));
        let publish = read(json!({"publish": "t", "content": {"a": 1}, "readers": ["x"]}));
        let content: Json = json!({"a": 1}).into();
        assert_eq!(publish, Ok(Topic::Publish { topic: "t".into(), content, readers: vec!["x".into()] }));
        for wrong in [
            json!([]),
            json!({}),
            json!({"subscribe": 1}),
            json!({"subscribe": "a", "unsubscribe": "b"}),
            json!({"subscribe": "a", "after": -1}),
            json!({"publish": "a"}),
            json!({"publish": "a", "content": 1}),
            json!({"publish": "a", "content": {}, "readers": [1]}),
        ] {
            let refused = read(wrong.clone()).expect_err("no wish");
            assert!(refused.starts_with("interlingua-topic: "), "{wrong}: {refused}");
        }
    }
}
