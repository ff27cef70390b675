//! The table of features of the founding documents: every row once, its tests exist, and the head counts what the rows say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::rust::tests;
use super::{root_file, tracked};

/// How many features the documents ask for.
const FEATURES: usize = 201;
const STATUSES: [&str; 4] = ["works", "in part", "missing", "done otherwise"];

struct Row {
    number: usize,
    document: String,
    status: String,
    /// What shows it: `path::name` of a test, or `make TARGET`.
    shown_by: Vec<String>,
}

fn page() -> String {
    fs::read_to_string(root_file("conformance/features.md")).expect("the table of features")
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// The rows below the head, each with the heading it stands under.
fn rows(page: &str) -> Vec<Row> {
    let mut document = String::new();
    let mut rows = Vec::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            document = heading.to_owned();
        }
        let cells = cells(line);
        let (Some(Ok(number)), false) = (cells.first().map(|first| first.parse()), document.is_empty()) else {
            continue;
        };
        assert_eq!(cells.len(), 5, "row {number} has five cells");
        let shown_by = cells[3].split('`').skip(1).step_by(2).map(str::to_owned).collect();
        rows.push(Row { number, document: document.clone(), status: cells[2].to_owned(), shown_by });
    }
    rows
}

#[test]
fn every_feature_has_one_row_and_one_of_four_statuses() {
    let rows = rows(&page());
    let numbers: Vec<usize> = rows.iter().map(|row| row.number).collect();
    assert_eq!(numbers, (1..=FEATURES).collect::<Vec<_>>());
    for row in &rows {
        assert!(STATUSES.contains(&row.status.as_str()), "row {}: {}", row.number, row.status);
        assert_eq!(row.shown_by.is_empty(), row.status == "missing", "row {}: what is there is shown", row.number);
    }
}

#[test]
fn every_test_and_target_that_the_features_name_exists() {
    let known: BTreeMap<String, BTreeSet<String>> = tracked(".rs")
        .into_iter()
        .map(|file| (file.path, tests(&file.text).into_iter().map(|test| test.name).collect()))
        .collect();
    let makefile = fs::read_to_string(root_file("Makefile")).expect("the Makefile");
    let exists = |shown: &str| match (shown.split_once("::"), shown.strip_prefix("make ")) {
        (Some((path, name)), _) => known.get(path).is_some_and(|tests| tests.contains(name)),
        (None, Some(target)) => makefile.lines().any(|line| line.starts_with(&format!("{target}:"))),
        (None, None) => false,
    };
    let rows = rows(&page());
    let gone = rows.iter().flat_map(|row| row.shown_by.iter().map(move |shown| (row.number, shown)));
    let gone: Vec<_> = gone.filter(|(_, shown)| !exists(shown)).collect();
    assert!(gone.is_empty(), "no such test: {gone:?}");
}

#[test]
fn the_head_of_the_features_counts_its_rows() {
    let page = page();
    let rows = rows(&page);
    let count = |document: Option<&str>, status: Option<&str>| {
        let counts = |row: &&Row| {
            document.is_none_or(|document| row.document == document) && status.is_none_or(|status| row.status == status)
        };
        rows.iter().filter(counts).count()
    };
    let head: Vec<Vec<&str>> = page.lines().take_while(|line| !line.starts_with("## ")).map(cells).collect();
    let head: Vec<&Vec<&str>> =
        head.iter().filter(|cells| cells.len() == 6 && cells[1].parse::<usize>().is_ok()).collect();
    let documents: BTreeSet<&str> = rows.iter().map(|row| row.document.as_str()).collect();
    assert_eq!(head.len(), documents.len() + 1, "a row for each document, and one for all");
    for cells in head {
        let document = (cells[0] != "all").then_some(cells[0]);
        let expected = STATUSES.iter().map(|status| count(document, Some(status)));
        let expected: Vec<String> = expected.chain([count(document, None)]).map(|count| count.to_string()).collect();
        assert_eq!(cells[1..], expected, "{}", cells[0]);
    }
}
