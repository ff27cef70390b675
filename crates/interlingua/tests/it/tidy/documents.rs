//! Documents name only what exists.

use std::fs;

use super::{root_file, tracked};

/// Documents at the root and in `docs/`: every path they name is checked.
fn documents() -> Vec<super::Tracked> {
    let all = tracked(".md").into_iter();
    all.filter(|file| {
        !file.path.contains('/') || file.path.starts_with("docs/") || file.path.starts_with("conformance/")
    })
    .collect()
}

#[test]
fn every_link_leads_to_a_file() {
    let mut dead = Vec::new();
    for document in documents() {
        let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for target in links(&document.text) {
            if !root_file(folder).join(target).exists() {
                dead.push(format!("{}: {target}", document.path));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn every_path_in_backticks_exists() {
    let mut dead = Vec::new();
    for document in documents() {
        for path in paths_in_backticks(&document.text) {
            if !root_file(path).exists() {
                dead.push(format!("{}: {path}", document.path));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn the_readme_opens_with_the_two_commands() {
    let readme = fs::read_to_string(root_file("README.md")).expect("README.md");
    let opening: String = readme.lines().take(12).collect::<Vec<_>>().join("\n");
    assert!(opening.contains("make demo") && opening.contains("make test"), "{opening}");
}

#[test]
fn n_60_a_public_ethics_statement_covers_the_four_principles() {
    let statement = fs::read_to_string(root_file("ETHICS.md")).expect("ETHICS.md").to_lowercase();
    for principle in ["autonomy", "prevention of harm", "fairness", "explicability"] {
        assert!(
            statement.contains(&format!("## {principle}")) || statement.contains(&format!("{principle}\n")),
            "{principle}"
        );
    }
}

/// A figure of speed stands in the page that `make bench` writes, with its command, its machine and how busy that was.
#[test]
fn h_23_every_performance_claim_names_its_benchmark_and_machine() {
    for document in documents().iter().filter(|document| document.path != "docs/benchmarks.md") {
        let figures: Vec<&str> = document.text.lines().filter(|line| is_figure(line)).collect();
        assert!(figures.is_empty(), "{} has figures of its own: {figures:?}", document.path);
    }
    let page = fs::read_to_string(root_file("docs/benchmarks.md")).expect("the page that `make bench` writes");
    for named in ["Made by `", "cores", "GiB", "Linux", "UTC", "Load average"] {
        assert!(page.contains(named), "the page of figures does not say: {named}");
    }
    assert!(page.lines().any(is_measured), "the page of figures has none");
    // Each section says by which benchmark it was made, when, on which machine, and beside what load.
    let mut sections = page.split("\n<!-- ");
    let head = sections.next().expect("a head");
    for named in ["`make bench`", "scripts/bench --only SECTION"] {
        assert!(head.contains(named), "the page does not begin with: {named}");
    }
    let program = fs::read_to_string(root_file("bench/run.py")).expect("the benchmarks");
    let mut count = 0;
    for section in sections {
        let (name, text) = section.split_once(" -->").expect("the name of a section");
        let made = text.trim_end().lines().next_back().unwrap_or_default();
        let says = |words: &str| made.contains(words);
        for named in [" UTC", " cores (", " GiB, Linux ", " Load average when it began: "] {
            assert!(says(named), "{name} does not say how it was made ({named}): {made}");
        }
        assert!(program.contains(&format!("def {name}(")), "no benchmark is called {name}");
        count += 1;
    }
    assert!(count > 15, "{count} sections");
}

/// What was measured of the routing envelope is below what is asked for; how it grows is in `hostile/messages.rs`.
#[test]
fn r_42_the_measured_cost_of_a_routed_message_is_below_ten_milliseconds_and_a_session_below_a_kilobyte() {
    let page = fs::read_to_string(root_file("docs/benchmarks.md")).expect("the page that `make bench` writes");
    let section = |name: &str| {
        let begin = page.find(&format!("<!-- {name} -->")).unwrap_or_else(|| panic!("no section {name}"));
        page[begin..].split("\n<!-- ").next().unwrap_or_default().to_owned()
    };
    let envelope = section("envelope");
    let mut rows = envelope.lines().filter(|line| line.starts_with('|'));
    let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let head = cells(rows.next().expect("a table"));
    let column =
        |name: &str| head.iter().position(|cell| cell.starts_with(name)).unwrap_or_else(|| panic!("no {name}"));
    let (tool, median, work) = (column("tool"), column("p50 us"), column("CPU us each"));
    let echoes: Vec<Vec<String>> = rows.map(cells).filter(|row| row[tool] == "echo").collect();
    assert!(!echoes.is_empty(), "{envelope}");
    for row in echoes {
        for at in [median, work] {
            let microseconds: f64 = row[at].replace(',', "").parse().expect("a figure");
            assert!(microseconds < 10_000.0, "{}: {row:?}", head[at]);
        }
    }
    let sessions = section("sessions");
    let before = sessions.split(" bytes of resident memory each").next().unwrap_or_default();
    let bytes = before.split_whitespace().next_back().and_then(|bytes| bytes.replace(',', "").parse::<u64>().ok());
    assert!(bytes.is_some_and(|bytes| bytes <= 1024), "{sessions}");
}

/// Bounds that the hub keeps, and nobody measured.
const BOUNDS: &[&str] =
    &["Lines are written within 200 ms", "slower than 256 KiB a second", "slower than 64 KiB a second"];

/// A number with a unit of speed or a share behind it, with a space between or none: `40 µs`, `40ms`, `3x`, `93.9 %`, `900/s`.
fn is_figure(line: &str) -> bool {
    const UNITS: &[&str] = &[
        "µs",
        "us",
        "ns",
        "ms",
        "microseconds",
        "milliseconds",
        "nanoseconds",
        "x",
        "×",
        "%",
        "/s",
        "requests/s",
        "tasks/s",
        "calls/s",
        "messages/s",
        "answers/s",
    ];
    let line = BOUNDS.iter().fold(line.to_owned(), |line, bound| line.replace(bound, ""));
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',');
    let unit = |word: &str| UNITS.contains(&word.trim_end_matches(['.', ',', ';', ')', ':']));
    words.iter().enumerate().any(|(at, word)| {
        let word = word.trim_start_matches(['(', '~', '<', '>']);
        let rest = word.trim_start_matches(number);
        let begins = word.starts_with(|letter: char| letter.is_ascii_digit());
        let next = || words.get(at + 1).is_some_and(|next| unit(next)) || is_rate(&words[at + 1..]);
        // A limit of the configuration.
        let set = at > 0 && words[at - 1].ends_with("rate:");
        begins && !set && (unit(rest) || (rest.is_empty() && next()))
    })
}

/// What follows a number: `requests a second`, `calls per second`.
fn is_rate(words: &[&str]) -> bool {
    matches!(words, [_, "a" | "per" | "each", second, ..] if second.trim_end_matches(['.', ',', ';', ')', ':']) == "second")
        && !words[0].ends_with(',')
}

/// A row of a table with at least three numbers.
fn is_measured(line: &str) -> bool {
    line.starts_with('|')
        && line.split('|').filter(|cell| cell.trim().replace(',', "").parse::<f64>().is_ok()).count() > 2
}

#[test]
fn figures_are_told_from_words() {
    for figure in [
        "It takes 40 µs, mostly.",
        "40 ms",
        "(40ms)",
        "3x",
        "93.9 % of it",
        "about 1,200 requests/s",
        "900/s",
        "90,000 requests a second.",
        "7 calls per second",
    ] {
        assert!(is_figure(figure), "{figure}");
    }
    for none in [
        "It is said to us 40 times; a grace of 10 s is given.",
        "0x41",
        "1.0 and 2",
        "`limits.rate: 5/m`",
        "rate: 200/s",
        "at 64 MiB",
        "60 seconds, a second more",
    ] {
        assert!(!is_figure(none), "{none}");
    }
    assert!(is_measured("| floor | 1 | 1,200.5 | 3 |") && !is_measured("| a | 1 | b |"));
}

/// Targets of `[text](target)` that are files: no address of the web, no anchor alone.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter_map(|target| {
        let file = target.split('#').next().unwrap_or(target);
        (!file.is_empty() && !file.contains("://")).then_some(file)
    })
}

/// What stands in backticks and starts with one of our folders. A name with a placeholder or a wildcard names a shape.
fn paths_in_backticks(text: &str) -> impl Iterator<Item = &str> {
    let folders = ["crates/", "scripts/", "conformance/", "fixtures/", "examples/", "docs/", "bench/", "fuzz/", ".ci/"];
    text.split('`').skip(1).step_by(2).filter_map(move |quoted| {
        let path = quoted.split_whitespace().next()?;
        // A test is named by its file and its name.
        let path = path.split("::").next().unwrap_or(path).trim_end_matches([',', '.', ':', ';']);
        let ours = folders.iter().any(|folder| path.starts_with(folder));
        (ours && !path.contains(['{', '*', '<', '$', '…'])).then_some(path)
    })
}

#[test]
fn links_and_paths_are_found() {
    let text = "See [a](docs/a.md#b) and [w](https://x.test/) or `crates/x/src` and `make test` and `crates/*/src`.";
    assert_eq!(links(text).collect::<Vec<_>>(), ["docs/a.md"]);
    assert_eq!(paths_in_backticks(text).collect::<Vec<_>>(), ["crates/x/src"]);
}
