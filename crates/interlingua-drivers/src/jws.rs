//! Signatures that others verify: ECDSA over P-256 and Ed25519 to sign and to verify, RSA to verify.
//!
//! Deliberately absent: making keys, where keys come from, and any form of what is signed.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// A private key.
pub struct Signer(Pair);

enum Pair {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// What others need to verify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublicKey {
    P256 { x: Vec<u8>, y: Vec<u8> },
    Ed25519 { x: Vec<u8> },
    Rsa { n: Vec<u8>, e: Vec<u8> },
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer({:?})", self.public())
    }
}

impl Signer {
    /// The first private key of a PEM text, as `openssl genpkey` and `openssl ecparam` write them; `None` when there is none of
    /// a kind known here.
    pub fn from_pem(text: &str) -> Option<Signer> {
        let der = private_key(text)?;
        if let Ok(pair) = EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_FIXED_SIGNING, &der) {
            return Some(Signer(Pair::P256(pair)));
        }
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok().map(Pair::Ed25519).map(Signer)
    }

    pub fn public(&self) -> PublicKey {
        match &self.0 {
            Pair::P256(pair) => {
                // 4, then both coordinates.
                let point = pair.public_key().as_ref().get(1..).unwrap_or_default();
                let (x, y) = point.split_at_checked(32).unwrap_or_default();
                PublicKey::P256 { x: x.to_vec(), y: y.to_vec() }
            }
            Pair::Ed25519(pair) => PublicKey::Ed25519 { x: pair.public_key().as_ref().to_vec() },
        }
    }

    /// `None` when the random source failed.
    pub fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        match &self.0 {
            Pair::P256(pair) => pair.sign(&SystemRandom::new(), message).ok().map(|signed| signed.as_ref().to_vec()),
            Pair::Ed25519(pair) => Some(pair.sign(message).as_ref().to_vec()),
        }
    }
}

impl PublicKey {
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            PublicKey::P256 { x, y } => {
                let point = [&[4], x.as_slice(), y.as_slice()].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
            PublicKey::Ed25519 { x } => UnparsedPublicKey::new(&ED25519, x).verify(message, signature).is_ok(),
            PublicKey::Rsa { n, e } => {
                PublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
            }
        }
    }
}

/// What stands between the lines of RFC 7468, decoded.
fn private_key(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let body = ["PRIVATE KEY", "EC PRIVATE KEY"].into_iter().find_map(|label| {
        let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
        rest.split_once(&format!("-----END {label}-----")).map(|(body, _)| body)
    })?;
    let body: Zeroizing<String> = Zeroizing::new(body.split_whitespace().collect());
    STANDARD.decode(body.as_bytes()).ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::{AsBigEndian, EcPrivateKeyBin};

    use super::*;

    fn pem(label: &str, der: &[u8]) -> String {
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
    }

    fn ed25519() -> String {
        let der = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).expect("a key");
        pem("PRIVATE KEY", der.as_ref())
    }

    /// In the form of PKCS #8, and in the older one (RFC 5915).
    fn p256() -> [String; 2] {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
        let secret: EcPrivateKeyBin<'_> = pair.private_key().as_be_bytes().expect("its number");
        let mut old = vec![0x30, 0x77, 2, 1, 1, 4, 0x20];
        old.extend_from_slice(secret.as_ref());
        old.extend_from_slice(&[0xa0, 0x0a, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7, 0xa1, 0x44, 3, 0x42, 0]);
        old.extend_from_slice(pair.public_key().as_ref());
        let new = pair.to_pkcs8v1().expect("its form");
        [pem("PRIVATE KEY", new.as_ref()), pem("EC PRIVATE KEY", &old)]
    }

    #[test]
    fn a_41_a_key_in_pem_signs_what_its_public_half_verifies_and_nothing_else() {
        let [new, old] = p256();
        for pem in [ed25519(), new, old] {
            let signer = Signer::from_pem(&pem).expect("a key");
            let signature = signer.sign(b"hello").expect("a signature");
            let public = signer.public();
            assert!(public.verifies(b"hello", &signature) && signature.len() == 64, "{public:?}");
            assert!(!public.verifies(b"hellO", &signature) && !public.verifies(b"hello", &signature[1..]));
            let other = Signer::from_pem(&ed25519()).expect("a key");
            assert!(!other.public().verifies(b"hello", &signature));
        }
    }

    #[test]
    fn what_is_no_key_is_none_and_none_is_printed() {
        let short = PublicKey::P256 { x: vec![1], y: vec![2] };
        assert!(!short.verifies(b"hello", &[0; 64]));
        assert!(!PublicKey::Rsa { n: vec![], e: vec![] }.verifies(b"hello", &[0; 256]));
        let key = ed25519();
        for text in ["", &pem("PRIVATE KEY", &[0; 3]), &key.replace("PRIVATE", "PUBLIC")] {
            assert!(Signer::from_pem(text).is_none(), "{text}");
        }
        let shown = format!("{:?}", Signer::from_pem(&key).expect("a key"));
        assert!(shown.starts_with("Signer(Ed25519 { x: [") && !key.contains(&shown));
    }
}
