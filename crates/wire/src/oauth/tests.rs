//! The rules of the MCP authorization page and of the documents it builds on, one by one (M-39).

use bytes::Bytes;
use interlingua_model::Secret;

use super::address::{covers, is_safe, origin, resource_metadata, server_metadata};
use super::callback::{Callback, Outcome};
use super::challenge::Challenge;
use super::client::{Client, Configured, Way, describe, registered};
use super::metadata::{AuthorizationServer, Method, Resource};
use super::request::{Algorithm, Authorization, Grant, Pkce, assertion, signed, token};
use super::scope::{Scopes, choose, lasting};
use super::token::{Token, refusal};
use super::{Invalid, form};

const SERVER: &str = "https://mcp.example/v1/mcp";
const ISSUER: &str = "https://as.example/tenant";

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn metadata(more: &str) -> Bytes {
    bytes(&format!(
        r#"{{"issuer":"{ISSUER}","authorization_endpoint":"https://as.example/a?x=1","token_endpoint":"https://as.example/t"{more}}}"#
    ))
}

fn server(more: &str) -> AuthorizationServer {
    AuthorizationServer::decode(&metadata(more), ISSUER, SERVER).expect("metadata")
}

#[test]
fn m_39_a_challenge_is_read_in_every_spelling() {
    let whole = Challenge {
        resource_metadata: Some("https://mcp.example/x".into()),
        scope: Some(Scopes::parse("a b")),
        error: Some("insufficient_scope".into()),
    };
    for header in [
        r#"Bearer resource_metadata="https://mcp.example/x", scope="a b", error="insufficient_scope""#,
        r#"bearer error=insufficient_scope,resource_metadata="https://mcp.example/x" , SCOPE = "a b" , other="x""#,
        r#"Basic realm="a, b", Bearer scope="a b", error="insufficient_scope", resource_metadata="https://mcp.example/x""#,
        r#"Negotiate YWJj==, Bearer scope="a \b", error="insufficient_scope", resource_metadata="https://mcp.example/x", Basic realm="x", scope="no""#,
    ] {
        assert_eq!(Challenge::decode(header).as_ref(), Some(&whole), "{header}");
    }
    assert!(whole.wants_more_scopes());
    assert_eq!(Challenge::decode("Bearer"), Some(Challenge::default()));
    for none in ["", "Basic realm=\"x\"", "Bearer scope=\"a", "=", "Bearer, \u{7}", "Digest a=b"] {
        let found = Challenge::decode(none);
        assert!(found.is_none_or(|found| found == Challenge::default()), "{none}");
    }
}

#[test]
fn m_39_metadata_is_looked_for_at_the_path_then_at_the_root() {
    assert_eq!(
        resource_metadata(SERVER),
        [
            "https://mcp.example/.well-known/oauth-protected-resource/v1/mcp",
            "https://mcp.example/.well-known/oauth-protected-resource",
        ]
    );
    assert_eq!(resource_metadata("https://mcp.example/").len(), 1);
    assert!(resource_metadata("/x").is_empty());
    assert_eq!(
        server_metadata(ISSUER),
        [
            "https://as.example/.well-known/oauth-authorization-server/tenant",
            "https://as.example/.well-known/openid-configuration/tenant",
            "https://as.example/tenant/.well-known/openid-configuration",
        ]
    );
    assert_eq!(
        server_metadata("https://as.example"),
        [
            "https://as.example/.well-known/oauth-authorization-server",
            "https://as.example/.well-known/openid-configuration",
        ]
    );
    assert_eq!(origin(SERVER).as_deref(), Some("https://mcp.example"));
}

#[test]
fn m_39_only_https_is_asked_except_on_loopback_for_a_server_on_loopback() {
    let local = "http://127.0.0.1:9/mcp";
    for safe in ["https://as.example", "https://as.example:8443/x?y"] {
        assert!(is_safe(safe, SERVER) && is_safe(safe, local), "{safe}");
    }
    for plain in ["http://127.0.0.1:1/t", "http://localhost/t", "http://[::1]:2/t"] {
        assert!(is_safe(plain, local), "{plain}");
        assert!(!is_safe(plain, SERVER), "{plain}");
        assert!(!is_safe(plain, "https://127.0.0.1/mcp"), "{plain}");
    }
    for never in [
        "http://as.example/t",
        "file:///etc/passwd",
        "https://",
        "https://u:p@as.example/",
        "https://as.example/#x",
        "https://as example/",
        // What readers of addresses read differently.
        "http://localhost./t",
        "http://127.0.0.1./t",
        "http://127.1/t",
        "http://2130706433/t",
        "http://0x7f.1/t",
        "http://127.0.0.1:x/t",
        "https://as.example:99999/",
        "https://as.example\\@evil.example/",
        "https:///as.example/",
        "https://as%2eexample/",
    ] {
        assert!(!is_safe(never, SERVER) && !is_safe(never, local), "{never}");
    }
    // A document is asked for at the address as it was written.
    assert_eq!(origin("HTTPS://As.Example:443/x?y").as_deref(), Some("https://As.Example:443"));
}

#[test]
fn m_39_a_resource_is_the_server_itself_or_what_it_is_a_part_of() {
    for good in
        [SERVER, "https://mcp.example/v1", "https://MCP.example", "https://mcp.example/", "https://mcp.example/v1/mcp/"]
    {
        assert!(covers(good, SERVER), "{good}");
    }
    for other in [
        "https://evil.example/v1/mcp",
        "https://mcp.example/v1/m",
        "https://mcp.example/v2",
        "http://mcp.example/v1/mcp",
        "https://mcp.example:444/",
        "https://mcp.example:443/",
    ] {
        assert!(!covers(other, SERVER), "{other}");
    }
    let decode = |text: &str| Resource::decode(&bytes(text), SERVER);
    let good = decode(
        r#"{"resource":"https://mcp.example/v1","authorization_servers":["https://as.example/tenant","http://x"],"scopes_supported":["a",1,"b"]}"#,
    );
    let good = good.expect("metadata");
    assert_eq!((good.servers.len(), good.scopes.to_string().as_str()), (1, "a b"));
    assert_eq!(
        decode(r#"{"resource":"https://evil.example/","authorization_servers":["https://as"]}"#),
        Err(Invalid::Resource)
    );
    assert_eq!(decode(r#"{"resource":"https://mcp.example"}"#), Err(Invalid::Field("authorization_servers")));
    assert_eq!(
        decode(r#"{"resource":"https://mcp.example","authorization_servers":["http://as.example"]}"#),
        Err(Invalid::Address("authorization_servers"))
    );
    assert!(matches!(decode("[]"), Err(Invalid::Field(_))) && matches!(decode("{"), Err(Invalid::Json(_))));
}

#[test]
fn m_39_an_authorization_server_must_be_the_one_asked_for_and_offer_s256() {
    let full = server(
        r#","registration_endpoint":"https://as.example/r","code_challenge_methods_supported":["plain","S256"],"token_endpoint_auth_methods_supported":["none","x","client_secret_post"],"authorization_response_iss_parameter_supported":true,"client_id_metadata_document_supported":true,"scopes_supported":["offline_access"]"#,
    );
    assert!(full.pkce && full.names_issuer && full.documents && full.register.is_some());
    assert_eq!(full.methods, [Method::None, Method::SecretPost]);
    assert_eq!(full.sign_in(), Ok("https://as.example/a?x=1"));
    let bare = server("");
    assert_eq!(bare.sign_in(), Err(Invalid::Pkce));
    assert_eq!(bare.methods, [Method::SecretBasic], "the default of RFC 8414");
    for other in ["https://as.example/tenant/", "https://AS.example/tenant", "https://as.example"] {
        assert_eq!(AuthorizationServer::decode(&metadata(""), other, SERVER), Err(Invalid::Issuer), "{other}");
    }
    let plain = bytes(&format!(r#"{{"issuer":"{ISSUER}","token_endpoint":"http://as.example/t"}}"#));
    assert_eq!(AuthorizationServer::decode(&plain, ISSUER, SERVER), Err(Invalid::Address("token_endpoint")));
}

#[test]
fn m_39_scopes_come_from_the_challenge_then_the_resource_and_a_step_up_keeps_what_there_was() {
    let resource = Resource { scopes: Scopes::parse("r1 r2"), ..Resource::assumed(SERVER, ISSUER.into()) };
    let challenged = |scope: Option<&str>| Challenge { scope: scope.map(Scopes::parse), ..Challenge::default() };
    let (none, before) = (Scopes::default(), Scopes::parse("b"));
    let chosen = |configured: &Scopes, before: &Scopes, scope| {
        choose(configured, before, &challenged(scope), &resource).to_string()
    };
    assert_eq!(chosen(&none, &none, Some("c")), "c");
    assert_eq!(chosen(&none, &none, None), "r1 r2");
    assert_eq!(chosen(&none, &before, Some("c")), "b c");
    assert_eq!(chosen(&Scopes::parse("x"), &none, None), "x");
    assert_eq!(chosen(&Scopes::parse("x"), &none, Some("c x")), "x c");
    assert!(Scopes::parse("a b").cover(&Scopes::parse("b")) && !Scopes::parse("a").cover(&Scopes::parse("b")));
    assert_eq!(
        lasting(Scopes::parse("a"), &server(r#","scopes_supported":["offline_access"]"#)).to_string(),
        "a offline_access"
    );
    assert_eq!(lasting(Scopes::parse("a"), &server("")).to_string(), "a");
    assert_eq!(
        Scopes::parse(&(0..1_000).map(|n| format!("s{n} ")).collect::<String>()).to_string().split(' ').count(),
        64
    );
}

#[test]
fn m_39_a_client_is_known_before_or_by_a_document_or_registers() {
    let open =
        server(r#","registration_endpoint":"https://as.example/r","client_id_metadata_document_supported":true"#);
    let configured = Configured { document: Some("https://hub.example/c.json".into()), ..Configured::default() };
    let known = Configured { id: Some("me".into()), secret: Some(Secret::new("s")), ..configured.clone() };
    let Ok(Way::Known(client)) = known.way(&open) else { panic!("known before") };
    assert_eq!((client.id.as_str(), client.method), ("me", Method::SecretBasic));
    let Ok(Way::Known(client)) = configured.way(&open) else { panic!("known by its document") };
    assert_eq!((client.id.as_str(), client.method), ("https://hub.example/c.json", Method::None));
    assert_eq!(Configured::default().way(&open), Ok(Way::Register("https://as.example/r".into())));
    assert_eq!(configured.way(&server("")), Err(Invalid::NoClient));
    let signs = Configured { signs: true, ..known };
    let jwt = server(r#","token_endpoint_auth_methods_supported":["client_secret_basic","private_key_jwt"]"#);
    let Ok(Way::Known(client)) = signs.way(&jwt) else { panic!("it signs") };
    assert_eq!(client.method, Method::PrivateKeyJwt);
}

#[test]
fn m_39_what_a_client_says_of_itself_names_its_kind_and_refresh() {
    let said = describe("Hub", "http://127.0.0.1:7447/oauth/callback", None);
    let said = std::str::from_utf8(&said).expect("UTF-8");
    for part in [
        r#""application_type":"native""#,
        r#""refresh_token""#,
        r#""redirect_uris":["http://127.0.0.1:7447/oauth/callback"]"#,
    ] {
        assert!(said.contains(part), "{said}");
    }
    let hosted = describe("Hub", "https://hub.example/oauth/callback", Some("https://hub.example/c.json"));
    let hosted = std::str::from_utf8(&hosted).expect("UTF-8");
    assert!(
        hosted.contains(r#""application_type":"web""#)
            && hosted.contains(r#""client_id":"https://hub.example/c.json""#)
    );
    let given = |text: &str| registered(&bytes(text), &server(r#","token_endpoint_auth_methods_supported":["none"]"#));
    let client = given(r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#);
    assert_eq!(client.expect("a client").method, Method::SecretPost);
    let public = given(r#"{"client_id":"c","client_secret":"s"}"#).expect("a client");
    assert_eq!(public.method, Method::None, "what the server takes, when registration does not say");
    assert!(given(r#"{"client_id":""}"#).is_err() && given("{}").is_err());
}

#[test]
fn m_39_a_person_is_sent_with_pkce_state_and_resource() {
    let pkce = Pkce::new(&[7; 32]);
    assert_eq!(pkce.verifier.text().map(str::len), Some(43));
    // RFC 7636, appendix B.
    let example: [u8; 32] = [
        116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191,
        240, 91, 88, 5, 88, 83, 132, 141, 121,
    ];
    let example = Pkce::new(&example);
    assert_eq!(example.verifier.text(), Some("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
    assert_eq!(example.challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    let asked = Authorization {
        endpoint: "https://as.example/a?x=1",
        client: "c",
        redirect: "http://127.0.0.1/cb",
        state: "s t",
        challenge: &example.challenge,
        resource: SERVER,
        scopes: &Scopes::parse("a b"),
    };
    assert_eq!(
        asked.url(),
        "https://as.example/a?x=1&response_type=code&client_id=c&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcb&state=s%20t\
         &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256\
         &resource=https%3A%2F%2Fmcp.example%2Fv1%2Fmcp&scope=a%20b"
    );
}

#[test]
fn m_39_every_token_request_names_the_resource_and_shows_the_client_as_the_server_takes_it() {
    let client = |method| Client { id: "i:d".into(), secret: Some(Secret::new("s&t")), method };
    let grant = Grant::Code { code: "co", redirect: "http://r", verifier: "v" };
    let resource = "resource=https%3A%2F%2Fmcp.example%2Fv1%2Fmcp";
    let none = token(&grant, &client(Method::None), SERVER, None);
    assert_eq!(
        *none.body,
        format!(
            "grant_type=authorization_code&code=co&redirect_uri=http%3A%2F%2Fr&code_verifier=v&{resource}&client_id=i%3Ad"
        )
    );
    let basic = token(&Grant::Refresh { token: "r" }, &client(Method::SecretBasic), SERVER, None);
    assert_eq!(*basic.body, format!("grant_type=refresh_token&refresh_token=r&{resource}"));
    // "i%3Ad:s%26t"
    assert_eq!(basic.authorization.as_deref().map(String::as_str), Some("Basic aSUzQWQ6cyUyNnQ="));
    let post = token(&Grant::Client { scopes: &Scopes::parse("a") }, &client(Method::SecretPost), SERVER, None);
    assert!(post.body.ends_with("&client_id=i%3Ad&client_secret=s%26t") && post.body.contains("scope=a&"));
    let jwt =
        token(&Grant::Client { scopes: &Scopes::default() }, &client(Method::PrivateKeyJwt), SERVER, Some("h.p.s"));
    assert!(
        jwt.body.ends_with("&client_assertion=h.p.s") && !jwt.body.contains("s%26t") && jwt.authorization.is_none()
    );
    assert_eq!(format!("{basic:?}"), "TokenRequest(…)");
    let input = assertion(Algorithm::Es256, "me", ISSUER, 1_000, "j");
    assert!(input.starts_with("eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9."));
    assert_eq!(signed("a.b", &[255]).as_str(), "a.b._w");
}

#[test]
fn m_39_an_answer_from_another_issuer_is_refused_without_normalising() {
    let quiet = server("");
    let says = server(r#","authorization_response_iss_parameter_supported":true"#);
    let answer = |issuer: Option<&str>| Callback {
        state: "s".into(),
        issuer: issuer.map(str::to_owned),
        outcome: Outcome::Refused("x".into()),
    };
    assert_eq!(answer(Some(ISSUER)).check_issuer(&says), Ok(()));
    assert_eq!(answer(Some(ISSUER)).check_issuer(&quiet), Ok(()));
    assert_eq!(answer(None).check_issuer(&quiet), Ok(()));
    assert_eq!(answer(None).check_issuer(&says), Err(Invalid::NoIssuer));
    for other in ["https://as.example/tenant/", "https://evil.example", ""] {
        assert_eq!(answer(Some(other)).check_issuer(&says), Err(Invalid::OtherIssuer), "{other}");
        assert_eq!(answer(Some(other)).check_issuer(&quiet), Err(Invalid::OtherIssuer), "{other}");
    }
}

#[test]
fn a_callback_is_one_code_or_one_error_with_a_state() {
    let good = Callback::decode("code=a%2Bb+c&state=s&iss=https%3A%2F%2Fas.example%2Ftenant&x=1").expect("an answer");
    assert_eq!(good.outcome, Outcome::Code(Secret::new("a+b c")));
    assert_eq!((good.state.as_str(), good.issuer.as_deref()), ("s", Some(ISSUER)));
    assert!(!format!("{good:?}").contains("a+b"), "a code is a secret");
    let refused = Callback::decode("error=access_denied&state=s").expect("an answer");
    assert_eq!(refused.outcome, Outcome::Refused("access_denied".into()));
    for bad in [
        "",
        "code=a",
        "state=s",
        "code=&state=s",
        "code=a&state=s&state=t",
        "code=a&error=b&state=s",
        "code=%2&state=s",
        "code=%ff&state=s",
    ] {
        assert!(Callback::decode(bad).is_err(), "{bad}");
    }
    assert_eq!(form::decode("%C3%a9").as_deref(), Some("é"));
}

#[test]
fn a_token_is_a_bearer_token_that_fits_a_header() {
    let token = Token::decode(&bytes(
        r#"{"access_token":"a.b","token_type":"bearer","expires_in":3600,"refresh_token":"r","scope":"x y"}"#,
    ));
    let token = token.expect("a token");
    assert_eq!((token.access.text(), token.expires_in), (Some("a.b"), Some(3_600)));
    assert!(token.refresh.is_some() && token.scopes == Some(Scopes::parse("x y")));
    assert!(!format!("{token:?}").contains("a.b"));
    let decode = |text: &str| Token::decode(&bytes(text));
    assert_eq!(decode(r#"{"access_token":"a","token_type":"DPoP"}"#), Err(Invalid::TokenType));
    for bad in [
        r#"{"access_token":"a"}"#,
        r#"{"token_type":"Bearer"}"#,
        r#"{"access_token":"a\nb","token_type":"Bearer"}"#,
        r#"{"access_token":"","token_type":"Bearer"}"#,
    ] {
        assert!(decode(bad).is_err(), "{bad}");
    }
    assert_eq!(
        refusal(&bytes(r#"{"error":"invalid_grant","error_description":"secret things"}"#)).as_deref(),
        Some("invalid_grant")
    );
    assert_eq!(refusal(&bytes(r#"{"error":"<script>"}"#)), None);
}
