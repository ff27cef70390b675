//! A conversation over NLIP: every message brings back the token that came with the last answer.

use interlingua_testkit::Hub;
use serde_json::{Value, json};

pub(super) struct Talk<'a> {
    hub: &'a Hub,
    token: Option<Value>,
}

impl<'a> Talk<'a> {
    pub(super) fn with(hub: &'a Hub) -> Talk<'a> {
        Talk { hub, token: None }
    }

    /// Says something in plain words.
    pub(super) async fn say(&mut self, words: &str) -> Value {
        self.send(json!({"format": "text", "subformat": "english", "content": words})).await
    }

    pub(super) async fn say_in_spanish(&mut self, words: &str) -> Value {
        self.send(json!({"format": "text", "subformat": "spanish", "content": words})).await
    }

    /// Calls a skill by its name.
    pub(super) async fn call(&mut self, skill: &str, arguments: Value) -> Value {
        self.send(super::call(skill, &arguments)).await
    }

    async fn send(&mut self, mut message: Value) -> Value {
        if let Some(token) = &self.token {
            let mut parts = message["submessages"].as_array().cloned().unwrap_or_default();
            parts.push(token.clone());
            message["submessages"] = parts.into();
        }
        let reply = self.hub.post_json("/nlip", &message).await.json();
        let parts = reply["submessages"].as_array().cloned().unwrap_or_default();
        let token = parts.into_iter().find(|part| part["format"] == "token" && is_conversation(part));
        self.token = token.or(self.token.take());
        reply
    }
}

fn is_conversation(part: &Value) -> bool {
    part["subformat"].as_str().is_some_and(|kind| kind.to_lowercase().starts_with("conversation"))
}
