//! HTTP/1.1 transport: one request over a socket, a TCP connection, or TLS, and its answer, which drives the connection while it is read.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::cli::{Exit, Failure};

pub(crate) enum Way {
    Socket(PathBuf),
    Tcp { authority: String },
    Tls { authority: String, name: ServerName<'static>, config: Arc<rustls::ClientConfig> },
}

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown())
    }
}

impl Way {
    pub(super) fn default_port() -> Way {
        Way::Tcp { authority: crate::config::Listen::default().to_string() }
    }

    /// The way to a URL that has a scheme and a host.
    pub(super) fn to(uri: &Uri, ca: Option<&Path>) -> Result<Way, Failure> {
        let host = uri.host().unwrap_or_default();
        let secure = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let authority = format!("{host}:{port}");
        if !secure {
            return Ok(Way::Tcp { authority });
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(bare)
            .map_err(|_| Failure::new(Exit::Usage, "--hub: this host cannot have a certificate"))?;
        Ok(Way::Tls { authority, name, config: Arc::new(tls(ca)?) })
    }

    /// What goes into `Host`.
    pub(crate) fn host(&self) -> &str {
        match self {
            Way::Socket(_) => "localhost",
            Way::Tcp { authority } | Way::Tls { authority, .. } => authority,
        }
    }

    fn shown(&self) -> String {
        match self {
            Way::Socket(path) => path.display().to_string(),
            Way::Tcp { authority } => format!("http://{authority}"),
            Way::Tls { authority, .. } => format!("https://{authority}"),
        }
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, Failure> {
        match self {
            Way::Socket(path) => exchange(UnixStream::connect(path).await.map_err(|e| self.lost(&e))?, request).await,
            Way::Tcp { authority } => exchange(self.tcp(authority).await?, request).await,
            Way::Tls { authority, name, config } => {
                let tcp = self.tcp(authority).await?;
                let connector = tokio_rustls::TlsConnector::from(Arc::clone(config));
                exchange(connector.connect(name.clone(), tcp).await.map_err(|e| self.lost(&e))?, request).await
            }
        }
    }

    async fn tcp(&self, authority: &str) -> Result<TcpStream, Failure> {
        let stream = TcpStream::connect(authority).await.map_err(|error| self.lost(&error))?;
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    fn lost(&self, error: &std::io::Error) -> Failure {
        let message = format!("no hub answers at {}: {error}\nstart one with `interlingua serve`", self.shown());
        Failure::new(Exit::Unreachable, message)
    }
}

fn tls(ca: Option<&Path>) -> Result<rustls::ClientConfig, Failure> {
    let Some(ca) = ca else {
        return rustls::ClientConfig::with_platform_verifier()
            .map_err(|_| Failure::new(Exit::Failed, "this machine has no authorities to trust; give some with --ca"));
    };
    let unreadable = || Failure::new(Exit::Usage, format!("--ca: {} has no certificate in PEM form", ca.display()));
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca).map_err(|_| unreadable())? {
        roots.add(certificate.map_err(|_| unreadable())?).map_err(|_| unreadable())?;
    }
    Ok(rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}

/// The other half of a connection: it must be polled for anything to move, and not again once it has ended.
struct Driver(Option<Pin<Box<dyn Future<Output = ()> + Send>>>);

impl Driver {
    fn poll(&mut self, context: &mut Context<'_>) {
        if let Some(connection) = &mut self.0
            && connection.as_mut().poll(context).is_ready()
        {
            self.0 = None;
        }
    }
}

/// An answer of which the head has come. Dropping it closes the connection.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    driver: Driver,
}

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Answer, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let broken = |_| Failure::new(Exit::Unreachable, "the hub closed the connection before it answered");
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // What goes wrong in the connection is seen by whoever reads the answer.
    let mut driver = Driver(Some(Box::pin(async { drop(connection.await) })));
    let mut response = Box::pin(sender.send_request(request));
    let response = std::future::poll_fn(|context| {
        driver.poll(context);
        response.as_mut().poll(context)
    });
    let (head, body) = response.await.map_err(broken)?.into_parts();
    Ok(Answer { status: head.status, headers: head.headers, body, driver })
}

impl Answer {
    /// The next piece of the body; none at its end.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            let frame = std::future::poll_fn(|context| {
                self.driver.poll(context);
                Pin::new(&mut self.body).poll_frame(context)
            });
            match frame.await {
                None => return Ok(None),
                Some(Err(_)) => return Err(Failure::new(Exit::Unreachable, "the hub closed the connection")),
                Some(Ok(frame)) => {
                    // Trailers say nothing here.
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    pub(crate) async fn whole(mut self, limit: usize) -> Result<Vec<u8>, Failure> {
        let mut whole = Vec::new();
        while let Some(piece) = self.piece().await? {
            if whole.len() + piece.len() > limit {
                return Err(Failure::new(Exit::Failed, "the hub's answer is too large"));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }
}
