//! Exit codes. Other programs rely on the numbers.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// The call failed.
    Failed,
    /// Usage, or bad input.
    Usage,
    /// The configuration is not valid.
    Configuration,
    /// No hub answers.
    Unreachable,
    /// An answer or a confirmation is needed.
    Needed,
    Deadline,
    Denied,
    /// By Ctrl-C.
    Interrupted,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Configuration => 3,
            Exit::Unreachable => 4,
            Exit::Needed => 5,
            Exit::Deadline => 6,
            Exit::Denied => 7,
            Exit::Interrupted => 130,
        }
    }

    /// The end that a fault's exit code stands for.
    pub(super) fn of_fault(code: u8) -> Exit {
        match code {
            2 => Exit::Usage,
            5 => Exit::Needed,
            6 => Exit::Deadline,
            7 => Exit::Denied,
            _ => Exit::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure { exit, message: message.into() }
    }
}
