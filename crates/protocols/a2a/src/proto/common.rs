//! Messages that are the same in both generations of the proto: the identity of an agent and its authentication schemes.

use super::schema::{Field, Kind, Schema, many, needed, needed_list, one, optional, text};

/// Neither generation's numbers differ; their spellings of number 5 do.
pub(super) static ROLES: [&str; 3] = ["ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT"];

pub(super) static EMPTY: Schema = Schema::of(&[]);

pub(super) static PROVIDER: Schema = Schema::of(&[needed(1, "url"), needed(2, "organization")]);

pub(super) static EXTENSION: Schema = Schema::of(&[
    text(1, "uri"),
    text(2, "description"),
    one(3, "required", Kind::Bool),
    one(4, "params", Kind::Struct),
]);

pub(super) static SIGNATURE: Schema =
    Schema::of(&[text(1, "protected"), text(2, "signature"), one(3, "header", Kind::Struct)]);

static STRING_LIST: Schema = Schema::of(&[many(1, "list", Kind::Text)]);
pub(super) static REQUIREMENT: Schema = Schema::of(&[one(1, "schemes", Kind::Map(&STRING_LIST))]);

pub(super) static SKILL: Schema = Schema::of(&[
    needed(1, "id"),
    needed(2, "name"),
    needed(3, "description"),
    needed_list(4, "tags", Kind::Text),
    many(5, "examples", Kind::Text),
    many(6, "inputModes", Kind::Text),
    many(7, "outputModes", Kind::Text),
    many(8, "securityRequirements", Kind::Message(&REQUIREMENT)),
]);

pub(super) static SECURITY_SCHEME: Schema = Schema::of(&[
    optional(1, "apiKeySecurityScheme", Kind::Message(&API_KEY)),
    optional(2, "httpAuthSecurityScheme", Kind::Message(&HTTP_AUTH)),
    optional(3, "oauth2SecurityScheme", Kind::Message(&OAUTH2)),
    optional(4, "openIdConnectSecurityScheme", Kind::Message(&OPEN_ID)),
    optional(5, "mtlsSecurityScheme", Kind::Message(&MTLS)),
]);

static API_KEY: Schema = Schema::of(&[text(1, "description"), needed(2, "location"), needed(3, "name")]);
static HTTP_AUTH: Schema = Schema::of(&[text(1, "description"), needed(2, "scheme"), text(3, "bearerFormat")]);
static OPEN_ID: Schema = Schema::of(&[text(1, "description"), needed(2, "openIdConnectUrl")]);
static MTLS: Schema = Schema::of(&[text(1, "description")]);
static OAUTH2: Schema =
    Schema::of(&[text(1, "description"), one(2, "flows", Kind::Message(&FLOWS)), text(3, "oauth2MetadataUrl")]);

static FLOWS: Schema = Schema::of(&[
    optional(1, "authorizationCode", Kind::Message(&AUTHORIZATION_CODE)),
    optional(2, "clientCredentials", Kind::Message(&CLIENT_CREDENTIALS)),
    optional(3, "implicit", Kind::Message(&IMPLICIT)),
    optional(4, "password", Kind::Message(&PASSWORD)),
    optional(5, "deviceCode", Kind::Message(&DEVICE_CODE)),
]);

const fn scopes(number: u32) -> Field {
    Field { required: true, ..one(number, "scopes", Kind::MapOfText) }
}

static AUTHORIZATION_CODE: Schema = Schema::of(&[
    needed(1, "authorizationUrl"),
    needed(2, "tokenUrl"),
    text(3, "refreshUrl"),
    scopes(4),
    one(5, "pkceRequired", Kind::Bool),
]);
static CLIENT_CREDENTIALS: Schema = Schema::of(&[needed(1, "tokenUrl"), text(2, "refreshUrl"), scopes(3)]);
// Of these two, which nobody should use any more, nothing is required.
static PASSWORD: Schema = Schema::of(&[text(1, "tokenUrl"), text(2, "refreshUrl"), one(3, "scopes", Kind::MapOfText)]);
static IMPLICIT: Schema =
    Schema::of(&[text(1, "authorizationUrl"), text(2, "refreshUrl"), one(3, "scopes", Kind::MapOfText)]);
static DEVICE_CODE: Schema =
    Schema::of(&[needed(1, "deviceAuthorizationUrl"), needed(2, "tokenUrl"), text(3, "refreshUrl"), scopes(4)]);
