//! How it looks: a terminal of 80 columns, made by a small program, whose screen holds what a person sees.

use std::process::Command;

use interlingua_testkit::Hub;
use serde_json::json;

use super::hub;
use crate::newcomer::with_agents;

/// Runs a command on a terminal of so many columns and gives back every byte that reached it. What is typed comes once the program
/// has asked.
const TERMINAL: &str = r#"
import fcntl, os, pty, select, struct, sys, termios
columns, typed, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execv(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
os.kill(child, 28)
seen = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    seen += piece
    if typed and b"y/n" in seen:
        os.write(terminal, typed.encode() + b"\n")
        typed = ""
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status))
"#;

fn on_terminal(hub: &Hub, columns: usize, typed: &str, arguments: &[&str]) -> String {
    let mut command = Command::new("python3");
    command.args(["-c", TERMINAL, &columns.to_string(), typed, env!("CARGO_BIN_EXE_interlingua")]);
    command.args(arguments).arg("--data").arg(hub.data()).env_remove("COLUMNS").env("TERM", "xterm-256color");
    let ended = command.output().expect("python3 runs");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// What is on the screen: lines as they were left, drawn over where the program did so.
fn screen(bytes: &str) -> Vec<String> {
    let (mut lines, mut row, mut column) = (vec![Vec::<char>::new()], 0_usize, 0_usize);
    let mut rest = bytes.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => {
                row += 1;
                column = 0;
            }
            '\r' => column = 0,
            '\u{1b}' => {
                rest.next();
                let mut number = String::new();
                let command = loop {
                    match rest.next() {
                        Some(c) if c.is_ascii_alphabetic() => break c,
                        Some(c) => number.push(c),
                        None => break ' ',
                    }
                };
                let count = number.parse().unwrap_or(1);
                match command {
                    'A' => row = row.saturating_sub(count),
                    'B' => row += count,
                    'K' => lines[row].truncate(if number == "2" { 0 } else { column }),
                    _ => {}
                }
            }
            c => {
                let line = &mut lines[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
            }
        }
        lines.resize(lines.len().max(row + 1), Vec::new());
    }
    lines.into_iter().map(|line| line.into_iter().collect::<String>().trim_end().to_owned()).collect()
}

#[tokio::test]
async fn tables_fit_the_terminal() {
    let hub = hub("").await;
    hub.post_json("/api/tasks", &json!({"skill": "local/erase", "arguments": {"what": "x".repeat(200)}})).await;
    for columns in [80, 100] {
        for arguments in [&["skills"][..], &["peers"], &["tasks"]] {
            let seen = screen(&on_terminal(&hub, columns, "", arguments));
            let widest = seen.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(
                widest > columns / 2 && widest <= columns,
                "{arguments:?} in {columns}: {widest}\n{}",
                seen.join("\n")
            );
        }
    }
}

#[tokio::test]
async fn an_approver_decides_on_the_terminal() {
    let hub = hub("").await;
    let started =
        hub.post_json("/api/tasks", &json!({"skill": "local/erase", "arguments": {"what": "all"}})).await.json();
    let id = started["id"].as_str().expect("an id").to_owned();
    crate::support::reaches(&hub, &id, "waiting").await;
    let seen = screen(&on_terminal(&hub, 80, "y", &["approve"])).join("\n");
    for words in ["wants to run local/erase", "{\"what\":\"all\"}", "approve? y/n", "\"erased\": true"] {
        assert!(seen.contains(words), "{words}\n{seen}");
    }
    crate::support::reaches(&hub, &id, "completed").await;
}

#[tokio::test]
async fn nothing_of_the_progress_stays_beside_an_answer() {
    let hub = with_agents("basic.yaml").await;
    let seen = screen(&on_terminal(&hub, 80, "", &["ask", "--peer", "helper", "what is there?"]));
    let text = seen.join("\n");
    assert!(seen.iter().any(|line| line == "That is what the workspace holds."), "{text}");
    assert!(!text.contains(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c) || c == '█' || c == '░'), "{text}");
}

#[tokio::test]
async fn a_team_is_drawn_within_the_terminal() {
    let hub = with_agents("team.yaml").await;
    let seen = screen(&on_terminal(&hub, 80, "", &["ask", "--peer", "panel", "Shall we do it?"]));
    let text = seen.join("\n");
    assert!(seen.iter().all(|line| line.chars().count() <= 80), "{text}");
    assert!(seen.iter().any(|line| line == "Start small and start today."), "{text}");
}
