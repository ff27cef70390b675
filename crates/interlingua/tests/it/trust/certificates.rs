//! Client certificates (`tls.clients`): callers by the certificate of a connection, and invalid certificates.

use std::sync::Arc;

use interlingua_model::Digest;
use interlingua_testkit::Hub;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::program;
use crate::support::until;

/// Somebody whose certificates may count.
pub(crate) type Authority = CertifiedIssuer<'static, KeyPair>;

pub(crate) fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::new(Vec::<String>::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority")
}

/// A certificate and its key.
pub(crate) struct Shown {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
    pem: (String, String),
}

impl Shown {
    pub(crate) fn new(by: &Authority, name: &str) -> Shown {
        Shown::of(by, name, 4096)
    }

    fn of(by: &Authority, name: &str, last_year: i32) -> Shown {
        let mut params = CertificateParams::new([name.to_owned()]).expect("parameters");
        params.not_after = date_time_ymd(last_year, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let made = params.signed_by(&key, by).expect("a certificate");
        let pem = (made.pem(), key.serialize_pem());
        Shown { certificate: made.der().clone(), key: key.serialize_der(), pem }
    }

    pub(crate) fn digest(&self) -> Digest {
        Digest::of(&self.certificate)
    }
}

pub(crate) struct Setting {
    pub(crate) hub: Hub,
    /// Who vouches for the hub itself.
    root: Authority,
}

/// A hub that asks for certificates of `clients`; who they are is in the list.
pub(crate) async fn setting(clients: &Authority, list: &str) -> Setting {
    let root = authority("root");
    let own = Shown::new(&root, "localhost");
    let hub = Hub::builder(program())
        .config(
            "tls: { cert: ./cert.pem, key: ./key.pem, clients: ./clients.pem }\n\
             access: { tokens: file:./tokens.yaml, anonymous: refused }\n",
        )
        .file("cert.pem", own.pem.0)
        .file("key.pem", own.pem.1)
        .file("clients.pem", clients.pem())
        .file("tokens.yaml", list)
        .tls()
        .start()
        .await;
    Setting { hub, root }
}

impl Setting {
    /// A connection that shows this certificate. A server of TLS 1.3 refuses one only after the client is content.
    pub(crate) async fn connect(&self, shown: Option<&Shown>) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.der().clone()).expect("a certificate");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let client = client.expect("versions").with_root_certificates(roots);
        let client = match shown {
            None => client.with_no_client_auth(),
            Some(shown) => {
                let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(shown.key.clone()));
                client.with_client_auth_cert(vec![shown.certificate.clone()], key).expect("a pair")
            }
        };
        let stream = TcpStream::connect(self.hub.address()).await.expect("it listens");
        let name = ServerName::try_from("localhost").expect("a name");
        TlsConnector::from(Arc::new(client)).connect(name, stream).await
    }

    /// The status of `GET /api/skills`, and the skills; nothing where there is no connection at all.
    async fn skills(&self, shown: Option<&Shown>, more: &str) -> Option<(u16, String)> {
        let mut stream = self.connect(shown).await.ok()?;
        skills(&mut stream, &format!("connection: close\r\n{more}")).await
    }
}

async fn skills(stream: &mut TlsStream<TcpStream>, more: &str) -> Option<(u16, String)> {
    let head = format!("GET /api/skills HTTP/1.1\r\nhost: localhost\r\n{more}\r\n");
    stream.write_all(head.as_bytes()).await.ok()?;
    let mut read = Vec::new();
    let mut piece = vec![0; 16 * 1024];
    while !whole(&read) {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(count) => read.extend_from_slice(&piece[..count]),
        }
    }
    let text = String::from_utf8_lossy(&read).into_owned();
    let status = text.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some((status, text))
}

/// Has all come that the head of an answer says will come?
fn whole(read: &[u8]) -> bool {
    let text = String::from_utf8_lossy(read);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    length.and_then(|length| length.trim().parse::<usize>().ok()).is_some_and(|length| body.len() >= length)
}

/// What a page of the hub's own address sends along.
const PAGE: &str = "sec-fetch-site: same-origin\r\n";

#[tokio::test]
async fn n_61_a_caller_is_known_by_its_certificate_and_by_nothing_less() {
    let clients = authority("clients");
    let (robot, unlisted, late) =
        (Shown::new(&clients, "robot"), Shown::new(&clients, "unlisted"), Shown::new(&clients, "late"));
    let list = format!(
        "- {{ name: robot, certificate: \"{}\", skills: [hub/echo] }}\n\
         - {{ name: late, certificate: \"{}\", expires: \"2020-01-01T00:00:00Z\" }}\n\
         - {{ name: ann, token: ann-token, skills: [hub/find_skills] }}\n",
        robot.digest(),
        late.digest()
    );
    let setting = setting(&clients, &list).await;
    let (status, text) = setting.skills(Some(&robot), "").await.expect("an answer");
    assert_eq!(status, 200, "{text}");
    assert!(
        text.contains("hub/echo") && !text.contains("hub/find_skills"),
        "who it is listed as, not the Owner: {text}"
    );
    let status = async |shown: Option<&Shown>, more: &str| setting.skills(shown, more).await.map(|(status, _)| status);
    assert_eq!(status(None, PAGE).await, Some(401), "nothing was shown");
    assert_eq!(status(None, "").await, Some(401), "a connection of the hub's own user is nobody's");
    assert_eq!(status(None, &setting.hub.bearer_line()).await, Some(200), "the Owner's token needs none");
    assert_eq!(status(Some(&unlisted), "").await, Some(401), "of the authority, but nobody's: worse than none");
    assert_eq!(status(Some(&late), "").await, Some(401), "not any more");
    let (_, text) = setting.skills(Some(&robot), "authorization: Bearer ann-token\r\n").await.expect("an answer");
    assert!(
        text.contains("hub/find_skills") && !text.contains("hub/echo"),
        "a token says more exactly who asks: {text}"
    );
    assert_eq!(
        status(Some(&robot), "authorization: Bearer ilg_wrong\r\n").await,
        Some(401),
        "a wrong one is not ignored"
    );
}

#[tokio::test]
async fn a_certificate_of_another_authority_or_of_the_past_or_without_its_key_opens_no_connection() {
    let (clients, others) = (authority("clients"), authority("others"));
    let (good, foreign, old) =
        (Shown::new(&clients, "robot"), Shown::new(&others, "robot"), Shown::of(&clients, "robot", 2020));
    // An authority of the same name is not the same.
    let twin = Shown::new(&authority("clients"), "robot");
    let list: String = [&good, &foreign, &old, &twin]
        .iter()
        .enumerate()
        .map(|(number, shown)| format!("- {{ name: r{number}, certificate: \"{}\" }}\n", shown.digest()))
        .collect();
    let setting = setting(&clients, &list).await;
    assert_eq!(setting.skills(Some(&good), "").await.map(|(status, _)| status), Some(200));
    for (what, shown) in [("another authority", &foreign), ("the past", &old), ("a twin", &twin)] {
        assert_eq!(setting.skills(Some(shown), "").await, None, "{what}");
    }
    let stolen = Shown { certificate: good.certificate.clone(), key: foreign.key.clone(), pem: foreign.pem.clone() };
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let key =
        provider.key_provider.load_private_key(PrivatePkcs8KeyDer::from(stolen.key.clone()).into()).expect("a key");
    let shown = rustls::sign::CertifiedKey::new(vec![stolen.certificate], key);
    assert_eq!(setting.with_another_key(shown).await, None, "a certificate is public, its key is the proof");
}

#[tokio::test]
async fn a_revoked_certificate_counts_no_more_on_a_connection_that_is_open() {
    let clients = authority("clients");
    let robot = Shown::new(&clients, "robot");
    let setting = setting(&clients, &format!("- {{ name: robot, certificate: \"{}\" }}\n", robot.digest())).await;
    let mut open = setting.connect(Some(&robot)).await.expect("a connection");
    assert_eq!(skills(&mut open, "").await.map(|(status, _)| status), Some(200));
    setting.hub.write("tokens.yaml", "[]\n");
    until("it is refused", async || setting.skills(Some(&robot), "").await.is_some_and(|(status, _)| status == 401))
        .await;
    assert_eq!(skills(&mut open, "").await.map(|(status, _)| status), Some(401));
}

#[tokio::test]
async fn another_authority_counts_once_configuration_names_it() {
    let (old, new) = (authority("old"), authority("new"));
    let (before, after) = (Shown::new(&old, "robot"), Shown::new(&new, "robot"));
    let list = format!(
        "- {{ name: before, certificate: \"{}\" }}\n- {{ name: after, certificate: \"{}\" }}\n",
        before.digest(),
        after.digest()
    );
    let mut setting = setting(&old, &list).await;
    let status =
        async |setting: &Setting, shown: &Shown| setting.skills(Some(shown), "").await.map(|(status, _)| status);
    assert_eq!((status(&setting, &before).await, status(&setting, &after).await), (Some(200), None));
    setting.hub.write("clients.pem", new.pem());
    setting.hub.reload();
    until("the new one counts", async || status(&setting, &after).await == Some(200)).await;
    assert_eq!(status(&setting, &before).await, None, "the old one not any more");
}

/// Shows a certificate and signs with a key that is not its own.
#[derive(Debug)]
struct Forger(Arc<rustls::sign::CertifiedKey>);

impl rustls::client::ResolvesClientCert for Forger {
    fn resolve(&self, _: &[&[u8]], _: &[rustls::SignatureScheme]) -> Option<Arc<rustls::sign::CertifiedKey>> {
        Some(self.0.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl Setting {
    async fn with_another_key(&self, shown: rustls::sign::CertifiedKey) -> Option<(u16, String)> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.der().clone()).expect("a certificate");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let client = client.expect("versions").with_root_certificates(roots);
        let client = client.with_client_cert_resolver(Arc::new(Forger(Arc::new(shown))));
        let stream = TcpStream::connect(self.hub.address()).await.expect("it listens");
        let name = ServerName::try_from("localhost").expect("a name");
        let mut stream = TlsConnector::from(Arc::new(client)).connect(name, stream).await.ok()?;
        skills(&mut stream, "connection: close\r\n").await
    }
}
