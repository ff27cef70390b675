//! What the hubs of one database share and no port carries: the wrapped ring of keys, and the hub's id. A machine that is lost takes
//! neither with it.

use super::connection::Session;
use super::fault::SqlError;

/// The ring of keys, wrapped by the outer key.
pub(super) const RING: &str = "ring";
/// The name by which others know the hub.
pub(super) const HUB: &str = "hub";

pub(super) async fn get(session: &Session, name: &str) -> Result<Option<String>, SqlError> {
    let rows = session.query("SELECT value FROM meta WHERE name = $1", &[&name]).await?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
}

pub(super) async fn put(session: &Session, name: &str, value: &str) -> Result<(), SqlError> {
    let sql = "INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    session.execute(sql, &[&name, &value]).await.map(drop)
}

/// The value that is there, or this one, which is there from now on.
pub(super) async fn get_or_put(session: &Session, name: &str, value: &str) -> Result<String, SqlError> {
    let sql = "INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = meta.value RETURNING value";
    let rows = session.query(sql, &[&name, &value]).await?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or_else(|| value.to_owned()))
}

/// No log, no record and no blob.
pub(super) async fn is_empty(session: &Session) -> Result<bool, SqlError> {
    let sql =
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM logs) OR EXISTS (SELECT 1 FROM records) OR EXISTS (SELECT 1 FROM blobs)";
    Ok(session.query(sql, &[]).await?.is_empty())
}
