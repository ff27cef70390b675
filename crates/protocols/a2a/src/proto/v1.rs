//! `lf.a2a.v1`: the messages of 1.0, number by number as in its `a2a.proto`.

use super::common::{EMPTY, EXTENSION, PROVIDER, REQUIREMENT, ROLES, SECURITY_SCHEME, SIGNATURE, SKILL};
use super::schema::{Kind, Schema, many, needed, needed_list, one, optional, text};
use crate::method::Method;

static STATES: [&str; 9] = [
    "TASK_STATE_UNSPECIFIED",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
];

static PART: Schema = Schema::of(&[
    optional(1, "text", Kind::Text),
    optional(2, "raw", Kind::Bytes),
    optional(3, "url", Kind::Text),
    optional(4, "data", Kind::Value),
    one(5, "metadata", Kind::Struct),
    text(6, "filename"),
    text(7, "mediaType"),
]);

static MESSAGE: Schema = Schema::of(&[
    text(1, "messageId"),
    text(2, "contextId"),
    text(3, "taskId"),
    one(4, "role", Kind::Enum(&ROLES)),
    many(5, "parts", Kind::Message(&PART)),
    one(6, "metadata", Kind::Struct),
    many(7, "extensions", Kind::Text),
    many(8, "referenceTaskIds", Kind::Text),
]);

static STATUS: Schema = Schema::of(&[
    one(1, "state", Kind::Enum(&STATES)),
    one(2, "message", Kind::Message(&MESSAGE)),
    one(3, "timestamp", Kind::Time),
]);

static ARTIFACT: Schema = Schema::of(&[
    text(1, "artifactId"),
    text(2, "name"),
    text(3, "description"),
    many(4, "parts", Kind::Message(&PART)),
    one(5, "metadata", Kind::Struct),
    many(6, "extensions", Kind::Text),
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
    one(4, "metadata", Kind::Struct),
]);

static ARTIFACT_UPDATE: Schema = Schema::of(&[
    text(1, "taskId"),
    text(2, "contextId"),
    one(3, "artifact", Kind::Message(&ARTIFACT)),
    one(4, "append", Kind::Bool),
    one(5, "lastChunk", Kind::Bool),
    one(6, "metadata", Kind::Struct),
]);

static AUTHENTICATION: Schema = Schema::of(&[text(1, "scheme"), text(2, "credentials")]);

static PUSH: Schema = Schema::of(&[
    text(1, "tenant"),
    text(2, "id"),
    text(3, "taskId"),
    text(4, "url"),
    text(5, "token"),
    one(6, "authentication", Kind::Message(&AUTHENTICATION)),
]);

static PUSHES: Schema = Schema::of(&[many(1, "configs", Kind::Message(&PUSH)), text(2, "nextPageToken")]);

static CONFIGURATION: Schema = Schema::of(&[
    many(1, "acceptedOutputModes", Kind::Text),
    one(2, "taskPushNotificationConfig", Kind::Message(&PUSH)),
    optional(3, "historyLength", Kind::Int),
    one(4, "returnImmediately", Kind::Bool),
]);

static SEND: Schema = Schema::of(&[
    text(1, "tenant"),
    one(2, "message", Kind::Message(&MESSAGE)),
    one(3, "configuration", Kind::Message(&CONFIGURATION)),
    one(4, "metadata", Kind::Struct),
]);

static SENT: Schema =
    Schema::of(&[optional(1, "task", Kind::Message(&TASK)), optional(2, "message", Kind::Message(&MESSAGE))]);

static UPDATE: Schema = Schema::of(&[
    optional(1, "task", Kind::Message(&TASK)),
    optional(2, "message", Kind::Message(&MESSAGE)),
    optional(3, "statusUpdate", Kind::Message(&STATUS_UPDATE)),
    optional(4, "artifactUpdate", Kind::Message(&ARTIFACT_UPDATE)),
]);

static GET: Schema = Schema::of(&[text(1, "tenant"), text(2, "id"), optional(3, "historyLength", Kind::Int)]);
static NAMED: Schema = Schema::of(&[text(1, "tenant"), text(2, "id")]);
static NAMED_PUSH: Schema = Schema::of(&[text(1, "tenant"), text(2, "taskId"), text(3, "id")]);
static LIST_PUSH: Schema =
    Schema::of(&[text(1, "taskId"), one(2, "pageSize", Kind::Int), text(3, "pageToken"), text(4, "tenant")]);
static TENANT: Schema = Schema::of(&[text(1, "tenant")]);

static LIST: Schema = Schema::of(&[
    text(1, "tenant"),
    text(2, "contextId"),
    one(3, "status", Kind::Enum(&STATES)),
    optional(4, "pageSize", Kind::Int),
    text(5, "pageToken"),
    optional(6, "historyLength", Kind::Int),
    one(7, "statusTimestampAfter", Kind::Time),
    optional(8, "includeArtifacts", Kind::Bool),
]);

static LISTED: Schema = Schema::of(&[
    many(1, "tasks", Kind::Message(&TASK)),
    text(2, "nextPageToken"),
    one(3, "pageSize", Kind::Int),
    one(4, "totalSize", Kind::Int),
]);

static INTERFACE: Schema =
    Schema::of(&[needed(1, "url"), needed(2, "protocolBinding"), text(3, "tenant"), needed(4, "protocolVersion")]);

static CAPABILITIES: Schema = Schema::of(&[
    optional(1, "streaming", Kind::Bool),
    optional(2, "pushNotifications", Kind::Bool),
    many(3, "extensions", Kind::Message(&EXTENSION)),
    optional(4, "extendedAgentCard", Kind::Bool),
]);

pub(super) static CARD: Schema = Schema::of(&[
    needed(1, "name"),
    needed(2, "description"),
    needed_list(3, "supportedInterfaces", Kind::Message(&INTERFACE)),
    one(4, "provider", Kind::Message(&PROVIDER)),
    needed(5, "version"),
    optional(6, "documentationUrl", Kind::Text),
    one(7, "capabilities", Kind::Message(&CAPABILITIES)),
    one(8, "securitySchemes", Kind::Map(&SECURITY_SCHEME)),
    many(9, "securityRequirements", Kind::Message(&REQUIREMENT)),
    needed_list(10, "defaultInputModes", Kind::Text),
    needed_list(11, "defaultOutputModes", Kind::Text),
    needed_list(12, "skills", Kind::Message(&SKILL)),
    many(13, "signatures", Kind::Message(&SIGNATURE)),
    optional(14, "iconUrl", Kind::Text),
]);

/// What a method takes, and what it answers with, once or many times.
pub(super) fn method(method: Method) -> (&'static Schema, &'static Schema) {
    match method {
        Method::Send => (&SEND, &SENT),
        Method::Stream => (&SEND, &UPDATE),
        Method::Get => (&GET, &TASK),
        Method::List => (&LIST, &LISTED),
        Method::Cancel => (&NAMED, &TASK),
        Method::Subscribe => (&NAMED, &UPDATE),
        Method::PushCreate => (&PUSH, &PUSH),
        Method::PushGet => (&NAMED_PUSH, &PUSH),
        Method::PushList => (&LIST_PUSH, &PUSHES),
        Method::PushDelete => (&NAMED_PUSH, &EMPTY),
        Method::ExtendedCard => (&TENANT, &CARD),
    }
}
