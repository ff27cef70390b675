//! Terminal output: a terminal of 80 columns, emulated by a small program, whose screen holds what a person sees.

use std::process::Command;

use interlingua_testkit::Hub;
use serde_json::json;

use super::hub;
use crate::newcomer::with_agents;

/// Runs a command on a terminal of so many columns and gives back every byte that reached it. Each thing is typed once the program has
/// written, since the one before, what it waits for.
const TERMINAL: &str = r#"
import fcntl, json, os, pty, struct, sys, termios
columns, steps, command = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execv(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
os.kill(child, 28)
seen, since = b"", 0
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    seen += piece
    if steps and steps[0][0].encode() in seen[since:]:
        since = len(seen)
        os.write(terminal, steps.pop(0)[1].encode())
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status))
"#;

fn on_terminal(hub: &Hub, columns: usize, typed: &[(&str, &str)], arguments: &[&str]) -> String {
    let mut command = Command::new("python3");
    let steps = json!(typed).to_string();
    command.args(["-c", TERMINAL, &columns.to_string(), &steps, env!("CARGO_BIN_EXE_interlingua")]);
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
                    'C' => column += count,
                    'D' => column = column.saturating_sub(count),
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
            let seen = screen(&on_terminal(&hub, columns, &[], arguments));
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
    let seen = screen(&on_terminal(&hub, 80, &[(READS, "y\r")], &["approve"])).join("\n");
    for words in ["wants to run local/erase", "{\"what\":\"all\"}", "approve? y/n", "\"erased\": true"] {
        assert!(seen.contains(words), "{words}\n{seen}");
    }
    crate::support::reaches(&hub, &id, "completed").await;
}

#[tokio::test]
async fn nothing_of_the_progress_stays_beside_an_answer() {
    let hub = with_agents("basic.yaml").await;
    let seen = screen(&on_terminal(&hub, 80, &[], &["ask", "--peer", "helper", "what is there?"]));
    let text = seen.join("\n");
    assert!(seen.iter().any(|line| line == "That is what the workspace holds."), "{text}");
    assert!(!text.contains(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c) || c == '█' || c == '░'), "{text}");
}

#[tokio::test]
async fn a_team_is_drawn_within_the_terminal() {
    let hub = with_agents("team.yaml").await;
    let seen = screen(&on_terminal(&hub, 80, &[], &["ask", "--peer", "panel", "Shall we do it?"]));
    let text = seen.join("\n");
    assert!(seen.iter().all(|line| line.chars().count() <= 80), "{text}");
    assert!(seen.iter().any(|line| line == "Start small and start today."), "{text}");
}

const LINES: &str = r#"
replies:
  - { when: say one two, again: true, say: It was one two. }
  - { when: say one, again: true, say: It was one. }
  - { when: tidy up, again: true, call: [{ name: local__erase, arguments: { what: disk } }] }
  - { when: erased, again: true, say: It is gone. }
"#;

async fn with_agent() -> Hub {
    let config = "tools: { directory: ./tools }\nmodels: { canned: { provider: scripted, file: ./lines.yaml } }\n\
                  agents: { ann: { model: canned, skills: [\"local/erase\"] } }\n";
    crate::support::builder().file("lines.yaml", LINES).config(config).start().await
}

const UP: &str = "\u{1b}[A";
const LEFT: &str = "\u{1b}[D";
const END: &str = "\u{4}";
/// What an editor of lines writes when it begins to read.
const READS: &str = "\u{1b}[?2004h";

#[tokio::test]
async fn a_conversation_on_a_terminal_has_line_editing_and_a_history_that_outlives_it() {
    let hub = with_agent().await;
    // The cursor goes back over "two", and "one " is put before it.
    let edited = format!("say two{LEFT}{LEFT}{LEFT}one \r");
    let seen = on_terminal(&hub, 80, &[(READS, &edited), (READS, END)], &["chat", "ann"]);
    assert!(seen.contains("It was one two."), "{seen}");
    assert!(!seen.contains("^[["), "keys are not printed: {seen}");
    let file = hub.data().join("chat_history");
    let kept = std::fs::read_to_string(&file).expect("lines are remembered");
    assert!(kept.contains("say one two\n"), "{kept}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o600);
    // Another conversation, another process: the last line is one key away.
    let steps = [(READS, UP), ("say one two", "\r"), (READS, " say one\r"), (READS, END)];
    let again = on_terminal(&hub, 80, &steps, &["chat", "ann"]);
    assert!(again.contains("It was one two.") && again.contains("It was one."), "{again}");
    let kept = std::fs::read_to_string(&file).expect("still there");
    assert_eq!(kept.matches("say one two").count(), 1, "said twice in a row, kept once: {kept}");
    assert!(!kept.lines().any(|line| line.trim() == "say one"), "a line after a space is not kept: {kept}");
}

#[tokio::test]
async fn an_approval_in_a_conversation_is_asked_for_once_and_its_answer_is_not_remembered() {
    let hub = with_agent().await;
    let steps = [(READS, "tidy up\r"), (READS, "yes\r"), (READS, END)];
    let seen = screen(&on_terminal(&hub, 80, &steps, &["chat", "ann"])).join("\n");
    let asked: Vec<&str> = seen.lines().filter(|line| line.contains("Shall I run")).collect();
    assert_eq!(asked.len(), 1, "{seen}");
    let from = seen.find("Shall I run").expect("just seen");
    let to = seen.find("yes or no?").expect("just seen");
    let question = &seen[from..to];
    assert_eq!(question.matches("local/erase").count(), 1, "the call once: {question}");
    assert_eq!(question.matches("disk").count(), 1, "its arguments once: {question}");
    assert!(question.contains("destroys"), "{question}");
    let kept = std::fs::read_to_string(hub.data().join("chat_history")).expect("lines are remembered");
    assert!(kept.contains("tidy up") && !kept.contains("yes"), "{kept}");
}

#[tokio::test]
async fn an_interrupted_question_cancels_the_answer_and_the_conversation_goes_on() {
    let hub = with_agent().await;
    let steps = [(READS, "tidy up\r"), (READS, "\u{3}"), (READS, "say one\r"), (READS, END)];
    let seen = on_terminal(&hub, 80, &steps, &["chat", "ann"]);
    assert!(seen.contains("It was one."), "{seen}");
    let tasks = hub.get("/api/tasks?state=waiting").await.json();
    assert_eq!(tasks["items"], json!([]), "nothing waits any more: {tasks}");
}

#[tokio::test]
async fn a_list_to_choose_from_is_shown_once() {
    let tool = |name: &str| {
        format!(
            "name: {name}\ndescription: Orders soup from the {name}.\neffects: {{ reads: true }}\ncommand: [sh, -c, 'echo \"{{}}\"']\n"
        )
    };
    let builder =
        crate::support::builder().file("tools/left.yaml", tool("left")).file("tools/right.yaml", tool("right"));
    let hub = builder.config("tools: { directory: ./tools }\n").start().await;
    let seen = screen(&on_terminal(&hub, 100, &[(READS, "1\r")], &["ask", "orders soup"])).join("\n");
    assert!(seen.contains("number:"), "{seen}");
    let asked = &seen[..seen.find("number:").expect("just seen")];
    for choice in ["local/left", "local/right"] {
        assert_eq!(asked.matches(choice).count(), 1, "{choice}: {seen}");
    }
}
