//! Shell programs of one line each.

use super::*;

fn shell(script: &str) -> Program {
    Program {
        command: "sh".into(),
        args: vec!["-c".into(), script.into()],
        directory: None,
        environment: Vec::new(),
        allowed: Vec::new(),
    }
}

fn alive(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie nobody has waited for yet is not alive.
    !state.is_empty() && !state.contains(") Z ")
}

/// The system takes a moment to end what was killed; a test that waits for ever is ended by its runner.
async fn gone(id: &str) {
    while alive(id) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn heard(output: &mut Output) -> Result<Bytes, Silent> {
    loop {
        match output.line() {
            Some(line) => return Ok(line),
            None => output.more().await?,
        }
    }
}

#[tokio::test]
async fn lines_go_in_and_come_out_and_blank_ones_are_passed_over() {
    let mut started = shell("while read -r line; do echo; echo \"got $line\"; done").start().await.expect("sh");
    for word in ["one", "two"] {
        started.input.say(word.as_bytes()).await.expect("it reads");
        assert_eq!(heard(&mut started.output).await.expect("a line"), format!("got {word}"));
    }
    drop(started.input);
    assert!(matches!(heard(&mut started.output).await, Err(Silent::Closed)));
    assert!(started.process.wait().await.expect("it ended").success());
}

#[tokio::test]
async fn m_41_a_line_that_never_ends_is_not_read_to_its_end() {
    let mut started = shell("exec yes | tr -d '\\n'").start().await.expect("sh");
    while started.output.unfinished() <= 1_000 {
        started.output.more().await.expect("it goes on");
        assert!(started.output.line().is_none());
    }
    // Whoever reads may stop there: a step is no longer than what a pipe holds.
    assert!(started.output.unfinished() <= 1_000 + 64 * 1024, "{} bytes", started.output.unfinished());
}

#[tokio::test]
async fn a_program_that_ignores_everything_is_killed_with_what_it_started() {
    let script = "trap '' TERM; sleep 1000 & echo $! $$; while :; do sleep 1000; done";
    let mut started = shell(script).start().await.expect("sh");
    let line = heard(&mut started.output).await.expect("its processes");
    let ids: Vec<String> = String::from_utf8_lossy(&line).split(' ').map(str::to_owned).collect();
    assert!(ids.iter().all(|id| alive(id)), "{ids:?}");
    drop(started.input);
    started.process.end().await;
    for id in ids {
        gone(&id).await;
    }
}

#[tokio::test]
async fn m_28_a_thousand_programs_one_after_another_leave_nothing_behind() {
    let children = || {
        let id = std::process::id();
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).expect("this process");
        let lists = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
        lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    for round in 0..1_000 {
        let mut started = shell("read -r line; echo \"$line\"").start().await.expect("sh");
        // Some end by themselves, some are ended, some are dropped.
        match round % 3 {
            0 => {
                started.input.say(b"x").await.expect("it reads");
                heard(&mut started.output).await.expect("a line");
                drop(started.input);
                started.process.end().await;
            }
            1 => {
                drop(started.input);
                started.process.end().await;
            }
            _ => drop(started),
        }
    }
    while !children().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn dropped_it_is_killed() {
    let mut started = shell("echo $$; sleep 1000").start().await.expect("sh");
    let id = String::from_utf8_lossy(&heard(&mut started.output).await.expect("its process")).into_owned();
    drop(started.process);
    gone(&id).await;
}

#[tokio::test]
async fn the_last_notes_are_kept_without_what_was_given_in_confidence() {
    let script = "for i in $(seq 100); do echo \"note $i of $KEY\" >&2; done; printf %s tail >&2";
    let program = Program { environment: vec![("KEY".into(), "hunter22".into())], ..shell(script) };
    let (started, tail) = (program.start().await.expect("sh"), Tail::default());
    let mut seen = 0;
    started.notes.keep(&tail, |_| seen += 1).await;
    let lines = tail.lines();
    assert_eq!((seen, lines.len()), (101, KEPT_NOTES));
    assert_eq!(lines.last().map(String::as_str), Some("tail"));
    assert!(lines[0].starts_with("note 82 of [redacted]"), "{lines:?}");
}

#[tokio::test]
async fn the_environment_holds_what_was_given_and_allowed_and_no_more() {
    let program = Program {
        environment: vec![("GIVEN".into(), "1".into())],
        allowed: vec!["CARGO_MANIFEST_DIR".into(), "NOT_THERE".into()],
        ..shell("env | cut -d= -f1 | sort | tr '\\n' ' '; echo")
    };
    let mut started = program.start().await.expect("sh");
    let line = heard(&mut started.output).await.expect("names");
    let names: Vec<String> = String::from_utf8_lossy(&line).split_whitespace().map(str::to_owned).collect();
    for name in ["GIVEN", "CARGO_MANIFEST_DIR", "PATH"] {
        assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
    }
    let shells_own = ["PWD", "OLDPWD", "SHLVL", "_", "INTERLINGUA_RUN"];
    let known = |name: &str| COMMON.contains(&name) || shells_own.contains(&name);
    let other: Vec<&String> = names.iter().filter(|name| !known(name)).collect();
    assert_eq!(other, ["CARGO_MANIFEST_DIR", "GIVEN"]);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let program = Program { command: "no-such-program-here".into(), ..shell("") };
    assert_eq!(program.start().await.expect_err("not there").kind(), io::ErrorKind::NotFound);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_has_left_its_group_and_its_parent_ends_with_the_program() {
    let script = "setsid sh -c 'sleep 1000 & echo $!'; read -r line";
    for way in ["ended by itself", "asked", "dropped"] {
        let mut started = shell(script).start().await.expect("sh");
        let id = String::from_utf8_lossy(&heard(&mut started.output).await.expect("its process")).into_owned();
        assert!(alive(&id), "{way}");
        match way {
            "ended by itself" => {
                drop(started.input);
                started.process.wait().await.expect("it ended");
            }
            "asked" => started.process.end().await,
            _ => drop(started),
        }
        gone(&id).await;
    }
}

/// A cleared environment carries no mark: what still has its parents is found by them.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_cleared_its_environment_is_found_by_its_parents() {
    let script = "env -i setsid sh -c 'echo $$; exec sleep 1000' & wait";
    let mut started = shell(script).start().await.expect("sh");
    let id = String::from_utf8_lossy(&heard(&mut started.output).await.expect("its process")).into_owned();
    started.process.end().await;
    gone(&id).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_takes_nothing_of_another_with_it() {
    let script = "setsid sh -c 'sleep 1000 & echo $!'; read -r line";
    let (mut one, mut other) = (shell(script).start().await.expect("sh"), shell(script).start().await.expect("sh"));
    let mut ids = Vec::new();
    for started in [&mut one, &mut other] {
        let line = heard(&mut started.output).await.expect("its process");
        ids.push(String::from_utf8_lossy(&line).into_owned());
    }
    one.process.end().await;
    gone(&ids[0]).await;
    assert!(alive(&ids[1]), "it is the other program's");
    other.process.end().await;
    gone(&ids[1]).await;
}
