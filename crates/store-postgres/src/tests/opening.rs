//! Why a store does not open, in words that say what to do, and without the password.

#![expect(clippy::disallowed_methods, reason = "ends with the runtime of the test")]

use interlingua_store_contract::Driver;
use interlingua_testkit::{PostgresBuilder, postgres, skipped};
use tokio_postgres::NoTls;

use super::super::{OpenFault, Options};
use super::{InSchema, at, open};

const PASSWORD: &str = "correct-horse";

async fn refused(options: &Options) -> OpenFault {
    let fault = open(options, None).await.map(drop).unwrap_err();
    for shown in [fault.to_string(), format!("{fault:?}"), format!("{options:?}")] {
        assert!(!shown.contains(PASSWORD) && !shown.contains("battery-staple"), "{shown}");
    }
    fault
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_said_when_the_store_is_opened() {
    let nowhere = interlingua_testkit::port::free();
    let fault = refused(&at(&format!("postgres://hub:{PASSWORD}@{nowhere}/postgres"))).await;
    assert!(matches!(fault, OpenFault::Unreachable(_)), "{fault:?}");
    let said = fault.to_string();
    assert!(said.contains("refused") && said.contains("check that the server runs"), "{said}");
}

#[tokio::test]
async fn a_url_that_is_none_is_refused_without_being_shown() {
    for url in [
        "",
        "correct-horse",
        "mysql://hub:correct-horse@h/d",
        "postgres://hub:correct-horse@h:port/d",
        "postgres://hub:correct-horse@h/d?what=correct-horse",
        "postgres://",
    ] {
        let fault = refused(&at(url)).await;
        assert!(matches!(fault, OpenFault::Url(_)), "{url}: {fault:?}");
    }
    for schema in ["", "Mine", "a-b", "x\"; DROP", "pg_mine"] {
        let options = Options { schema: schema.into(), ..at("postgres://hub@127.0.0.1/d") };
        assert!(matches!(refused(&options).await, OpenFault::Url(_)), "{schema}");
    }
}

#[tokio::test]
async fn attack_plain_text_to_another_machine_is_refused_unless_it_is_asked_for() {
    let plain = at("postgres://hub:correct-horse@db.example/d?sslmode=disable");
    assert!(matches!(refused(&plain).await, OpenFault::Url(_)));
    assert!(Options { insecure: true, ..plain }.check().is_ok());
    // The name is near, and where it leads is not.
    let beside = at("postgres://hub@localhost/d?hostaddr=192.0.2.1&sslmode=disable");
    assert!(matches!(refused(&beside).await, OpenFault::Url(_)));
    for mixed in ["postgres://hub@%2Frun,db.example/d", "postgres://hub@%2Frun/d?hostaddr=192.0.2.1"] {
        assert!(matches!(refused(&at(mixed)).await, OpenFault::Url(_)), "{mixed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_a_missing_one_and_a_missing_database_are_told_apart() {
    let server = match PostgresBuilder::default().password(PASSWORD).start().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let right = InSchema::with(at(&server.url()), None).await;
    right.ports().journal.last(interlingua_model::journal::Log::Audit).await.unwrap();
    let address = server.address();
    for url in
        [format!("postgres://hub:battery-staple@{address}/postgres"), format!("postgres://hub@{address}/postgres")]
    {
        let fault = refused(&at(&url)).await;
        assert!(matches!(fault, OpenFault::Login(_)), "{fault:?}");
        assert!(fault.to_string().contains("check user and password"), "{fault}");
    }
    let fault = refused(&at(&format!("postgres://hub:{PASSWORD}@{address}/elsewhere"))).await;
    assert!(matches!(fault, OpenFault::NoDatabase(_)), "{fault:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_of_a_newer_release_and_a_user_without_rights_are_refused() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let (operator, connection) = tokio_postgres::connect(&server.url(), NoTls).await.unwrap();
    let driving = tokio::spawn(async move { drop(connection.await) });
    let sql = "CREATE SCHEMA newer; CREATE TABLE newer.meta (name text PRIMARY KEY, value text NOT NULL);
        INSERT INTO newer.meta VALUES ('schema', '99'); CREATE ROLE guest LOGIN";
    operator.batch_execute(sql).await.unwrap();
    let fault = refused(&Options { schema: "newer".into(), ..at(&server.url()) }).await;
    assert!(matches!(fault, OpenFault::Newer { found: 99, .. }), "{fault:?}");
    assert!(fault.to_string().contains("a newer release of the hub wrote it"), "{fault}");
    let guest = server.url().replace("hub@", "guest@");
    let fault = refused(&at(&guest)).await;
    assert!(matches!(fault, OpenFault::Forbidden(_)), "{fault:?}");
    driving.abort();
}
