//! Path rules that protocols declare: the form of a refusal, the accepted bodies, and where tokens are required. The guard reads this table
//! before it reads a request, so it need not know a protocol.

use super::error_format::ErrorFormat;

/// Path rules of one protocol. Each function answers for its own paths only.
#[derive(Debug, Clone, Copy)]
pub struct PathRules {
    /// The form of errors at this path.
    pub error_format: fn(path: &str) -> Option<&'static dyn ErrorFormat>,
    /// Whether a body at this path may have this content type, besides JSON.
    pub takes: fn(path: &str, media: &str) -> bool,
    /// Whether a body at this path is a file, which is written to disk as it arrives.
    pub is_upload: fn(path: &str) -> bool,
    /// Whether clients find by OAuth metadata which tokens this path requires (RFC 9728).
    pub has_metadata: fn(path: &str) -> bool,
    /// Whether a session of a browser counts at this path.
    pub takes_sessions: fn(path: &str) -> bool,
}

impl PathRules {
    /// Of a protocol that has no paths, or whose paths have the default format and take JSON.
    pub const NONE: PathRules = PathRules {
        error_format: |_| None,
        takes: |_, _| false,
        is_upload: |_| false,
        has_metadata: |_| false,
        takes_sessions: |_| false,
    };
}

/// The rules of all protocols; the first that knows a path decides.
#[derive(Debug, Clone, Copy)]
pub struct PathTable {
    pub protocols: &'static [PathRules],
    /// For paths that no protocol knows.
    pub default: &'static dyn ErrorFormat,
}

impl PathTable {
    pub fn error_format(&self, path: &str) -> &'static dyn ErrorFormat {
        self.protocols.iter().find_map(|rules| (rules.error_format)(path)).unwrap_or(self.default)
    }

    pub fn takes(&self, path: &str, media: &str) -> bool {
        self.protocols.iter().any(|rules| (rules.takes)(path, media))
    }

    pub fn is_upload(&self, path: &str) -> bool {
        self.protocols.iter().any(|rules| (rules.is_upload)(path))
    }

    pub fn takes_sessions(&self, path: &str) -> bool {
        self.protocols.iter().any(|rules| (rules.takes_sessions)(path))
    }

    pub fn has_metadata(&self, path: &str) -> bool {
        self.protocols.iter().any(|rules| (rules.has_metadata)(path))
    }
}
