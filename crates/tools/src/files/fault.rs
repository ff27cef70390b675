//! File faults, and their texts for the caller. A text names the path as the caller spelt it, and reveals neither the location of the
//! workspace nor anything outside of it.

use std::io;

use interlingua_model::{Fault, FaultKind, Feature, Noun};
use rustix::io::Errno;

/// Longer spellings of a path are cut in texts.
const SHOWN_CHARS: usize = 200;

/// One problem with one path.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct FileFault {
    /// As the caller spelt it, cut and without control characters.
    pub path: String,
    #[source]
    pub problem: Problem,
}

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("outside the workspace and its declared roots")]
    Outside,
    #[error("a NUL byte is not part of any path")]
    NulByte,
    #[error("read-only here")]
    ReadOnly,
    #[error("not found")]
    NotFound,
    #[error("not a regular file")]
    NotAFile,
    #[error("not a directory")]
    NotADirectory,
    #[error("too many symbolic links, or a circle of them")]
    TooManyLinks,
    #[error("more than {limit} directories deep")]
    TooDeep { limit: usize },
    #[error("not a usable path")]
    BadPath,
    #[error("the name is reserved for unfinished writes")]
    Reserved,
    #[error("binary; the text tools read UTF-8 text only")]
    Binary,
    #[error("{size} bytes, more than the {limit} allowed here{hint}")]
    TooLarge { size: u64, limit: u64, hint: &'static str },
    #[error("has content that this caller did not write; change it with edit_file")]
    HasContent,
    #[error("changed by someone else meanwhile; read it again")]
    Changed,
    #[error("`{field}` {reason}")]
    BadArgument { field: String, reason: String },
    #[error("the operating system refused")]
    Refused(#[source] io::Error),
    #[error("no space left on device")]
    NoSpace(#[source] io::Error),
    #[error("the operating system failed")]
    Failed(#[source] io::Error),
}

impl Problem {
    pub(super) fn at(self, path: &str) -> FileFault {
        let mut shown: String = path.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS).collect();
        if path.chars().nth(SHOWN_CHARS).is_some() {
            shown.push('…');
        }
        FileFault { path: shown, problem: self }
    }

    pub(super) fn argument(field: impl Into<String>, reason: impl Into<String>) -> Problem {
        Problem::BadArgument { field: field.into(), reason: reason.into() }
    }

    fn kind(&self) -> FaultKind {
        match self {
            Problem::Outside | Problem::NulByte | Problem::ReadOnly | Problem::Reserved | Problem::Refused(_) => {
                FaultKind::Denied
            }
            Problem::NotFound => FaultKind::NotFound(Noun::Resource),
            Problem::NotAFile
            | Problem::NotADirectory
            | Problem::TooManyLinks
            | Problem::TooDeep { .. }
            | Problem::BadPath
            | Problem::BadArgument { .. } => FaultKind::InvalidInput,
            Problem::Binary => FaultKind::Unsupported(Feature::Media),
            Problem::TooLarge { .. } => FaultKind::TooLarge,
            Problem::HasContent | Problem::Changed => FaultKind::Conflict,
            Problem::NoSpace(_) | Problem::Failed(_) => FaultKind::Internal,
        }
    }
}

impl From<Errno> for Problem {
    fn from(errno: Errno) -> Problem {
        match errno {
            Errno::NOENT => Problem::NotFound,
            Errno::NOTDIR => Problem::NotADirectory,
            Errno::ISDIR => Problem::NotAFile,
            Errno::NAMETOOLONG | Errno::INVAL => Problem::BadPath,
            // Opened without following links: what was a file a moment ago is now a link.
            Errno::LOOP | Errno::EXIST => Problem::Changed,
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Problem::Refused(errno.into()),
            Errno::NOSPC | Errno::DQUOT => Problem::NoSpace(errno.into()),
            other => Problem::Failed(other.into()),
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        match Errno::from_io_error(&error) {
            Some(errno) => Problem::from(errno),
            None if error.kind() == io::ErrorKind::PermissionDenied => Problem::Outside,
            None => Problem::Failed(error),
        }
    }
}

impl From<FileFault> for Fault {
    fn from(fault: FileFault) -> Fault {
        let kind = fault.problem.kind();
        let public = fault.to_string();
        let made = match kind {
            FaultKind::InvalidInput => Fault::caller(kind, public),
            _ => Fault::hub(kind, public),
        };
        match &fault.problem {
            Problem::BadArgument { field, reason } => made.field(field.as_str(), reason.as_str()),
            _ => made.because(fault),
        }
    }
}
