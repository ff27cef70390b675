//! Test only. What every driver of the storage ports must do: functions that take the ports alone, and macros that make a
//! test of each on one driver. [`model`] does random things to a driver and to a model of it and compares them.
//!
//! A driver's tests have a function that opens a new store, runs what it is given on it, and says where the machine cannot.

#![allow(clippy::unwrap_used, reason = "test only: a panic is how a test fails")]

pub mod blobs;
pub mod journal;
pub mod model;
pub mod quota;
pub mod records;
pub mod skills;

use std::time::Duration;

use bytes::Bytes;
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::{Append, Expected, Retention, Store, TaskPhase, TaskRow, Unique};

/// An open store of one driver.
pub trait Driver: Sized {
    /// Its ports.
    fn ports(&self) -> Store;
    /// The same store, closed and opened again.
    fn reopened(self) -> impl Future<Output = Self>;
}

/// One test for each function, by the driver's own way to open a store.
#[macro_export]
macro_rules! contract {
    ($on:path; $of:ident: $($name:ident),* $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            $on(async |driver| $crate::$of::$name($crate::Driver::ports(&driver)).await).await;
        }
    )*};
}

/// Every test of the ports. `$on` is an `async fn` that opens a new store and gives it to the function it is given.
#[macro_export]
macro_rules! whole_contract {
    ($on:path) => {
        $crate::contract_names! { contract, $on }
    };
}

/// Each function in turn on a new store, which `$open` opens: for a driver whose server takes long to start.
#[macro_export]
macro_rules! in_turn {
    ($open:expr; $of:ident: $($name:ident),* $(,)?) => {$(
        let driver = $open;
        $crate::$of::$name($crate::Driver::ports(&driver)).await;
        drop(driver);
    )*};
}

/// The names of the functions, for `contract` and `in_turn`.
#[macro_export]
macro_rules! contract_names {
    ($make:ident, $($on:tt)*) => {
        $crate::$make! { $($on)*; journal:
            records_are_read_back_in_order,
            an_append_at_another_place_is_refused,
            an_entry_that_is_redacted_says_what_it_is_told_and_the_others_stay,
            any_place_gives_the_next_sequence,
            a_refused_append_leaves_nothing,
            a_key_is_held_by_its_first_task,
            a_key_is_free_when_its_window_has_passed,
            a_fold_is_kept_and_never_replaced_by_an_older_one,
            tasks_are_listed_newest_first_in_pages,
            tasks_are_listed_by_their_last_change_and_counted,
            tasks_are_listed_by_owner_conversation_and_state,
            a_task_row_follows_its_appends,
            finished_tasks_go_by_age_and_count_and_live_ones_stay,
            a_trimmed_log_keeps_counting,
            forgetting_a_task_takes_its_children,
            forgetting_an_owner_leaves_the_others,
        }
        $crate::$make! { $($on)*; records:
            a_record_that_is_rewritten_keeps_its_revision_and_its_expiry,
            a_record_is_put_where_it_is_expected,
            a_revision_is_never_given_twice,
            an_expired_record_is_gone,
            a_record_is_taken_once,
            records_are_listed_in_key_order,
        }
        $crate::$make! { $($on)*; blobs:
            a_blob_is_what_was_written,
            a_blob_given_up_leaves_nothing,
            the_oldest_blobs_go_first,
        }
        $crate::$make! { $($on)*; skills:
            skills_are_found_by_their_words,
            skills_are_found_in_spanish_without_accents,
            a_peer_s_skills_are_replaced,
            hostile_words_are_only_words,
        }
    };
}

/// Every test of quotas, for a store that is not encrypted: sealed values are longer.
#[macro_export]
macro_rules! quotas {
    ($on:path) => {
        $crate::quota_names! { quotas, $on }
    };
    ($on:path; $($name:ident),* $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            $on(async |driver| $crate::quota::$name(driver).await).await;
        }
    )*};
}

/// Each function about quotas in turn on a new store.
#[macro_export]
macro_rules! quotas_in_turn {
    ($open:expr; $($name:ident),* $(,)?) => {$(
        $crate::quota::$name($open).await;
    )*};
}

/// The names of the functions about quotas, for `quotas` and `quotas_in_turn`.
#[macro_export]
macro_rules! quota_names {
    ($make:ident, $($on:tt)*) => {
        $crate::$make! { $($on)*;
            one_task_more_than_an_owner_may_keep_is_refused_while_the_others_run,
            an_owners_oldest_finished_tasks_make_room_and_nobody_elses,
            what_a_running_task_started_does_not_make_room,
            tasks_count_no_more_however_they_go,
            records_of_somebody_are_counted_until_they_are_taken_or_removed,
            bytes_of_one_owner_are_bounded_and_finished_tasks_make_room,
            a_task_that_goes_on_is_bounded_too_with_the_journal_of_its_run,
            folds_records_and_what_is_stored_beside_a_task_count_in_its_owners_bytes,
            entries_of_topics_and_what_is_stored_beside_records_count_in_their_owners_bytes,
            the_audit_is_trimmed_by_bytes,
        }
    };
}

/// An append of these records at `expected`, at time 1000.
pub fn append(log: Log, expected: u64, records: &[&str]) -> Append {
    let records = records.iter().map(|text| Bytes::copy_from_slice(text.as_bytes())).collect();
    Append {
        log,
        expected: Expected::At(expected),
        at: Time(1000),
        records,
        unique: None,
        row: None,
        most: None,
        beside: 0,
        share: None,
    }
}

pub fn unique(key: &str, body: &str, until: u64) -> Unique {
    Unique { key: Digest::of(key.as_bytes()), body: Digest::of(body.as_bytes()), until: Time(until) }
}

pub fn row(task: u128, owner: &str, state: TaskPhase, created: u64) -> TaskRow {
    TaskRow {
        task: TaskId(task),
        owner: owner.into(),
        conversation: None,
        parent: None,
        skill: None,
        state,
        created: Time(created),
        updated: Time(created),
    }
}

/// The first append of a task, with its row.
pub fn accepted(row: TaskRow) -> Append {
    Append { at: row.created, row: Some(row.clone()), ..append(Log::Task(row.task), 0, &["accepted"]) }
}

/// The records of a log after a place, as text.
pub(crate) async fn texts(store: &Store, log: Log, after: u64) -> Vec<(u64, String)> {
    let stored = store.journal.read(log, after, 100).await.unwrap();
    stored.into_iter().map(|stored| (stored.seq, String::from_utf8(stored.bytes.to_vec()).unwrap())).collect()
}

/// Rules that keep everything.
pub(crate) fn all() -> Retention {
    Retention {
        tasks: Duration::MAX,
        tasks_count: u64::MAX,
        audit: Duration::MAX,
        audit_count: u64::MAX,
        audit_bytes: u64::MAX,
        topics: Duration::MAX,
        topics_count: u64::MAX,
    }
}
