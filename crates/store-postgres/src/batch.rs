//! What a lane writes: requests that share a commit.

use futures_util::future::BoxFuture;
use interlingua_model::ports::{Append, Appended, StoreFault};

use super::connection::Session;
use super::fault::Refused;

/// One request. It may be run more than once, until one run was committed.
pub(super) trait Job: Send {
    /// The append it is, if it is one.
    fn append(&self) -> Option<&Append>;
    fn run<'a>(&'a mut self, session: &'a Session) -> BoxFuture<'a, Result<(), Refused>>;
    /// It was refused, or it is an append that was written with others.
    fn found(&mut self, found: Result<Appended, StoreFault>);
    /// Was it refused for want of room?
    fn found_no_room(&self) -> bool;
    fn settle(self: Box<Self>, commit: Result<(), StoreFault>);
}

/// Requests that share a commit.
pub(super) type Batch = Vec<Box<dyn Job>>;

/// Where a lane stands: hub, lane, number.
pub(super) type At = (i64, i32, u64);
