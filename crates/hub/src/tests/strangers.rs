//! Another owner's task is answered like a missing one, after the same work, so that response times cannot tell them apart. The tests count
//! reads of the store instead of measuring time, which a busy machine distorts.

use super::work::{Bench, eventually, kept};
use super::*;

fn user(name: &str) -> Principal {
    let scopes = vec!["*".into()];
    Principal::new(Link { subject: Subject::User(name.into()), proof: Proof::Token, scopes, until: None })
}

/// What somebody may try with the id of a task: the fault it is answered with.
async fn tried(hub: &Arc<Hub>, by: &Principal, what: &str, task: TaskId) -> Fault {
    let refused = match what {
        "its row" => hub.row(by, task).await.map(drop),
        "its state" => hub.task(by, task).await.map(drop),
        "what it made" => hub.made_by(by, task).await.map(drop),
        "its events" => hub.watch(by, task, 0).await.map(drop),
        "a cancel" => hub.signal(by.clone(), task, Signal::Cancel(CancelWhy::Asked)).await,
        "an answer" => hub.answer(by.clone(), QuestionId(task, 0), Answer::Declined).await,
        what => panic!("{what}?"),
    };
    refused.expect_err(what)
}

#[tokio::test]
async fn not_yours_and_not_there_are_found_out_by_the_same_reads() {
    let bench = Bench::new(AdmissionLimits::default());
    let (hub, ann, bob) = (&bench.hub, user("ann"), user("bob"));
    let open = async || hub.open(Request { by: ann.clone(), ..kept("wait", json!({})) }).await.expect("opens").id();
    let (live, finished) = (open().await, open().await);
    hub.signal(ann.clone(), finished, Signal::Cancel(CancelWhy::Asked)).await.expect("cancelled");
    eventually(|| hub.live.get(finished).is_none(), || "still live".into()).await;
    assert!(hub.live.get(live).is_some());
    for what in ["its row", "its state", "what it made", "its events", "a cancel", "an answer"] {
        let mut seen = Vec::new();
        for task in [live, finished, entropy::task_id(&owner())] {
            bench.observed.work();
            let fault = tried(hub, &bob, what, task).await;
            seen.push((fault.kind, fault.public.clone(), bench.observed.work()));
        }
        assert_eq!(seen[0], seen[2], "{what}: one that runs and one that never was");
        assert_eq!(seen[1], seen[2], "{what}: one that has ended and one that never was");
        assert_eq!(seen[0].2, [1, 0, 0], "{what}: one look, and nothing else");
    }
    bench.work.release();
    bench.idle().await;
}
