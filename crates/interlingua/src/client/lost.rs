//! Nothing came back: why, and whether the peer may have seen what was sent.

use std::error::Error;
use std::fmt;

type Cause = Box<dyn Error + Send + Sync>;

#[derive(Debug)]
pub(crate) struct Lost {
    pub(crate) begun: Begun,
    pub(crate) why: Why,
    pub(crate) cause: Cause,
}

/// Could the peer have seen the message?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begun {
    No,
    Perhaps,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// No connection, or it broke.
    Connection,
    /// Its certificate was refused. Trying again changes nothing.
    Certificate,
    /// More came back than is read.
    TooLarge,
}

impl Lost {
    pub(crate) fn new(begun: Begun, why: Why, cause: impl Into<Cause>) -> Lost {
        Lost { begun, why, cause: cause.into() }
    }

    /// Before anything was sent.
    pub(crate) fn unconnected(cause: impl Into<Cause>) -> Lost {
        let cause = cause.into();
        let why = if is_certificate(&*cause) { Why::Certificate } else { Why::Connection };
        Lost { begun: Begun::No, why, cause }
    }

    /// After it was sent, or while it was.
    pub(crate) fn broken(cause: impl Into<Cause>) -> Lost {
        Lost::new(Begun::Perhaps, Why::Connection, cause)
    }
}

/// With all its causes, for the log.
impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        let mut cause = self.cause.source();
        while let Some(next) = cause {
            write!(f, ": {next}")?;
            cause = next.source();
        }
        Ok(())
    }
}

/// Looks for a refused certificate behind an error. An I/O error hides what it wraps from `source`, so it is asked itself.
fn is_certificate(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return true;
        }
        if let Some(inner) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref)
            && is_certificate(inner)
        {
            return true;
        }
        next = error.source();
    }
    false
}
