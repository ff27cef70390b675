//! Quantized matrices: the numbers are stored in blocks of few bits and multiplied in that form; each row is unpacked once for all vectors
//! it is multiplied with.

use std::ops::Range;
use std::sync::Arc;

use super::gguf::{BadModel, Contents};

/// How many numbers one block holds.
const BLOCK: usize = 32;
/// Below so many multiplications one thread is quicker than several.
const WORTH_SHARING: usize = 1 << 21;
const MAX_THREADS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    /// A scale and 32 whole numbers of 8 bits.
    Eight,
    /// A scale, a least value, and 32 whole numbers of 4 bits.
    Four,
}

impl Kind {
    fn of(number: u32) -> Result<Kind, BadModel> {
        match number {
            0 => Ok(Kind::Float),
            8 => Ok(Kind::Eight),
            3 => Ok(Kind::Four),
            other => Err(BadModel::Unsupported(format!("weights of form {other}"))),
        }
    }

    /// Bytes of a row; none where a row is not whole blocks.
    fn row_bytes(self, columns: usize) -> Option<usize> {
        match self {
            Kind::Float => columns.checked_mul(4),
            Kind::Eight => (columns.is_multiple_of(BLOCK)).then(|| columns / BLOCK * 34),
            Kind::Four => (columns.is_multiple_of(BLOCK)).then(|| columns / BLOCK * 20),
        }
    }

    fn unpack(self, bytes: &[u8], row: &mut [f32]) {
        match self {
            Kind::Float => {
                for (number, bytes) in row.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *number = f32::from_le_bytes(*bytes);
                }
            }
            Kind::Eight => {
                for (numbers, block) in row.as_chunks_mut::<BLOCK>().0.iter_mut().zip(bytes.as_chunks::<34>().0) {
                    let scale = half(block[0], block[1]);
                    for (number, byte) in numbers.iter_mut().zip(&block[2..]) {
                        *number = scale * f32::from(byte.cast_signed());
                    }
                }
            }
            Kind::Four => {
                for (numbers, block) in row.as_chunks_mut::<BLOCK>().0.iter_mut().zip(bytes.as_chunks::<20>().0) {
                    let (scale, least) = (half(block[0], block[1]), half(block[2], block[3]));
                    let (low, high) = numbers.split_at_mut(BLOCK / 2);
                    for ((low, high), byte) in low.iter_mut().zip(high).zip(&block[4..]) {
                        *low = scale * f32::from(byte & 0xf) + least;
                        *high = scale * f32::from(byte >> 4) + least;
                    }
                }
            }
        }
    }
}

/// A float of 16 bits (IEEE 754), little end first.
fn half(low: u8, high: u8) -> f32 {
    let bits = u32::from(u16::from_le_bytes([low, high]));
    let (sign, exponent, fraction) = ((bits & 0x8000) << 16, (bits >> 10) & 0x1f, bits & 0x3ff);
    match exponent {
        // Too small for the leading one: a multiple of 2 to the -24.
        0 => f32::from_bits(sign | 0x3f80_0000) * (fraction as f32) * f32::from_bits(0x3380_0000),
        31 => f32::from_bits(sign | 0x7f80_0000 | (fraction << 13)),
        _ => f32::from_bits(sign | ((exponent + 112) << 23) | (fraction << 13)),
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Matrix {
    file: Arc<[u8]>,
    place: Range<usize>,
    kind: Kind,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl Matrix {
    /// The tensor of this name, which must have this shape.
    pub(crate) fn read(
        file: &Arc<[u8]>,
        contents: &Contents,
        name: &str,
        (columns, rows): (usize, usize),
    ) -> Result<Matrix, BadModel> {
        let placed = contents.tensors.get(name).ok_or_else(|| BadModel::Missing(name.to_owned()))?;
        if (placed.columns, placed.rows) != (columns, rows) {
            return Err(BadModel::Damaged("a tensor of another shape than the model has"));
        }
        let kind = Kind::of(placed.kind)?;
        let bytes = kind.row_bytes(columns).and_then(|bytes| bytes.checked_mul(rows));
        let begins = contents.numbers.start.checked_add(placed.offset);
        let end = begins.zip(bytes).and_then(|(begins, bytes)| begins.checked_add(bytes));
        match (begins, end) {
            (Some(begins), Some(end)) if end <= contents.numbers.end => {
                Ok(Matrix { file: file.clone(), place: begins..end, kind, columns, rows })
            }
            _ => Err(BadModel::Damaged("a tensor beyond the end")),
        }
    }

    pub(crate) fn row(&self, number: usize, row: &mut [f32]) {
        let bytes = self.place.len() / self.rows.max(1);
        let begins = self.place.start + number * bytes;
        self.kind.unpack(&self.file[begins..begins + bytes], row);
    }

    /// All numbers of it.
    pub(crate) fn whole(&self) -> Vec<f32> {
        let mut whole = vec![0.0; self.columns * self.rows];
        whole.chunks_mut(self.columns.max(1)).enumerate().for_each(|(number, row)| self.row(number, row));
        whole
    }

    /// This matrix times each of the vectors, which stand one after another; so do the results.
    pub(crate) fn times(&self, vectors: &[f32]) -> Vec<f32> {
        let count = vectors.len() / self.columns;
        // By row first, so that threads share nothing; then each vector's result in one piece.
        let mut by_row = vec![0.0; self.rows * count];
        let threads = match self.rows * self.columns * count < WORTH_SHARING {
            true => 1,
            false => std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS),
        };
        let share = self.rows.div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let mut shares = by_row.chunks_mut((share * count).max(1)).enumerate();
            let own = shares.next();
            for (number, results) in shares {
                scope.spawn(move || self.part(number * share, vectors, count, results));
            }
            if let Some((_, results)) = own {
                self.part(0, vectors, count, results);
            }
        });
        if count == 1 {
            return by_row;
        }
        let mut results = vec![0.0; by_row.len()];
        for (row, of_row) in by_row.chunks(count.max(1)).enumerate() {
            for (vector, value) in of_row.iter().enumerate() {
                results[vector * self.rows + row] = *value;
            }
        }
        results
    }

    fn part(&self, first: usize, vectors: &[f32], count: usize, results: &mut [f32]) {
        let mut row = vec![0.0; self.columns];
        for (number, of_row) in results.chunks_mut(count.max(1)).enumerate() {
            self.row(first + number, &mut row);
            for (value, vector) in of_row.iter_mut().zip(vectors.chunks(self.columns)) {
                *value = dot(&row, vector);
            }
        }
    }
}

/// In eight sums at once, which a processor adds side by side.
pub(crate) fn dot(one: &[f32], other: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (blocks, rest) = one.as_chunks::<8>();
    let (others, other_rest) = other.as_chunks::<8>();
    for (one, other) in blocks.iter().zip(others) {
        for lane in 0..8 {
            sums[lane] += one[lane] * other[lane];
        }
    }
    let rest: f32 = rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_read_as_the_standard_says() {
        let read = |bits: u16| {
            let [low, high] = bits.to_le_bytes();
            half(low, high)
        };
        assert_eq!((read(0x3c00), read(0xc000), read(0x3555)), (1.0, -2.0, 0.333_251_95));
        assert_eq!((read(0x0000), read(0x0001), read(0x7bff)), (0.0, 5.960_464_5e-8, 65_504.0));
        assert!(read(0x7c00).is_infinite() && read(0x7e00).is_nan());
    }

    #[test]
    fn blocks_are_unpacked_as_they_are_packed() {
        let mut row = [0.0; 32];
        let mut eight = vec![0x00, 0x40];
        eight.extend((0..32_u8).map(|number| number.wrapping_sub(16)));
        Kind::Eight.unpack(&eight, &mut row);
        assert_eq!((row[0], row[31]), (-32.0, 30.0));
        let mut four = vec![0x00, 0x3c, 0x00, 0xc0];
        four.extend([0x10; 16]);
        Kind::Four.unpack(&four, &mut row);
        assert_eq!((row[0], row[15], row[16], row[31]), (-2.0, -2.0, -1.0, -1.0));
    }
}
