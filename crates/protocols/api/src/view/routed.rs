//! JSON of the sessions of the routing envelope.

use interlingua_endpoint::ports::{MessageHead, Notification, RoutedSession};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A session of the routing envelope. Only its owner sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoutedSessionView {
    pub id: String,
    /// The conversation that its tasks belong to: `/api/tasks?conversation=…` lists them.
    pub conversation: String,
    /// Number of requests in it.
    pub turn: u64,
    pub created: String,
    /// Time of the last message.
    pub used: String,
    /// When it expires if it is not used.
    pub expires: String,
    /// The last messages, at most eight, the oldest first.
    #[serde(default)]
    pub messages: Vec<MessageHeadView>,
    /// The names of what its owner stored by `metadata.context`. Not in a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context_keys: Vec<String>,
    /// The stored notifications, the oldest first. Not in a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notifications: Vec<NotificationView>,
}

/// A message without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageHeadView {
    /// Its `message_id`, at most 64 characters of it.
    pub message: String,
    /// `request` or `notification`.
    pub kind: String,
    pub at: String,
}

/// A notification that was sent to a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationView {
    /// Its `message_id`.
    pub message: String,
    pub at: String,
    /// Bytes of its content.
    pub size: u64,
    /// Its content; absent if it was larger than 16 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
}

impl From<RoutedSession> for RoutedSessionView {
    fn from(session: RoutedSession) -> RoutedSessionView {
        RoutedSessionView {
            id: session.id,
            conversation: session.conversation,
            turn: session.turn,
            created: session.created.to_string(),
            used: session.used.to_string(),
            expires: session.expires.to_string(),
            messages: session.messages.into_iter().map(MessageHeadView::from).collect(),
            context_keys: session.context_keys,
            notifications: session.notifications.into_iter().map(NotificationView::from).collect(),
        }
    }
}

impl From<MessageHead> for MessageHeadView {
    fn from(head: MessageHead) -> MessageHeadView {
        MessageHeadView { message: head.message, kind: head.kind.into(), at: head.at.to_string() }
    }
}

impl From<Notification> for NotificationView {
    fn from(note: Notification) -> NotificationView {
        let content = note.content.map(|content| content.tree().clone());
        NotificationView { message: note.message, at: note.at.to_string(), size: note.size, content }
    }
}
