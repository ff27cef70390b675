//! Rules of your own: your program reads the file that `access.policy` names, and decides by it who may do what. The program
//! `interlingua` brings Cedar in the same way.
//!
//! `cargo run -p interlingua --example own_policy`
//!
//! The hub applies three rules itself, whatever yours say: its owner may do everything; a caller in a chain may do only what every link of
//! the chain may do; a credential's scopes are never exceeded.

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::sync::Arc;

use interlingua::config::{Overrides, load_text, policy};
use interlingua::server::run::Server;
use interlingua_hub::{Hub, Settled, entropy};
use interlingua_model::policy::{
    Action, Asked, Could, Decision, Effect, Flaw, Judge, Legislator, Object, Roles, Ruling, Source,
};
use interlingua_model::{
    Ask, Call, Digest, Fault, Input, Json, Link, Origin, Part, Principal, Proof, Request, SkillId, Subject, Target,
    Text, Transcript, glob,
};

/// A language of lines, each a principal and the skills it may call: `user:ann hub/*`.
struct Lines;

impl Legislator for Lines {
    fn read(&self, sources: &[Source], _: &Roles) -> Result<Ruling, Vec<Flaw>> {
        let (mut allowed, mut flaws) = (Vec::new(), Vec::new());
        for source in sources {
            for (number, line) in source.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                match line.split_once(' ') {
                    Some((who, what)) => allowed.push((who.into(), what.trim().into())),
                    None => flaws.push(Flaw {
                        source: source.name.clone(),
                        at: Some((number + 1, 1)),
                        text: "a line is a principal and a pattern of skills".to_owned(),
                    }),
                }
            }
        }
        let texts: Vec<&[u8]> = sources.iter().map(|source| source.text.as_bytes()).collect();
        let judge = Arc::new(Allowed { version: Digest::of_fields(texts), allowed });
        if flaws.is_empty() { Ok(Ruling { judge, warnings: Vec::new(), names: Vec::new() }) } else { Err(flaws) }
    }
}

/// Rules that were read.
#[derive(Debug)]
struct Allowed {
    version: Digest,
    allowed: Vec<(Text, Text)>,
}

impl Allowed {
    fn allows(&self, asked: &Asked<'_>) -> bool {
        let (Action::List | Action::Call, Object::Skill(skill)) = (asked.action, asked.on) else { return false };
        let (who, what) = (asked.by.subject.to_string(), skill.id.to_string());
        self.allowed.iter().any(|(by, skills)| **by == *who && glob::matches(skills, &what))
    }
}

impl Judge for Allowed {
    /// An approval is for one version of the rules.
    fn version(&self) -> Digest {
        self.version
    }

    /// These rules do not look at arguments, so the answer is never `Depends`.
    fn could(&self, asked: &Asked<'_>) -> Could {
        if self.allows(asked) { Could::Yes } else { Could::No }
    }

    fn decide(&self, asked: &Asked<'_>, _: Option<&Json>) -> Decision {
        let effect = if self.allows(asked) { Effect::Allowed } else { Effect::Silent };
        Decision { effect, because: Arc::new([]) }
    }
}

/// Calls `hub/echo` as this user. A real protocol would have authenticated the user first.
async fn echo(hub: &Arc<Hub>, user: &str) -> Result<String, Fault> {
    let subject = Subject::User(user.into());
    // The credential is good for everything, so that the rules alone decide.
    let by = Principal::new(Link { subject, proof: Proof::InProcess, scopes: vec!["*".into()], until: None });
    let target = Target::Skill(SkillId::new("hub", "echo"), None);
    let input = Input::args(serde_json::json!({"text": "hello"}).into());
    let call = Call::new(entropy::message_id(), Origin::program(), Ask::Invoke { target, input });
    let mut running = hub.open(Request { by, connection: 0, call: Box::new(call) }).await?;
    match running.settle(&mut Transcript::default()).await? {
        Settled::Finished(finished) => Ok(finished.output.parts.iter().filter_map(Part::as_text).collect()),
        Settled::Asked(question) => Ok(question.text.to_string()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Before the first configuration is read, and once for the process.
    policy::install(&Lines);
    let data = std::env::temp_dir().join(format!("interlingua-own-policy-{}", std::process::id()));
    std::fs::create_dir_all(&data)?;
    std::fs::write(data.join("rules.txt"), "user:ann hub/*\nuser:bob other/*\n")?;
    let overrides =
        Overrides { listen: Some("127.0.0.1:0".parse()?), data: Some(data.join("data")), ..Overrides::default() };
    let loaded = load_text("access: { policy: rules.txt }", &data.join("interlingua.yaml"), &overrides, &|_| None);
    let server = Server::start(&loaded.map_err(|rejected| rejected.render())?.config).await?;

    let answer = echo(&server.hub, "ann").await?;
    println!("ann is answered: {answer}");
    assert_eq!(answer, "hello");
    let refused = echo(&server.hub, "bob").await.expect_err("no rule allows it");
    println!("bob is refused:  {}", refused.public);
    server.stop().await;
    std::fs::remove_dir_all(data)?;
    Ok(())
}
