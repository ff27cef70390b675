//! Code that exists once: hexadecimal digits, percent-encoding, the patterns of lists, URLs. A second copy with small differences could
//! bypass the first. `docs/decisions.md` names the library for each purpose.

use super::tracked;

/// One thing, how a copy of it looks, and the files that may look so.
struct Single {
    what: &'static str,
    instead: &'static str,
    signs: &'static [&'static str],
    /// Each with its reason.
    but: &'static [(&'static str, &'static str)],
}

const SINGLES: &[Single] = &[
    Single {
        what: "bytes as hexadecimal digits",
        instead: "the crate `hex`",
        signs: &[
            ":02x}",
            ":02X}",
            "b\"0123456789abcdef\"",
            "b\"0123456789ABCDEF\"",
            "u8::from_str_radix(",
            "to_digit(16)",
        ],
        but: &[("crates/model/src/json/reader.rs", "the escapes of JSON are code units, not bytes")],
    },
    Single {
        what: "percent-encoding",
        instead: "`interlingua_model::percent`, or `percent_encoding` with a set of its own",
        signs: &["b'%'", "'%'", "\"%{"],
        but: &[
            ("crates/model/src/percent.rs", "it is the one"),
            ("crates/protocols/a2a/src/grpc.rs", "the set of `grpc-message`, for the library"),
        ],
    },
    Single {
        what: "a pattern with `*`",
        instead: "`interlingua_model::glob`",
        signs: &["b'*'", "'*' =>", "split('*')", "split_once('*')"],
        but: &[
            ("crates/model/src/glob.rs", "it is the one"),
            ("crates/tools/src/files/glob.rs", "paths: another language, with `**`, `?` and `{a,b}`"),
            ("crates/hub/src/policy.rs", "whether a pattern is more than stars"),
        ],
    },
    Single {
        what: "a reader of URLs",
        instead: "`interlingua_model::address::Address`",
        signs: &["split_once(\"://\")", "find(\"://\")", "Url::parse("],
        but: &[
            ("crates/model/src/address.rs", "it is the one"),
            ("crates/machines/src/words/value/mod.rs", "whether a word looks like one; nobody is spoken to"),
            ("crates/protocols/a2a/src/inbound/arrived.rs", "the hub's own address, as its operator wrote it"),
            ("crates/protocols/a2a/src/outbound/address.rs", "the schemes of gRPC; the rest is judged as any address"),
            ("crates/protocols/aip/src/device/mod.rs", "whether the operator wrote a path"),
            ("crates/endpoint/src/guard.rs", "the header `Origin`, compared with `Host` letter by letter"),
        ],
    },
];

/// Lines with a sign of it outside of comments, tests and the files that may: `path:line: text`.
fn copies(single: &Single, path: &str, text: &str) -> Vec<String> {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = lines.filter(|(_, line)| single.signs.iter().any(|sign| line.contains(sign)));
    found.map(|(at, line)| format!("{path}:{}: {}", at + 1, line.trim())).collect()
}

#[test]
fn what_exists_once_has_no_second_copy() {
    let files: Vec<_> = tracked(".rs").into_iter().filter(|file| is_program(&file.path)).collect();
    let mut second = Vec::new();
    for single in SINGLES {
        let (mut found, mut used) = (Vec::new(), Vec::new());
        for file in &files {
            let here = copies(single, &file.path, &file.text);
            match single.but.iter().find(|(path, _)| *path == file.path) {
                Some((path, _)) if !here.is_empty() => used.push(*path),
                Some(_) => {}
                None => found.extend(here),
            }
        }
        if !found.is_empty() {
            second.push(format!("{}, for which there is {}:\n{}", single.what, single.instead, found.join("\n")));
        }
        for (path, reason) in single.but {
            assert!(used.contains(path), "{path} is excepted from `{}` ({reason}) and no longer needs it", single.what);
        }
    }
    assert!(second.is_empty(), "{}", second.join("\n\n"));
}

/// Code of the hub; the kit of the tests is another program.
fn is_program(path: &str) -> bool {
    let tests = path.contains("/tests/") || path.ends_with("/tests.rs") || path.starts_with("crates/testkit/");
    path.starts_with("crates/") && path.contains("/src/") && !tests
}

#[test]
fn a_copy_is_seen_in_code_and_not_in_words() {
    let [hex, percent, glob, url] = SINGLES else { panic!("four are watched") };
    let seen = |single: &Single, line: &str| !copies(single, "x", line).is_empty();
    assert!(seen(hex, "bytes.iter().map(|byte| format!(\"{byte:02x}\")).collect()"));
    assert!(seen(percent, "b'%' => digit(bytes.next()?)? << 4"));
    assert!(seen(glob, "if pattern.get(p) == Some(&b'*') {"));
    assert!(seen(url, "let (scheme, rest) = text.split_once(\"://\")?;"));
    assert!(!seen(hex, "// as `{byte:02x}` does"));
    assert!(!seen(url, "fn a() {}\n#[cfg(test)]\nmod tests {\n    let a = text.split_once(\"://\");\n}"));
}
