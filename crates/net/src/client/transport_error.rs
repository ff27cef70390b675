//! Transport errors: why no answer came, and whether the peer may have received the request.

use std::error::Error;
use std::fmt;

use super::guard::Refused;
use super::place::Elsewhere;

type Cause = Box<dyn Error + Send + Sync>;

#[derive(Debug)]
pub struct TransportError {
    pub begun: Begun,
    pub why: Why,
    pub cause: Cause,
}

/// Could the peer have seen the message?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    No,
    Perhaps,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// No connection, or it broke.
    Connection,
    /// Its certificate was refused. Trying again changes nothing.
    Certificate,
    /// The hub does not call this address. Trying again changes nothing.
    Refused,
    /// More came back than is read.
    TooLarge,
    /// A message was begun and did not end in time.
    Slow,
    /// The hub had no room for it.
    Busy,
}

impl TransportError {
    pub fn new(begun: Begun, why: Why, cause: impl Into<Cause>) -> TransportError {
        TransportError { begun, why, cause: cause.into() }
    }

    /// Before anything was sent.
    pub fn unconnected(cause: impl Into<Cause>) -> TransportError {
        let cause = cause.into();
        TransportError { begun: Begun::No, why: why(&*cause), cause }
    }

    /// What was behind it, in few words: the system's own where it was the system.
    pub fn root(&self) -> String {
        root(&*self.cause)
    }

    /// After it was sent, or while it was.
    pub fn broken(cause: impl Into<Cause>) -> TransportError {
        TransportError::new(Begun::Perhaps, Why::Connection, cause)
    }
}

/// With all its causes, for the log.
impl fmt::Display for TransportError {
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

fn root(error: &(dyn Error + 'static)) -> String {
    let io = error.downcast_ref::<std::io::Error>();
    if let Some(inner) = io.and_then(std::io::Error::get_ref) {
        return root(inner);
    }
    if let Some(system) = io.filter(|io| io.raw_os_error().is_some()) {
        return system.kind().to_string();
    }
    error.source().map_or_else(|| error.to_string(), root)
}

/// Looks for a refused certificate or a refused address behind an error. An I/O error hides what it wraps from `source`, so it
/// is asked itself.
fn why(error: &(dyn Error + 'static)) -> Why {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return Why::Certificate;
        }
        if error.is::<Refused>() || error.is::<Elsewhere>() {
            return Why::Refused;
        }
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        match inner.map(|inner| why(inner)) {
            Some(found @ (Why::Certificate | Why::Refused)) => return found,
            Some(Why::Connection | Why::TooLarge | Why::Slow | Why::Busy) | None => next = error.source(),
        }
    }
    Why::Connection
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_failure_is_what_the_system_said() {
        let refused = std::io::Error::from_raw_os_error(111);
        assert_eq!(TransportError::unconnected(std::io::Error::other(refused)).root(), "connection refused");
        assert_eq!(
            TransportError::unconnected("program \"npx\" was not found").root(),
            "program \"npx\" was not found"
        );
    }
}
