//! Counts the values in bytes that claim to be JSON, while they arrive and before anything is parsed.

use super::reader::most_values;

/// What one value takes of memory in a tree, on average: an entry of an object takes more, a number in a list less.
pub const VALUE_BYTES: usize = 64;

/// Counts commas and opening brackets outside of strings; anything but an object or a list counts as nothing. The reader decides whether it
/// is JSON at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    state: State,
    values: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Before,
    Other,
    Between,
    Text,
    Escape,
}

impl Count {
    /// Counts bytes that are all there.
    pub fn of(bytes: &[u8]) -> Count {
        let mut count = Count::default();
        count.feed(bytes);
        count
    }

    /// More bytes, in any pieces.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.state == State::Other || self.values >= most_values() {
            return;
        }
        for byte in bytes {
            self.state = match (self.state, byte) {
                (State::Before, b' ' | b'\t' | b'\r' | b'\n') => State::Before,
                (State::Before | State::Between, b'{' | b'[') => {
                    self.values += 1;
                    State::Between
                }
                (State::Before | State::Other, _) => {
                    self.state = State::Other;
                    return;
                }
                (State::Between, b'"') => State::Text,
                (State::Between, b',') => {
                    self.values += 1;
                    State::Between
                }
                (State::Between, _) | (State::Text, b'"') => State::Between,
                (State::Text, b'\\') => State::Escape,
                (State::Text | State::Escape, _) => State::Text,
            };
        }
    }

    /// What a tree of them would take of memory. More values than are read take no more: they are refused.
    pub fn tree_bytes(&self) -> usize {
        self.values.min(most_values()) * VALUE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader::MOST_VALUES;
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings_however_the_bytes_are_cut() {
        let text = br#" {"a,b": [1, 2, "[,\",{"], "c": {}}"#;
        for cut in 1..text.len() {
            let mut count = Count::default();
            text.chunks(cut).for_each(|piece| count.feed(piece));
            assert_eq!(count.tree_bytes(), 6 * VALUE_BYTES, "by {cut}");
        }
        assert_eq!(Count::of(b"--boundary, [[[").tree_bytes(), 0);
        assert_eq!(Count::of(&b"[".repeat(2 * MOST_VALUES)).tree_bytes(), MOST_VALUES * VALUE_BYTES);
    }
}
