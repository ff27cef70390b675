//! Resources and completions go through the same entry point as skills, and listeners are notified of changes.

use super::*;
use crate::news::Heard;

/// Says which resource was read, or what was to be completed.
struct Library;

impl Peer for Library {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let said = match &dispatch.call.ask {
                Ask::Read { uri, .. } => format!("read {uri}"),
                Ask::Complete { argument, typed, .. } => format!("complete {argument} from {typed}"),
                Ask::Invoke { .. } => "invoked".to_owned(),
            };
            let output = Output { parts: vec![Part::text(said, Provenance::hub())], ..Output::default() };
            Ok(Reply::Done(Box::new(Finished::completed(output)), None))
        })
    }

    fn completes(&self) -> bool {
        true
    }
}

fn resource(uri: &str, template: bool, public: bool) -> Resource {
    Resource {
        peer: "library".into(),
        uri: uri.into(),
        template,
        title: uri.into(),
        description: None,
        media: None,
        size: None,
        public,
        raw: None,
    }
}

fn library() -> Card {
    let mut delete = skill("delete", Effects { destroys: true, ..Effects::unknown() });
    delete.id = SkillId::new("library", "delete");
    let required = json!({"type": "object", "properties": {"n": {}}, "required": ["n"]});
    delete.input = Schema(required.into());
    let resources = vec![
        resource("book://private", false, false),
        resource("book://public", false, true),
        resource("page://{book}/{number}", true, true),
    ];
    Card { peer: "library".into(), skills: vec![delete.sealed()], resources, ..card() }
}

fn by(by: Principal, ask: Ask) -> Request {
    Request {
        by,
        connection: 1,
        call: Box::new(Call::new(entropy::message_id(), interlingua_model::Origin::program(), ask)),
    }
}

fn read(uri: &str) -> Ask {
    Ask::Read { peer: "library".into(), uri: uri.into() }
}

fn complete(of: Completes) -> Ask {
    Ask::Complete { of, argument: "n".into(), typed: "4".into(), known: Json::empty_object() }
}

async fn said(hub: &Arc<Hub>, request: Request) -> String {
    let mut running = hub.open(request).await.expect("opens");
    let finished = outcome(&mut running).await;
    finished.output.parts.iter().filter_map(Part::as_text).collect()
}

#[tokio::test]
async fn a_resource_is_read_by_whom_policy_lets_and_is_not_there_for_others() {
    let bench = bench();
    bench.hub.register(library(), Arc::new(Library)).await.expect("registers");
    assert_eq!(said(&bench.hub, by(owner(), read("book://private"))).await, "read book://private");
    // A peer may know more than it lists.
    assert_eq!(said(&bench.hub, by(owner(), read("book://unlisted"))).await, "read book://unlisted");
    assert_eq!(said(&bench.hub, by(Principal::anonymous(), read("book://public"))).await, "read book://public");
    assert_eq!(said(&bench.hub, by(Principal::anonymous(), read("page://b/1"))).await, "read page://b/1");
    for uri in ["book://private", "book://unlisted"] {
        let fault = bench.hub.open(by(Principal::anonymous(), read(uri))).await.expect_err("hidden");
        assert_eq!(fault.kind, FaultKind::NotFound(Noun::Resource), "{uri}");
    }
}

#[tokio::test]
async fn a_peer_without_resources_is_never_asked_for_one() {
    let bench = bench();
    let ask = Ask::Read { peer: "fake".into(), uri: "book://x".into() };
    let fault = bench.hub.open(by(owner(), ask)).await.expect_err("no resources");
    assert_eq!(fault.kind, FaultKind::NotFound(Noun::Resource));
    assert_eq!(bench.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn completing_an_argument_neither_runs_the_skill_nor_asks_for_a_yes() {
    let bench = bench();
    bench.hub.register(library(), Arc::new(Library)).await.expect("registers");
    let of_skill = complete(Completes::Skill(SkillId::new("library", "delete")));
    assert_eq!(said(&bench.hub, by(owner(), of_skill)).await, "complete n from 4");
    let of_template = complete(Completes::Template("library".into(), "page://{book}/{number}".into()));
    assert_eq!(said(&bench.hub, by(owner(), of_template)).await, "complete n from 4");
}

#[tokio::test]
async fn a_peer_that_completes_nothing_is_never_asked_to() {
    let bench = bench();
    let of = complete(Completes::Skill(SkillId::new("fake", "delete")));
    let fault = bench.hub.open(by(owner(), of)).await.expect_err("not offered");
    assert_eq!(fault.kind, FaultKind::Unsupported(Feature::Operation));
    assert_eq!(bench.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn listeners_hear_which_lists_changed_and_nothing_when_none_did() {
    let bench = bench();
    let mut news = bench.hub.news.listen();
    bench.hub.register(library(), Arc::new(Library)).await.expect("registers");
    bench.hub.register(library(), Arc::new(Library)).await.expect("registers the same again");
    let fewer = Card { resources: Vec::new(), ..library() };
    bench.hub.register(fewer, Arc::new(Library)).await.expect("registers");
    bench.hub.unregister(&"library".into()).await.expect("unregisters");
    let mut heard = Vec::new();
    for _ in 0..3 {
        match news.next().await {
            Heard::Notice(Notice::Changed(_, kinds)) => heard.push((kinds.tools, kinds.prompts, kinds.resources)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(heard, [(true, false, true), (false, false, true), (true, false, false)]);
}
