//! A key that signs for the hub where it shows who it is by a signature: PKCS #8 in PEM, P-256 or RSA.
//!
//! Deliberately absent: making keys, and any form of what is signed.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// Which of the two it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SigningAlgorithm {
    /// ECDSA over P-256 with SHA-256; a signature is 64 bytes.
    Es256,
    /// RSA, PKCS #1 v1.5, with SHA-256.
    Rs256,
}

pub struct SigningKey(Pair);

enum Pair {
    Ec(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey({:?})", self.algorithm())
    }
}

impl SigningKey {
    /// The first private key of a PEM text; `None` when there is none of a kind that is known.
    pub fn from_pem(text: &str) -> Option<SigningKey> {
        let der = private_key(text)?;
        let ec = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der).map(Pair::Ec);
        ec.or_else(|_| RsaKeyPair::from_pkcs8(&der).map(Pair::Rsa)).ok().map(SigningKey)
    }

    pub fn algorithm(&self) -> SigningAlgorithm {
        match self.0 {
            Pair::Ec(_) => SigningAlgorithm::Es256,
            Pair::Rsa(_) => SigningAlgorithm::Rs256,
        }
    }

    /// `None` when the random source failed.
    pub fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match &self.0 {
            Pair::Ec(pair) => pair.sign(&random, message).ok().map(|signature| signature.as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).ok()?;
                Some(signature)
            }
        }
    }
}

/// What stands between the lines of RFC 7468, decoded.
fn private_key(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let (_, rest) = text.split_once("-----BEGIN PRIVATE KEY-----")?;
    let (body, _) = rest.split_once("-----END PRIVATE KEY-----")?;
    let body: Zeroizing<String> = Zeroizing::new(body.split_whitespace().collect());
    STANDARD.decode(body.as_bytes()).ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, KeyPair, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_key_in_pem_signs_and_cannot_be_printed() {
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let pkcs8 = pkcs8.expect("a key");
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(&pkcs8));
        let key = SigningKey::from_pem(&pem).expect("a key");
        assert_eq!(key.algorithm(), SigningAlgorithm::Es256);
        let signature = key.sign(b"hello").expect("a signature");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref()).expect("a key");
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref());
        assert!(public.verify(b"hello", &signature).is_ok() && signature.len() == 64);
        assert_eq!(format!("{key:?}"), "SigningKey(Es256)");
        for bad in
            ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", &pem.replace("PRIVATE", "PUBLIC")]
        {
            assert!(SigningKey::from_pem(bad).is_none(), "{bad}");
        }
    }
}
