//! As much of DER (X.690) as public keys are written in.

use super::PublicKey;

const INTEGER: u8 = 0x02;
const BITS: u8 = 0x03;
const OBJECT: u8 = 0x06;
const SEQUENCE: u8 = 0x30;

const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

/// A `SubjectPublicKeyInfo` (RFC 5280, section 4.1) of a kind known here.
pub(super) fn public_key(der: &[u8]) -> Option<PublicKey> {
    let mut info = Values(Values(der).take(SEQUENCE)?);
    let mut algorithm = Values(info.take(SEQUENCE)?);
    // The first byte says how many bits at the end do not count: none, in a key.
    let key = info.take(BITS)?.strip_prefix(&[0])?;
    match algorithm.take(OBJECT)? {
        EC if algorithm.take(OBJECT)? == P256 => point(key),
        ED25519 if key.len() == 32 => Some(PublicKey::Ed25519 { x: key.to_vec() }),
        RSA => rsa(key),
        _ => None,
    }
}

/// An uncompressed point: 4, then both coordinates.
pub(super) fn point(bytes: &[u8]) -> Option<PublicKey> {
    let point = bytes.strip_prefix(&[4]).filter(|point| point.len() == 64)?;
    let (x, y) = point.split_at(32);
    Some(PublicKey::P256 { x: x.to_vec(), y: y.to_vec() })
}

/// An `RSAPublicKey` (RFC 8017, appendix A.1.1).
pub(super) fn rsa(der: &[u8]) -> Option<PublicKey> {
    let mut numbers = Values(Values(der).take(SEQUENCE)?);
    let (n, e) = (numbers.take(INTEGER)?, numbers.take(INTEGER)?);
    // A zero in front keeps a number positive.
    let number = |bytes: &[u8]| bytes.strip_prefix(&[0]).unwrap_or(bytes).to_vec();
    Some(PublicKey::Rsa { n: number(n), e: number(e) })
}

/// Values, one behind the other.
struct Values<'a>(&'a [u8]);

impl<'a> Values<'a> {
    /// The content of the next one, if it is of this kind.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let rest = self.0.strip_prefix(&[tag])?;
        let (&first, rest) = rest.split_first()?;
        // Up to 127 bytes are counted in the first byte; of more it says how many bytes do.
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81 | 0x82 => {
                let (count, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (count.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(value)
    }
}
