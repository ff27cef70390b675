//! A hub from its configuration: store, keys, peers, listeners; reload, clean-up, key rotation.

pub mod keys;
mod peers;
mod ports;
mod purge;
pub mod reload;
mod retire;
pub mod run;
pub(crate) mod storage;
mod store;
