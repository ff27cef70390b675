//! Validation helpers for settings: collecting problems with their positions, and the checks of addresses, patterns and PEM files.

use std::path::Path;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::problem::{Problem, unreadable};

/// What is wrong, and what will work but perhaps not as meant.
#[derive(Debug, Default)]
pub struct Found {
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

impl Found {
    pub fn refuse(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(path, message));
    }

    pub fn require(&mut self, holds: bool, path: &str, message: &str) {
        if !holds {
            self.refuse(path, message);
        }
    }

    /// Refuses when there is something to refuse for.
    pub fn refuse_for(&mut self, path: impl Into<String>, problem: Option<String>) {
        if let Some(message) = problem {
            self.refuse(path, message);
        }
    }

    pub fn warn(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.warnings.push(Problem::new(path, message));
    }
}

/// What a pattern over skills looks like.
pub const PATTERN: &str = "a pattern is `peer/skill`, where `*` stands for any letters, or `*`";

pub fn is_pattern(text: &str) -> bool {
    text == "*" || text.split_once('/').is_some_and(|(peer, skill)| !peer.is_empty() && !skill.is_empty())
}

/// Why a PEM file is not one.
pub fn pem(file: &Path, error: &rustls::pki_types::pem::Error) -> String {
    use rustls::pki_types::pem::Error;
    match error {
        Error::Io(error) => unreadable(file, error),
        Error::NoItemsFound => format!("{} has no such item in PEM form", file.display()),
        _ => format!("{} is not a PEM file", file.display()),
    }
}

/// A PEM file of authorities that can be read, at `PATH.ca`.
pub fn authorities(path: &str, ca: Option<&Path>, found: &mut Found) {
    if let Some(ca) = ca
        && let Err(error) = CertificateDer::pem_file_iter(ca).and_then(Iterator::collect::<Result<Vec<_>, _>>)
    {
        found.refuse(format!("{path}.ca"), pem(ca, &error));
    }
}

/// A URL with one of these schemes, or why the text is not one.
pub fn url(text: &str, schemes: &[&str]) -> Result<http::Uri, String> {
    let uri: http::Uri = text.parse().map_err(|_| "this is not a URL".to_owned())?;
    match (uri.scheme_str(), uri.host()) {
        (Some(scheme), Some(host)) if schemes.contains(&scheme) && !host.is_empty() => Ok(uri),
        _ => Err(format!("expected a URL with {}", schemes.join(":// or ") + "://")),
    }
}

/// Can what is sent there be read on the way?
pub fn is_open(uri: &http::Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    let loopback = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    matches!(uri.scheme_str(), Some("http" | "ws")) && !loopback
}
