//! TLS by rustls with the one crypto library.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};

use crate::tls_settings::{Tls, TlsVersion};

/// Why the certificate or key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsFault {
    #[error("{file}: {cause}")]
    Unreadable { file: String, cause: rustls::pki_types::pem::Error },
    #[error("{file} holds no certificate")]
    NoCertificate { file: String },
    #[error("the certificate and the key do not go together: {0}")]
    Mismatch(#[from] rustls::Error),
}

/// The hub's side of a handshake; it offers HTTP/2 and HTTP/1.1. With authorities for clients it asks for a certificate,
/// takes none too, and refuses one that is not theirs.
pub fn server(tls: &Tls) -> Result<Arc<ServerConfig>, TlsFault> {
    let (cert, key, clients) = (tls.cert.as_path(), tls.key.as_path(), tls.clients.as_deref());
    let unreadable = |file: &Path| {
        let file = file.display().to_string();
        move |cause| TlsFault::Unreadable { file, cause }
    };
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_file_iter(cert).and_then(Iterator::collect).map_err(unreadable(cert))?;
    if chain.is_empty() {
        return Err(TlsFault::NoCertificate { file: cert.display().to_string() });
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(unreadable(key))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions(tls.minimum))?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let roots = Arc::new(authorities(file)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).allow_unauthenticated().build();
            builder.with_client_cert_verifier(verifier.map_err(|_| no_authority(file))?)
        }
    };
    let mut config = builder.with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

static FROM_1_2: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];
static FROM_1_3: [&SupportedProtocolVersion; 1] = [&TLS13];

fn versions(minimum: TlsVersion) -> &'static [&'static SupportedProtocolVersion] {
    match minimum {
        TlsVersion::Tls12 => &FROM_1_2,
        TlsVersion::Tls13 => &FROM_1_3,
    }
}

fn authorities(file: &Path) -> Result<RootCertStore, TlsFault> {
    let unreadable = |cause| TlsFault::Unreadable { file: file.display().to_string(), cause };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(unreadable)? {
        roots.add(certificate.map_err(unreadable)?).map_err(|_| no_authority(file))?;
    }
    Ok(roots)
}

fn no_authority(file: &Path) -> TlsFault {
    TlsFault::NoCertificate { file: file.display().to_string() }
}
