//! One call: its caller, callee and purpose, and its outcome whatever happened.

use std::panic::AssertUnwindSafe;
use std::process::{Command, Output};
use std::time::Duration;

use futures_util::FutureExt;
use interlingua_testkit::Random;
use tokio_util::sync::CancellationToken;

use super::super::behaviour::{Behaviour, Named, Scene};
use super::super::callees::Callee;
use super::super::callers::Caller;
use super::super::judge::Trial;
use super::super::seen::Seen;
use super::super::stage::Stage;

#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) caller: Caller,
    pub(super) callee: Callee,
    pub(super) on: Behaviour,
    scene: Scene,
}

pub(super) struct Played {
    pub(super) call: Call,
    pub(super) seen: Seen,
    /// Nothing was heard for longer than anything may take.
    pub(super) stalled: bool,
}

/// How long a caller is given to notice that the hub is gone: some only look again and again whether it is done.
const NOTICES: Duration = Duration::from_secs(3);

fn one<T: Copy>(of: &[T], random: &mut Random) -> T {
    let index = random.below(of.len() as u64);
    of[usize::try_from(index).expect("a small number")]
}

/// What is asked for, as often as it stands here.
const WISHES: [Behaviour; 20] = [
    Behaviour::Answer,
    Behaviour::Answer,
    Behaviour::Answer,
    Behaviour::Answer,
    Behaviour::Answer,
    Behaviour::Answer,
    Behaviour::Stream,
    Behaviour::Stream,
    Behaviour::Stream,
    Behaviour::Question,
    Behaviour::Question,
    Behaviour::Question,
    Behaviour::Failure,
    Behaviour::Failure,
    Behaviour::Cancel,
    Behaviour::Cancel,
    Behaviour::Deadline,
    Behaviour::Large,
    Behaviour::Artifact,
    Behaviour::Artifact,
];

impl Call {
    /// `calm`: only what ends the same way each time, however many others call.
    pub(super) fn drawn(number: usize, random: &mut Random, calm: bool) -> Call {
        let (caller, callee) = (one(&super::CALLERS, random), one(&Callee::ALL, random));
        let wish = one(&WISHES, random);
        // Whoever approves for this caller might approve for another.
        let disturbs = caller == Caller::Aip && wish == Behaviour::Question;
        let gives_up = calm && wish == Behaviour::Cancel;
        let possible = callee.scene(wish).lacks.is_none() && !disturbs && !gives_up;
        let on = if possible { wish } else { Behaviour::Answer };
        let scene = callee.scene(on);
        let key = matches!(caller, Caller::A2a | Caller::Cli).then(|| format!("soak-{number}"));
        Call { caller, callee, on, scene: Scene { key, ..scene } }
    }

    pub(super) fn title(&self) -> String {
        format!("{} → {}, {}", self.caller.title(), self.callee.title(), self.on.title())
    }

    /// Plays it to its end. A caller that fails, because who it speaks to is gone, has seen nothing; nor has one that still
    /// waits for a hub that is `dead`.
    pub(super) async fn play(self, stage: &Stage, dead: &CancellationToken) -> Played {
        let playing = async {
            match self.on {
                Behaviour::Cancel => self.caller.give_up(stage, &self.scene, stage.at_work()).await,
                _ => self.caller.call(stage, &self.scene, self.on).await,
            }
        };
        let broken = || Seen { unsure: true, ..Seen::new("broken") };
        let played = tokio::time::timeout(super::PATIENCE, AssertUnwindSafe(playing).catch_unwind());
        let cut_off = async {
            dead.cancelled().await;
            tokio::time::sleep(NOTICES).await;
        };
        let (seen, stalled) = tokio::select! {
            played = played => {
                let stalled = played.is_err();
                (played.map_or_else(|_| broken(), |caught| caught.unwrap_or_else(|_| broken())), stalled)
            }
            () = cut_off => (broken(), false),
        };
        Played { call: self, seen, stalled }
    }

    /// Whether all came as it had to.
    pub(super) async fn judge(&self, stage: &Stage, seen: &Seen) -> Result<(), String> {
        let (sight, _) = self.caller.expected(self.callee, self.on);
        let mut seen = seen.clone();
        if self.scene.named == Named::Kept {
            stage.fetch_kept(&mut seen).await;
        }
        let bytes = if self.on == Behaviour::Large { stage.large(&self.scene).await } else { Vec::new() };
        let (scene, leaves) = (&self.scene, self.caller.leaves());
        Trial { on: self.on, scene, sight, seen: &seen, bytes: &bytes, leaves }
            .judge()
            .map_err(|missing| format!("{}: {missing}\n    {}", self.title(), seen.shown()))
    }

    /// A call that has a name of its caller's is the same call when it is sent again.
    pub(super) fn can_be_asked_again(&self) -> bool {
        self.scene.key.is_some() && self.on != Behaviour::Cancel
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.scene.key.as_deref()
    }
}

/// The program with these arguments, to its end.
pub(super) async fn program(stage: &Stage, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command
        .args(arguments)
        .args(["--hub", &stage.hub.url("")])
        .env("INTERLINGUA_TOKEN", stage.hub.token().expect("a token"));
    command.stdin(std::process::Stdio::null());
    tokio::task::spawn_blocking(move || command.output().expect("the program runs")).await.expect("it ran")
}
