//! Key rotation of blobs: files that an older key of the ring sealed get a new head and a new name under the newest key, with the same
//! pieces.
//!
//! The file is copied, synced and renamed before the old one is removed. A crash in between leaves both files, and the next run repeats the
//! old one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use aws_lc_rs::digest::{Context, SHA256};
use interlingua_model::ports::StoreFault;

use super::super::directory;
use super::super::fault::from_io;
use super::sealed::{self, BODY, BlobSeal};
use super::{BlobFiles, Held, Part, TMP, blocking, gone, held};
use interlingua_keys::sealed_by;

impl BlobFiles {
    /// How many files each key seals.
    pub(in super::super) async fn sealed_by(&self) -> Result<BTreeMap<String, u64>, StoreFault> {
        let files = self.clone();
        blocking(move || {
            let mut counts = BTreeMap::new();
            for blob in files.sealed_files()? {
                let Ok(file) = File::open(&blob.path) else { continue };
                if let Some(id) = sealed::sealed_head(&file).ok().and_then(|head| sealed_by(&head)) {
                    *counts.entry(id).or_default() += 1;
                }
            }
            Ok(counts)
        })
        .await
    }

    /// Puts every file under the newest key; how many were not.
    pub(in super::super) async fn reseal(&self) -> Result<u64, StoreFault> {
        let files = self.clone();
        let mut renewed = 0;
        let all = blocking(move || {
            // What was sealed by an older key and has no name yet gets it first.
            drop(files.naming.write().unwrap_or_else(PoisonError::into_inner));
            files.sealed_files()
        });
        for blob in all.await? {
            let files = self.clone();
            renewed += u64::from(blocking(move || files.renew(&blob)).await?);
        }
        Ok(renewed)
    }

    fn sealed_files(&self) -> Result<Vec<Held>, StoreFault> {
        let all = held(&self.root).map_err(|error| from_io("list blobs", &error))?;
        Ok(all.into_iter().filter(|blob| blob.sealed).collect())
    }

    fn renew(&self, blob: &Held) -> Result<bool, StoreFault> {
        let Some(seal) = &self.seal else { return Ok(false) };
        // Retention may have removed it meanwhile.
        let Ok(old) = File::open(&blob.path) else { return Ok(false) };
        self.renew_file(seal, blob, old)
    }

    fn renew_file(&self, seal: &BlobSeal, blob: &Held, mut old: File) -> Result<bool, StoreFault> {
        let Some((head, path)) = seal.renewed(&self.root, &old, blob.digest)? else { return Ok(false) };
        // A key that was made between a file's head and its name leaves it with an old head under its new name.
        let stays = path == blob.path;
        if !stays && path.exists() {
            // The same content was stored again meanwhile.
            gone(&blob.path).map_err(|error| from_io("remove a blob", &error))?;
            return Ok(true);
        }
        let mut copied = || {
            let tmp = self.root.join(TMP).join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
            let file = directory::private_file(&tmp)?;
            let mut part = Part { path: tmp, file, sealing: None, context: Context::new(&SHA256), len: 0 };
            part.file.write_all(&head)?;
            old.seek(SeekFrom::Start(BODY))?;
            std::io::copy(&mut old, &mut part.file)?;
            part.file.set_modified(blob.changed)?;
            part.file.sync_all()?;
            part.name(&path, &self.root)?;
            if stays { Ok(()) } else { gone(&blob.path) }
        };
        copied().map_err(|error| from_io("seal a blob anew", &error))?;
        Ok(true)
    }
}
