//! A look at a database before a hub uses it. Nothing is made or changed.

use super::Options;
use super::connection::{Session, Target};
use super::fault::{OpenFault, SqlError};
use super::schema;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The version of the server.
    pub version: String,
    /// What works, but not as it should.
    pub warnings: Vec<String>,
}

/// Connects as a hub would, and reads what its safety depends on.
pub async fn inspect(options: &Options) -> Result<Inspection, OpenFault> {
    let target = Target::new(options)?;
    let session = target.connect().await?;
    schema::admit(&session).await?;
    schema::check(&session, &target).await?;
    let fail = || OpenFault::database("inspect");
    let mut warnings = Vec::new();
    for (name, warning) in [
        ("fsync", "fsync is off: a power cut can destroy all data"),
        ("full_page_writes", "full_page_writes is off: a power cut can damage data"),
        ("data_checksums", "no checksums: damage on the disk is not noticed (`pg_checksums --enable`)"),
    ] {
        if setting(&session, name).await.map_err(fail())? == "off" {
            warnings.push(warning.to_owned());
        }
    }
    let wanted = i64::from(options.writers) + i64::from(options.readers) + 2;
    let free = free_connections(&session).await.map_err(fail())?;
    if free < wanted {
        warnings.push(format!("{free} connections are free, and the hub uses {wanted}: raise max_connections"));
    }
    Ok(Inspection { version: setting(&session, "server_version").await.map_err(fail())?, warnings })
}

async fn setting(session: &Session, name: &str) -> Result<String, SqlError> {
    let rows = session.query("SELECT current_setting($1, true)", &[&name]).await?;
    Ok(rows.first().map(|row| row.try_get::<_, Option<String>>(0)).transpose()?.flatten().unwrap_or_default())
}

async fn free_connections(session: &Session) -> Result<i64, SqlError> {
    let sql =
        "SELECT current_setting('max_connections')::int8 - current_setting('superuser_reserved_connections')::int8
        - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')";
    let rows = session.query(sql, &[]).await?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or_default())
}
