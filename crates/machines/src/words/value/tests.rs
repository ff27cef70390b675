//! Each type of value as people write it.

use super::super::token::tokens;
use super::*;

/// Sunday 15 November 2026, 09:00 UTC.
const NOW: Time = Time(1_794_733_200_000);

fn read(kind: &Kind, text: &str, tag: &str) -> Option<Tree> {
    let locale = Locale::of(tag).expect("a language spoken here");
    let clock = Clock::from(NOW);
    let reading = Reading { text, clock, locale };
    let tokens = tokens(text).expect("short");
    let value = reading.read(kind, &tokens)?;
    value.tree(Wanted::Anything, text, clock)
}

fn reads(kind: &Kind, tag: &str, cases: &[(&str, &str)]) {
    for (text, json) in cases {
        let expected: Tree = serde_json::from_str(json).expect("JSON");
        assert_eq!(read(kind, text, tag), Some(expected), "{text}");
    }
}

fn refuses(kind: &Kind, tag: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(read(kind, text, tag), None, "{text}");
    }
}

#[test]
fn english_dates() {
    reads(
        &Kind::Date,
        "en",
        &[
            ("today", r#""2026-11-15""#),
            ("Tomorrow", r#""2026-11-16""#),
            ("the day after tomorrow", r#""2026-11-17""#),
            ("yesterday", r#""2026-11-14""#),
            ("2026-05-01", r#""2026-05-01""#),
            ("May 1", r#""2027-05-01""#),
            ("on May 1st", r#""2027-05-01""#),
            ("the 1st of May", r#""2027-05-01""#),
            ("1 May 2028", r#""2028-05-01""#),
            ("Saturday, May 1, 2027", r#""2027-05-01""#),
            ("December 24", r#""2026-12-24""#),
            ("November 15", r#""2026-11-15""#),
            ("Feb 29", r#""2028-02-29""#),
            ("Sunday", r#""2026-11-15""#),
            ("this Sunday", r#""2026-11-15""#),
            ("next Sunday", r#""2026-11-22""#),
            ("next Friday", r#""2026-11-20""#),
            ("in three days", r#""2026-11-18""#),
            ("in 2 weeks", r#""2026-11-29""#),
            ("25/12", r#""2026-12-25""#),
            ("5/5", r#""2027-05-05""#),
            // Another language's words are understood too.
            ("1 de mayo", r#""2027-05-01""#),
        ],
    );
}

#[test]
fn a_date_that_could_be_two_dates_is_refused() {
    refuses(
        &Kind::Date,
        "en",
        &["1", "May", "May 32", "Feb 30", "Sunday, May 1, 2027", "2026-13-01", "in 99999999 days"],
    );
    // Not told which English: day and month could be either way round, and Spanish order must not decide it.
    refuses(&Kind::Date, "en", &["1/13/13", "31/31"]);
    reads(&Kind::Date, "en-US", &[("5/1", r#""2027-05-01""#)]);
    reads(&Kind::Date, "en-GB", &[("5/1", r#""2027-01-05""#)]);
    refuses(&Kind::Date, "en", &["5/1", "5/1/2027"]);
}

#[test]
fn spanish_dates() {
    reads(
        &Kind::Date,
        "es",
        &[
            ("hoy", r#""2026-11-15""#),
            ("mañana", r#""2026-11-16""#),
            ("MAÑANA", r#""2026-11-16""#),
            ("pasado mañana", r#""2026-11-17""#),
            ("1 de mayo", r#""2027-05-01""#),
            ("el 1 de mayo de 2028", r#""2028-05-01""#),
            ("1º de mayo", r#""2027-05-01""#),
            ("el uno de mayo", r#""2027-05-01""#),
            ("el viernes", r#""2026-11-20""#),
            ("el próximo viernes", r#""2026-11-20""#),
            ("el viernes que viene", r#""2026-11-20""#),
            ("dentro de dos semanas", r#""2026-11-29""#),
            ("5/1", r#""2027-01-05""#),
        ],
    );
}

#[test]
fn times_of_day() {
    reads(
        &Kind::Time,
        "en",
        &[
            ("at 5pm", r#""17:00""#),
            ("5 pm", r#""17:00""#),
            ("5:30 p.m.", r#""17:30""#),
            ("12am", r#""00:00""#),
            ("12pm", r#""12:00""#),
            ("17:00", r#""17:00""#),
            ("9:15", r#""09:15""#),
            ("noon", r#""12:00""#),
            ("seven in the evening", r#""19:00""#),
        ],
    );
    reads(
        &Kind::Time,
        "es",
        &[
            ("a las 17:00", r#""17:00""#),
            ("a las 5 de la tarde", r#""17:00""#),
            ("las ocho de la mañana", r#""08:00""#),
            ("mediodía", r#""12:00""#),
            ("17h", r#""17:00""#),
            ("17h30", r#""17:30""#),
        ],
    );
    refuses(&Kind::Time, "en", &["at 5", "25:00", "17:60", "5:3", "pm", "5 tomorrow", "0 pm"]);
}

#[test]
fn a_date_with_a_time() {
    reads(
        &Kind::Moment,
        "en",
        &[
            ("tomorrow at 5pm", r#""2026-11-16T17:00:00Z""#),
            ("at 17:00 on May 1", r#""2027-05-01T17:00:00Z""#),
            ("2026-05-01T17:00:00", r#""2026-05-01T17:00:00Z""#),
        ],
    );
    refuses(&Kind::Moment, "en", &["tomorrow", "at 5pm"]);
}

#[test]
fn the_speakers_clock_decides_what_today_is() {
    let late = Clock { now: NOW, offset_minutes: 16 * 60 };
    assert_eq!(late.today().to_string(), "2026-11-16");
    let west = Clock { now: NOW, offset_minutes: -10 * 60 };
    assert_eq!(west.today().to_string(), "2026-11-14");
    assert_eq!(west.suffix(), "-10:00");
    assert_eq!(Clock::from(Time(u64::MAX)).today().year(), 9999);
}

#[test]
fn numbers_in_figures() {
    reads(
        &Kind::Number,
        "en",
        &[
            ("3", "3"),
            ("-3", "-3"),
            ("3.5", "3.5"),
            ("3,5", "3.5"),
            ("1,234", "1234"),
            ("1,234,567.5", "1234567.5"),
            ("1.234,5", "1234.5"),
            ("1.234", "1.234"),
        ],
    );
    reads(
        &Kind::Number,
        "es",
        &[("3,5", "3.5"), ("3.5", "3.5"), ("1.234", "1234"), ("1.234,5", "1234.5"), ("1,234", "1.234")],
    );
    refuses(&Kind::Number, "en", &["1,23,4", "1.2.3", "1,2345,6", "..", "1e5", "0x10", "١٢", "three point five", "-"]);
    refuses(&Kind::Integer, "en", &["3.5", "99999999999999999999", &"9".repeat(4000)]);
}

#[test]
fn numbers_in_words() {
    let english = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    for (index, word) in english.iter().enumerate() {
        assert_eq!(read(&Kind::Integer, word, "en"), Some(Tree::from(index + 1)));
    }
    reads(&Kind::Integer, "en", &[("twenty", "20"), ("twenty-one", "21"), ("Twenty one", "21")]);
    reads(&Kind::Integer, "es", &[("uno", "1"), ("dieciséis", "16"), ("veinte", "20"), ("treinta y dos", "32")]);
    refuses(&Kind::Integer, "en", &["twenty zero", "one two", "twenty twenty"]);
}

#[test]
fn yes_and_no_as_values() {
    reads(&Kind::Boolean, "en", &[("yes", "true"), ("No.", "false"), ("on", "true"), ("false", "false")]);
    reads(&Kind::Boolean, "es", &[("Sí", "true"), ("si", "true"), ("no", "false")]);
    refuses(&Kind::Boolean, "en", &["maybe", "yes no"]);
}

#[test]
fn paths_keep_their_dots_and_spaces_in_quotes() {
    reads(
        &Kind::Path,
        "en",
        &[
            ("notes.txt", r#""notes.txt""#),
            ("notes.txt.", r#""notes.txt""#),
            (".", r#"".""#),
            ("..", r#""..""#),
            ("src/..", r#""src/..""#),
            ("./", r#""./""#),
            ("\"my notes.txt\"", r#""my notes.txt""#),
            ("“my notes.txt”.", r#""my notes.txt""#),
        ],
    );
    refuses(&Kind::Path, "en", &["my notes.txt", "?"]);
}

#[test]
fn mail_addresses_links_words_and_choices() {
    reads(&Kind::Email, "en", &[("ana@example.org.", r#""ana@example.org""#)]);
    refuses(&Kind::Email, "en", &["ana@", "@example.org", "ana@example", "ana@exam_ple..org"]);
    reads(&Kind::Url, "en", &[("https://example.org/a?b=c", r#""https://example.org/a?b=c""#)]);
    refuses(&Kind::Url, "en", &["example.org", "://x", "1http://x", "http://"]);
    reads(&Kind::Word, "en", &[("Ñandú!", r#""Ñandú""#)]);
    refuses(&Kind::Word, "en", &["two words", "!"]);
    let cabin = Kind::Choice(vec![Pick::new("first class", "first".into()), Pick::new("Económica", "economy".into())]);
    reads(
        &cabin,
        "en",
        &[("First Class", r#""first""#), ("economica", r#""economy""#), ("\"first class\"", r#""first""#)],
    );
    refuses(&cabin, "en", &["first", "business"]);
}

#[test]
fn a_value_takes_the_type_its_property_wants() {
    let clock = Clock { now: NOW, offset_minutes: 120 };
    let time = Value::Time(jiff::civil::time(17, 0, 0, 0));
    assert_eq!(time.tree(Wanted::FullTime, "5pm", clock), Some("17:00:00+02:00".into()));
    assert_eq!(Value::Number(5.into()).tree(Wanted::Text, "five", clock), Some("five".into()));
    assert_eq!(Value::Text("x".into()).tree(Wanted::Integer, "x", clock), None);
    let list = Value::Text("a, b,,c".into()).tree(Wanted::List, "", clock);
    assert_eq!(list, Some(Tree::from(vec!["a", "b", "c"])));
}
