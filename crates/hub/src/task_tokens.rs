//! Task tokens: a token finds a task again for the caller that received it. It is sealed to this hub, this use and its owner, so it can
//! neither be guessed nor used by another caller.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use interlingua_model::{Digest, Fault, Principal, TaskId};

use super::Hub;
use super::live::no_such_task;

const PURPOSE: &str = "nlweb promise";

fn owner(by: &Principal) -> Digest {
    // A list of subjects: writing it has no way to fail.
    Digest::of(&serde_json::to_vec(&by.owner()).unwrap_or_default())
}

impl Hub {
    /// `note`: what the issuer gets back with the token.
    pub fn promise(&self, by: &Principal, task: TaskId, note: &[u8]) -> Result<String, Fault> {
        let plain = [task.0.to_be_bytes().as_slice(), note].concat();
        let sealed = self.keys.seal(PURPOSE, &owner(by).0, &plain).map_err(Fault::internal)?;
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// The task of a token, and its note. A token of another principal is reported as not found.
    pub fn promised(&self, by: &Principal, token: &str) -> Result<(TaskId, Vec<u8>), Fault> {
        let sealed = URL_SAFE_NO_PAD.decode(token).map_err(|_| no_such_task())?;
        let plain = self.keys.open(PURPOSE, &owner(by).0, &sealed).map_err(|_| no_such_task())?;
        let (task, note) = plain.split_first_chunk::<16>().ok_or_else(no_such_task)?;
        Ok((TaskId(u128::from_be_bytes(*task)), note.to_vec()))
    }
}
