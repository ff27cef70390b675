//! Host port of a driven site: what it needs of its hub. This is the time, approvals, storage, sealing of stored secrets, and a model where
//! one is configured.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use interlingua_machines::llm::{Prompt, Reply};
use interlingua_model::ports::Records;
use interlingua_model::{Principal, Time};

/// An answer of a model on its way; `None` when there is no model, or it failed.
pub type Advice<'a> = Pin<Box<dyn Future<Output = Option<Reply>> + Send + 'a>>;

pub trait BrowserHost: Send + Sync + std::fmt::Debug {
    fn now(&self) -> Time;

    /// May this principal say yes to what changes something?
    fn approves(&self, by: &Principal) -> bool;

    /// Where what elements looked like is kept between starts.
    fn records(&self) -> Option<Arc<dyn Records>>;

    /// Encrypts what only this hub may read again; `associated` is needed to open it. `None` where nothing can be sealed.
    fn seal(&self, associated: &[u8], plain: &[u8]) -> Option<Vec<u8>>;

    /// What was sealed so.
    fn unseal(&self, associated: &[u8], sealed: &[u8]) -> Option<Vec<u8>>;

    /// Asks the model that helps where the ladder of repair ends.
    fn advise(&self, prompt: Prompt) -> Advice<'_>;
}
