//! TLS verification of peers (for NLIP: ECMA-434 clause 7.1.2): a peer's certificate is always verified, against the machine's authorities
//! or those configured for it. Verification cannot be switched off.

use std::path::Path;
use std::sync::Arc;

use http::Uri;
use interlingua_model::{Fault, FaultKind};
use rustls::client::WantsClientCert;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use rustls_platform_verifier::BuilderVerifierExt;

/// Whom to believe.
#[derive(Debug)]
pub enum Trust<'a> {
    /// The machine's own authorities.
    Machine,
    /// Those in a PEM file, and no others.
    Only(&'a Path),
    /// Nobody: a peer that is reached without TLS.
    Nobody,
}

impl<'a> Trust<'a> {
    /// The authorities of a file where one is named; else the machine's, for a peer that is reached by TLS.
    pub fn of(authorities: Option<&'a Path>, to: &Uri) -> Trust<'a> {
        match (authorities, to.scheme_str()) {
            (Some(file), _) => Trust::Only(file),
            (None, Some("https")) => Trust::Machine,
            (None, Some(_) | None) => Trust::Nobody,
        }
    }
}

pub fn config(trust: &Trust<'_>) -> Result<ClientConfig, Fault> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(Fault::internal)?;
    let verified = match trust {
        Trust::Machine => machine(builder)?,
        Trust::Only(file) => builder.with_root_certificates(authorities(file)?),
        Trust::Nobody => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(verified.with_no_client_auth())
}

fn machine(
    builder: ConfigBuilder<ClientConfig, WantsVerifier>,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, Fault> {
    builder.with_platform_verifier().map_err(|cause| {
        let text = "the authorities this machine trusts cannot be read; name some with `ca`";
        Fault::hub(FaultKind::Internal, text).because(cause)
    })
}

fn authorities(file: &Path) -> Result<RootCertStore, Fault> {
    let unreadable =
        || Fault::hub(FaultKind::Internal, format!("{} holds no authority that can be read", file.display()));
    let mut store = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(|cause| unreadable().because(cause))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|cause| unreadable().because(cause))?;
        store.add(certificate).map_err(|cause| unreadable().because(cause))?;
    }
    if store.is_empty() { Err(unreadable()) } else { Ok(store) }
}
