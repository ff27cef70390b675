//! MD5 (RFC 1321), because the transfer of files names it. It detects damage, nothing more: no right rests on it.

/// How far each round turns.
const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

#[derive(Debug, Clone)]
pub(super) struct Md5 {
    state: [u32; 4],
    /// What does not fill a block yet.
    rest: Vec<u8>,
    length: u64,
}

impl Md5 {
    pub(super) fn new() -> Md5 {
        Md5 { state: [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476], rest: Vec::with_capacity(64), length: 0 }
    }

    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        if !self.rest.is_empty() {
            let missing = (64 - self.rest.len()).min(bytes.len());
            self.rest.extend_from_slice(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.rest.len() < 64 {
                return;
            }
            let block = std::mem::take(&mut self.rest);
            self.block(&block);
        }
        let mut blocks = bytes.chunks_exact(64);
        for block in &mut blocks {
            self.block(block);
        }
        self.rest.extend_from_slice(blocks.remainder());
    }

    pub(super) fn hex(mut self) -> String {
        let bits = self.length.wrapping_mul(8);
        self.update(&[0x80]);
        while self.rest.len() != 56 {
            self.update(&[0]);
        }
        self.update(&bits.to_le_bytes());
        self.state.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
    }

    fn block(&mut self, block: &[u8]) {
        let mut words = [0_u32; 16];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let [mut a, mut b, mut c, mut d] = self.state;
        for i in 0..64 {
            let round = i / 16;
            let (mixed, word) = match round {
                0 => ((b & c) | (!b & d), i),
                1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), (7 * i) % 16),
            };
            let sum = a.wrapping_add(mixed).wrapping_add(sine(i)).wrapping_add(words[word]);
            let turned = sum.rotate_left(TURNS[round][i % 4]);
            (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
        }
        for (state, value) in self.state.iter_mut().zip([a, b, c, d]) {
            *state = state.wrapping_add(value);
        }
    }
}

/// The table of the specification: the whole part of 2^32 times the sine of i + 1, taken without its sign.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn sine(i: usize) -> u32 {
    (((i + 1) as f64).sin().abs() * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suite_of_the_specification() {
        for (text, hex) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            let mut whole = Md5::new();
            whole.update(text.as_bytes());
            assert_eq!(whole.hex(), hex, "{text}");
            let mut pieces = Md5::new();
            text.as_bytes().chunks(7).for_each(|piece| pieces.update(piece));
            assert_eq!(pieces.hex(), hex, "{text} in pieces");
        }
    }
}
