//! Protocol versions, which are dates. Versions are compared by date; this is the only place that decides what a version can carry.

use std::borrow::Cow;

use interlingua_model::Wire;

/// Modern: every request stands alone. Legacy: a session that `initialize` opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    Legacy,
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Version {
    pub const LATEST: Version = Version::V2026_07_28;
    pub const LATEST_LEGACY: Version = Version::V2025_11_25;
    /// What a legacy HTTP request means that names no version (2025-06-18, transports).
    pub const UNNAMED: Version = Version::V2025_03_26;
    /// What this hub answers in, newest first.
    pub const SERVED: [Version; 4] =
        [Version::V2026_07_28, Version::V2025_11_25, Version::V2025_06_18, Version::V2025_03_26];

    pub fn as_str(self) -> &'static str {
        match self {
            Version::V2024_11_05 => "2024-11-05",
            Version::V2025_03_26 => "2025-03-26",
            Version::V2025_06_18 => "2025-06-18",
            Version::V2025_11_25 => "2025-11-25",
            Version::V2026_07_28 => "2026-07-28",
        }
    }

    pub fn parse(text: &str) -> Option<Version> {
        let all = [Version::V2024_11_05];
        all.into_iter().chain(Version::SERVED).find(|version| version.as_str() == text)
    }

    pub fn era(self) -> Era {
        match self {
            Version::V2024_11_05 | Version::V2025_03_26 | Version::V2025_06_18 | Version::V2025_11_25 => Era::Legacy,
            Version::V2026_07_28 => Era::Modern,
        }
    }

    pub fn is_modern(self) -> bool {
        self.era() == Era::Modern
    }

    /// What the model calls this wire.
    pub fn wire(self) -> Wire {
        Wire(Cow::Borrowed(match self {
            Version::V2024_11_05 => "mcp/2024-11-05",
            Version::V2025_03_26 => "mcp/2025-03-26",
            Version::V2025_06_18 => "mcp/2025-06-18",
            Version::V2025_11_25 => "mcp/2025-11-25",
            Version::V2026_07_28 => "mcp/2026-07-28",
        }))
    }

    /// Answers `initialize`: the version that was asked for when it is a legacy one we serve, else our latest of those.
    /// Never the modern one, which has no `initialize`.
    pub fn negotiate(asked: &str) -> Version {
        let served = Version::SERVED.into_iter().filter(|version| version.era() == Era::Legacy);
        served.into_iter().find(|version| version.as_str() == asked).unwrap_or(Version::LATEST_LEGACY)
    }

    /// `structuredContent`, `outputSchema`, resource links, elicitation.
    pub fn has_structured(self) -> bool {
        self >= Version::V2025_06_18
    }

    pub fn has_audio(self) -> bool {
        self >= Version::V2025_03_26
    }

    pub fn has_elicitation(self) -> bool {
        self >= Version::V2025_06_18
    }

    /// Elicitation by URL, and error -32042.
    pub fn has_url_elicitation(self) -> bool {
        self >= Version::V2025_11_25
    }

    /// Arguments that do not fit the schema are an outcome of the tool, not an error of the protocol.
    pub fn has_input_outcomes(self) -> bool {
        self >= Version::V2025_11_25
    }

    pub fn has_batches(self) -> bool {
        self == Version::V2025_03_26
    }
}

/// Is this the name of this protocol, in whatever version?
pub fn is_ours(wire: &Wire) -> bool {
    wire.protocol() == "mcp"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m_02_initialize_echoes_a_legacy_version_and_never_answers_the_modern_one() {
        for served in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(Version::negotiate(served).as_str(), served);
        }
        for other in ["2026-07-28", "2024-11-05", "1.0", "", "9999-12-31"] {
            assert_eq!(Version::negotiate(other), Version::V2025_11_25, "{other}");
        }
    }

    #[test]
    fn every_version_is_read_as_it_is_written() {
        for version in Version::SERVED {
            assert_eq!(Version::parse(version.as_str()), Some(version));
            assert!(is_ours(&version.wire()) && version.wire().0.ends_with(version.as_str()));
        }
        assert_eq!(Version::parse("2026-07-29"), None);
    }
}
