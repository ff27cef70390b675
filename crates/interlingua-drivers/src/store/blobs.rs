//! The blobs port: bytes in files beside the database, named by their SHA-256.
//!
//! A blob is written to `tmp/`, synced, read back and compared, renamed into `ab/abcd…`, and the directories are synced:
//! under its name there is a whole blob or nothing. Storing the same bytes again renews the file's time, and retention
//! removes the oldest first. Who refers to a blob is not known here.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use interlingua_core::digest::Digest;
use interlingua_core::ports::{BlobInfo, BlobWriter, Blobs, Pending, StoreFault};

use super::directory;
use super::fault::{OpenFault, from_io};

const TMP: &str = "tmp";

#[derive(Debug, Clone)]
pub(super) struct BlobFiles {
    root: Arc<Path>,
    next: Arc<AtomicU64>,
}

impl BlobFiles {
    /// Opens the folder and removes what a hub that was stopped had not finished.
    pub(super) fn open(root: &Path) -> Result<BlobFiles, OpenFault> {
        directory::make_private(root)?;
        let tmp = root.join(TMP);
        directory::make_private(&tmp)?;
        for orphan in std::fs::read_dir(&tmp).map_err(OpenFault::io("list", &tmp))?.flatten() {
            let path = orphan.path();
            std::fs::remove_file(&path).map_err(OpenFault::io("remove", &path))?;
        }
        Ok(BlobFiles { root: root.into(), next: Arc::default() })
    }

    fn path(&self, digest: Digest) -> PathBuf {
        path_of(&self.root, digest)
    }
}

pub(super) fn path_of(root: &Path, digest: Digest) -> PathBuf {
    let name = digest.to_string();
    root.join(&name[..2]).join(name)
}

/// Every blob held: where, how long, how old. Files that are not named like a blob are passed over.
pub(super) fn held(root: &Path) -> std::io::Result<Vec<Held>> {
    let mut blobs = Vec::new();
    for shard in std::fs::read_dir(root)? {
        let shard = shard?.path();
        if shard.ends_with(TMP) || !shard.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(shard)? {
            let file = file?;
            let Some(digest) = file.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let about = file.metadata()?;
            let changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            blobs.push(Held { digest, path: file.path(), len: about.len(), changed });
        }
    }
    Ok(blobs)
}

#[derive(Debug)]
pub(super) struct Held {
    pub digest: Digest,
    pub path: PathBuf,
    pub len: u64,
    pub changed: SystemTime,
}

/// The digest of a file's bytes as they are now.
pub(super) fn digest_of(file: &mut File) -> std::io::Result<Digest> {
    file.rewind()?;
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 128 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(finished(context)),
            read => context.update(&buffer[..read]),
        }
    }
}

fn finished(context: Context) -> Digest {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(context.finish().as_ref());
    Digest(bytes)
}

impl Blobs for BlobFiles {
    fn create(&self) -> Pending<'_, Box<dyn BlobWriter>> {
        let files = self.clone();
        let name = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        Box::pin(blocking(move || {
            let path = files.root.join(TMP).join(name);
            let file = directory::private_file(&path).map_err(|error| from_io("make a blob", &error))?;
            let part = Part { path, file, context: Context::new(&SHA256), len: 0 };
            Ok(Box::new(Writer { files, part: Some(part) }) as Box<dyn BlobWriter>)
        }))
    }

    fn info(&self, digest: Digest) -> Pending<'_, Option<BlobInfo>> {
        let path = self.path(digest);
        Box::pin(blocking(move || match path.metadata() {
            Ok(about) => Ok(Some(BlobInfo { digest, len: about.len() })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(from_io("look at a blob", &error)),
        }))
    }

    fn read(&self, digest: Digest, offset: u64, limit: usize) -> Pending<'_, Bytes> {
        let path = self.path(digest);
        Box::pin(blocking(move || {
            read_piece(&path, offset, limit).map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => StoreFault::Missing(format!("blob {digest}").into()),
                _ => from_io("read a blob", &error),
            })
        }))
    }

    fn retain(&self, bytes: u64) -> Pending<'_, u64> {
        let root = self.root.clone();
        Box::pin(blocking(move || remove_oldest(&root, bytes).map_err(|error| from_io("remove blobs", &error))))
    }
}

fn read_piece(path: &Path, offset: u64, limit: usize) -> std::io::Result<Bytes> {
    let file = File::open(path)?;
    let left = file.metadata()?.len().saturating_sub(offset);
    let mut piece = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(limit)];
    file.read_exact_at(&mut piece, offset)?;
    Ok(piece.into())
}

fn remove_oldest(root: &Path, keep: u64) -> std::io::Result<u64> {
    let mut blobs = held(root)?;
    blobs.sort_unstable_by_key(|blob| (blob.changed, blob.digest));
    let mut total: u64 = blobs.iter().map(|blob| blob.len).sum();
    let mut removed = 0;
    for blob in blobs {
        if total <= keep {
            break;
        }
        std::fs::remove_file(&blob.path)?;
        total -= blob.len;
        removed += blob.len;
    }
    Ok(removed)
}

/// A blob under way. Its file goes when it is dropped before it was renamed.
struct Part {
    path: PathBuf,
    file: File,
    context: Context,
    len: u64,
}

impl Drop for Part {
    fn drop(&mut self) {
        // After the rename there is nothing under this name.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Part {
    fn add(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all(bytes)?;
        self.context.update(bytes);
        self.len += bytes.len() as u64;
        Ok(())
    }

    fn keep(mut self, root: &Path) -> Result<BlobInfo, StoreFault> {
        let fail = |error| from_io("keep a blob", &error);
        self.file.sync_all().map_err(fail)?;
        let digest = finished(self.context.clone());
        if digest_of(&mut self.file).map_err(fail)? != digest {
            return Err(StoreFault::Damaged("a blob that was read back differs from what was written".into()));
        }
        self.name(&path_of(root, digest), root).map_err(fail)?;
        Ok(BlobInfo { digest, len: self.len })
    }

    fn name(&self, path: &Path, root: &Path) -> std::io::Result<()> {
        let shard = path.parent().unwrap_or(root);
        if !shard.exists() {
            directory::private_folder(shard)?;
            directory::sync(root)?;
        }
        std::fs::rename(&self.path, path)?;
        directory::sync(shard)
    }
}

struct Writer {
    files: BlobFiles,
    /// Absent while a write is under way, and after one that failed or was given up.
    part: Option<Part>,
}

impl BlobWriter for Writer {
    fn write(&mut self, bytes: Bytes) -> Pending<'_, ()> {
        Box::pin(async move {
            let mut part = self.part.take().ok_or_else(given_up)?;
            let part = blocking(move || match part.add(&bytes) {
                Ok(()) => Ok(part),
                Err(error) => Err(from_io("write a blob", &error)),
            });
            self.part = Some(part.await?);
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>) -> Pending<'static, BlobInfo> {
        Box::pin(async move {
            let part = self.part.take().ok_or_else(given_up)?;
            let root = self.files.root.clone();
            blocking(move || part.keep(&root)).await
        })
    }
}

fn given_up() -> StoreFault {
    StoreFault::Broken("an earlier write of this blob did not end".into())
}

async fn blocking<T, F>(work: F) -> Result<T, StoreFault>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, StoreFault> + Send + 'static,
{
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(StoreFault::Closed))
}
