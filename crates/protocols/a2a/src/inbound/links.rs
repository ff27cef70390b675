//! Content links: content that is too large for an answer is served below the agent's own address, for callers that may see its task.

use std::str::FromStr;

use crate::encode::Addresses;
use interlingua_model::{Digest, TaskId, Uri};

/// The first step of such a path.
const BLOBS: &str = "blobs";

#[derive(Debug, Clone)]
pub(crate) struct Links {
    agent: String,
    task: TaskId,
}

impl Links {
    pub(crate) fn new(agent: String, task: TaskId) -> Links {
        Links { agent, task }
    }

    /// The task and content a path names.
    pub(crate) fn read(path: &str) -> Option<(TaskId, Digest)> {
        let (task, digest) = path.strip_prefix(BLOBS)?.strip_prefix('/')?.split_once('/')?;
        Some((task.parse().ok()?, Digest::from_str(digest).ok()?))
    }
}

impl Addresses for Links {
    fn blob(&self, digest: &Digest) -> Option<Uri> {
        Some(format!("{}/{BLOBS}/{}/{digest}", self.agent, self.task).into())
    }
}
