//! ECMA-434, clauses 7.1.1 and 7.1.2: TLS, and the identity of the server.

use std::sync::Arc;

use interlingua_testkit::{Connection, Hub, HubBuilder, post};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs, pki_types::CertificateDer};

use super::text;

fn certificate(name: &str) -> CertifiedKey<rcgen::KeyPair> {
    generate_simple_self_signed([name.to_owned()]).expect("a certificate")
}

fn tls_hub(certificate: &CertifiedKey<rcgen::KeyPair>) -> HubBuilder {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .config("tls: { cert: ./cert.pem, key: ./key.pem }\n")
        .file("cert.pem", certificate.cert.pem())
        .file("key.pem", certificate.signing_key.serialize_pem())
        .tls()
}

/// A client that trusts exactly this certificate.
fn trusting(certificate: &CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).expect("a certificate");
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

#[tokio::test]
async fn n_58_with_a_certificate_the_hub_speaks_tls_and_nothing_else() {
    let certificate = certificate("localhost");
    let hub = tls_hub(&certificate).start().await;
    let client = trusting(certificate.cert.der());
    let mut connection =
        Connection::tls(hub.address(), "localhost", client).await.expect("a handshake").showing(hub.token());
    assert!(connection.is_http2(), "HTTP/2 is offered by ALPN");
    let answer = connection.send(post("/nlip", "application/json", text("hello").to_string())).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let plain = hub.connect().await.try_send(post("/nlip", "application/json", "{}")).await;
    assert!(plain.is_err(), "plain HTTP was answered: {plain:?}");
}

#[tokio::test]
async fn n_59_as_a_client_the_hub_refuses_a_server_it_cannot_verify() {
    let trusted = certificate("localhost");
    let other_name = certificate("elsewhere.example");
    let upstream = tls_hub(&trusted).start().await;
    let misnamed = tls_hub(&other_name).start().await;
    let url = |hub: &Hub| format!("https://localhost:{}/nlip", hub.address().port());
    checked_at(&url(&upstream), &url(&misnamed), &trusted, &other_name).await;
    let url = |hub: &Hub| format!("wss://localhost:{}/nlip/ws", hub.address().port());
    checked_at(&url(&upstream), &url(&misnamed), &trusted, &other_name).await;
}

/// A server whose certificate is trusted is spoken to; the same one untrusted, and one of another name, are not.
async fn checked_at(
    upstream: &str,
    misnamed: &str,
    trusted: &CertifiedKey<rcgen::KeyPair>,
    other_name: &CertifiedKey<rcgen::KeyPair>,
) {
    let config = format!(
        "peers:\n  known: {{ nlip: {{ url: \"{upstream}\", ca: ./trusted.pem }}, effects: reads }}\n  \
         stranger: {{ nlip: {{ url: \"{upstream}\" }}, effects: reads }}\n  \
         misnamed: {{ nlip: {{ url: \"{misnamed}\", ca: ./other.pem }}, effects: reads }}\n"
    );
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .config(&config)
        .file("trusted.pem", trusted.cert.pem())
        .file("other.pem", other_name.cert.pem())
        .start()
        .await;
    let known = hub.post_json("/agents/known/nlip", &text("hello")).await;
    assert_eq!(known.status, 200, "{}", known.text());
    assert_ne!(known.json()["messagetype"], "error", "{}", known.text());
    for peer in ["stranger", "misnamed"] {
        let answer = hub.post_json(&format!("/agents/{peer}/nlip"), &text("hello")).await;
        assert_eq!(answer.json()["messagetype"], "error", "{peer}: {}", answer.text());
        assert!(answer.text().contains("certificate"), "{peer} at {upstream}: {}", answer.text());
    }
}
