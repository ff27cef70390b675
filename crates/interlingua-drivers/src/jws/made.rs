//! A key of the hub's own: made once, kept in a file of its data directory for its user alone.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::Ed25519KeyPair;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::Signer;
use crate::keys::{KeyFault, SealFault};

impl Signer {
    /// The Ed25519 key in a file of a data directory; one is made when there is none.
    pub fn of_directory(dir: &Path, name: &str) -> Result<Signer, KeyFault> {
        let path = dir.join(name);
        let io = |doing| {
            let path = path.clone();
            move |source| KeyFault::Io { doing, path, source }
        };
        if !path.exists() {
            let der = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).map_err(|_| SealFault::Random)?;
            let body = Zeroizing::new(STANDARD.encode(der.as_ref()));
            let text = Zeroizing::new(format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", *body));
            write_new(&path, &text).map_err(io("write"))?;
        }
        let text = Zeroizing::new(std::fs::read_to_string(&path).map_err(io("read"))?);
        let none = || KeyFault::InFile { path: path.clone(), fault: Box::new(KeyFault::None) };
        Signer::from_pem(&text).ok_or_else(none)
    }
}

/// Whole or not at all.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let part = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&part, path)?;
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_for_its_user_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let made = Signer::of_directory(directory.path(), "own.pem").expect("made");
        let again = Signer::of_directory(directory.path(), "own.pem").expect("read");
        assert_eq!(made.public(), again.public());
        let path = directory.path().join("own.pem");
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "nothing").expect("written");
        assert!(Signer::of_directory(directory.path(), "own.pem").is_err());
    }
}
