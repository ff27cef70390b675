//! Encoding of the model's scalars in columns. SQLite's integers are signed: times and sequences above `i64::MAX` are stored as `i64::MAX`,
//! which no clock and no counter reaches.

use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time};
use interlingua_model::ports::TaskPhase;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// A newtype, because neither the trait nor the core's types are ours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Col<T>(pub T);

pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// As many rows as asked for, within what one answer may hold.
pub(super) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

impl ToSql for Col<u64> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(integer(self.0).into())
    }
}

impl FromSql for Col<u64> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        u64::try_from(number).map(Col).map_err(|_| FromSqlError::OutOfRange(number))
    }
}

impl ToSql for Col<Time> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(integer(self.0.0).into())
    }
}

impl FromSql for Col<Time> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Col::<u64>::column_result(value).map(|number| Col(Time(number.0)))
    }
}

impl ToSql for Col<TaskId> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.0.to_be_bytes().to_vec().into())
    }
}

impl FromSql for Col<TaskId> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        sized(value).map(|bytes| Col(TaskId(u128::from_be_bytes(bytes))))
    }
}

impl ToSql for Col<Digest> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.0.to_vec().into())
    }
}

impl FromSql for Col<Digest> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        sized(value).map(|bytes| Col(Digest(bytes)))
    }
}

fn sized<const N: usize>(value: ValueRef<'_>) -> FromSqlResult<[u8; N]> {
    let bytes = value.as_blob()?;
    bytes.try_into().map_err(|_| FromSqlError::InvalidBlobSize { expected_size: N, blob_size: bytes.len() })
}

/// The numbers the schema's partial indexes rely on: below 3 is not done, above 3 did not end well.
impl ToSql for Col<TaskPhase> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let number: i64 = match self.0 {
            TaskPhase::Accepted => 0,
            TaskPhase::Running => 1,
            TaskPhase::Waiting => 2,
            TaskPhase::Completed => 3,
            TaskPhase::Failed => 4,
            TaskPhase::Cancelled => 5,
        };
        Ok(number.into())
    }
}

impl FromSql for Col<TaskPhase> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_i64()? {
            0 => Ok(Col(TaskPhase::Accepted)),
            1 => Ok(Col(TaskPhase::Running)),
            2 => Ok(Col(TaskPhase::Waiting)),
            3 => Ok(Col(TaskPhase::Completed)),
            4 => Ok(Col(TaskPhase::Failed)),
            5 => Ok(Col(TaskPhase::Cancelled)),
            other => Err(FromSqlError::OutOfRange(other)),
        }
    }
}

/// The kinds of logs, as `Log::columns` numbers them.
pub(super) const TASK: i64 = 0;
pub(super) const TOPIC: i64 = 2;
