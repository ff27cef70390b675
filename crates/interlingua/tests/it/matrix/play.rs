//! Plays every cell of one caller.

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};

use super::behaviour::{Behaviour, Named, PATIENCE, Scene};
use super::callees::Callee;
use super::callers::Caller;
use super::judge::{Sight, Trial};
use super::page::{self, Cell, Mark};
use super::red::{tell, unbroken};
use super::seen::Seen;
use super::stage::Stage;
use crate::support::until;

/// Calls at the same time. Each may start a program or a page.
pub(super) const AT_ONCE: usize = 8;

type Played = Result<Cell, String>;

/// One cell.
#[derive(Clone, Copy)]
struct Play<'a> {
    stage: &'a Stage,
    caller: Caller,
    callee: Callee,
    on: Behaviour,
}

/// All cells of a caller, on a stage of its own, and its section of the page.
pub(super) async fn row(caller: Caller) {
    let stage = Stage::set(&[caller], "").await;
    let mut cells = at_once(&stage, caller).await;
    let play = |callee, on| Play { stage: &stage, caller, callee, on };
    let cut = Callee::ALL.map(|callee| Box::pin(play(callee, Behaviour::Deadline).cut_short()));
    cells.extend(join_all(cut).await);
    for callee in Callee::ALL {
        cells.push(play(callee, Behaviour::Cancel).given_up().await);
    }
    let wrong: Vec<String> = cells.iter().filter_map(|cell| cell.as_ref().err().cloned()).collect();
    let hub = stage.hub.log();
    let tail: Vec<&str> = hub.lines().rev().take(40).collect();
    assert!(wrong.is_empty(), "{} cells:\n{}\n\nthe hub:\n{}", wrong.len(), wrong.join("\n"), tail.join("\n"));
    let cells: Vec<Cell> = cells.into_iter().flatten().collect();
    page::holds(&format!("{} calls", caller.title()), &page::calls(caller, &cells));
}

/// What ends by itself, several at a time.
async fn at_once(stage: &Stage, caller: Caller) -> Vec<Played> {
    let others = Behaviour::ALL.into_iter().filter(|on| !matches!(on, Behaviour::Cancel | Behaviour::Deadline));
    let all = others.flat_map(|on| Callee::ALL.map(|callee| Play { stage, caller, callee, on }));
    stream::iter(all.map(Play::played)).buffered(AT_ONCE).collect().await
}

impl Play<'_> {
    async fn played(self) -> Played {
        let Play { stage, caller, callee, on } = self;
        let scene = callee.scene(on);
        let (sight, mark) = caller.expected(callee, on);
        let mut seen = unbroken(self.title(), caller.call(stage, &scene, on)).await?;
        if on == Behaviour::Artifact && scene.named == Named::Kept {
            stage.fetch_kept(&mut seen).await;
        }
        self.judged(&scene, sight, &seen).await?;
        // What was lost before a failure depends on how far the call came.
        Ok(self.cell(mark, if on == Behaviour::Failure { Vec::new() } else { seen.losses }))
    }

    /// The caller gives seconds, enough for the callee to begin; each time the call fails by its deadline. What the callee began, it
    /// notes the end of.
    async fn cut_short(self) -> Played {
        let Play { stage, caller, callee, on } = self;
        let (sight, mark) = caller.expected(callee, on);
        let (begun, ended) = (stage.begun(callee), stage.ended(callee));
        for seconds in PATIENCE {
            let scene = Scene { seconds, ..callee.scene(on) };
            let seen = unbroken(self.title(), caller.call(stage, &scene, on)).await?;
            self.judged(&scene, sight, &seen).await?;
            stage.idle().await;
            if stage.begun(callee) > begun {
                let times = stage.begun(callee) - begun;
                self.ends(ended, times, &seen).await?;
                return Ok(self.cell(mark, Vec::new()));
            }
        }
        Err(format!("{}: the callee did not begin in {PATIENCE:?} seconds", self.title()))
    }

    /// One after the other: what the hub and the callee have under way is then the call that is given up. The caller leaves in its
    /// own way and hears what that leads to, the hub counts one more that was cancelled, and the callee notes that it was ended.
    async fn given_up(self) -> Played {
        let Play { stage, caller, callee, .. } = self;
        let scene = callee.scene(self.on);
        let (sight, mark) = caller.expected(callee, self.on);
        stage.idle().await;
        let (cancelled, begun, ended) = (stage.cancelled().await, stage.begun(callee), stage.ended(callee));
        let at_work = until("the callee begins", async || stage.begun(callee) > begun);
        let seen = unbroken(self.title(), caller.give_up(stage, &scene, at_work)).await?;
        self.judged(&scene, sight, &seen).await?;
        self.ends(ended, 1, &seen).await?;
        stage.idle().await;
        if stage.begun(callee) != begun + 1 {
            return Err(self.wrong("it was begun more than once", &seen));
        }
        if stage.cancelled().await <= cancelled {
            return Err(self.wrong("the hub did not cancel it", &seen));
        }
        Ok(self.cell(mark, Vec::new()))
    }

    /// The callee itself notes that its work is ended, once for each time that it began.
    async fn ends(self, before: usize, times: usize, seen: &Seen) -> Result<(), String> {
        let noted = until("the callee notes it", async || self.stage.ended(self.callee) >= before + times);
        unbroken(self.title(), noted).await?;
        match self.stage.ended(self.callee) - before {
            ended if ended == times => Ok(()),
            ended => Err(self.wrong(&format!("it was begun {times} times and ended {ended} times"), seen)),
        }
    }

    async fn judged(self, scene: &Scene, sight: Sight, seen: &Seen) -> Result<(), String> {
        let (stage, on, leaves) = (self.stage, self.on, self.caller.leaves());
        let bytes = if on == Behaviour::Large { stage.large(scene).await } else { Vec::new() };
        let trial = Trial { on, scene, sight, seen, bytes: &bytes, leaves };
        trial.judge().map_err(|missing| self.wrong(&missing, seen))
    }

    fn cell(self, mark: Mark, mut losses: Vec<String>) -> Cell {
        losses.sort();
        losses.dedup();
        Cell { callee: self.callee, on: self.on, mark, losses }
    }

    fn title(self) -> String {
        format!("{} → {}, {}", self.caller.title(), self.callee.title(), self.on.title())
    }

    fn wrong(self, missing: &str, seen: &Seen) -> String {
        let red = format!("{}: {missing}\n    {}", self.title(), seen.shown());
        tell(&red);
        red
    }
}
