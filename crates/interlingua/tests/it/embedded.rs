//! A program that embeds the hub: what it gave the hub stays when the configuration is reloaded.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use interlingua::config::{self, Loaded, Overrides};
use interlingua::server::run::Server;
use interlingua_hub::Settings;
use interlingua_hub::advisor::Advisor;
use interlingua_hub::hooks::{Attached, Hook, HookCall, Hooks, OnFailure, PendingVerdict, Verdict, When};
use interlingua_machines::llm::{Broken, Prompt, Reply};

struct Passes;

impl Hook for Passes {
    fn ask(&self, _: HookCall) -> PendingVerdict<'_> {
        Box::pin(async { Ok(Verdict::Pass) })
    }
}

#[derive(Debug)]
struct Own;

impl Advisor for Own {
    fn has(&self, model: &str) -> bool {
        model == "own"
    }

    fn ask<'a>(&'a self, _: &'a str, _: Prompt) -> BoxFuture<'a, Option<Result<Reply, Broken>>> {
        Box::pin(async { None })
    }
}

fn loaded(directory: &Path, more: &str) -> Loaded {
    let yaml = format!("listen: 127.0.0.1:0\nstore: {{ embedded: ./data }}\n{more}");
    config::load_text(&yaml, &directory.join("interlingua.yaml"), &Overrides::default(), &|_| None)
        .unwrap_or_else(|rejected| panic!("{}", rejected.render()))
}

fn names(server: &Server) -> Vec<String> {
    server.hub.hooks().load().0.iter().map(|hook| hook.name.to_string()).collect()
}

const HOOK: &str = "hooks: { look: { before: dispatch, command: [/bin/true], skills: [\"hub/*\"] } }\n";
const MODELS: &str = "models: { canned: { provider: scripted, file: ./lines.yaml } }\n";

#[tokio::test]
async fn what_an_embedder_gave_the_hub_survives_a_reload() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("lines.yaml"), "replies: [{ when: hello, say: Hello. }]\n").expect("a file");
    let mut server = Server::start(&loaded(directory.path(), HOOK).config).await.expect("the hub starts");
    let own = Arc::new(Attached {
        name: "own".into(),
        when: When::Before,
        skills: vec!["hub/echo".to_owned()],
        timeout: Duration::from_secs(1),
        on_failure: OnFailure::Refuse,
        hook: Arc::new(Passes),
    });
    server.hub.hooks().rcu(|hooks| Hooks(hooks.0.iter().cloned().chain([own.clone()]).collect()));
    server.hub.set_advisor(Arc::new(Own));
    server.hub.set_settings(Settings { model: Some("own".into()), ..Settings::clone(&server.hub.settings()) });
    assert_eq!(names(&server), ["look", "own"]);
    let changes = server.reload(Ok(loaded(directory.path(), MODELS))).await.expect("it is applied");
    assert!(changes.live.contains(&"models"), "{:?}", changes.live);
    assert_eq!(names(&server), ["own"], "the configured one is gone");
    assert!(server.hub.has_model("own") && server.hub.has_model("canned"), "both advisors are asked");
    assert_eq!(server.hub.settings().model.as_deref(), Some("own"));
    server.reload(Ok(loaded(directory.path(), HOOK))).await.expect("it is applied");
    assert_eq!(names(&server), ["look", "own"], "and comes back once");
    server.stop().await;
}
