//! The program `interlingua`: its commands, their output and their exit codes.
//!
//! [`arguments`] is what can be typed. `check`, `import`, `schema`, `doctor`, `connect`, `token` and `completions` need no hub; `serve` is one, `demo` starts one, and
//! `mcp` is one where there is none; the others talk to a running one through [`client`]. People get tables and live progress, programs `--json`.

mod agents;
mod answer;
pub mod arguments;
mod call;
mod chat;
mod check;
mod client;
pub mod connect;
mod decide;
mod demo;
mod device;
pub mod devices;
mod did_you_mean;
mod doctor;
mod exit;
mod health;
mod ids;
pub mod import;
mod inbox;
mod lines;
mod list;
mod mcp;
mod open;
mod pending;
mod reply;
mod run;
mod save;
mod screen;
mod serve;
pub mod sessions;
mod shown;
pub mod sites;
mod steps;
mod table;
mod team;
#[cfg(test)]
mod tests;
pub mod trust;
mod view;
mod welcome;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Arguments, Command};
pub use exit::{Exit, Failure};
use screen::Screen;

/// Reads the command line, does what it says, and tells how it ended.
pub fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers; the rest is a usage error. A closed pipe is nobody's problem.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            let _ = error.print();
            return exit.into();
        }
    };
    match dispatch(arguments.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            Screen::people().complain(&failure.message);
            failure.exit.into()
        }
    }
}

fn dispatch(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Serve(arguments) => serve::serve(&arguments),
        Command::Demo(arguments) => demo::demo(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Import(arguments) => import::import(&arguments),
        Command::Schema => {
            Screen::people().say(&format!("{:#}", crate::config::schema::schema()))?;
            Ok(Exit::Done)
        }
        Command::Doctor(arguments) => doctor::examine(&arguments),
        Command::Mcp(arguments) => mcp::mcp(&arguments),
        Command::Device(arguments) => device::device(arguments),
        Command::Connect(arguments) => client::attached(connect::connect(&arguments)),
        Command::Completions { shell } => completions(shell),
        Command::Open(arguments) => client::attached(open::open(&arguments)),
        Command::Health(arguments) => client::attached(health::health(&arguments)),
        Command::Peers(arguments) => client::attached(list::peers(&arguments)),
        Command::Devices(arguments) => client::attached(devices::devices(&arguments)),
        Command::Agents(arguments) => client::attached(agents::agents(&arguments)),
        Command::Skills(arguments) => client::attached(list::skills(&arguments)),
        Command::Tasks(arguments) => client::attached(list::tasks(&arguments)),
        Command::Sessions(arguments) => client::attached(sessions::sessions(&arguments)),
        Command::Sites(arguments) => client::attached(sites::sites(&arguments)),
        Command::Call(arguments) => client::attached(call::call(arguments)),
        Command::Ask(arguments) => client::attached(call::ask(arguments)),
        Command::Chat(arguments) => client::attached(chat::chat(arguments)),
        Command::Run(arguments) => client::attached(run::run(arguments)),
        Command::Approve(arguments) => client::attached(decide::decide(&arguments, decide::Decision::Approve)),
        Command::Token(arguments) => client::attached(trust::token(arguments)),
        Command::Audit(arguments) => client::attached(trust::audit(arguments)),
        Command::Keys(arguments) => client::attached(trust::keys(arguments)),
        Command::Explain(arguments) => client::attached(trust::explain(arguments)),
        Command::Deny(arguments) => client::attached(decide::decide(&arguments, decide::Decision::Deny)),
        Command::Answer(arguments) => client::attached(reply::reply(arguments)),
    }
}

/// Runs what is a hub, or lives as long as one. It does not wait for what is left then: what was to end has ended or was told
/// twice that it should, and standard input is read by a thread that nothing can wake.
fn lived(work: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start: {}", error.kind())))?;
    let exit = runtime.block_on(work);
    runtime.shutdown_background();
    exit
}

/// Into a buffer first: the generator panics when the reader of a pipe goes away.
fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "interlingua", &mut script);
    Screen::people().say(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Done)
}
