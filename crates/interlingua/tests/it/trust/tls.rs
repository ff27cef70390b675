//! ECMA-434 clause 7.1.1 and ECMA-430 clause 7.1: TLS on the wire.

use std::process::{Command, Stdio};
use std::sync::Arc;

use interlingua_testkit::raw::Raw;
use interlingua_testkit::{Hub, Process, port};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ProtocolVersion, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::program;
use crate::support::until;

async fn hub(certificate: &CertifiedKey<rcgen::KeyPair>) -> Hub {
    Hub::builder(program())
        .config("tls: { cert: ./cert.pem, key: ./key.pem }\n")
        .file("cert.pem", certificate.cert.pem())
        .file("key.pem", certificate.signing_key.serialize_pem())
        .tls()
        .start()
        .await
}

fn certificate() -> CertifiedKey<rcgen::KeyPair> {
    generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate")
}

/// A connection to a hub that must show this certificate.
async fn connected(hub: &Hub, certificate: &CertifiedKey<rcgen::KeyPair>) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.cert.der().clone()).expect("a certificate");
    connected_by(hub, roots, rustls::DEFAULT_VERSIONS).await
}

/// The same for a client of these versions.
async fn connected_by(
    hub: &Hub,
    roots: RootCertStore,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> std::io::Result<TlsStream<TcpStream>> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).expect("versions");
    let client = client.with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(hub.address()).await.expect("it listens");
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(client)).connect(name, stream).await
}

/// Asks on an open connection whether the hub is well.
async fn is_well(stream: &mut TlsStream<TcpStream>) -> bool {
    let asked = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let mut piece = vec![0; 4_096];
    asked.is_ok() && stream.read(&mut piece).await.is_ok() && piece.starts_with(b"HTTP/1.1 200")
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_to_the_next_connection_and_a_wrong_pair_is_not_taken() {
    let (old, new) = (certificate(), certificate());
    let mut hub = hub(&old).await;
    let mut open = connected(&hub, &old).await.expect("a handshake");
    assert!(is_well(&mut open).await);

    // The certificate without its key: nothing changes.
    hub.write("cert.pem", new.cert.pem());
    hub.reload();
    until("it is refused", async || hub.log().contains("configuration not applied")).await;
    assert!(connected(&hub, &old).await.is_ok() && connected(&hub, &new).await.is_err());

    hub.write("key.pem", new.signing_key.serialize_pem());
    hub.reload();
    until("the new one is shown", async || connected(&hub, &new).await.is_ok()).await;
    assert!(connected(&hub, &old).await.is_err());
    assert!(is_well(&mut open).await, "who is connected stays so");
}

#[tokio::test]
async fn n_58_a_modern_client_gets_tls_1_3() {
    let certificate = certificate();
    let hub = hub(&certificate).await;
    let stream = connected(&hub, &certificate).await.expect("a handshake");
    assert_eq!(stream.get_ref().1.protocol_version(), Some(ProtocolVersion::TLSv1_3));
}

#[tokio::test]
async fn the_oldest_version_that_is_spoken_is_configured_and_changed_without_a_restart() {
    let certificate = certificate();
    let mut hub = hub(&certificate).await;
    let roots = || {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.cert.der().clone()).expect("a certificate");
        roots
    };
    let old: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS12];
    let stream = connected_by(&hub, roots(), old).await.expect("1.2 is spoken");
    assert_eq!(stream.get_ref().1.protocol_version(), Some(ProtocolVersion::TLSv1_2));
    hub.write("interlingua.yaml", "tls: { cert: ./cert.pem, key: ./key.pem, minimum: \"1.3\" }\n");
    hub.reload();
    until("1.2 is refused", async || connected_by(&hub, roots(), old).await.is_err()).await;
    assert!(connected(&hub, &certificate).await.is_ok());
}

/// ClientHellos of TLS 1.0 and 1.1, written out: no library will still say them.
#[tokio::test]
async fn n_58_a_client_that_only_knows_older_tls_is_turned_away_with_an_alert() {
    let certificate = certificate();
    let hub = hub(&certificate).await;
    for minor in [1, 2] {
        let mut hello = vec![3, minor];
        hello.extend([7; 32]);
        // No session, two cipher suites with RSA and AES, no compression.
        hello.extend([0, 0, 4, 0, 0x2f, 0, 0x35, 1, 0]);
        let length = u8::try_from(hello.len()).expect("short");
        let mut record = vec![22, 3, minor, 0, length + 4, 1, 0, 0, length];
        record.extend(hello);
        let mut raw = Raw::connect(hub.address()).await;
        raw.write(&record).await;
        let answer = raw.read_to_end().await;
        assert_eq!(answer.first(), Some(&21), "an alert: {answer:?}");
        assert!(answer.len() <= 7, "and nothing else: {answer:?}");
    }
}

fn serve(arguments: &[&str], config: &str) -> (Command, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join("interlingua.yaml"), config).expect("written");
    let mut command = Command::new(program());
    command.current_dir(directory.path()).args(["serve", "-c", "interlingua.yaml", "--data", "data"]).args(arguments);
    command.stdin(Stdio::null());
    (command, directory)
}

#[tokio::test]
async fn n_40_beyond_loopback_nothing_is_served_in_plaintext_unless_it_is_called_insecure() {
    let address = format!("0.0.0.0:{}", port::free().port());
    let (mut command, _directory) = serve(&["--listen", &address], "{}\n");
    let refused = command.output().expect("it runs");
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("tls") && said.contains("insecure: true"), "it says what would help: {said}");

    let (command, _directory) = serve(&["--listen", &address], "insecure: true\n");
    let mut process = Process::start(command);
    until("it listens", async || {
        assert!(process.ended().is_none(), "{}", process.output());
        process.output().contains("listening on")
    })
    .await;
}
