//! Owner token: generated once, stored in a file of the data directory that only its owner may read, and replaced by a rotation only.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use interlingua_model::Secret;
use zeroize::Zeroizing;

use crate::TOKEN_PREFIX;
use interlingua_hub::entropy;

/// The file's name, beside the database.
pub const FILE: &str = "token";
/// What nobody but the file's owner may have of it.
const OTHERS: u32 = 0o077;
/// No token is longer.
const LONGEST: u64 = 1024;

/// The token that is there, else a new one.
pub fn kept(data: &Path) -> std::io::Result<Secret> {
    let path = data.join(FILE);
    match read(&path) {
        Ok(token) => {
            close_to_others(&path)?;
            Ok(Secret::new(token.as_bytes()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => renewed(data),
        Err(error) => Err(error),
    }
}

/// A new one in its place, whole or not at all.
pub fn renewed(data: &Path) -> std::io::Result<Secret> {
    let token = Zeroizing::new(format!("{TOKEN_PREFIX}{:032x}{:032x}", entropy::bits(), entropy::bits()));
    let part = data.join("token.new");
    // What a crash left there: the hub holds the directory alone.
    match std::fs::remove_file(&part) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
    file.write_all(token.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&part, data.join(FILE))?;
    File::open(data)?.sync_all()?;
    Ok(Secret::new(token.as_bytes()))
}

/// What the file says. What is no token is not taken for one: an empty credential would be anybody's.
pub fn read(path: &Path) -> std::io::Result<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::new());
    File::open(path)?.take(LONGEST).read_to_string(&mut text)?;
    let token = text.trim();
    let secret = token.strip_prefix(TOKEN_PREFIX).unwrap_or_default();
    if secret.len() < 32 || !secret.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(std::io::Error::new(ErrorKind::InvalidData, "it holds no token; remove it, and a new one is made"));
    }
    Ok(Zeroizing::new(token.to_owned()))
}

/// Somebody may have opened the file. Who read it then has the token still.
fn close_to_others(path: &Path) -> std::io::Result<()> {
    let mode = std::fs::metadata(path)?.permissions().mode();
    if mode & OTHERS != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
        tracing::warn!(event = "owner_token_open", file = %path.display(), "other users could read the Owner's token; replace it with `interlingua keys rotate --owner-token`");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_once_and_what_is_no_token_is_refused() {
        let data = tempfile::tempdir().expect("a directory");
        let first = kept(data.path()).expect("made");
        assert_eq!(kept(data.path()).expect("kept").value(), first.value());
        let renewed = renewed(data.path()).expect("made");
        assert_ne!(renewed.value(), first.value());
        assert_eq!(kept(data.path()).expect("kept").value(), renewed.value());
        for text in ["", "ilg_", "secret", "ilg_ 00000000000000000000000000000000000"] {
            std::fs::write(data.path().join(FILE), text).expect("written");
            assert_eq!(kept(data.path()).expect_err("no token").kind(), ErrorKind::InvalidData, "{text:?}");
        }
    }
}
