//! Text tables: aligned columns within a width. The last column takes the remaining width, and is truncated with `…`; if that would be too
//! little, the widest column between it and the first is truncated before.

use super::screen::plain;

/// No other column is wider; a longer text is cut.
const COLUMN: usize = 48;
/// No column is cut below this; the last one has at least so much where it has so much to say.
const NARROWEST: usize = 6;
const LAST: usize = 20;
/// Between columns.
const GAP: usize = 2;

pub(super) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(head: &[&'static str]) -> Table {
        Table { head: head.to_vec(), rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.rows.push(cells.into_iter().map(|cell| plain(cell.as_ref()).replace(['\n', '\t'], " ")).collect());
    }

    pub(super) fn render(&self, width: usize) -> String {
        let head: Vec<String> = self.head.iter().map(|name| name.to_uppercase()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&head).chain(&self.rows).collect();
        let widths: Vec<usize> = (0..head.len())
            .map(|column| lines.iter().map(|line| length(line, column)).max().unwrap_or(0).min(COLUMN))
            .collect();
        let widths = narrowed(widths, width);
        let lines: Vec<String> = lines.iter().map(|line| aligned(line, &widths, width)).collect();
        lines.join("\n")
    }
}

/// The widest column gives way first, until the last one has room to be read. The first never does: it has what is typed next.
fn narrowed(mut widths: Vec<usize>, width: usize) -> Vec<usize> {
    let [first, others @ .., last] = widths.as_mut_slice() else { return widths };
    let room = width.saturating_sub(*first + (*last).min(LAST) + GAP * (others.len() + 1));
    while others.iter().sum::<usize>() > room {
        match others.iter_mut().max() {
            Some(widest) if *widest > NARROWEST => *widest -= 1,
            Some(_) | None => break,
        }
    }
    widths
}

fn length(line: &[String], column: usize) -> usize {
    line.get(column).map_or(0, |cell| cell.chars().count())
}

fn aligned(line: &[String], widths: &[usize], width: usize) -> String {
    let mut text = String::new();
    for (column, cell) in line.iter().enumerate() {
        if column + 1 == widths.len() {
            let left = width.saturating_sub(text.chars().count()).max(8);
            text.push_str(&cut(cell, left));
        } else {
            let cell = cut(cell, widths[column]);
            let gap = widths[column] - cell.chars().count() + GAP;
            text.push_str(&cell);
            text.push_str(&" ".repeat(gap));
        }
    }
    text.trim_end().to_owned()
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_aligned_and_the_last_is_cut() {
        let mut table = Table::new(&["name", "health", "description"]);
        table.row(["hotels", "up", "Finds hotels.\nAnd more than fits in the width"]);
        table.row(["é", "down", ""]);
        let expected = "\
NAME    HEALTH  DESCRIPTION
hotels  up      Finds hotels. And m…
é       down";
        assert_eq!(table.render(36), expected);
    }
}
