//! Key sources: a text (from the environment or the configuration), a file, or the data directory, where a key is generated the first time.
//!
//! The text holds keys of 32 bytes, each in base64 or in 64 hexadecimal digits, separated by commas, spaces or lines; the first one seals.
//! In a file, lines that begin with `#` are comments; `# made TIME` is the creation time of the next key.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use aws_lc_rs::rand;
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use zeroize::Zeroizing;

use super::{Keyring, Master, SealFault};

/// The file in a data directory.
pub const FILE: &str = "keys";
/// More keys than this were never taken out after a rotation.
const MOST: usize = 64;

pub(super) const FIRST_LINE: &str = "interlingua wrapped keys 1\n";

/// Whether a text is that of a wrapped ring.
pub(super) fn is_wrapped_text(text: &str) -> bool {
    text.starts_with(FIRST_LINE)
}

/// Why there is no ring.
#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    #[error("no key given")]
    None,
    #[error("key {0} is not 32 bytes in base64 or hexadecimal")]
    Malformed(usize),
    #[error("more than {MOST} keys")]
    TooMany,
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{}: {fault}", .path.display())]
    InFile { path: PathBuf, fault: Box<KeyFault> },
    #[error("these keys are wrapped by another key, which was not given")]
    Wrapped,
    #[error("these keys are wrapped by key {0}, which is not the one that was given")]
    NotOpened(String),
    #[error("these keys were wrapped by another hub, or altered")]
    Altered,
    #[error(transparent)]
    Crypto(#[from] SealFault),
}

impl Keyring {
    /// From text: the first key seals.
    pub fn from_text(text: &str) -> Result<Keyring, KeyFault> {
        let mut masters = Vec::new();
        let mut made = None;
        for line in text.lines().map(str::trim) {
            if let Some(remark) = line.strip_prefix('#') {
                made = remark.trim().strip_prefix("made ").map(Box::from);
                continue;
            }
            for word in line.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
                if masters.len() == MOST {
                    return Err(KeyFault::TooMany);
                }
                let key = decode(word).ok_or(KeyFault::Malformed(masters.len() + 1))?;
                masters.push(Master::new(key, made.take())?);
            }
        }
        let mut masters = masters.into_iter();
        let newest = masters.next().ok_or(KeyFault::None)?;
        Ok(Keyring::new(newest, masters.collect()))
    }

    pub fn from_file(path: &Path) -> Result<Keyring, KeyFault> {
        let text = Zeroizing::new(std::fs::read_to_string(path).map_err(io("read", path))?);
        let mode = path.metadata().map_err(io("look at", path))?.permissions().mode();
        if mode & 0o077 != 0 {
            tracing::warn!(event = "keys_open", path = %path.display(), "other users of this machine can read the keys");
        }
        let ring = if is_wrapped_text(&text) { Err(KeyFault::Wrapped) } else { Keyring::from_text(&text) };
        ring.map_err(|fault| fault.in_file(path))
    }

    /// The keys of a data directory; one is made, for its owner alone, when there is none.
    pub fn from_directory(dir: &Path) -> Result<Keyring, KeyFault> {
        let path = dir.join(FILE);
        if !path.exists() {
            write_whole(&path, &with_new("")?)?;
        }
        Keyring::from_file(&path)
    }

    /// Puts a new key before those of a data directory and returns the ring that seals with it.
    pub fn rotate(dir: &Path) -> Result<Keyring, KeyFault> {
        let path = dir.join(FILE);
        put_new(&path)?;
        Keyring::from_file(&path)
    }

    /// Takes all keys but the newest out of a data directory and returns the ring that is left.
    pub fn keep_newest(dir: &Path) -> Result<Keyring, KeyFault> {
        let path = dir.join(FILE);
        let text = read_if_there(&path)?.unwrap_or_default();
        if is_wrapped_text(&text) {
            return Err(KeyFault::Wrapped.in_file(&path));
        }
        let newest = newest_of(&text);
        let ring = Keyring::from_text(&newest).map_err(|fault| fault.in_file(&path))?;
        write_whole(&path, &newest)?;
        Ok(ring)
    }
}

/// The newest key of a text, with the remark before it.
pub(super) fn newest_of(text: &str) -> Zeroizing<String> {
    let mut newest = Zeroizing::new(String::with_capacity(text.len() + 1));
    for line in text.lines().map(str::trim) {
        let remark = line.starts_with('#');
        let kept = if remark { Some(line) } else { line.split([',', ' ', '\t']).find(|word| !word.is_empty()) };
        if let Some(kept) = kept {
            newest.push_str(kept);
            newest.push('\n');
        }
        if !remark && kept.is_some() {
            break;
        }
    }
    newest
}

/// Puts a new key before those of a file, which is made when there is none, and returns how many it then holds. Nothing is
/// written unless the result is a list of keys.
pub fn put_new(path: &Path) -> Result<usize, KeyFault> {
    let old = read_if_there(path)?.unwrap_or_default();
    if is_wrapped_text(&old) {
        return Err(KeyFault::Wrapped.in_file(path));
    }
    let text = with_new(&old)?;
    let ring = Keyring::from_text(&text).map_err(|fault| fault.in_file(path))?;
    write_whole(path, &text)?;
    Ok(ring.keys().len())
}

impl KeyFault {
    pub(super) fn in_file(self, path: &Path) -> KeyFault {
        KeyFault::InFile { path: path.to_owned(), fault: Box::new(self) }
    }
}

pub(super) fn read_if_there(path: &Path) -> Result<Option<Zeroizing<String>>, KeyFault> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(Zeroizing::new(text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io("read", path)(error)),
    }
}

/// A new key, when it was made, and then `older`.
pub(super) fn with_new(older: &str) -> Result<Zeroizing<String>, KeyFault> {
    let mut key = Zeroizing::new([0_u8; 32]);
    rand::fill(&mut *key).map_err(|_| SealFault::Random)?;
    let made = jiff::Timestamp::now().strftime("# made %Y-%m-%dT%H:%M:%SZ\n").to_string();
    // With room for all of it: a text that grows leaves copies of itself behind.
    let mut text = Zeroizing::new(String::with_capacity(made.len() + 64 + older.len()));
    text.push_str(&made);
    let encoded = Zeroizing::new(base64::engine::general_purpose::STANDARD.encode(*key));
    text.push_str(&encoded);
    text.push('\n');
    text.push_str(older);
    Ok(text)
}

/// Replaces the file, whole or not at all, for its owner alone.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<(), KeyFault> {
    let part = path.with_extension("new");
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&part, path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    };
    write().map_err(io("write", path))
}

fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> KeyFault {
    let path = path.to_owned();
    move |source| KeyFault::Io { doing, path, source }
}

/// Padding is optional: people copy keys without it.
fn lenient(alphabet: &alphabet::Alphabet) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(alphabet, config)
}

fn decode(word: &str) -> Option<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0; 32]);
    if hex::decode_to_slice(word, &mut *key).is_ok() {
        return Some(key);
    }
    let alphabets = [alphabet::STANDARD, alphabet::URL_SAFE];
    let bytes = Zeroizing::new(alphabets.iter().find_map(|alphabet| lenient(alphabet).decode(word).ok())?);
    bytes.as_slice().try_into().ok().map(Zeroizing::new)
}
