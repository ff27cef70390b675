//! Generated signing key of the hub.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::Ed25519KeyPair;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::Signer;
use crate::SealFault;

impl Signer {
    /// A new Ed25519 key, in PEM.
    pub fn new_pem() -> Result<Zeroizing<String>, SealFault> {
        let der = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).map_err(|_| SealFault::Random)?;
        let body = Zeroizing::new(STANDARD.encode(der.as_ref()));
        Ok(Zeroizing::new(format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", *body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_made_is_read_and_is_no_other() {
        let made = [Signer::new_pem().expect("made"), Signer::new_pem().expect("made")];
        let [one, other] = made.each_ref().map(|pem| Signer::from_pem(pem).expect("a key"));
        assert_ne!(one.public(), other.public());
        assert_eq!(Signer::from_pem(&made[0]).expect("a key").public(), one.public());
    }
}
