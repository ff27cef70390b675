//! `a2a.v1`: the messages of 0.3, number by number as in its `a2a.proto`, with what its later patches added.

use super::common::{EMPTY, EXTENSION, PROVIDER, REQUIREMENT, ROLES, SECURITY_SCHEME, SIGNATURE, SKILL};
use super::schema::{Kind, Schema, always, many, one, optional, text};
use crate::method::Method;

static STATES: [&str; 9] = [
    "TASK_STATE_UNSPECIFIED",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELLED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
];

static FILE: Schema = Schema::of(&[
    optional(1, "fileWithUri", Kind::Text),
    optional(2, "fileWithBytes", Kind::Bytes),
    text(3, "mimeType"),
    text(4, "name"),
]);
static DATA: Schema = Schema::of(&[optional(1, "data", Kind::Struct)]);

static PART: Schema = Schema::of(&[
    optional(1, "text", Kind::Text),
    optional(2, "file", Kind::Message(&FILE)),
    optional(3, "data", Kind::Message(&DATA)),
    one(4, "metadata", Kind::Struct),
]);

static MESSAGE: Schema = Schema::of(&[
    text(1, "messageId"),
    text(2, "contextId"),
    text(3, "taskId"),
    one(4, "role", Kind::Enum(&ROLES)),
    many(5, "content", Kind::Message(&PART)),
    one(6, "metadata", Kind::Struct),
    many(7, "extensions", Kind::Text),
]);

static STATUS: Schema = Schema::of(&[
    one(1, "state", Kind::Enum(&STATES)),
    one(2, "message", Kind::Message(&MESSAGE)),
    one(3, "timestamp", Kind::Time),
]);

static ARTIFACT: Schema = Schema::of(&[
    text(1, "artifactId"),
    text(3, "name"),
    text(4, "description"),
    many(5, "parts", Kind::Message(&PART)),
    one(6, "metadata", Kind::Struct),
    many(7, "extensions", Kind::Text),
]);

static TASK: Schema = Schema::of(&[
    text(1, "id"),
    text(2, "contextId"),
    one(3, "status", Kind::Message(&STATUS)),
    many(4, "artifacts", Kind::Message(&ARTIFACT)),
    many(5, "history", Kind::Message(&MESSAGE)),
    one(6, "metadata", Kind::Struct),
]);

static STATUS_UPDATE: Schema = Schema::of(&[
    text(1, "taskId"),
    text(2, "contextId"),
    one(3, "status", Kind::Message(&STATUS)),
    one(4, "final", Kind::Bool),
    one(5, "metadata", Kind::Struct),
]);

static ARTIFACT_UPDATE: Schema = Schema::of(&[
    text(1, "taskId"),
    text(2, "contextId"),
    one(3, "artifact", Kind::Message(&ARTIFACT)),
    one(4, "append", Kind::Bool),
    one(5, "lastChunk", Kind::Bool),
    one(6, "metadata", Kind::Struct),
]);

static AUTHENTICATION: Schema = Schema::of(&[many(1, "schemes", Kind::Text), text(2, "credentials")]);

static INNER_PUSH: Schema = Schema::of(&[
    text(1, "id"),
    text(2, "url"),
    text(3, "token"),
    one(4, "authentication", Kind::Message(&AUTHENTICATION)),
]);

static PUSH: Schema = Schema::of(&[text(1, "name"), one(2, "pushNotificationConfig", Kind::Message(&INNER_PUSH))]);
static PUSHES: Schema = Schema::of(&[many(1, "configs", Kind::Message(&PUSH)), text(2, "nextPageToken")]);
static CREATE_PUSH: Schema =
    Schema::of(&[text(1, "parent"), text(2, "configId"), one(3, "config", Kind::Message(&PUSH))]);

static CONFIGURATION: Schema = Schema::of(&[
    many(1, "acceptedOutputModes", Kind::Text),
    one(2, "pushNotification", Kind::Message(&INNER_PUSH)),
    one(3, "historyLength", Kind::Int),
    // Whoever does not want to wait can say so only by leaving it out.
    always(4, "blocking", Kind::Bool),
]);

static SEND: Schema = Schema::of(&[
    one(1, "message", Kind::Message(&MESSAGE)),
    one(2, "configuration", Kind::Message(&CONFIGURATION)),
    one(3, "metadata", Kind::Struct),
]);

static SENT: Schema =
    Schema::of(&[optional(1, "task", Kind::Message(&TASK)), optional(2, "message", Kind::Message(&MESSAGE))]);

static UPDATE: Schema = Schema::of(&[
    optional(1, "task", Kind::Message(&TASK)),
    optional(2, "message", Kind::Message(&MESSAGE)),
    optional(3, "statusUpdate", Kind::Message(&STATUS_UPDATE)),
    optional(4, "artifactUpdate", Kind::Message(&ARTIFACT_UPDATE)),
]);

static GET: Schema = Schema::of(&[text(1, "name"), one(2, "historyLength", Kind::Int)]);
static NAMED: Schema = Schema::of(&[text(1, "name")]);
static LIST_PUSH: Schema = Schema::of(&[text(1, "parent"), one(2, "pageSize", Kind::Int), text(3, "pageToken")]);

static INTERFACE: Schema = Schema::of(&[text(1, "url"), text(2, "transport")]);

static CAPABILITIES: Schema = Schema::of(&[
    one(1, "streaming", Kind::Bool),
    one(2, "pushNotifications", Kind::Bool),
    many(3, "extensions", Kind::Message(&EXTENSION)),
]);

static CARD: Schema = Schema::of(&[
    text(1, "name"),
    text(2, "description"),
    text(3, "url"),
    one(4, "provider", Kind::Message(&PROVIDER)),
    text(5, "version"),
    text(6, "documentationUrl"),
    one(7, "capabilities", Kind::Message(&CAPABILITIES)),
    one(8, "securitySchemes", Kind::Map(&SECURITY_SCHEME)),
    // Its JSON name is `security`, which the JSON of 0.3 spells without the message around it; 1.0 has the same message
    // under this name.
    many(9, "securityRequirements", Kind::Message(&REQUIREMENT)),
    many(10, "defaultInputModes", Kind::Text),
    many(11, "defaultOutputModes", Kind::Text),
    many(12, "skills", Kind::Message(&SKILL)),
    one(13, "supportsAuthenticatedExtendedCard", Kind::Bool),
    text(14, "preferredTransport"),
    many(15, "additionalInterfaces", Kind::Message(&INTERFACE)),
    text(16, "protocolVersion"),
    many(17, "signatures", Kind::Message(&SIGNATURE)),
    text(18, "iconUrl"),
]);

/// What a method takes, and what it answers with, once or many times. There is no list of tasks.
pub(super) fn method(method: Method) -> Option<(&'static Schema, &'static Schema)> {
    Some(match method {
        Method::Send => (&SEND, &SENT),
        Method::Stream => (&SEND, &UPDATE),
        Method::Get => (&GET, &TASK),
        Method::List => return None,
        Method::Cancel => (&NAMED, &TASK),
        Method::Subscribe => (&NAMED, &UPDATE),
        Method::PushCreate => (&CREATE_PUSH, &PUSH),
        Method::PushGet => (&NAMED, &PUSH),
        Method::PushList => (&LIST_PUSH, &PUSHES),
        Method::PushDelete => (&NAMED, &EMPTY),
        Method::ExtendedCard => (&EMPTY, &CARD),
    })
}
