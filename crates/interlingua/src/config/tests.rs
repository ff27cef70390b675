//! The messages for wrong configurations, word for word; and the reading of right ones.

use std::path::Path;
use std::sync::Arc;

use interlingua_model::Digest;
use interlingua_model::policy::{Asked, Could, Decision, Effect, Flaw, Judge, Legislator, Roles, Ruling, Source};

use super::*;
use interlingua_settings::document;

fn environment(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("s3cret".into()),
        "DEPTH" => Some("64".into()),
        _ => None,
    }
}

fn read(text: &str) -> Result<Loaded, Rejected> {
    load_text(text, Path::new("hub.yaml"), &Overrides::default(), &environment)
}

/// Every problem, one a line.
fn wrong(text: &str) -> String {
    read(text).map(|loaded| loaded.config).unwrap_err().to_string()
}

fn right(text: &str) -> Config {
    read(text).unwrap_or_else(|rejected| panic!("{rejected}")).config
}

#[test]
fn an_empty_file_is_the_hub_without_a_file() {
    assert_eq!(right(""), Config::default());
    assert_eq!(right("# nothing\n"), Config::default());
    assert_eq!(right("peers:\nnlip:\n"), Config::default());
    assert_eq!(without_file(&Overrides::default()).unwrap().config, Config::default());
    assert_eq!(Config::default().listen.to_string(), "127.0.0.1:7447");
}

#[test]
fn an_unknown_key_is_told_with_its_place_and_the_nearest_name() {
    let text = "limits:\n  body: 1MiB\n  dpeth: 3\n";
    assert_eq!(wrong(text), "hub.yaml:3:3: limits.dpeth: unknown key `dpeth`; did you mean `depth`?");
    let rendered = read(text).unwrap_err().render();
    let expected =
        "hub.yaml:3:3: limits.dpeth: unknown key `dpeth`; did you mean `depth`?\n   |\n 3 |   dpeth: 3\n   |   ^";
    assert_eq!(rendered, expected);
    assert_eq!(
        wrong("tls: { cert: a, key: b, colour: red }"),
        "hub.yaml:1:25: tls.colour: unknown key `colour`; known here: cert, key, clients, minimum"
    );
}

#[test]
fn every_problem_is_told_at_once() {
    let text = "\
listen: nowhere
limits: { body: 64megs, deadline: soon, rate: fast, depth: deep }
retention: { taks: 30d }
peers:
  a: { nlip: { binding: http } }
  b: { title: B }
";
    let expected = "\
hub.yaml:1:9: listen: expected an address and a port, such as `127.0.0.1:7447`
hub.yaml:2:17: limits.body: expected a size, such as `64MiB`
hub.yaml:2:35: limits.deadline: expected a span of time, such as `300s`, `24h` or `30d`
hub.yaml:2:47: limits.rate: expected a rate, such as `200/s`
hub.yaml:2:60: limits.depth: expected a whole number from 0 to 65535, found something else
hub.yaml:3:14: retention.taks: unknown key `taks`; did you mean `tasks`?
hub.yaml:5:8: peers.a.nlip: the key `url` is missing
hub.yaml:6:3: peers.b: a peer needs its protocol and address: `nlip: { url: … }`, `mcp: { … }`, `a2a: { url: … }`, `aip: { … }`, `nlweb: { url: … }` or `site: FILE`";
    assert_eq!(wrong(text), expected);
}

#[test]
fn a_wrong_kind_of_value_is_told_without_quoting_it() {
    assert_eq!(wrong("insecure: yes"), "hub.yaml:1:11: insecure: expected true or false, found something else");
    assert_eq!(wrong("limits: []"), "hub.yaml:1:9: limits: expected a map, found a list");
    assert_eq!(wrong("peers: { a: { nlip: text } }"), "hub.yaml:1:21: peers.a.nlip: expected a map, found a text");
    assert_eq!(
        wrong("peers: { a: { nlip: { url: 'http://127.0.0.1:1/nlip', binding: wss } } }"),
        "hub.yaml:1:64: peers.a.nlip.binding: expected one of http, ws, ws-text; did you mean `ws`?"
    );
    assert_eq!(
        wrong("nlip: { tokens: { key: '${TOKEN}' } }"),
        "hub.yaml:1:24: nlip.tokens.key: expected a key of 32 bytes, in hexadecimal or base64"
    );
}

#[test]
fn what_is_not_one_yaml_document_is_told_with_its_place() {
    assert_eq!(
        wrong("insecure: true\nlisten: 7447\ninsecure: false\n"),
        "hub.yaml:3:1: the key `insecure` is here twice; the first is in line 1"
    );
    assert_eq!(
        wrong("insecure: true\n---\ninsecure: true\n"),
        "hub.yaml:2:1: a configuration is one document: `---` starts a second"
    );
    assert!(wrong("limits: {").starts_with("hub.yaml:"), "{}", wrong("limits: {"));
    assert_eq!(wrong(&("[".repeat(40) + &"]".repeat(40))), "hub.yaml:1:34: nested deeper than 32 levels");
    assert!(read(&"[".repeat(200_000)).is_err());
    assert_eq!(wrong("- a\n- b\n"), "hub.yaml:1:1: expected a map, found a list");
}

#[test]
fn aliases_are_allowed_and_bombs_are_not() {
    let config = right("limits: { deadline: &short 5s, replay: *short }");
    assert_eq!(config.limits.deadline, config.limits.replay);
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        let aliases = vec![format!("*{from}"); 10].join(",");
        bomb.push_str(&format!("{to}: &{to} [{aliases}]\n"));
    }
    assert!(wrong(&bomb).contains("more than 200000 values"), "{}", wrong(&bomb));
}

#[test]
fn members_of_a_role_say_what_they_are() {
    let told = wrong("access: { roles: { clerk: [alice] } }");
    assert!(told.contains("access.roles.clerk: `alice` is nobody: write `user:NAME`"), "{told}");
}

#[test]
fn variables_and_files_are_put_in() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("token"), "from-file\n").unwrap();
    let text = "\
limits: { depth: '${DEPTH}' }
peers:
  a: { nlip: { url: 'https://a.example/nlip', token: '${TOKEN}' } }
  b: { nlip: { url: 'https://b.example/nlip', token: file:./token } }
";
    let file = folder.path().join("hub.yaml");
    let loaded = load_text(text, &file, &Overrides::default(), &environment).unwrap();
    assert_eq!(loaded.config.limits.depth, 64);
    let tokens: Vec<&str> = loaded
        .config
        .peers
        .values()
        .map(|peer| match &peer.speaks {
            Speaks::Nlip(nlip) => nlip.token.as_ref().unwrap().expose().text().unwrap(),
            Speaks::Mcp(_) | Speaks::A2a(_) | Speaks::Aip(_) | Speaks::Nlweb(_) | Speaks::Site(_) => {
                panic!("none of these")
            }
        })
        .collect();
    assert_eq!(tokens, ["s3cret", "from-file"]);
    assert!(!format!("{loaded:?}").contains("s3cret") && !format!("{loaded:?}").contains("from-file"));
    assert_eq!(loaded.files(), [file, folder.path().join("./token")]);
    assert_eq!(
        wrong("hub: { name: '${NONE}' }\nlimits: { depth: '${NONE}' }"),
        "hub.yaml:1:14: hub.name: the environment has no `NONE`; set it, or write `${NONE:-otherwise}`\n\
         hub.yaml:2:18: limits.depth: the environment has no `NONE`; set it, or write `${NONE:-otherwise}`"
    );
    assert_eq!(wrong("hub: { name: file:./nowhere }"), "hub.yaml:1:14: hub.name: there is no file ./nowhere");
}

#[test]
fn without_tls_only_loopback_unless_said() {
    assert_eq!(
        wrong("listen: 0.0.0.0:7447"),
        "hub.yaml:1:1: listen: 0.0.0.0:7447 can be reached from other machines and there is no `tls`; add it, listen on \
         127.0.0.1, or set `insecure: true`"
    );
    assert!(right("listen: 0.0.0.0:7447\ninsecure: true").insecure);
    assert_eq!(right("listen: 9000").listen.to_string(), "127.0.0.1:9000");
    assert_eq!(right("listen: '[::1]:9000'").listen.to_string(), "[::1]:9000");
    let overrides = Overrides { listen: Some("0.0.0.0:1".parse().unwrap()), ..Overrides::default() };
    assert!(without_file(&overrides).unwrap_err().to_string().starts_with("listen: 0.0.0.0:1 can be reached"));
}

#[test]
fn a_41_cards_are_signed_with_a_key_and_for_one_address() {
    let told = wrong("a2a: { sign_with: nonsense, url: hub.example }");
    assert!(
        told.contains("a2a.sign_with: this is no private key in PEM that can sign (P-256, Ed25519 or RSA)"),
        "{told}"
    );
    assert!(told.contains("a2a.url: this is no address such as `https://hub.example`"), "{told}");
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("a key").serialize_pem();
    let key = key.replace('\n', "\\n");
    let signed = |more: &str| format!("a2a: {{ sign_with: \"{key}\"{more} }}\n");
    assert!(right(&signed("")).a2a.sign_with.is_some());
    let open = "listen: 0.0.0.0:7447\ninsecure: true\n";
    assert!(wrong(&format!("{}{open}", signed(""))).contains("say which in `a2a.url`"));
    right(&format!("{}{open}", signed(", url: \"https://hub.example\"")));
}

#[test]
fn names_of_peers_fit_into_every_spelling() {
    for reserved in ["mcp", "local", "hub", "graph", "custom_tool"] {
        let text = format!("peers: {{ {reserved}: {{ nlip: {{ url: 'http://127.0.0.1:1/nlip' }} }} }}");
        let message = format!("peers.{reserved}: the name `{reserved}` is reserved; call this peer something else");
        assert_eq!(wrong(&text), format!("hub.yaml:1:10: {message}"));
    }
    assert_eq!(
        wrong("peers: { a__b: { nlip: { url: 'http://127.0.0.1:1/nlip' } } }"),
        "hub.yaml:1:10: peers.a__b: a peer's name has no `__`: it separates peer and skill in tool names"
    );
    assert!(wrong("peers: { 'a b': { nlip: { url: 'http://127.0.0.1:1/nlip' } } }").contains("letters, digits"));
}

#[test]
fn addresses_of_peers_are_addresses() {
    let with = |rest: &str| format!("peers: {{ a: {{ nlip: {{ {rest} }} }} }}");
    assert_eq!(
        wrong(&with("url: 'ftp://a/nlip'")),
        "hub.yaml:1:23: peers.a.nlip.url: expected a URL with http:// or https://"
    );
    assert!(wrong(&with("url: 'not a url'")).ends_with("this is not a URL"));
    assert_eq!(
        wrong(&with("url: 'http://a.example/nlip', token: x")),
        "hub.yaml:1:53: peers.a.nlip.token: the token would travel unencrypted; use https or wss, or set \
         `insecure: true` here"
    );
    assert!(read(&with("url: 'http://a.example/nlip', token: x, insecure: true")).is_ok());
    assert!(read(&with("url: 'http://[::1]:1/nlip', token: x")).is_ok());
    let config = right(&with("url: 'wss://a.example/nlip/ws'"));
    assert!(matches!(&config.peers["a"].speaks, Speaks::Nlip(nlip) if nlip.binding() == Binding::Ws));
}

#[test]
fn n_40_an_nlip_peer_beyond_loopback_is_spoken_to_in_plaintext_only_if_that_is_said() {
    let with = |rest: &str| format!("peers: {{ a: {{ nlip: {{ {rest} }} }} }}");
    for url in ["http://a.example/nlip", "ws://a.example/nlip/ws", "http://192.0.2.1/nlip"] {
        assert_eq!(
            wrong(&with(&format!("url: '{url}'"))),
            "hub.yaml:1:23: peers.a.nlip.url: what is said would travel unencrypted; use https or wss, or set \
             `insecure: true` here"
        );
        assert!(read(&with(&format!("url: '{url}', insecure: true"))).is_ok(), "{url}");
    }
    for url in ["https://a.example/nlip", "wss://a.example/nlip/ws", "http://localhost:1/nlip", "ws://[::1]:1/nlip/ws"]
    {
        assert!(read(&with(&format!("url: '{url}'"))).is_ok(), "{url}");
    }
}

#[test]
fn the_front_door_is_a_peer() {
    let peers = "peers: { concierge: { nlip: { url: 'http://127.0.0.1:1/nlip' } } }\n";
    assert!(read(&format!("{peers}front_door: concierge")).is_ok());
    assert_eq!(
        wrong(&format!("{peers}front_door: concirge")),
        "hub.yaml:2:1: front_door: there is no peer `concirge`; did you mean `concierge`?"
    );
}

#[test]
fn callers_come_from_a_list_or_a_file_and_only_digests_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let sha = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let list =
        format!("- {{ name: ann, token: secret }}\n- {{ name: bob, sha256: {}, approve: true }}\n", "0".repeat(64));
    std::fs::write(folder.path().join("tokens.yaml"), list).unwrap();
    let file = folder.path().join("hub.yaml");
    let text = "access: { tokens: file:./tokens.yaml, anonymous: refused }";
    let loaded = load_text(text, &file, &Overrides::default(), &environment).unwrap();
    let access = &loaded.config.access;
    assert_eq!(access.tokens[0].digest.to_string(), sha);
    assert_eq!(access.tokens[0].skills, ["*"]);
    assert!(access.tokens[1].approve && !access.tokens[0].approve);
    assert_eq!(access.anonymous, Anonymous::Refused);

    std::fs::write(folder.path().join("tokens.yaml"), "- { name: ann, token: a, sha256: b }\n- { nam: c }\n").unwrap();
    let told = load_text(text, &file, &Overrides::default(), &environment).unwrap_err();
    let tokens = folder.path().join("./tokens.yaml");
    let expected = format!(
        "{0}:1:3: access.tokens.0: only one of `token`, `sha256` and `certificate`\n\
         {0}:2:5: access.tokens.1.nam: unknown key `nam`; did you mean `name`?",
        tokens.display()
    );
    assert_eq!(told.to_string(), expected);

    let twice = "access: { tokens: [{ name: a, token: x }, { name: a, token: y }, { name: b, token: x }] }";
    let expected = "hub.yaml:1:43: access.tokens.1: there are two callers named `a`\n\
                    hub.yaml:1:66: access.tokens.2: `a` and `b` have the same token";
    assert_eq!(wrong(twice), expected);
    assert!(
        wrong("access: { tokens: [{ name: a, token: x, expires: tomorrow }] }").ends_with("`2027-01-31T00:00:00Z`")
    );
}

#[test]
fn files_that_are_named_must_be_there() {
    let expected = "hub.yaml:1:8: tls.cert: there is no file nowhere.pem\n\
                    hub.yaml:1:27: tls.key: there is no file nokey.pem";
    assert_eq!(wrong("tls: { cert: nowhere.pem, key: nokey.pem }"), expected);
    assert_eq!(
        load(Path::new("nowhere.yaml"), &Overrides::default(), &environment).unwrap_err().to_string(),
        "there is no file nowhere.yaml"
    );
}

#[test]
fn the_file_tools_never_reach_the_data_directory() {
    let message = "the file tools would reach the hub's data directory, which holds its keys";
    assert_eq!(wrong("tools: { workspace: . }"), format!("hub.yaml:1:10: tools.workspace: {message}"));
    assert_eq!(wrong("tools: { roots: [{ path: / }] }"), format!("hub.yaml:1:20: tools.roots.0.path: {message}"));
    assert!(read("tools: { workspace: ./workspace }").is_ok());
}

#[test]
fn s_04_a_root_that_is_not_there_is_a_warning() {
    let loaded = read("tools: { roots: [{ path: ./nowhere, permission: write, protected: [../up] }] }").unwrap();
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings[0], "hub.yaml:1:20: tools.roots.0.path: ./nowhere does not exist and is skipped");
    assert!(warnings[1].ends_with("is not below its root and is skipped"), "{}", warnings[1]);
}

#[test]
fn s_04_a_permission_there_is_not_is_refused_and_none_means_read() {
    for word in ["rw", "Write", "delete", "''"] {
        let told = wrong(&format!("tools: {{ roots: [{{ path: ./nowhere, permission: {word} }}] }}"));
        assert!(told.starts_with("hub.yaml:1:") && told.contains("tools.roots.0.permission"), "{word}: {told}");
    }
    let loaded = read("tools: { roots: [{ path: ./nowhere }] }").unwrap();
    assert_eq!(loaded.config.tools.roots[0].permission, Permission::Read);
}

#[test]
fn numbers_that_would_stop_everything_are_refused() {
    let text = "limits: { in_flight: 0, depth: 2000, deadline: 0s }\nnlip: { router: { max_parallel_calls: 0 } }";
    let expected = "hub.yaml:1:25: limits.depth: expected a whole number from 1 to 1024\n\
                    hub.yaml:1:11: limits.in_flight: must be more than 0\n\
                    hub.yaml:2:19: nlip.router.max_parallel_calls: must be more than 0\n\
                    hub.yaml:1:38: limits.deadline: must be longer than 0";
    assert_eq!(wrong(text), expected);
    assert_eq!(
        wrong("telemetry: { log: { level: 'a=b=c' }, otlp: collector }").lines().count(),
        2,
        "both the level and the address are told"
    );
}

#[test]
fn relative_paths_start_at_the_folder_of_the_file() {
    let loaded =
        load_text("store: { embedded: ./state }", Path::new("/etc/hub/a.yaml"), &Overrides::default(), &environment);
    let config = loaded.unwrap().config;
    assert_eq!(config.data(), Path::new("/etc/hub/./state"));
    assert_eq!(config.workspace(), Path::new("/etc/hub/./state/workspace"));
    let overrides = Overrides { data: Some("here".into()), ..Overrides::default() };
    let config = load_text("", Path::new("/etc/hub/a.yaml"), &overrides, &environment).unwrap().config;
    assert_eq!(config.socket(), Path::new("here/hub.sock"));
}

#[test]
fn r_44_every_key_of_the_nlip_block_reaches_the_configuration() {
    let text = "\
nlip:
  enabled: false
  agents: true
  schema_version: \"1.0\"
  router:
    enabled: false
    session_timeout_hours: 1
    default_timeout: 30
    enable_message_tracking: false
    enable_state_management: false
    enable_streaming: false
    buffer_partial_responses: true
    max_parallel_calls: 2
  translation: { mcp_enabled: false, custom_tools_enabled: false, builtin_tools_enabled: false }
  tokens:
    auto_generate_sessions: false
    track_conversation_turns: false
    persist_context_tokens: false
    key: 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
    old_keys: [ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100]
";
    let nlip = right(text).nlip;
    let router = Router {
        enabled: false,
        session_timeout_hours: 1,
        default_timeout: Some(Span::seconds(30)),
        enable_message_tracking: false,
        enable_state_management: false,
        enable_streaming: false,
        buffer_partial_responses: true,
        max_parallel_calls: 2,
    };
    assert_eq!((nlip.enabled, nlip.schema_version, nlip.router), (false, SchemaVersion::V1, router));
    let off = Translation { mcp_enabled: false, custom_tools_enabled: false, builtin_tools_enabled: false };
    assert_eq!(nlip.translation, off);
    let tokens = nlip.tokens;
    assert!(!tokens.auto_generate_sessions && !tokens.track_conversation_turns && !tokens.persist_context_tokens);
    assert_eq!(tokens.key.unwrap().expose()[..3], [0x00, 0x11, 0x22]);
    assert_eq!(tokens.old_keys[0].expose()[..3], [0xff, 0xee, 0xdd]);
    assert_eq!(
        wrong("nlip: { schema_version: '2.0' }"),
        "hub.yaml:1:25: nlip.schema_version: expected one of 1.0; did you mean `1.0`?"
    );
}

#[test]
fn m_39_how_a_token_is_come_by_is_checked_before_it_is_needed() {
    let peer = |more: &str| format!("peers: {{ p: {{ mcp: {{ {more} }} }} }}");
    let at = |more: &str| peer(&format!("url: 'https://p.example/mcp', {more}"));
    for good in [
        "credentials: caller",
        "oauth: { scopes: [a, b] }",
        "oauth: { client_id: c, client_secret: s }",
        "oauth: { grant: client_credentials, client_id: c, client_secret: s }",
        "oauth: { client_metadata: 'https://hub.example/c.json' }",
    ] {
        right(&at(good));
    }
    for (bad, says) in [
        ("token: t, credentials: caller", "`oauth` and `credentials` are for a server without"),
        ("headers: { Authorization: t }, oauth: {}", "`oauth` and `credentials` are for a server without"),
        ("oauth: { client_secret: s }", "p.mcp.oauth.client_id: a secret or a key belongs to a client"),
        ("oauth: { grant: client_credentials, client_id: c }", "need a `client_secret` or a `private_key`"),
        ("oauth: { client_id: c, private_key: none }", "p.mcp.oauth.private_key: expected a private key in PEM form"),
        ("oauth: { client_metadata: 'http://hub.example/c.json' }", "p.mcp.oauth.client_metadata"),
        ("oauth: { scopes: ['a b'] }", "a scope has no spaces"),
        (
            "credentials: caller, oauth: { grant: client_credentials, client_id: c, client_secret: s }",
            "no caller has any",
        ),
        ("oauth: { clientid: c }", "client_id"),
    ] {
        let refused = wrong(&at(bad));
        assert!(refused.contains(says), "{bad}: {refused}");
    }
    assert!(wrong(&peer("command: x, credentials: caller")).contains("are for a server with a `url`"));
    assert!(wrong("hub: { url: hub.example }").contains("hub.url"));
}

/// Takes whatever is written.
#[derive(Debug)]
struct AnyRules;

impl Legislator for AnyRules {
    fn read(&self, _: &[Source], _: &Roles) -> Result<Ruling, Vec<Flaw>> {
        Ok(Ruling { judge: Arc::new(AnyRules), warnings: Vec::new(), names: Vec::new() })
    }
}

impl Judge for AnyRules {
    fn version(&self) -> Digest {
        Digest::of(b"any")
    }

    fn could(&self, _: &Asked<'_>) -> Could {
        Could::No
    }

    fn decide(&self, _: &Asked<'_>, _: Option<&interlingua_model::Json>) -> Decision {
        Decision { effect: Effect::Silent, because: Arc::new([]) }
    }
}

#[test]
fn the_example_loads_and_uses_every_key_of_the_schema() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/interlingua.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut missing = schema::keys();
    // The program brings the language; its own tests read these rules.
    policy::install(&AnyRules);
    // A store is in a directory or in a database: the example shows the one, a comment in it the other.
    let alternatives = ["access.tokens.token", "store.postgres", "store.local"];
    let is_alternative = |key: &str| alternatives.contains(&key) || key.starts_with("store.postgres.");
    let used = document_keys(&text);
    missing.retain(|key| !used.contains(key) && !is_alternative(key));
    assert_eq!(missing, Vec::<String>::new(), "keys the example does not show");
    match load_text(&text, &file, &Overrides::default(), &|_| None) {
        Ok(loaded) => assert_eq!(loaded.warnings, []),
        Err(rejected) => panic!("{rejected}"),
    }
}

#[test]
fn a_store_on_postgresql_has_a_directory_of_its_own_and_every_default() {
    let key = "encryption: { key: '2222222222222222222222222222222222222222222222222222222222222222' }";
    let yaml = format!("store: {{ postgres: {{ url: 'postgres://hub@127.0.0.1/hub' }}, {key} }}");
    let config = right(&yaml);
    let postgres = config.store.postgres.as_ref().unwrap();
    assert_eq!((postgres.schema.as_str(), postgres.writers, postgres.readers), ("interlingua", 4, 6));
    assert!(!postgres.insecure && postgres.ca.is_none());
    assert!(config.data().ends_with("data") && config.store.embedded.is_none(), "{:?}", config.data());
    assert!(!format!("{config:?}").contains("hub@127"), "a URL may hold a password");
    let moved = right(&yaml.replace(", encryption", ", local: state, encryption"));
    assert!(moved.data().ends_with("state"));
    let mut elsewhere = moved.clone();
    elsewhere.store.postgres.as_mut().unwrap().schema = "other".into();
    assert_eq!(super::diff::diff(&moved, &elsewhere).restart, ["store"]);
}

/// The keys of a document in the spelling of [`schema::keys`].
fn document_keys(text: &str) -> Vec<String> {
    fn walk(node: &document::Node, path: &str, keys: &mut Vec<String>) {
        match &node.value {
            document::Value::Scalar { .. } => {}
            document::Value::List(items) => items.iter().for_each(|(_, item)| walk(item, path, keys)),
            document::Value::Map(entries) => {
                for (key, value) in entries {
                    let named = [
                        "peers",
                        "peers.*.skills",
                        "hooks",
                        "models",
                        "agents",
                        "teams",
                        "mcp.views",
                        "mcp.views.*.tools",
                        "aip.devices",
                        "aip.messages",
                        "access.issuers",
                    ]
                    .contains(&path);
                    let name = if named { "*" } else { &key.name };
                    let below = document::join(path, name);
                    keys.push(below.clone());
                    walk(value, &below, keys);
                }
            }
        }
    }
    let mut keys = Vec::new();
    walk(&document::parse(text, 0).unwrap(), "", &mut keys);
    keys
}

#[test]
fn the_schema_describes_every_key_and_accepts_the_example() {
    let schema = schema::schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let good = serde_json::json!({
        "listen": "127.0.0.1:7447",
        "limits": { "body": "64MiB", "rate": "200/s", "depth": 128 },
        "peers": { "a": { "nlip": { "url": "http://127.0.0.1:1/nlip", "binding": "ws-text" }, "effects": "reads" } },
        "access": { "tokens": "file:./tokens.yaml" },
    });
    assert!(validator.is_valid(&good), "{:?}", validator.iter_errors(&good).map(|e| e.to_string()).collect::<Vec<_>>());
    for bad in [
        serde_json::json!({ "colour": "red" }),
        serde_json::json!({ "limits": { "body": "64megs" } }),
        serde_json::json!({ "peers": { "a": { "nlip": {} } } }),
    ] {
        assert!(!validator.is_valid(&bad), "{bad}");
    }
}

fn warnings_of_skills(skills: &str) -> Vec<String> {
    let yaml = format!(
        "models: {{ m: {{ provider: openai, model: x, base_url: \"http://127.0.0.1:1/v1/\" }} }}\n\
         agents:\n  ann: {{ model: m, skills: [{skills}] }}\n  bob: {{ model: m }}\n  eve: {{ model: m }}\n\
         teams: {{ jury: {{ agents: [bob, eve] }} }}\n"
    );
    let loaded = load_text(&yaml, Path::new("hub.yaml"), &Overrides::default(), &|_| None).expect("valid");
    loaded.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn an_agent_that_may_ask_a_team_and_not_its_members_is_a_warning() {
    let warned = warnings_of_skills("\"jury/*\", \"bob/*\"");
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].contains("agents.ann.skills: the team `jury`"), "{warned:?}");
    assert!(warned[0].ends_with("add `eve/*`"), "{warned:?}");
    assert_eq!(warnings_of_skills("\"jury/chat\", \"bob/chat\", \"e*/chat\""), [] as [String; 0]);
    assert_eq!(warnings_of_skills("\"local/*\""), [] as [String; 0], "it asks no team");
}

/// A hundred thousand callers are more than either bound of a configuration.
#[test]
fn a_list_of_callers_may_be_longer_than_a_configuration() {
    const DIGEST: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let folder = tempfile::tempdir().expect("a folder");
    let remarks = format!("# {}\n", "-".repeat(1 << 20)).repeat(5);
    std::fs::write(folder.path().join("list.yaml"), format!("{remarks}- {{ name: ann, sha256: {DIGEST} }}\n"))
        .expect("a list");
    let load = |text: &str| {
        let (file, overrides) = (folder.path().join("hub.yaml"), Overrides::default());
        load_text(text, &file, &overrides, &|_| None)
    };
    let loaded = load("access: { tokens: file:list.yaml }").expect("a configuration");
    assert_eq!(loaded.config.access.tokens.len(), 1);
    let told = load("hub: { name: file:list.yaml }").expect_err("no name is so long").to_string();
    assert!(told.contains("is larger than 4194304 bytes"), "{told}");
}
