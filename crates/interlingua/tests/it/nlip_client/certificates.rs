//! ECMA-434 clause 7.1.2: the client verifies the server.

use std::sync::Arc;

use interlingua_testkit::{Hub, Scripted};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::*;

fn certificate(name: &str) -> CertifiedKey<KeyPair> {
    generate_simple_self_signed([name.to_owned()]).expect("a certificate")
}

fn server(certificate: &CertifiedKey<KeyPair>) -> ServerConfig {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(certificate.signing_key.serialize_der()));
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("protocol versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.cert.der().clone()], key)
        .expect("a certificate and its key")
}

/// A hub whose agent `desk` is at this address, with these authorities if any.
async fn hub_before(scripted: &Scripted, authority: Option<&CertifiedKey<KeyPair>>) -> Hub {
    let ca = authority.map_or("", |_| ", ca: ca.pem");
    let yaml = format!("peers:\n  desk: {{ nlip: {{ url: \"https://{}/nlip\"{ca} }} }}\n", scripted.address());
    let pem = authority.map(|authority| authority.cert.pem()).unwrap_or_default();
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("ca.pem", pem).config(&yaml).start().await
}

#[tokio::test]
async fn n_59_untrusted_and_wrong_name_certificates_are_refused() {
    let (right, wrong) = (certificate("127.0.0.1"), certificate("somebody.example"));
    for (what, shown, trusted) in [
        ("untrusted", &right, None),
        ("of another authority", &right, Some(&wrong)),
        ("of another name", &wrong, Some(&wrong)),
    ] {
        let scripted = Scripted::https(server(shown), |_, _| says("hello")).await;
        let hub = hub_before(&scripted, trusted).await;
        let answer = hub.post_json("/agents/desk/nlip", &text("is it you?")).await;
        assert_eq!(answer.status, 503, "{what}: {}", answer.text());
        assert_eq!(answer.json()["messagetype"], "error", "{what}");
        assert!(answer.text().contains("certificate"), "{what}: {}", answer.text());
        assert!(scripted.heard().is_empty(), "{what}: it was told something");
    }
}

#[tokio::test]
async fn n_59_n_42_a_certificate_of_the_configured_authority_is_taken_and_http_2_spoken() {
    let certificate = certificate("127.0.0.1");
    let scripted = Scripted::https(server(&certificate), |_, _| says("hello")).await;
    let hub = hub_before(&scripted, Some(&certificate)).await;
    let answer = hub.post_json("/agents/desk/nlip", &text("is it you?")).await;
    assert_eq!(answer.json()["content"], "hello", "{}", answer.text());
    assert_eq!(scripted.heard()[0].version, http::Version::HTTP_2);
}
