//! Line-driven helper process: it receives commands as lines of JSON and answers with such lines, one interpreter for any number of calls.
//!
//! It says `{"ready": true}` once, and then `{"id": N, "seen": …}` for every command `{"id": N, …}`, in any order.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::within;

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// The number of what the program says when it is ready.
const READY: u64 = 0;

/// The running program. Dropped, it is killed.
#[derive(Debug)]
pub struct Driver {
    child: Child,
    input: Mutex<ChildStdin>,
    waiting: Waiting,
    next: AtomicU64,
}

/// A command under way.
#[derive(Debug)]
pub struct Pending {
    pub id: u64,
    seen: oneshot::Receiver<Value>,
}

impl Driver {
    /// Starts the program and waits until it is ready. What it writes to standard error is the test's.
    pub async fn start(mut command: Command) -> Driver {
        let name = format!("{command:?}");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        let input = child.stdin.take().expect("standard input is piped");
        let output = child.stdout.take().expect("standard output is piped");
        let waiting = Waiting::default();
        let (ready, is_ready) = oneshot::channel();
        lock(&waiting).insert(READY, ready);
        let heard = Arc::clone(&waiting);
        thread::spawn(move || listen(BufReader::new(output), &heard));
        within(&name, is_ready).await.unwrap_or_else(|_| panic!("{name} ended before it was ready"));
        Driver { child, input: Mutex::new(input), waiting, next: AtomicU64::new(READY + 1) }
    }

    /// Sends a command; its number is added to it.
    pub fn begin(&self, mut command: Value) -> Pending {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (tell, seen) = oneshot::channel();
        lock(&self.waiting).insert(id, tell);
        command["id"] = id.into();
        self.write(&command);
        Pending { id, seen }
    }

    /// Sends a command and waits for what came of it.
    pub async fn call(&self, command: Value) -> Value {
        self.begin(command).seen().await
    }

    /// Has it give up a command in its own way.
    pub fn give_up(&self, id: u64) {
        self.write(&json!({"cancel": id}));
    }

    fn write(&self, line: &Value) {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(input, "{line}").expect("the program reads its commands");
    }
}

impl Pending {
    pub async fn seen(self) -> Value {
        within("a program's answer", self.seen).await.expect("the program lives")
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _reaped_already = self.child.wait();
    }
}

fn lock(waiting: &Waiting) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<Value>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes every line on to who waits for it. When the program ends, whoever still waits is told by the dropped sender.
fn listen(output: impl BufRead, waiting: &Waiting) {
    for line in output.lines().map_while(Result::ok) {
        let said: Value = match serde_json::from_str(&line) {
            Ok(said) => said,
            Err(_) => continue,
        };
        let id = said["id"].as_u64().unwrap_or(READY);
        if let Some(tell) = lock(waiting).remove(&id) {
            let _nobody_waits = tell.send(said["seen"].clone());
        }
    }
    lock(waiting).clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answers_find_their_commands_in_any_order() {
        let mut command = Command::new("sh");
        let script = r#"echo '{"ready": true}'; read a; read b; echo '{"id": 2, "seen": "b"}'; echo '{"id": 1, "seen": "a"}'; read c"#;
        command.args(["-c", script]);
        let driver = Driver::start(command).await;
        let (a, b) = (driver.begin(json!({})), driver.begin(json!({})));
        assert_eq!((a.seen().await, b.seen().await), (json!("a"), json!("b")));
    }
}
