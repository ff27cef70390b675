//! The section `tls`: the certificate that the hub listens with.

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
    /// The certificate chain, the hub's own certificate first.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Certificate authorities for client certificates (a PEM file). `access.tokens` maps a certificate to a caller.
    pub clients: Option<PathBuf>,
    /// Minimum TLS version: 1.2 or 1.3. Default: 1.2.
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

/// A version of TLS. Older ones are not supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum TlsVersion {
    #[default]
    #[serde(rename = "1.2")]
    Tls12,
    #[serde(rename = "1.3")]
    Tls13,
}
