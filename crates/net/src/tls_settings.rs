//! With which certificate the hub listens.

use std::path::PathBuf;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::Found;
use interlingua_settings::check::pem;

/// PEM files; without them the hub only listens on loopback, unless `insecure: true`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate, followed by those that lead to its authority.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Authorities, a PEM file: whoever connects may show a certificate of theirs, and is who `access.tokens` says it is.
    pub clients: Option<PathBuf>,
    /// The oldest version that is spoken: 1.2 or 1.3. Default: 1.2.
    #[serde(default)]
    pub minimum: TlsVersion,
}

impl Tls {
    pub fn check(&self, found: &mut Found) {
        let certificates = CertificateDer::pem_file_iter(&self.cert).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        match certificates {
            Ok(certificates) => found.require(!certificates.is_empty(), "tls.cert", "no certificate in this file"),
            Err(error) => found.refuse("tls.cert", pem(&self.cert, &error)),
        }
        if let Err(error) = PrivateKeyDer::from_pem_file(&self.key) {
            found.refuse("tls.key", pem(&self.key, &error));
        }
    }
}

/// A version of TLS. Older ones are not spoken at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum TlsVersion {
    #[default]
    #[serde(rename = "1.2")]
    Tls12,
    #[serde(rename = "1.3")]
    Tls13,
}
