//! Rate limit of the log lines that a device sends while it works on a session: a token bucket of lines, one of bytes, and a total.
//! What is beyond is dropped and counted, so that the loss is declared.

use interlingua_model::{Text, Time};

/// Lines in a second, and at once.
const LINES: f64 = 20.0;
const LINES_AT_ONCE: f64 = 200.0;
/// Bytes in a second, and at once.
const BYTES: f64 = 64.0 * 1024.0;
const BYTES_AT_ONCE: f64 = 256.0 * 1024.0;
/// Lines of one session.
const TOTAL: u32 = 10_000;
/// Bytes of one line; the rest of it is cut off.
const LINE: usize = 4 * 1024;

#[derive(Debug, Clone)]
pub(super) struct LineBudget {
    lines: f64,
    bytes: f64,
    left: u32,
    /// When it was last filled.
    at: Option<Time>,
}

impl Default for LineBudget {
    fn default() -> Self {
        LineBudget { lines: LINES_AT_ONCE, bytes: BYTES_AT_ONCE, left: TOTAL, at: None }
    }
}

impl LineBudget {
    /// The lines that there is room for, and how many there is none for.
    pub(super) fn take(&mut self, said: Vec<Text>, now: Time) -> (Vec<Text>, usize) {
        let passed = self.at.replace(now).map_or(0.0, |then| now.until(then).as_secs_f64());
        self.lines = (self.lines + passed * LINES).min(LINES_AT_ONCE);
        self.bytes = (self.bytes + passed * BYTES).min(BYTES_AT_ONCE);
        let count = said.len();
        let lines: Vec<Text> = said.into_iter().map(cut).filter(|line| self.has_room(line)).collect();
        let dropped = count - lines.len();
        (lines, dropped)
    }

    fn has_room(&mut self, line: &str) -> bool {
        let bytes = f64::from(u32::try_from(line.len()).unwrap_or(u32::MAX));
        let fits = self.left > 0 && self.lines >= 1.0 && self.bytes >= bytes;
        if fits {
            self.left -= 1;
            self.lines -= 1.0;
            self.bytes -= bytes;
        }
        fits
    }
}

fn cut(line: Text) -> Text {
    if line.len() <= LINE {
        return line;
    }
    let end = line.floor_char_boundary(LINE);
    format!("{}…", &line[..end]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(count: usize, length: usize) -> Vec<Text> {
        vec!["x".repeat(length).into(); count]
    }

    #[test]
    fn attack_a_flood_of_lines_is_cut_to_the_rate_and_counted() {
        let mut budget = LineBudget::default();
        let (lines, dropped) = budget.take(said(1_000, 10), Time(1_000));
        assert_eq!((lines.len(), dropped), (200, 800));
        let (lines, dropped) = budget.take(said(1_000, 10), Time(2_000));
        assert_eq!((lines.len(), dropped), (20, 980));
        let mut budget = LineBudget::default();
        let (lines, dropped) = budget.take(said(100, 100_000), Time(0));
        assert_eq!((lines.len(), dropped), (63, 37), "of 256 KiB, in lines of 4 KiB and a sign that they were cut");
        assert!(lines.iter().all(|line| line.len() == LINE + '…'.len_utf8()));
        let mut budget = LineBudget::default();
        let all: usize = (0..2_000).map(|second| budget.take(said(30, 1), Time(second * 1_000)).0.len()).sum();
        assert_eq!(all, TOTAL as usize);
    }
}
