//! Every protocol calls every other: seven callers, nine callees, eight behaviours, over real sockets.
//!
//! Callers and callees are programs other people wrote wherever a registry has one; `conformance/matrix` holds what little they
//! need. A cell passes, or its protocol has no way to say it and [`reasons`] says where it is written. `docs/matrix.md` is what
//! came of it:
//!
//! ```text
//! MATRIX=write cargo nextest run -p interlingua --test it matrix_every
//! ```

mod behaviour;
mod callees;
mod callers;
mod document;
mod fidelity;
mod reasons;
mod red;
mod seen;
mod soak;
mod stage;

use futures_util::{StreamExt, stream};

use self::behaviour::{Behaviour, Scene, Sight, judge};
use self::callees::Callee;
use self::callers::Caller;
use self::document::{Cell, Mark, document};
use self::red::{tell, unbroken};
use self::stage::Stage;

/// Calls at the same time. Each may start a program or a page.
const AT_ONCE: usize = 8;

#[tokio::test]
async fn matrix_every_protocol_calls_every_other() {
    let stage = Stage::set().await;
    let mut cells = Vec::new();
    for caller in Caller::ALL {
        cells.extend(calls(&stage, caller).await);
        cells.extend(given_up(&stage, caller).await);
    }
    let carried = fidelity::carried(&stage).await;
    let failed = carried.iter().filter_map(|row| row.as_ref().err().cloned());
    let wrong: Vec<String> = cells.iter().filter_map(|cell| cell.as_ref().err().cloned()).chain(failed).collect();
    let hub = stage.hub.log();
    let tail: Vec<&str> = hub.lines().rev().take(40).collect();
    assert!(wrong.is_empty(), "{} cells:\n{}\n\nthe hub:\n{}", wrong.len(), wrong.join("\n"), tail.join("\n"));
    let (cells, carried): (Vec<_>, Vec<_>) =
        (cells.into_iter().flatten().collect(), carried.into_iter().flatten().collect());
    document(&cells, &carried);
}

type Played = Result<Cell, String>;

/// Everything but giving up, several at a time.
async fn calls(stage: &Stage, caller: Caller) -> Vec<Played> {
    let others = Behaviour::ALL.into_iter().filter(|on| *on != Behaviour::Cancel);
    let all = others.flat_map(|on| Callee::ALL.map(|callee| (callee, on)));
    let played = all.map(|(callee, on)| played(stage, caller, callee, on));
    stream::iter(played).buffered(AT_ONCE).collect().await
}

async fn played(stage: &Stage, caller: Caller, callee: Callee, on: Behaviour) -> Played {
    let scene = match callee.scene(on) {
        Ok(scene) => scene,
        Err(reason) => return Ok(Cell::impossible(caller, callee, on, reason)),
    };
    let (sight, reason) = caller.sight(callee, on);
    let seen = unbroken(title(caller, callee, on), caller.call(stage, &scene, on)).await?;
    if let Err(missing) = judge(on, &scene, sight, &seen) {
        return Err(wrong(caller, callee, on, &missing, &seen));
    }
    let mark = match (sight, reason) {
        (Sight::Full, _) | (_, None) => Mark::Passes,
        (Sight::Whole, Some(reason)) => Mark::Whole(reason),
        (Sight::Elsewhere, Some(reason)) => Mark::Elsewhere(reason),
        (Sight::Unanswered | Sight::Aside, Some(reason)) => Mark::Impossible(reason),
        (Sight::Lost | Sight::Addressless, Some(reason)) => Mark::Lost(reason),
    };
    // What was lost before a failure depends on how far the call came.
    let ends_well = !matches!(on, Behaviour::Failure | Behaviour::Deadline);
    Ok(Cell::new(caller, callee, on, mark, if ends_well { &seen.losses } else { &[] }))
}

/// One after the other: what the hub has under way is then the call that is given up.
async fn given_up(stage: &Stage, caller: Caller) -> Vec<Played> {
    let on = Behaviour::Cancel;
    let mut cells = Vec::new();
    for callee in Callee::ALL {
        let scene = callee.scene(on).expect("everybody can take hours");
        cells.push(gave_up(stage, caller, callee, &scene).await);
    }
    cells
}

/// The caller leaves in its own way, the call ends as cancelled, and nothing of it runs on.
async fn gave_up(stage: &Stage, caller: Caller, callee: Callee, scene: &Scene) -> Played {
    let on = Behaviour::Cancel;
    stage.idle().await;
    let before = stage.cancelled().await;
    let seen = unbroken(title(caller, callee, on), caller.give_up(stage, scene)).await?;
    judge(on, scene, Sight::Full, &seen).map_err(|missing| wrong(caller, callee, on, &missing, &seen))?;
    if !stage.cancels_one_more_than(before).await {
        return Err(wrong(caller, callee, on, "the hub did not cancel it", &seen));
    }
    stage.idle().await;
    Ok(Cell::new(caller, callee, on, Mark::Passes, &[]))
}

fn title(caller: Caller, callee: Callee, on: Behaviour) -> String {
    format!("{} → {}, {}", caller.title(), callee.title(), on.title())
}

fn wrong(caller: Caller, callee: Callee, on: Behaviour, missing: &str, seen: &seen::Seen) -> String {
    let red = format!("{}: {missing}\n    {}", title(caller, callee, on), seen.shown());
    tell(&red);
    red
}
