//! Random callers call random callees while peers are killed, hang and come back, and the hub is killed with -9 twice.
//!
//! Invariants at the end: every task that the hub accepted reaches exactly one outcome; none is lost; no reported task ends with another
//! outcome than was reported, in whichever protocol it is read again; no descriptor, child process or memory leaks. A caller whose
//! connection breaks may not know the outcome of its call; one that was never accepted may simply fail.
//!
//! `make test` plays a dozen rounds. `SOAK_MATRIX_SECONDS` sets a duration, as in `make soak`. The random choices depend on `SOAK_SEED`
//! alone, which is printed with the counts.

mod blows;
mod calls;
mod record;
mod tally;
mod vitals;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use interlingua_testkit::{Peer, Random};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::blows::{Blow, Plan};
use self::calls::{Call, Played};
use self::record::Record;
use self::tally::Tally;
use self::vitals::{Vitals, browsers};
use super::behaviour::{Behaviour, Door};
use super::callees::Callee;
use super::callers::Caller;
use super::stage::Stage;

/// What is under way takes no longer than this, whoever hangs.
const CONFIG: &str = "limits: { deadline: 60s }\n";
/// How long something may go on that nobody waits for any more, before it is called off.
const GOES_ON: Duration = Duration::from_secs(5);
const AT_ONCE: usize = 8;
/// One for each protocol of others, and the program.
const CALLERS: [Caller; 6] = [Caller::Nlip, Caller::Mcp, Caller::A2a, Caller::Aip, Caller::Nlweb, Caller::Cli];
/// How long anything may take to come back, or to come to its end.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn soak_every_accepted_task_reaches_one_outcome_whatever_dies() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (seed, seconds) = (number("SOAK_SEED").unwrap_or(20_261_116), number("SOAK_MATRIX_SECONDS").unwrap_or(0));
    let mut soak = Soak::begin(seed).await;
    let mut plan = Plan::new(Duration::from_secs(seconds));
    while let Some(blow) = plan.next(&mut soak.random) {
        soak.round(blow, plan.calls()).await;
    }
    soak.end(seed).await;
}

struct Soak {
    stage: Stage,
    peers: Vec<Peer>,
    random: Random,
    record: Record,
    tally: Tally,
    /// Of the hub that runs, after each round.
    vitals: Vec<Vitals>,
    wrong: Vec<String>,
    begun: Instant,
    calls: usize,
}

impl Soak {
    async fn begin(seed: u64) -> Soak {
        let mut stage = Stage::set(&CALLERS, CONFIG).await;
        let peers = std::mem::take(&mut stage.peers);
        let mut soak = Soak {
            stage,
            peers,
            random: Random(seed),
            record: Record::default(),
            tally: Tally::default(),
            vitals: Vec::new(),
            wrong: Vec::new(),
            begun: Instant::now(),
            calls: 0,
        };
        soak.everybody_answers().await;
        soak
    }

    /// Some calls, and what happens to somebody meanwhile; then all is mended, who was cut off asks again, and the hub's record
    /// is read.
    async fn round(&mut self, blow: Blow, calls: usize) {
        let calls: Vec<Call> = (0..calls).map(|_| self.drawn(blow)).collect();
        let (after, pause) = (self.random.below(AT_ONCE as u64), Duration::from_millis(self.random.below(2_500)));
        let mut devices = std::mem::take(&mut self.stage.devices);
        let children = browsers(self.stage.hub.id());
        let (stage, peers, dead) = (&self.stage, &mut self.peers, CancellationToken::new());
        let played = stream::iter(calls.into_iter().map(|call| call.play(stage, &dead))).buffer_unordered(AT_ONCE);
        let struck = async {
            tokio::time::sleep(Duration::from_millis(after * 200)).await;
            blows::strike(blow, stage, peers, &mut devices, pause).await;
            if blow == Blow::Hub {
                dead.cancel();
            }
        };
        let (played, ()) = tokio::join!(played.collect::<Vec<Played>>(), struck);
        self.stage.devices = devices;
        if blow == Blow::Hub {
            self.hub_comes_back(&children).await;
        }
        self.everybody_answers().await;
        for played in &played {
            self.note(played, blow).await;
        }
        self.tally.blow(blow);
        self.settle().await;
    }

    fn drawn(&mut self, blow: Blow) -> Call {
        self.calls += 1;
        Call::drawn(self.calls, &mut self.random, blow == Blow::Nothing)
    }

    async fn hub_comes_back(&mut self, browsers: &[u32]) {
        self.no_panic();
        self.stage.restart(&CALLERS).await;
        self.vitals.clear();
        if !vitals::gone(browsers).await {
            self.wrong.push("the browser of the hub that was killed goes on".to_owned());
        }
    }

    fn no_panic(&mut self) {
        let log = self.stage.hub.log();
        self.wrong.extend(log.lines().filter(|line| line.contains("panicked")).map(str::to_owned));
    }

    /// Waits until every callee answers the simplest question: whoever was away is back.
    async fn everybody_answers(&mut self) {
        for callee in Callee::ALL {
            let scene = callee.scene(Behaviour::Answer);
            let skill = format!("{}/{}", scene.peer, scene.skill);
            let body = match scene.door {
                Door::Words(_) => json!({"skill": skill, "text": scene.words}),
                Door::Tool => json!({"skill": skill, "arguments": {}}),
            };
            let (until, mut said) = (Instant::now() + PATIENCE, Value::Null);
            while said["state"] != "completed" && Instant::now() < until {
                said = self.stage.hub.post_json("/api/exchanges", &body).await.json();
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            if said["state"] != "completed" {
                self.wrong.push(format!("{skill} does not come back: {said}"));
            }
        }
    }

    /// What a caller saw counts; one that was cut off asks once more where its wire has a name for the call.
    async fn note(&mut self, played: &Played, blow: Blow) {
        self.tally.call(&played.call, &played.seen);
        if blow == Blow::Nothing
            && let Err(missing) = played.call.judge(&self.stage, &played.seen).await
        {
            self.wrong.push(format!("nothing happened, and yet {missing}"));
        }
        if played.stalled {
            self.wrong.push(format!("{}: no end within {} s", played.call.title(), PATIENCE.as_secs()));
        }
        self.wrong.extend(self.record.told(&played.call, &played.seen));
        if played.seen.unsure && played.call.can_be_asked_again() {
            let again = played.call.clone().play(&self.stage, &CancellationToken::new()).await;
            self.tally.again(&again.seen);
            self.wrong.extend(self.record.told(&again.call, &again.seen));
        }
    }

    /// Nothing is under way any more; what waits for an answer that nobody gives is called off, and so is what has hours to go.
    async fn settle(&mut self) {
        let begun = Instant::now();
        let mut called_off = HashSet::new();
        loop {
            let (open, wrong) = self.record.read(&self.stage.hub).await;
            self.wrong.extend(wrong);
            if open.is_empty() && self.stage.in_flight().await == 0.0 {
                break;
            }
            for task in open.iter().filter(|task| task.waits || begun.elapsed() > GOES_ON) {
                let path = format!("/api/tasks/{}/signals", task.id);
                let answer = self.stage.hub.post_json(&path, &json!({"cancel": true})).await;
                if answer.status < 300 && called_off.insert(task.id.clone()) {
                    self.tally.called_off += 1;
                }
            }
            if begun.elapsed() > PATIENCE {
                let ids: Vec<&str> = open.iter().map(|task| &*task.id).collect();
                self.wrong.push(format!("without an end: {}", ids.join(" ")));
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        self.vitals.push(Vitals::quiet(self.stage.hub.id(), self.begun.elapsed()).await);
    }

    async fn end(mut self, seed: u64) {
        self.wrong.extend(self.record.judge(&self.stage.hub).await);
        self.wrong.extend(vitals::leaks(&self.vitals));
        self.no_panic();
        let audit = calls::program(&self.stage, &["audit", "verify"]).await;
        if !audit.status.success() {
            self.wrong.push(format!("the audit: {}", String::from_utf8_lossy(&audit.stderr)));
        }
        let told = self.tally.shown(seed, self.begun.elapsed(), &self.record, &self.vitals);
        tally::say(&told);
        let tail: Vec<String> = self.stage.hub.log().lines().rev().take(40).map(str::to_owned).collect();
        let wrong = &self.wrong;
        assert!(wrong.is_empty(), "{} things:\n{}\n\nthe hub:\n{}", wrong.len(), wrong.join("\n"), tail.join("\n"));
    }
}
