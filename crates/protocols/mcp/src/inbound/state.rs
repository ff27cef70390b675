//! Sealed client state (`requestState`), which a client brings back with its answers. It holds the task, its owner, the called skill and an
//! expiry, and is sealed, so that it is useless to any other caller and for any other call.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use interlingua_model::{Digest, Fault, Principal, TaskId, Time};

use interlingua_hub::Hub;

const PURPOSE: &str = "mcp request state";
const HEAD: usize = 16 + 8 + 8;

/// What is handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestState {
    pub(super) task: TaskId,
    /// How much of the task the client has seen.
    pub(super) seq: u64,
    pub(super) until: Time,
}

/// Owner and call are not inside but what it is sealed to: with any other it does not open.
fn bound(hub: &Hub, by: &Principal, call: &Digest) -> Vec<u8> {
    let owner = by.owner().to_string();
    Digest::of_fields([hub.id().as_str().as_bytes(), owner.as_bytes(), &call.0]).0.to_vec()
}

impl RequestState {
    pub(super) fn seal(&self, hub: &Hub, by: &Principal, call: &Digest) -> Result<String, Fault> {
        let mut plain = Vec::with_capacity(HEAD);
        plain.extend_from_slice(&self.task.0.to_be_bytes());
        plain.extend_from_slice(&self.seq.to_be_bytes());
        plain.extend_from_slice(&self.until.0.to_be_bytes());
        let sealed = hub.keys().seal(PURPOSE, &bound(hub, by, call), &plain).map_err(Fault::internal)?;
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// `None`: altered, somebody else's, of another call, or too old.
    pub(super) fn open(hub: &Hub, by: &Principal, call: &Digest, text: &str) -> Option<RequestState> {
        let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
        let plain = hub.keys().open(PURPOSE, &bound(hub, by, call), &sealed).ok()?;
        let (task, rest) = plain.split_first_chunk::<16>()?;
        let (seq, rest) = rest.split_first_chunk::<8>()?;
        let until = Time(u64::from_be_bytes(rest.try_into().ok()?));
        (hub.now() < until).then_some(RequestState {
            task: TaskId(u128::from_be_bytes(*task)),
            seq: u64::from_be_bytes(*seq),
            until,
        })
    }
}
