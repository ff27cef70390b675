//! TLS to the database: `tokio-postgres` asks for a connector, and this is one over rustls, with channel binding
//! (`tls-server-end-point`, RFC 5929 section 4.1), so that a password proof holds on this connection only.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use aws_lc_rs::digest::{Algorithm, SHA256, SHA384, SHA512, digest};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;

use super::bounded::Bounded;
use super::fault::OpenFault;

#[derive(Debug, Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts this authority alone, or those of the system.
    pub(super) fn new(ca: Option<&[u8]>) -> Result<Tls, OpenFault> {
        let wrong = |what: &str| OpenFault::Tls(what.to_owned());
        let Some(ca) = ca else {
            let config = ClientConfig::with_platform_verifier();
            return config.map(Arc::new).map(Tls).map_err(|error| OpenFault::Tls(error.to_string()));
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(ca) {
            let certificate = certificate.map_err(|_| wrong("the certificate authority is not PEM"))?;
            roots.add(certificate).map_err(|error| OpenFault::Tls(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(wrong("the file of the certificate authority has no certificate"));
        }
        Ok(Tls(Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())))
    }
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = ToHost;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<ToHost, Self::Error> {
        Ok(ToHost { connector: TlsConnector::from(self.0.clone()), name: ServerName::try_from(host.to_owned())? })
    }
}

/// A handshake with one host.
pub(super) struct ToHost {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S> TlsConnect<S> for ToHost
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let stream = self.connector.connect(self.name, stream).await?;
            Ok(Encrypted(Bounded::new(Box::new(stream))))
        })
    }
}

pub(super) struct Encrypted<S>(Bounded<Box<client::TlsStream<S>>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        let certificate = self.0.get_ref().get_ref().1.peer_certificates().and_then(|chain| chain.first());
        let hashed = certificate.and_then(|one| Some(digest(binding_digest(one)?, one).as_ref().to_vec()));
        hashed.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

/// The digest of the certificate's own signature; SHA-256 in place of MD5 and SHA-1. A signature without a digest of its own has
/// no binding.
pub(super) fn binding_digest(certificate: &[u8]) -> Option<&'static Algorithm> {
    let (whole, _) = element(certificate, 0x30)?;
    let (_, rest) = element(whole, 0x30)?;
    let (algorithm, _) = element(rest, 0x30)?;
    let (oid, _) = element(algorithm, 0x06)?;
    // The last arc of sha1, sha256, sha384 and sha512 with RSA (1.2.840.113549.1.1) and ECDSA (1.2.840.10045.4).
    match oid {
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 4 | 5 | 11] => Some(&SHA256),
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 12] => Some(&SHA384),
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 13] => Some(&SHA512),
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1] | [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2] => Some(&SHA256),
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3] => Some(&SHA384),
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 4] => Some(&SHA512),
        _ => None,
    }
}

/// The content of the first DER element if it has this tag, and what follows it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0, |length, digit| (length << 8) | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    if found == tag { rest.split_at_checked(length) } else { None }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
