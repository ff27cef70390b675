//! TLS to a real server, with an authority of the test's own.

#![expect(clippy::disallowed_methods, reason = "ends with the runtime of the test")]

use interlingua_model::journal::Log;
use interlingua_model::ports::Appended;
use interlingua_store_contract::{Driver, append};
use interlingua_testkit::{PostgresBuilder, skipped};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::super::{OpenFault, Options};
use super::{InSchema, at, open};

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for this name, and its key.
fn issued(authority: &CertifiedIssuer<'static, KeyPair>, name: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, authority).unwrap();
    (certificate.pem(), key.serialize_pem())
}

fn trusting(url: &str, authority: &CertifiedIssuer<'static, KeyPair>) -> Options {
    Options { ca: Some(authority.pem().into_bytes()), ..at(url) }
}

async fn refused(options: &Options) -> OpenFault {
    open(options, None).await.map(drop).unwrap_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_verified_in_full_and_the_password_is_bound_to_the_channel() {
    let ours = authority();
    let (certificate, key) = issued(&ours, "127.0.0.1");
    let server = match PostgresBuilder::default().password("correct-horse").tls(&certificate, &key).start().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    // Required: without a binding to the certificate this would be refused before the password is proven.
    let bound = format!("{}?channel_binding=require", server.url());
    let store = InSchema::with(trusting(&bound, &ours), None).await;
    assert_eq!(store.ports().journal.append(append(Log::Audit, 0, &["line"])).await.unwrap(), Appended::At(1));
    let (operator, connection) = tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.unwrap();
    let driving = tokio::spawn(async move { drop(connection.await) });
    let sql = "SELECT count(*), count(*) FILTER (WHERE ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'interlingua'";
    let row = operator.query_one(sql, &[]).await.unwrap();
    let (all, encrypted): (i64, i64) = (row.get(0), row.get(1));
    assert!(all > 0 && all == encrypted, "{encrypted} of {all}");
    driving.abort();
    let fault = refused(&trusting(&bound, &authority())).await;
    assert!(matches!(&fault, OpenFault::Tls(what) if what.contains("invalid peer certificate")), "{fault:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_a_certificate_for_another_name_and_a_server_without_tls_are_refused() {
    let ours = authority();
    let (certificate, key) = issued(&ours, "db.example");
    let named = match PostgresBuilder::default().tls(&certificate, &key).start().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let fault = refused(&trusting(&named.url(), &ours)).await;
    assert!(matches!(&fault, OpenFault::Tls(what) if what.contains("not valid for name")), "{fault:?}");
    // As somebody on the way who says that there is no TLS.
    let plain = PostgresBuilder::default().start().await.unwrap();
    let fault = refused(&trusting(&plain.url(), &ours)).await;
    assert!(matches!(&fault, OpenFault::Tls(_)), "{fault:?}");
    let junk = Options { ca: Some(b"not a certificate".to_vec()), ..at(&plain.url()) };
    assert!(matches!(refused(&junk).await, OpenFault::Tls(_)));
}
