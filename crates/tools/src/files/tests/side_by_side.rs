//! Several callers at once: each in a workspace of its own, with snapshots of the others' to read.

use std::task::Poll;

use interlingua_model::{Ask, Call, Input, Maker, Origin, Target, TaskId, Trust};

use super::super::run_workspaces::RunWorkspaces;
use super::*;

fn copied(ground: &Ground, name: &str, room: Room) -> Copied {
    snapshot(&ground.path("work"), &ground.path(&format!("answers/{name}")), room).unwrap()
}

#[test]
fn s_01_a_snapshot_is_read_and_neither_written_nor_changed_by_what_comes_later() {
    let ground = Ground::new();
    ground.put("work/a/x.txt", "one").put("work/y.txt", "two");
    assert_eq!(copied(&ground, "agent1.1", Room::default()), Copied { files: 2, bytes: 6, left_out: 0 });
    ground.put("work/y.txt", "changed");
    assert_eq!(copied(&ground, "agent1.1", Room::default()), Copied::default(), "it stands as it was");
    let reader = ground.open(&[RootSpec::temporary(ground.path("answers"))]).coordinating();
    assert_eq!(read(&reader, &ground.spelt("answers/agent1.1/y.txt")).as_deref(), Ok("two"));
    assert_eq!(write(&reader, &ground.spelt("answers/agent1.1/z.txt"), "mine"), Err(FaultKind::Denied));
    assert_eq!(read(&reader, &ground.spelt("answers/agent1.1/../../outside/secret.txt")), Err(FaultKind::Denied));
}

#[test]
fn s_02_links_are_not_part_of_a_snapshot() {
    let ground = Ground::new();
    ground.put("work/x.txt", "one").link(ground.path("outside/secret.txt"), "work/secret.txt");
    ground.link(ground.path("outside"), "work/outside");
    assert_eq!(copied(&ground, "agent1.1", Room::default()), Copied { files: 1, bytes: 3, left_out: 0 });
    assert!(!ground.path("answers/agent1.1/secret.txt").exists() && !ground.path("answers/agent1.1/outside").exists());
}

#[test]
fn a_snapshot_has_bounds_and_leaves_nothing_behind_that_is_not_whole() {
    let ground = Ground::new();
    ground.put("work/long.txt", "0123456789").put("work/short.txt", "01");
    let narrow = Room { files: 10, bytes: 5 };
    assert_eq!(copied(&ground, "bytes", narrow), Copied { files: 1, bytes: 2, left_out: 1 });
    let few = Room { files: 1, bytes: 100 };
    assert_eq!(copied(&ground, "files", few).left_out, 1);
    snapshot(&ground.path("nowhere"), &ground.path("answers/none"), few).expect_err("there is nothing to copy");
    let names = fs::read_dir(ground.path("answers")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["bytes", "files"]);
}

#[test]
fn s_04_what_is_shared_is_read_by_all_and_written_by_who_presents() {
    let ground = Ground::new();
    ground.put("shared/plan.txt", "the plan");
    let shared = RootSpec::context(ground.path("shared"), Permission::Write);
    let presenter = ground.open(&[shared]);
    let member = presenter.coordinating();
    assert_eq!(read(&member, &ground.spelt("shared/plan.txt")).as_deref(), Ok("the plan"));
    assert_eq!(write(&member, &ground.spelt("shared/result.txt"), "mine"), Err(FaultKind::Denied));
    assert_eq!(write(&presenter, &ground.spelt("shared/result.txt"), "ours"), Ok(()));
}

fn made_by(run: u128) -> Call {
    let ask = Ask::Invoke { target: Target::Peer("local".into()), input: Input::parts(Vec::new()) };
    let mut call = Call::new("c", Origin::program().child(Maker::Agent, Trust::Caller), ask);
    call.parent = Some(TaskId(run));
    call
}

/// Does it wait?
async fn waits(work: impl Future) -> bool {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx).is_pending())).await
}

#[tokio::test]
async fn a_marked_call_works_in_the_workspace_of_its_run_and_in_no_other() {
    let ground = Ground::new();
    let lent = Arc::new(RunWorkspaces::default());
    let mut call = made_by(7);
    assert!(lent.of(&call).await.unwrap().is_none(), "a run without one works in the hub's");
    call.origin.works_in(TaskId(7));
    assert!(waits(lent.of(&call)).await, "it waits for its run, and works nowhere else");
    let waiting = lent.of(&call);
    let coming = async { lent.lend(TaskId(7), ground.plain()) };
    let (found, loan) = tokio::join!(waiting, coming);
    assert!(found.unwrap().is_some());
    let step = Call { origin: call.origin.child(Maker::Plan, Trust::Peer), parent: Some(TaskId(9)), ..call.clone() };
    assert!(lent.of(&step).await.unwrap().is_some(), "what it is wrapped in changes nothing");
    call.origin.works_in(TaskId(8));
    assert!(waits(lent.of(&call)).await, "another run's is not its own");
    drop(loan);
    call.origin.works_in(TaskId(7));
    assert!(waits(lent.of(&call)).await, "the loan has ended");
}
