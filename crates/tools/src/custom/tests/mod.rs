//! Manifests, misbehaving programs, and the tools that come with the repository.

mod containment;
mod examples;
mod manifests;
mod replies;

use std::fs;
use std::future::poll_fn;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use interlingua_model::json::Tree;
use interlingua_model::peer::{Dispatch, Exchange, Peer, Reply, View};
use interlingua_model::{
    Ask, Call, Channel, Event, Fault, FaultKind, Finished, Input, Json, MessageId, Outcome, PeerId, Principal, Skill,
    Target, TaskId,
};
use serde_json::json;

use super::*;

/// A tools directory that goes away with the test.
struct Shop {
    base: tempfile::TempDir,
}

impl Shop {
    fn new() -> Shop {
        Shop { base: tempfile::tempdir().unwrap() }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.base.path().join(below)
    }

    fn put(&self, below: &str, text: &str) -> &Shop {
        fs::write(self.path(below), text).unwrap();
        self
    }

    fn program(&self, below: &str, body: &str) -> &Shop {
        self.put(below, &format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(self.path(below), fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// A tool `t` with this program; `keys` are further lines of its manifest.
    fn tool(body: &str, keys: &str) -> Shop {
        let shop = Shop::new();
        shop.program("t", body).put("t.yaml", &format!("name: t\ndescription: a test\n{keys}\n"));
        shop
    }

    fn open(&self) -> Arc<CustomTools> {
        let tools = Arc::new(CustomTools::open(self.base.path(), PeerId::from("local")));
        assert_eq!(tools.problems(), []);
        tools
    }

    fn load(&self) -> Catalogue {
        Catalogue::load(self.base.path(), &PeerId::from("local"))
    }
}

fn dispatch(skill: Skill, args: Option<Tree>) -> Dispatch {
    let input = Input { args: args.map(Json::from_tree), ..Input::parts(Vec::new()) };
    let target = Target::Skill(skill.id.clone(), Some(skill.version.clone()));
    Dispatch {
        by: Principal::anonymous(),
        task: TaskId(1),
        attempt: 2,
        key: MessageId::from("key-1"),
        skill: Arc::new(skill),
        call: Box::new(Call::new("call-1", interlingua_model::Origin::program(), Ask::Invoke { target, input })),
        want: View::Full,
        asked: 0,
        remote: None,
        answering: None,
        place: None,
    }
}

fn skill(tools: &Arc<CustomTools>, name: &str) -> Skill {
    tools.skills().into_iter().find(|skill| skill.id.skill.as_str() == name).unwrap()
}

async fn start(tools: &Arc<CustomTools>, name: &str, args: Tree) -> Result<Exchange, Fault> {
    match Arc::clone(tools).call(dispatch(skill(tools, name), Some(args))).await? {
        Reply::Live(exchange) => Ok(exchange),
        Reply::Done(..) => panic!("a program runs"),
    }
}

async fn next(exchange: &mut Exchange) -> Option<Event> {
    let record = poll_fn(|cx| exchange.poll_next(cx)).await?;
    Some(record.event().unwrap().clone())
}

/// Everything until the end.
async fn drain(mut exchange: Exchange) -> (Vec<Event>, Finished) {
    let mut events = Vec::new();
    loop {
        match next(&mut exchange).await.unwrap() {
            Event::Finished(finished) => {
                assert!(next(&mut exchange).await.is_none(), "nothing follows the end");
                return (events, finished);
            }
            event => events.push(event),
        }
    }
}

async fn run(tools: &Arc<CustomTools>, name: &str, args: Tree) -> (Vec<Event>, Finished) {
    drain(start(tools, name, args).await.unwrap()).await
}

/// The result of the tool `t` of this shop.
async fn result(shop: &Shop, args: Tree) -> Result<Tree, Fault> {
    let (_, finished) = run(&shop.open(), "t", args).await;
    match finished.outcome {
        Outcome::Completed => Ok(finished.output.structured.unwrap().tree().clone()),
        Outcome::Failed(fault) => Err(fault),
        Outcome::Cancelled { .. } => panic!("nobody cancelled"),
    }
}

async fn fault(shop: &Shop) -> Fault {
    result(shop, json!({})).await.unwrap_err()
}

fn notes(events: &[Event]) -> Vec<String> {
    let text = |event: &Event| match event {
        Event::Said { channel: Channel::Note(_), parts, .. } => Some(parts[0].as_text().unwrap().to_owned()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

/// The number a program left in a file, once it did.
async fn number_in(path: &Path) -> u32 {
    for _ in 0..500 {
        if let Ok(text) = fs::read_to_string(path)
            && let Some(number) = text.strip_suffix('\n')
        {
            return number.parse().unwrap();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} was not written", path.display());
}

/// Waits until a process has ended; one that its own parent has not collected yet has ended, too.
async fn ends(pid: u32) {
    for _ in 0..500 {
        match fs::read_to_string(format!("/proc/{pid}/stat")) {
            Err(_) => return,
            Ok(stat) if stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')) => return,
            Ok(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("process {pid} is still there");
}

/// Waits until nothing is left of a process, not even its exit status.
async fn is_collected(pid: u32) {
    for _ in 0..500 {
        if !Path::new(&format!("/proc/{pid}")).exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {pid} was not collected");
}
