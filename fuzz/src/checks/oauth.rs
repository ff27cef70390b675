//! Invariants of the OAuth client for any answers of servers and browsers: no panic, no unsafe address is followed, and no secret of an
//! answer can be printed.

use bytes::Bytes;
use interlingua_wire::jwk;
use interlingua_wire::oauth::address;
use interlingua_wire::oauth::callback::{Callback, Outcome};
use interlingua_wire::oauth::challenge::Challenge;
use interlingua_wire::oauth::client;
use interlingua_wire::oauth::jwt::{Expected, Jwt};
use interlingua_wire::oauth::metadata::{AuthorizationServer, Resource};
use interlingua_wire::oauth::token::{Token, refusal};

const SERVER: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://as.example";

pub(crate) fn said(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    if let Ok(resource) = Resource::decode(&bytes, SERVER) {
        assert!(resource.resource.to_ascii_lowercase().starts_with("https://mcp.example"));
        assert!(resource.servers.iter().all(|server| server.to_ascii_lowercase().starts_with("https://")));
    }
    if let Ok(server) = AuthorizationServer::decode(&bytes, ISSUER, SERVER) {
        assert_eq!(server.issuer, ISSUER);
        let endpoints = [server.authorize.as_deref(), Some(&*server.token), server.register.as_deref()];
        assert!(endpoints.into_iter().flatten().all(|endpoint| endpoint.to_ascii_lowercase().starts_with("https://")));
    }
    let _ = client::registered(&bytes, &AuthorizationServer::assumed(ISSUER));
    let _ = refusal(&bytes);
    if let Ok(token) = Token::decode(&bytes) {
        assert!(token.access.text().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_graphic())));
    }
    let keys =
        interlingua_model::Json::parse(bytes.clone()).ok().and_then(|json| jwk::key_set(&json)).unwrap_or_default();
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(jwt) = Jwt::decode(text) {
        assert!(!jwt.is_signed(text, &keys, |_, _, _| true), "no text is a token and a set of keys");
        let expected =
            Expected { issuer: ISSUER, audiences: &[SERVER.to_owned()], now: interlingua_model::Time(0), skew: 0 };
        if let Ok(claims) = jwt.claims(&expected, Some("groups")) {
            assert!(!claims.subject.is_empty() && claims.until.0 > 0);
        }
    }
    let _ = Challenge::decode(text);
    for place in address::resource_metadata(text) {
        let own = address::origin(text).unwrap_or_default();
        assert!(place.starts_with(&own), "{place}");
    }
    if let Ok(Callback { outcome: Outcome::Code(code), .. }) = Callback::decode(text) {
        assert_eq!(format!("{code:?}"), "Secret(…)");
    }
    let _ = address::server_metadata(text);
}
