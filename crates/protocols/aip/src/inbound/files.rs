//! File transfer (the binary extension), for clients of the wider profile: a received file is stored as an artifact of the client, and a
//! client can request artifacts that it may read.
//!
//! A file is written to the store chunk by chunk; a connection transfers one at a time. A transfer that breaks a rule stores nothing.
//! `{"type": "file_request", "artifact": ID}` is answered with the file in the same form.

use crate::binary::{Broken, CHUNK, Heading, Receiving, Sending, Start};
use crate::custom::Custom;
use futures_util::SinkExt;
use interlingua_model::ports::{BlobWriter, StoreFault};
use interlingua_model::{ArtifactId, Fault, FaultKind, Json, Meta, Noun, Text};
use interlingua_wire::object::Object;
use tokio_websockets::Message as Frame;

use super::custom_messages::Sender;
use interlingua_hub::artifacts::{Arrived, Sharing};
use interlingua_net::upgrade::Socket;

const REQUEST: &str = "file_request";

pub(super) fn is_about_files(kind: &str) -> bool {
    matches!(kind, "binary_data" | "file_transfer_start" | "file_transfer_complete" | REQUEST)
}

/// What a connection sends beside its frames.
pub(super) struct Files {
    /// How much the store may hold.
    room: u64,
    taking: Option<Taking>,
}

struct Taking {
    start: Start,
    receiving: Receiving,
    writer: Box<dyn BlobWriter>,
    /// Bytes without a file around them: over with the first chunk.
    alone: bool,
}

impl From<Broken> for Refused {
    fn from(broken: Broken) -> Refused {
        Refused(Fault::caller(FaultKind::InvalidInput, broken.to_string()))
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Refused {
        Refused(fault)
    }
}

impl From<StoreFault> for Refused {
    fn from(fault: StoreFault) -> Refused {
        Refused(fault.into())
    }
}

/// Why a file is not taken.
pub(super) struct Refused(pub(super) Fault);

impl Files {
    pub(super) fn new(room: u64) -> Files {
        Files { room, taking: None }
    }

    /// What is said of a file; the file that is whole now, told as its sender should know it.
    pub(super) async fn heading(&mut self, sender: &Sender, frame: &Custom) -> Result<Option<Json>, Refused> {
        let heading = Heading::of(frame.members())
            .map_err(|invalid| Refused(Fault::caller(FaultKind::Malformed, invalid.to_string())))?;
        match heading {
            Heading::Start(start) => {
                self.begin(sender, start, false).await?;
                Ok(None)
            }
            Heading::Data { size, chunk } => {
                if self.taking.is_none() {
                    self.begin(sender, Start::new("binary", size, size, None), true).await?;
                }
                let announced = self.taking.as_mut().map(|taking| taking.receiving.announced(size, chunk));
                self.given_up(announced.transpose())?;
                Ok(None)
            }
            Heading::Complete { filename, chunks, checksum } => {
                let taking = self.taking.take().ok_or(Broken::Unannounced)?;
                taking.receiving.complete(&filename, chunks, checksum.as_deref())?;
                keep(sender, taking.start, taking.writer, self.room).await.map(Some)
            }
        }
    }

    async fn begin(&mut self, sender: &Sender, start: Start, alone: bool) -> Result<(), Refused> {
        self.taking = None;
        let receiving = Receiving::new(start.clone(), self.room)?;
        let writer = sender.hub.blobs().create().await?;
        self.taking = Some(Taking { start, receiving, writer, alone });
        Ok(())
    }

    /// The bytes of a chunk that was announced.
    pub(super) async fn bytes(&mut self, sender: &Sender, bytes: bytes::Bytes) -> Result<Option<Json>, Refused> {
        let taking = self.taking.as_mut().ok_or(Broken::Unannounced)?;
        let taken = taking.receiving.bytes(&bytes);
        self.given_up(taken)?;
        let Some(mut taking) = self.taking.take() else { return Ok(None) };
        taking.writer.write(bytes).await?;
        if taking.alone {
            return keep(sender, taking.start, taking.writer, self.room).await.map(Some);
        }
        self.taking = Some(taking);
        Ok(None)
    }

    fn given_up<T>(&mut self, result: Result<T, Broken>) -> Result<T, Broken> {
        if result.is_err() {
            self.taking = None;
        }
        result
    }
}

async fn keep(sender: &Sender, start: Start, writer: Box<dyn BlobWriter>, room: u64) -> Result<Json, Refused> {
    let sharing = Sharing {
        kind: "file".into(),
        name: start.filename.clone(),
        media: start.media.clone(),
        from: interlingua_model::PeerId(sender.who.id.clone()),
        readers: Vec::new(),
        meta: Meta::default(),
    };
    let shared = sender.hub.share_artifact(&sender.by, sharing, None, room).await?;
    let arrived = Arrived { writer, len: start.size };
    let artifact = sender.hub.fill_artifact(&sender.by, &shared.id, arrived, None, room).await?;
    Ok(Object::json(|out| {
        out.text("artifact", artifact.id.as_str());
        out.text("filename", &start.filename);
        if let Some(held) = artifact.content {
            out.number("size", held.len);
            out.text("sha256", &held.digest.to_string());
        }
    }))
}

/// A file that is asked for, if they may read it: its start, its chunks and its end.
pub(super) async fn send(sender: &Sender, frame: &Custom, socket: &mut Socket) -> Result<(), Refused> {
    let none = || Fault::caller(FaultKind::NotFound(Noun::Resource), "there is no such file");
    let id: Text = frame.members().text("artifact").map(|id| Text::from(&*id)).ok_or_else(none)?;
    let artifact = sender.hub.artifact(&sender.by, &ArtifactId(id)).await?;
    let held = artifact.content.ok_or_else(none)?;
    let broken = |_| Fault::hub(FaultKind::Unreachable, "the connection broke");
    let (start, mut sending) = Sending::new(Start::new(artifact.name, held.len, CHUNK, artifact.media));
    socket.send(Frame::text(start.encode(sender.hub.now()))).await.map_err(broken)?;
    let mut at = 0;
    while let Some(size) = sending.wants() {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let bytes = sender.hub.blobs().read(held.digest, at, size).await?;
        if bytes.len() != size {
            return Err(none().into());
        }
        at += bytes.len() as u64;
        let heading = sending.chunk(&bytes);
        socket.feed(Frame::text(heading.encode(sender.hub.now()))).await.map_err(broken)?;
        socket.send(Frame::binary(bytes)).await.map_err(broken)?;
    }
    socket.send(Frame::text(sending.complete().encode(sender.hub.now()))).await.map_err(broken)?;
    Ok(())
}

pub(super) fn is_request(frame: &Custom) -> bool {
    *frame.kind == *REQUEST
}
