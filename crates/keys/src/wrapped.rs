//! Envelope encryption (key wrapping): the ring's file is sealed by an outer key that is stored elsewhere. A copy of the data directory
//! alone cannot be decrypted.
//!
//! The file is a line that names this format, then in base64 the ring's text sealed by the outer key. The outer key may be a list, like
//! every ring: the first key wraps, the others still open. It is changed in steps, each of which survives a crash: add a new outer key
//! before the old one, wrap the file again (in one rename), remove the old key.
//!
//! The sealed text also says whether everything in the directory has been sealed. This flag is in the file and not in the database, so that
//! nobody without the outer key can make the store accept values that are not sealed.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::load::{FILE, FIRST_LINE, is_wrapped_text, newest_of, read_if_there, with_new, write_whole};
use super::{ID, KeyFault, KeyInfo, Keyring, SealFault};

const PURPOSE: &str = "wrapped keys";
const MIXED: u8 = 0;
const SEALED: u8 = 1;

/// The outer key.
#[derive(Debug)]
pub struct Wrapping {
    outer: Keyring,
}

/// A ring, and how far the directory it belongs to is sealed with it.
#[derive(Debug)]
pub struct Unwrapped {
    pub ring: Keyring,
    /// Everything is: what is not was put there by somebody else.
    pub sealed: bool,
}

/// What is in the file.
struct Content {
    sealed: bool,
    text: Zeroizing<String>,
    /// Wrapped by the outer key that wraps now.
    fresh: bool,
}

/// Whether the ring of a data directory is there and wrapped.
pub fn is_wrapped(dir: &Path) -> Result<bool, KeyFault> {
    Ok(read_if_there(&dir.join(FILE))?.is_some_and(|text| is_wrapped_text(&text)))
}

/// The wrapped ring of a data directory as text, for a store that keeps it with the data; `None` when it is not wrapped.
pub fn wrapped_text(dir: &Path) -> Result<Option<String>, KeyFault> {
    Ok(read_if_there(&dir.join(FILE))?.filter(|text| is_wrapped_text(text)).map(|text| text.to_string()))
}

/// Puts a wrapped ring, which was kept elsewhere, into a data directory. Whoever can write there must not be able to bring keys
/// of their own: text that is not wrapped is refused.
pub fn put_wrapped(dir: &Path, text: &str) -> Result<(), KeyFault> {
    if !is_wrapped_text(text) {
        return Err(KeyFault::Altered);
    }
    write_whole(&dir.join(FILE), text)
}

impl Wrapping {
    /// From text, as for a ring.
    pub fn from_text(text: &str) -> Result<Wrapping, KeyFault> {
        Ok(Wrapping { outer: Keyring::from_text(text)? })
    }

    /// The outer keys, the one that wraps first.
    pub fn keys(&self) -> Vec<KeyInfo> {
        self.outer.keys()
    }

    /// The ring of a data directory, which is made when there is none. A file that was wrapped by an older outer key is
    /// wrapped anew; one that was not wrapped is, with a new key before those that lay there for everybody to read.
    pub fn open(&self, dir: &Path) -> Result<Unwrapped, KeyFault> {
        let path = dir.join(FILE);
        let content = match read_if_there(&path)? {
            Some(text) if is_wrapped_text(&text) => self.unwrap(&text).map_err(|fault| fault.in_file(&path))?,
            plain => Content { sealed: false, text: with_new(&plain.unwrap_or_default())?, fresh: false },
        };
        let ring = Keyring::from_text(&content.text).map_err(|fault| fault.in_file(&path))?;
        if !content.fresh {
            self.write(&path, content.sealed, &content.text)?;
        }
        Ok(Unwrapped { ring, sealed: content.sealed })
    }

    /// Whether this opens the ring of a data directory, and everything there is sealed. Nothing is changed.
    pub fn opens(&self, dir: &Path) -> Result<bool, KeyFault> {
        self.read(&dir.join(FILE)).map(|content| content.sealed)
    }

    /// Puts a new key before those of a data directory and returns the ring that seals with it.
    pub fn rotate(&self, dir: &Path) -> Result<Keyring, KeyFault> {
        let path = dir.join(FILE);
        let content = self.read(&path)?;
        let text = with_new(&content.text)?;
        let ring = Keyring::from_text(&text).map_err(|fault| fault.in_file(&path))?;
        self.write(&path, content.sealed, &text)?;
        Ok(ring)
    }

    /// Takes all keys but the newest out of a data directory and returns the ring that is left.
    pub fn keep_newest(&self, dir: &Path) -> Result<Keyring, KeyFault> {
        let path = dir.join(FILE);
        let content = self.read(&path)?;
        let text = newest_of(&content.text);
        let ring = Keyring::from_text(&text).map_err(|fault| fault.in_file(&path))?;
        self.write(&path, content.sealed, &text)?;
        Ok(ring)
    }

    /// From now on everything in the directory is sealed.
    pub fn settle(&self, dir: &Path) -> Result<(), KeyFault> {
        let path = dir.join(FILE);
        let content = self.read(&path)?;
        self.write(&path, true, &content.text)
    }

    fn read(&self, path: &Path) -> Result<Content, KeyFault> {
        let text = read_if_there(path)?.filter(|text| is_wrapped_text(text)).ok_or(KeyFault::None);
        text.and_then(|text| self.unwrap(&text)).map_err(|fault| fault.in_file(path))
    }

    fn unwrap(&self, text: &str) -> Result<Content, KeyFault> {
        let body = text.strip_prefix(FIRST_LINE).ok_or(KeyFault::Altered)?;
        let wrapped = STANDARD.decode(body.trim_end()).map_err(|_| KeyFault::Altered)?;
        let opened = self.outer.open(PURPOSE, b"", &wrapped).map_err(|fault| match fault {
            SealFault::UnknownKey => KeyFault::NotOpened(hex::encode(&wrapped[1..=ID])),
            SealFault::Forged => KeyFault::Altered,
            SealFault::Random => KeyFault::Crypto(fault),
        })?;
        let (&state, text) = opened.split_first().ok_or(KeyFault::Altered)?;
        let text = std::str::from_utf8(text).map_err(|_| KeyFault::Altered)?;
        let fresh = !self.outer.is_stale(&wrapped);
        Ok(Content { sealed: state == SEALED, text: Zeroizing::new(text.to_owned()), fresh })
    }

    fn write(&self, path: &Path, sealed: bool, text: &str) -> Result<(), KeyFault> {
        let mut plain = Zeroizing::new(Vec::with_capacity(1 + text.len()));
        plain.push(if sealed { SEALED } else { MIXED });
        plain.extend_from_slice(text.as_bytes());
        let wrapped = self.outer.seal(PURPOSE, b"", &plain)?;
        write_whole(path, &format!("{FIRST_LINE}{}\n", STANDARD.encode(wrapped)))
    }
}
