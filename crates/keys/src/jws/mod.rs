//! JSON Web Signatures (RFC 7515): signs and verifies with ECDSA over P-256, Ed25519, and RSA.
//!
//! Deliberately absent: the source of others' keys, and the format of the signed content.

mod made;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{self, PublicKeyComponents};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
    VerificationAlgorithm,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use zeroize::Zeroizing;

/// A private key.
pub struct Signer {
    pair: Pair,
    public: PublicKey,
}

enum Pair {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

/// How it signs (RFC 7518, RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA over P-256 with SHA-256; a signature is 64 bytes.
    Es256,
    /// Ed25519.
    EdDsa,
    /// RSA, PKCS #1 v1.5, with SHA-256.
    Rs256,
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
        write!(f, "Signer({:?})", self.public)
    }
}

impl Signer {
    /// The first private key of a PEM text, as `openssl genpkey`, `openssl ecparam` and `openssl genrsa` write them; `None` when
    /// there is none of a kind known here.
    pub fn from_pem(text: &str) -> Option<Signer> {
        let text = in_lines(text);
        // Behind one that cannot be read another is not looked for: whoever wrote the first meant it.
        let keys = PrivateKeyDer::pem_slice_iter(text.as_bytes()).map_while(Result::ok).map(Zeroizing::new);
        let key = keys.min_by_key(|key| age(key))?;
        let der = key.secret_der();
        if let Ok(pair) = EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_FIXED_SIGNING, der) {
            let public = point(pair.public_key().as_ref())?;
            return Some(Signer { pair: Pair::P256(pair), public });
        }
        if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            let public = PublicKey::Ed25519 { x: pair.public_key().as_ref().to_vec() };
            return Some(Signer { pair: Pair::Ed25519(pair), public });
        }
        let pair = RsaKeyPair::from_pkcs8(der).or_else(|_| RsaKeyPair::from_der(der)).ok()?;
        let public = numbers(pair.public_key());
        Some(Signer { pair: Pair::Rsa(pair), public })
    }

    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    pub fn algorithm(&self) -> Algorithm {
        self.public.algorithm()
    }

    /// `None` when the random source failed.
    pub fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::P256(pair) => pair.sign(&random, message).ok().map(|signed| signed.as_ref().to_vec()),
            Pair::Ed25519(pair) => Some(pair.sign(message).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).ok()?;
                Some(signature)
            }
        }
    }
}

impl PublicKey {
    /// All keys of a PEM text; those of a kind not known here are left out.
    pub fn all_from_pem(text: &str) -> Vec<PublicKey> {
        let text = in_lines(text);
        let keys = SubjectPublicKeyInfoDer::pem_slice_iter(text.as_bytes()).filter_map(Result::ok);
        keys.filter_map(|der| PublicKey::from_der(&der)).collect()
    }

    /// A `SubjectPublicKeyInfo` (RFC 5280, section 4.1) of a kind known here. What stands at its end is the key itself.
    fn from_der(der: &[u8]) -> Option<PublicKey> {
        if is_key(&ED25519, der) {
            return der.last_chunk::<32>().map(|x| PublicKey::Ed25519 { x: x.to_vec() });
        }
        if is_key(&ECDSA_P256_SHA256_FIXED, der) {
            return der.last_chunk::<65>().and_then(|bytes| point(bytes));
        }
        let known = is_key(&RSA_PKCS1_2048_8192_SHA256, der);
        rsa::PublicKey::from_der(der).ok().filter(|_| known).map(|key| numbers(&key))
    }

    pub fn algorithm(&self) -> Algorithm {
        match self {
            PublicKey::P256 { .. } => Algorithm::Es256,
            PublicKey::Ed25519 { .. } => Algorithm::EdDsa,
            PublicKey::Rsa { .. } => Algorithm::Rs256,
        }
    }

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

/// Does the library read a key of this kind, and write it as it is here? It also reads bare keys and short spellings, which no
/// `SubjectPublicKeyInfo` holds.
fn is_key(kind: &'static dyn VerificationAlgorithm, der: &[u8]) -> bool {
    let read = ParsedPublicKey::new(kind, der).ok();
    let written = read.and_then(|key| -> Option<PublicKeyX509Der<'static>> { key.as_der().ok() });
    written.is_some_and(|written| written.as_ref() == der)
}

/// An uncompressed point: 4, then both coordinates.
fn point(bytes: &[u8]) -> Option<PublicKey> {
    let point = bytes.strip_prefix(&[4]).filter(|point| point.len() == 64)?;
    let (x, y) = point.split_at(32);
    Some(PublicKey::P256 { x: x.to_vec(), y: y.to_vec() })
}

fn numbers(key: &rsa::PublicKey) -> PublicKey {
    let PublicKeyComponents { n, e } = key.into();
    PublicKey::Rsa { n, e }
}

/// The form of a private key, the newest first: PKCS #8, and what was before it for each kind.
fn age(key: &PrivateKeyDer<'_>) -> u8 {
    match key {
        PrivateKeyDer::Pkcs8(_) => 0,
        PrivateKeyDer::Sec1(_) => 1,
        // PKCS #1, and whatever the library may come to know.
        _ => 2,
    }
}

/// The library wants labels on lines of their own, as RFC 7468 does. A variable of the environment often holds a key without them.
fn in_lines(text: &str) -> Zeroizing<String> {
    // Large enough from the beginning: what is moved to grow is not wiped.
    let mut lines = Zeroizing::new(String::with_capacity(3 * text.len()));
    for block in text.split("-----BEGIN ").skip(1) {
        let (label, rest) = block.split_once("-----").unwrap_or((block, ""));
        let (body, end) = rest.split_once("-----END ").unwrap_or((rest, ""));
        for piece in ["-----BEGIN ", label, "-----\n", body, "\n-----END ", end, "\n"] {
            lines.push_str(piece);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::{AsBigEndian, EcPrivateKeyBin, Pkcs8V1Der};
    use aws_lc_rs::rsa::KeySize;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    const PUBLIC: &str = "PUBLIC KEY";

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

    fn rsa() -> String {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key");
        let der: Pkcs8V1Der<'_> = pair.as_der().expect("its form");
        pem("PRIVATE KEY", der.as_ref())
    }

    #[test]
    fn a_41_a_key_in_pem_signs_what_its_public_half_verifies_and_nothing_else() {
        let [new, old] = p256();
        let kinds = [(ed25519(), Algorithm::EdDsa), (new, Algorithm::Es256), (old, Algorithm::Es256)];
        for (pem, algorithm) in kinds.into_iter().chain([(rsa(), Algorithm::Rs256)]) {
            let signer = Signer::from_pem(&pem).expect("a key");
            let signature = signer.sign(b"hello").expect("a signature");
            let public = signer.public();
            assert_eq!(signer.algorithm(), algorithm);
            let length = if algorithm == Algorithm::Rs256 { 256 } else { 64 };
            assert!(public.verifies(b"hello", &signature) && signature.len() == length, "{public:?}");
            assert!(!public.verifies(b"hellO", &signature) && !public.verifies(b"hello", &signature[1..]));
            let other = Signer::from_pem(&ed25519()).expect("a key");
            assert!(!other.public().verifies(b"hello", &signature));
        }
    }

    /// As `openssl pkey -pubout` writes them, one behind the other.
    #[test]
    fn a_41_public_keys_in_pem_are_those_of_the_signers() {
        let p256 = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
        let ed25519 = Ed25519KeyPair::generate().expect("a key");
        let rsa = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key");
        let ders: [PublicKeyX509Der<'_>; 3] = [
            p256.public_key().as_der().expect("its form"),
            ed25519.public_key().as_der().expect("its form"),
            rsa.public_key().as_der().expect("its form"),
        ];
        let text: String = ders.iter().map(|der| pem(PUBLIC, der.as_ref())).collect();
        let keys = PublicKey::all_from_pem(&text);
        assert_eq!(
            keys.iter().map(PublicKey::algorithm).collect::<Vec<_>>(),
            [Algorithm::Es256, Algorithm::EdDsa, Algorithm::Rs256]
        );
        let signature = p256.sign(&SystemRandom::new(), b"hello").expect("a signature");
        assert!(keys[0].verifies(b"hello", signature.as_ref()));
        assert!(keys[1].verifies(b"hello", ed25519.sign(b"hello").as_ref()));
        let mut signature = vec![0; 256];
        rsa.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), b"hello", &mut signature).expect("a signature");
        assert!(keys[2].verifies(b"hello", &signature));
        for length in 0..ders[2].as_ref().len() {
            assert!(PublicKey::from_der(&ders[2].as_ref()[..length]).is_none(), "{length} bytes of a key");
        }
        assert!(PublicKey::all_from_pem(&pem(PUBLIC, &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff])).is_empty());
    }

    /// The library also reads keys that are no `SubjectPublicKeyInfo`, or another spelling of one.
    #[test]
    fn a_41_a_public_key_is_read_in_one_spelling() {
        let p256 = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
        let ed25519 = Ed25519KeyPair::generate().expect("a key");
        let rsa = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key");
        let der: PublicKeyX509Der<'_> = ed25519.public_key().as_der().expect("its form");
        let longer = [der.as_ref(), &[0]].concat();
        let der: PublicKeyX509Der<'_> = p256.public_key().as_der().expect("its form");
        // The algorithm, then a point of which only one coordinate and the sign of the other are given.
        let (algorithm, x, y) = (&der.as_ref()[2..23], &der.as_ref()[27..59], der.as_ref()[90]);
        let compressed = [&[0x30, 0x39], algorithm, &[0x03, 0x22, 0x00, 2 + (y & 1)], x].concat();
        assert!(ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &compressed).is_ok(), "the library reads it");
        let bare = [p256.public_key().as_ref(), ed25519.public_key().as_ref(), rsa.public_key().as_ref()];
        for der in bare.into_iter().chain([&compressed[..], &longer]) {
            assert!(PublicKey::from_der(der).is_none(), "{} bytes", der.len());
        }
    }

    /// A variable of the environment, or a line of a file, without the breaks of the lines.
    #[test]
    fn a_key_in_one_line_is_read() {
        let key = ed25519();
        let expected = Signer::from_pem(&key).expect("a key").public().clone();
        let before = "-----BEGIN EC PARAMETERS-----BggqhkjOPQMBBw==-----END EC PARAMETERS-----";
        for spelled in [
            key.replace('\n', " "),
            key.replace('\n', "\r\n"),
            key.replace('\n', "\n    "),
            format!("  text {}", key.replace('\n', "")),
            format!("{before}{}", key.replace('\n', "")),
        ] {
            assert_eq!(Signer::from_pem(&spelled).expect("a key").public(), &expected, "{spelled}");
        }
    }

    #[test]
    fn a_broken_private_key_is_none_and_a_broken_public_one_hides_no_other() {
        let broken = pem("PRIVATE KEY", b"x").replace('=', "!");
        assert!(Signer::from_pem(&format!("{broken}{}", ed25519())).is_none());
        assert!(Signer::from_pem(&format!("{}{broken}", ed25519())).is_some());
        let ed25519 = Ed25519KeyPair::generate().expect("a key");
        let der: PublicKeyX509Der<'_> = ed25519.public_key().as_der().expect("its form");
        let text = format!("{}{}", pem(PUBLIC, b"x").replace('=', "!"), pem(PUBLIC, der.as_ref()));
        assert_eq!(PublicKey::all_from_pem(&text).len(), 1);
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
