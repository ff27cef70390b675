//! The blobs port: bytes in files beside the database, named by their SHA-256.
//!
//! A blob is written to `tmp/`, synced, read back and compared, renamed into `ab/abcd…`, and the directories are synced: under its name
//! there is a whole blob or nothing. Storing the same bytes again renews the file's time, and retention removes the oldest first.
//! References to a blob are not tracked here.
//!
//! In an encrypted store the files are sealed ([`sealed`]) and are called `ab/abcd….sealed`; others are not read.

mod renew;
mod sealed;

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use interlingua_model::digest::Digest;
use interlingua_model::ports::{BlobInfo, BlobWriter, Blobs, Pending, StoreFault};

use super::directory;
use super::fault::{OpenFault, from_io};

pub(super) use sealed::{BlobSeal, begins_right};
use sealed::{Opened, Sealing};

const TMP: &str = "tmp";
/// How the names of sealed files end.
const SEALED: &str = "sealed";

#[derive(Debug, Clone)]
pub(super) struct BlobFiles {
    root: Arc<Path>,
    next: Arc<AtomicU64>,
    seal: Option<Arc<BlobSeal>>,
    /// Held by whoever has sealed a head and not yet given the file its name: until then nobody finds it.
    naming: Arc<RwLock<()>>,
}

impl BlobFiles {
    /// Opens the folder and removes what a hub that was stopped had not finished.
    pub(super) fn open(root: &Path, seal: Option<BlobSeal>) -> Result<BlobFiles, OpenFault> {
        directory::make_private(root)?;
        let tmp = root.join(TMP);
        directory::make_private(&tmp)?;
        for orphan in std::fs::read_dir(&tmp).map_err(OpenFault::io("list", &tmp))?.flatten() {
            let path = orphan.path();
            std::fs::remove_file(&path).map_err(OpenFault::io("remove", &path))?;
        }
        Ok(BlobFiles { root: root.into(), next: Arc::default(), seal: seal.map(Arc::new), naming: Arc::default() })
    }

    /// Where a blob goes.
    fn path(&self, digest: Digest) -> PathBuf {
        match &self.seal {
            None => path_of(&self.root, digest),
            Some(seal) => seal.path(&self.root, digest),
        }
    }

    fn start(&self) -> std::io::Result<Part> {
        let name = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let path = self.root.join(TMP).join(name);
        let mut file = directory::private_file(&path)?;
        let sealing = self.seal.as_ref().map(|_| Sealing::start(&mut file)).transpose()?;
        Ok(Part { path, file, sealing, context: Context::new(&SHA256), len: 0 })
    }

    /// Seals the blobs that are not; one that is not what its name says is left where it is. Returns how many.
    pub(super) fn seal_all(&self) -> Result<u64, OpenFault> {
        let mut count = 0;
        for blob in held(&self.root).map_err(OpenFault::io("list", &self.root))? {
            if !blob.sealed {
                count += u64::from(self.seal_one(&blob).map_err(OpenFault::io("seal", &blob.path))?);
            }
        }
        Ok(count)
    }

    fn seal_one(&self, blob: &Held) -> std::io::Result<bool> {
        let mut plain = File::open(&blob.path)?;
        if digest_of(&mut plain)? != blob.digest {
            tracing::error!(event = "blob_damaged", path = %blob.path.display(), "stored content does not match its digest; it is left as it is");
            return Ok(false);
        }
        plain.rewind()?;
        let mut part = self.start()?;
        let mut buffer = vec![0; 128 * 1024];
        loop {
            match plain.read(&mut buffer)? {
                0 => break,
                read => part.add(&buffer[..read])?,
            }
        }
        part.keep(self).map_err(|fault| std::io::Error::other(fault.to_string()))?;
        File::open(self.path(blob.digest))?.set_modified(blob.changed)?;
        std::fs::remove_file(&blob.path)?;
        Ok(true)
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
            let name = file.file_name();
            let Some(name) = name.to_str() else { continue };
            let (name, sealed) = match name.strip_suffix(SEALED).and_then(|name| name.strip_suffix('.')) {
                Some(name) => (name, true),
                None => (name, false),
            };
            let Ok(digest) = name.parse() else { continue };
            let about = file.metadata()?;
            let changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let len = if sealed { sealed::content_len(about.len()) } else { about.len() };
            blobs.push(Held { digest, sealed, path: file.path(), len, changed });
        }
    }
    Ok(blobs)
}

#[derive(Debug)]
pub(super) struct Held {
    /// Of its bytes, or when it is sealed what stands for that.
    pub digest: Digest,
    pub sealed: bool,
    pub path: PathBuf,
    /// Of its content.
    pub len: u64,
    pub changed: SystemTime,
}

impl Held {
    /// Where the same blob is in another folder of blobs.
    pub(super) fn path_in(&self, root: &Path) -> PathBuf {
        let path = path_of(root, self.digest);
        if self.sealed { path.with_extension(SEALED) } else { path }
    }
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
        Box::pin(blocking(move || {
            let part = files.start().map_err(|error| from_io("make a blob", &error))?;
            Ok(Box::new(Writer { files, part: Some(part) }) as Box<dyn BlobWriter>)
        }))
    }

    fn info(&self, digest: Digest) -> Pending<'_, Option<BlobInfo>> {
        let files = self.clone();
        Box::pin(blocking(move || {
            let len = match &files.seal {
                None => plain_len(&files.path(digest))?,
                Some(seal) => seal.open(&files.root, digest)?.map(|opened| opened.len),
            };
            Ok(len.map(|len| BlobInfo { digest, len }))
        }))
    }

    fn read(&self, digest: Digest, offset: u64, limit: usize) -> Pending<'_, Bytes> {
        let files = self.clone();
        let missing = move || StoreFault::Missing(format!("blob {digest}").into());
        Box::pin(blocking(move || match &files.seal {
            Some(seal) => {
                let opened: Opened = seal.open(&files.root, digest)?.ok_or_else(missing)?;
                opened.read(offset, limit).map(Bytes::from)
            }
            None => read_piece(&files.path(digest), offset, limit).map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => missing(),
                _ => from_io("read a blob", &error),
            }),
        }))
    }

    fn retain(&self, bytes: u64) -> Pending<'_, u64> {
        let root = self.root.clone();
        Box::pin(blocking(move || remove_oldest(&root, bytes).map_err(|error| from_io("remove blobs", &error))))
    }
}

fn plain_len(path: &Path) -> Result<Option<u64>, StoreFault> {
    match path.metadata() {
        Ok(about) => Ok(Some(about.len())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(from_io("look at a blob", &error)),
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
        gone(&blob.path)?;
        total -= blob.len;
        removed += blob.len;
    }
    Ok(removed)
}

/// Removes a file, which somebody else may have done before.
fn gone(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// A blob under way. Its file goes when it is dropped before it was renamed.
struct Part {
    path: PathBuf,
    file: File,
    sealing: Option<Sealing>,
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
        match &mut self.sealing {
            None => self.file.write_all(bytes)?,
            Some(sealing) => sealing.add(&mut self.file, bytes)?,
        }
        self.context.update(bytes);
        self.len += bytes.len() as u64;
        Ok(())
    }

    fn keep(mut self, files: &BlobFiles) -> Result<BlobInfo, StoreFault> {
        let fail = |error| from_io("keep a blob", &error);
        let digest = finished(self.context.clone());
        let _named = files.naming.read().unwrap_or_else(PoisonError::into_inner);
        let read_back = match (&mut self.sealing, &files.seal) {
            (Some(sealing), Some(seal)) => {
                sealing.finish(&mut self.file, seal, digest, self.len).map_err(fail)?;
                self.file.sync_all().map_err(fail)?;
                sealed::read_back(&self.file, seal, digest)?
            }
            (Some(_), None) | (None, Some(_)) | (None, None) => {
                self.file.sync_all().map_err(fail)?;
                digest_of(&mut self.file).map_err(fail)?
            }
        };
        if read_back != digest {
            return Err(StoreFault::Damaged("a blob that was read back differs from what was written".into()));
        }
        self.name(&files.path(digest), &files.root).map_err(fail)?;
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
            let files = self.files.clone();
            blocking(move || part.keep(&files)).await
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
