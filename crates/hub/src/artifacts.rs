//! Artifact store for agents: content is stored once under its digest, with the maker and the access list beside it.
//!
//! An empty access list means that only the maker can read the artifact. An artifact that a task made is found under the task's id and its
//! own, by the task's owner and by the readers that its header names; it is not stored a second time.
//!
//! A shared artifact does not change: other content is another artifact. The rule `retention.artifacts` removes content, the oldest first;
//! a removed artifact is not found any more, and its bytes are deleted by that rule.

use std::collections::BTreeSet;

use bytes::Bytes;
use interlingua_machines::bus::message::MAX_CONTENT;
use interlingua_machines::task::Task;
use interlingua_model::policy::{Action, Object};
use interlingua_model::ports::{BlobWriter, Expect, Item, Room, StoreFault};
use interlingua_model::{
    ArtifactHeader, ArtifactId, Chunk, Digest, Event, Fault, FaultKind, Media, Meta, Noun, Owner, Part, PeerId,
    Principal, Record, TaskId, Text, Time,
};
use serde::{Deserialize, Serialize};

use super::audit::AuditLine;
use super::{Hub, entropy};

const KIND: &str = "artifact";
/// What they are counted as, in words that their owner may read.
const ARTIFACTS: &str = "artifacts";
/// How much of the store each owner takes.
const USE: &str = "artifact-use";
/// Whom the artifacts of tasks name.
const READERS: &str = "artifact-readers";
/// How many artifacts the hub keeps.
const MAX_ARTIFACTS: u64 = 100_000;
/// How many one owner may keep.
const MAX_OF_ONE: u64 = 10_000;
/// One owner may hold this part of what the store may.
const SHARE: u64 = 4;
/// How long an artifact waits for its content.
const OFFERED: std::time::Duration = std::time::Duration::from_secs(3600);
/// Names on one list.
pub(crate) const MAX_READERS: usize = 200;

/// The stored record of an artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Minted by the hub; in the order of keys the newest is first.
    pub id: ArtifactId,
    /// A loose word: a document, data, a model.
    pub kind: Text,
    /// The name its maker gave it.
    pub name: Text,
    /// Its media type, where its maker said.
    pub media: Option<Media>,
    /// `None` until it has arrived.
    pub content: Option<StoredContent>,
    /// The agent that made it.
    pub from: PeerId,
    /// The owner: it may change and remove the artifact.
    pub owner: Owner,
    /// When it was shared.
    pub at: Time,
    /// Agents and owners that may read it, by name.
    pub readers: Vec<Text>,
    /// Metadata that its maker gave, as it was written.
    pub meta: Meta,
}

/// Where the content of an artifact is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredContent {
    /// The name of the blob.
    pub digest: Digest,
    /// Its length in bytes.
    pub len: u64,
}

/// Content that has arrived whole and is not stored yet; dropping it leaves nothing behind.
pub struct Arrived {
    /// The blob in the making.
    pub writer: Box<dyn BlobWriter>,
    /// How many bytes were written to it.
    pub len: u64,
}

impl std::fmt::Debug for Arrived {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arrived").field("len", &self.len).finish_non_exhaustive()
    }
}

/// An artifact that a caller wants to share.
#[derive(Debug, Clone)]
pub struct Sharing {
    /// What it is: a loose word such as `document`.
    pub kind: Text,
    /// Its name for people.
    pub name: Text,
    /// Its media type.
    pub media: Option<Media>,
    /// The agent that made it.
    pub from: PeerId,
    /// Agents and owners that may read it, by name.
    pub readers: Vec<Text>,
    /// Metadata, which the hub does not read.
    pub meta: Meta,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Used {
    bytes: u64,
}

impl Hub {
    /// Stores an artifact, with its content or to wait for it. `room`: how much the store may hold.
    pub async fn share_artifact(
        &self,
        by: &Principal,
        sharing: Sharing,
        content: Option<Bytes>,
        room: u64,
    ) -> Result<Artifact, Fault> {
        if by.is_anonymous() {
            let text = "artifacts are shared by callers who say who they are";
            return Err(Fault::caller(FaultKind::Unauthenticated, text));
        }
        check_size(&sharing)?;
        let now = self.now();
        if self.store.records.count(KIND, now).await? >= MAX_ARTIFACTS {
            return Err(Fault::hub(FaultKind::Busy, "as many artifacts as this hub keeps"));
        }
        let Sharing { kind, name, media, from, readers, meta } = sharing;
        let id = new_id(now);
        let mut artifact =
            Artifact { id, kind, name, media, content: None, from, owner: by.owner(), at: now, readers, meta };
        match content {
            None => {
                self.reserve(&artifact, 0, 0).await?;
            }
            Some(content) => {
                let len = content.len() as u64;
                let mut writer = self.store.blobs.create().await?;
                writer.write(content).await?;
                self.keep_content(&mut artifact, 0, Arrived { writer, len }, room).await?;
            }
        }
        self.audit.write(AuditLine::new("share", by.owner()).on(&artifact.id));
        Ok(artifact)
    }

    /// Writes an artifact that waits for its content, in place of its revision, with room for that: counted by the store as its
    /// owner's, until it is forgotten or was waited for in vain. The revision it has now.
    async fn reserve(&self, artifact: &Artifact, revision: u64, beside: u64) -> Result<u64, Fault> {
        let (value, expires, now) = self.written(artifact)?;
        let bytes = self.settings.load().bytes_of(&artifact.owner);
        let owner = artifact.owner.to_string().into();
        let room = Room { of: ARTIFACTS, owner, most: MAX_OF_ONE, bytes, beside };
        let item = Item { key: artifact.id.as_str().into(), revision, value, expires };
        match self.store.records.put_within(room, KIND, item, now).await {
            Err(StoreFault::Moved { .. }) => Err(changed_meanwhile()),
            put => Ok(put?),
        }
    }

    /// Takes room for the content before it is kept: what is refused leaves nothing behind.
    async fn keep_content(
        &self,
        artifact: &mut Artifact,
        revision: u64,
        content: Arrived,
        room: u64,
    ) -> Result<(), Fault> {
        let Arrived { writer, len } = content;
        self.use_room(&artifact.owner, len, room).await?;
        let revision = match self.reserve(artifact, revision, len).await {
            Ok(revision) => revision,
            Err(fault) => {
                self.give_back_room(&artifact.owner, len).await?;
                return Err(fault);
            }
        };
        let info = writer.finish().await?;
        artifact.content = Some(StoredContent { digest: info.digest, len: info.len });
        self.put_artifact(artifact, Expect::Revision(revision)).await
    }

    fn written(&self, artifact: &Artifact) -> Result<(Bytes, Option<Time>, Time), Fault> {
        let now = self.now();
        let expires = artifact.content.is_none().then(|| now.after(OFFERED));
        Ok((serde_json::to_vec(artifact).map_err(Fault::internal)?.into(), expires, now))
    }

    async fn put_artifact(&self, artifact: &Artifact, expect: Expect) -> Result<(), Fault> {
        let (value, expires, now) = self.written(artifact)?;
        let put = self.store.records.put(KIND, artifact.id.as_str(), value, expires, expect, now);
        match put.await {
            Ok(_) => Ok(()),
            Err(StoreFault::Moved { .. }) => Err(changed_meanwhile()),
            Err(fault) => Err(fault.into()),
        }
    }

    /// Stores the content of an artifact that waits for it, from its owner, once.
    pub async fn fill_artifact(
        &self,
        by: &Principal,
        id: &ArtifactId,
        content: Arrived,
        media: Option<Media>,
        room: u64,
    ) -> Result<Artifact, Fault> {
        let (mut artifact, revision) = self.own_artifact(by, id).await?;
        if artifact.content.is_some() {
            return Err(filled());
        }
        artifact.media = artifact.media.or(media);
        self.keep_content(&mut artifact, revision, content, room).await?;
        Ok(artifact)
    }

    /// Does it belong to this principal, and wait for its content?
    pub async fn awaits_content(&self, by: &Principal, id: &ArtifactId) -> Result<(), Fault> {
        let (artifact, _) = self.own_artifact(by, id).await?;
        if artifact.content.is_some() { Err(filled()) } else { Ok(()) }
    }

    /// Replaces the list of readers, by its owner.
    pub async fn relist_artifact(
        &self,
        by: &Principal,
        id: &ArtifactId,
        change: impl Fn(&mut Vec<Text>),
    ) -> Result<Artifact, Fault> {
        let (mut artifact, revision) = self.own_artifact(by, id).await?;
        change(&mut artifact.readers);
        if artifact.readers.len() > MAX_READERS {
            return Err(too_many_readers());
        }
        self.put_artifact(&artifact, Expect::Revision(revision)).await?;
        self.audit.write(AuditLine::new("relist", by.owner()).on(id));
        Ok(artifact)
    }

    /// Removes a shared artifact of this caller's. Its bytes no longer count for the owner.
    pub async fn forget_artifact(&self, by: &Principal, id: &ArtifactId) -> Result<(), Fault> {
        let (artifact, _) = self.own_artifact(by, id).await?;
        if self.store.records.take(KIND, id.as_str(), self.now()).await?.is_some() {
            self.give_back_room(&artifact.owner, artifact.content.map_or(0, |held| held.len)).await?;
        }
        self.audit.write(AuditLine::new("forget", by.owner()).on(id));
        Ok(())
    }

    /// An artifact that this principal may read. Any other is reported as not found.
    pub async fn artifact(&self, by: &Principal, id: &ArtifactId) -> Result<Artifact, Fault> {
        let (artifact, _) = self.found_artifact(id).await?;
        if self.may_read(by, &artifact) { Ok(artifact) } else { Err(no_such_artifact()) }
    }

    fn may_read(&self, by: &Principal, artifact: &Artifact) -> bool {
        let listed = !by.is_anonymous() && self.bus.reads(by, &artifact.owner, &artifact.readers);
        let object = Object::Artifact { id: artifact.id.as_str(), owner: &artifact.owner };
        self.policy.load().opens(by, Action::Read, object, listed, self.now())
    }

    async fn found_artifact(&self, id: &ArtifactId) -> Result<(Artifact, u64), Fault> {
        let item = self.store.records.get(KIND, id.as_str(), self.now()).await?.ok_or_else(no_such_artifact)?;
        Ok((serde_json::from_slice(&item.value).map_err(Fault::internal)?, item.revision))
    }

    async fn own_artifact(&self, by: &Principal, id: &ArtifactId) -> Result<(Artifact, u64), Fault> {
        let (artifact, revision) = self.found_artifact(id).await?;
        let own = by.is_hub_owner() || (!by.is_anonymous() && artifact.owner == by.owner());
        let object = Object::Artifact { id: id.as_str(), owner: &artifact.owner };
        let may = self.policy.load().opens(by, Action::Write, object, own, self.now());
        if may { Ok((artifact, revision)) } else { Err(no_such_artifact()) }
    }

    /// A page of artifacts that this principal may read, newest first, after an id, and the id to continue after.
    pub async fn artifacts(
        &self,
        by: &Principal,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Artifact>, Option<String>), Fault> {
        if by.is_anonymous() {
            return Ok((Vec::new(), None));
        }
        self.page_of(KIND, after, limit, |artifact| self.may_read(by, artifact)).await
    }

    /// Stores the readers of a task's artifacts. A stranger is recognised by that record, and the task itself is not read for them, so that
    /// another's task costs no more than a missing one.
    pub(super) async fn note_readers(&self, task: &Task, records: &[Record]) -> Result<(), Fault> {
        let tells = |record: &Record| match record.event() {
            Some(Event::Artifact(chunk)) => chunk.header.as_ref().is_some_and(|header| !header.readers.is_empty()),
            // From here on it is known how long the task is kept.
            Some(Event::Finished(_)) => true,
            Some(
                Event::Started(_)
                | Event::Said { .. }
                | Event::Progress { .. }
                | Event::Step(_)
                | Event::Asked(_)
                | Event::Settled { .. },
            )
            | None => false,
        };
        if !records.iter().any(tells) {
            return Ok(());
        }
        let headers = task.artifacts.values().flatten().filter_map(|chunk| chunk.header.as_ref());
        let readers: BTreeSet<&Text> = headers.flat_map(|header| &header.readers).collect();
        if readers.is_empty() {
            return Ok(());
        }
        let value = serde_json::to_vec(&(task.by.owner(), readers)).map_err(Fault::internal)?;
        let (now, key) = (self.now(), task.id.to_string());
        let until = Some(now.after(self.settings.load().tasks));
        self.store.records.put(READERS, &key, Bytes::from(value), until, Expect::Anything, now).await?;
        Ok(())
    }

    /// Does any artifact of this task name them?
    async fn is_reader(&self, by: &Principal, task: TaskId) -> Result<bool, Fault> {
        if by.is_anonymous() {
            return Ok(false);
        }
        let Some(item) = self.store.records.get(READERS, &task.to_string(), self.now()).await? else {
            return Ok(false);
        };
        let (owner, readers): (Owner, Vec<Text>) = serde_json::from_slice(&item.value).map_err(Fault::internal)?;
        Ok(self.bus.reads(by, &owner, &readers))
    }

    /// The artifacts of a task, for its owner and for the readers that the artifact's own list names.
    pub async fn made_by(&self, by: &Principal, task: TaskId) -> Result<Vec<Made>, Fault> {
        let owns = match self.row(by, task).await {
            Ok(_) => true,
            Err(fault) if fault.kind == FaultKind::NotFound(Noun::Task) && self.is_reader(by, task).await? => false,
            Err(fault) => return Err(fault),
        };
        let folded = self.fold(task).await?;
        let made = folded.artifacts.iter().map(|(id, chunks)| Made {
            id: id.clone(),
            by: folded.route.as_ref().map(|route| route.skill.peer.clone()),
            owner: folded.by.owner(),
            at: folded.updated,
            header: chunks.iter().find_map(|chunk| chunk.header.clone()),
            parts: chunks.iter().flat_map(|chunk: &Chunk| chunk.parts.iter().cloned()).collect(),
        });
        let named = |made: &Made| {
            let readers = made.header.as_ref().map(|header| header.readers.as_slice()).unwrap_or_default();
            owns || self.bus.reads(by, &made.owner, readers)
        };
        let made: Vec<Made> = made.filter(named).collect();
        if owns || !made.is_empty() { Ok(made) } else { Err(super::live::no_such_task()) }
    }

    /// Takes room for an owner, if there is some.
    async fn use_room(&self, owner: &Owner, bytes: u64, room: u64) -> Result<(), Fault> {
        let share = room / SHARE;
        self.change_use(owner, |used| {
            let wanted = Used { bytes: used.bytes.saturating_add(bytes) };
            if wanted.bytes > share {
                let text = "as much as one owner may share; forget something first";
                return Err(Fault::caller(FaultKind::TooLarge, text));
            }
            Ok(wanted)
        })
        .await
    }

    async fn give_back_room(&self, owner: &Owner, bytes: u64) -> Result<(), Fault> {
        let less = |used: Used| Used { bytes: used.bytes.saturating_sub(bytes) };
        self.change_use(owner, |used| Ok(less(used))).await
    }

    async fn change_use(&self, owner: &Owner, change: impl Fn(Used) -> Result<Used, Fault>) -> Result<(), Fault> {
        let key = owner.to_string();
        loop {
            let now = self.now();
            let (used, expect) = match self.store.records.get(USE, &key, now).await? {
                None => (Used::default(), Expect::Absent),
                Some(item) => {
                    (serde_json::from_slice(&item.value).map_err(Fault::internal)?, Expect::Revision(item.revision))
                }
            };
            let value = serde_json::to_vec(&change(used)?).map_err(Fault::internal)?;
            match self.store.records.put(USE, &key, Bytes::from(value), None, expect, now).await {
                Ok(_) => return Ok(()),
                Err(StoreFault::Moved { .. }) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
    }
}

/// An artifact of a task.
#[derive(Debug, Clone)]
pub struct Made {
    /// Its id in the task.
    pub id: ArtifactId,
    /// The peer that made it, where one did.
    pub by: Option<PeerId>,
    /// The owner of the task.
    pub owner: Owner,
    /// When its last piece arrived.
    pub at: Time,
    /// What its maker said of it.
    pub header: Option<ArtifactHeader>,
    /// What it holds.
    pub parts: Vec<Part>,
}

/// Newest first in the order of keys.
fn new_id(now: Time) -> ArtifactId {
    const LAST: u64 = (1 << 48) - 1;
    let random = entropy::bits() >> 48;
    format!("{:012x}{random:020x}", LAST.saturating_sub(now.0)).into()
}

fn check_size(sharing: &Sharing) -> Result<(), Fault> {
    let meta = sharing.meta.0.as_ref().map_or(0, |meta| meta.as_str().len());
    let texts = [Some(&sharing.kind), Some(&sharing.name), sharing.media.as_ref()];
    let long = texts.into_iter().flatten().any(|text| text.len() > 255);
    if long || meta > MAX_CONTENT {
        return Err(Fault::caller(FaultKind::TooLarge, "names are up to 255 bytes long, metadata up to 256 KiB"));
    }
    if sharing.readers.len() > MAX_READERS || sharing.readers.iter().any(|reader| reader.len() > 255) {
        return Err(too_many_readers());
    }
    Ok(())
}

fn too_many_readers() -> Fault {
    let text = "a list names up to 200 readers";
    Fault::caller(FaultKind::InvalidInput, text).field("/access_control", "is too long")
}

fn changed_meanwhile() -> Fault {
    Fault::caller(FaultKind::Conflict, "somebody else changed this artifact at the same time")
}

fn filled() -> Fault {
    Fault::caller(FaultKind::Conflict, "this artifact has its content already; another content is another artifact")
}

/// The fault for an artifact that does not exist, or that this caller may not read.
pub fn no_such_artifact() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Resource), "no such artifact")
}
