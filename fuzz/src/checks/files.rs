//! Invariants of an operator's files for any bytes: an accepted definition or manifest can be used and stays within its limits, and a
//! problem is reported and never a panic.

use std::path::Path;

use interlingua::cli::import;
use interlingua::config::{self, McpPeer, Overrides};
use interlingua_agents::models::Scripted;
use interlingua_endpoint::sections::PeerSection;
use interlingua_model::json::Tree;
use interlingua_model::{Json, PeerId};
use interlingua_sites::definition::bind::Doing;
use interlingua_sites::definition::{Template, skills};

/// A website, as JSON or as YAML.
pub(crate) fn site(data: &[u8]) {
    for json in [true, false] {
        let Some((tree, site)) = interlingua_sites::fuzzing::site(data, json) else { continue };
        let again = interlingua_sites::definition::read(tree).expect("it was read before");
        assert_eq!(again, site, "read twice it is two sites");
        let offered = skills(&site, &PeerId::from("p"));
        assert!(offered.len() >= site.actions.len());
        for action in site.actions.keys() {
            for args in [None, Some(arguments(data))] {
                let Ok(plan) = site.bind(action, args.as_ref()) else { continue };
                for step in &plan.steps {
                    if let Doing::Navigate(address) = &step.does {
                        assert!(site.origins.contains(&address.origin), "{address} is none of the site's");
                    }
                }
                let _ = plan.shown("a text");
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(template) = Template::parse(text)
    {
        let filled = template.fill(&Default::default(), str::to_owned);
        assert!(filled.len() <= text.len(), "a template without values is no longer than itself");
    }
}

/// Some names with values that would matter if they were taken for more than values.
fn arguments(data: &[u8]) -> Json {
    let value = String::from_utf8_lossy(data.get(..64.min(data.len())).unwrap_or_default()).into_owned();
    let mut args = serde_json::Map::new();
    for name in ["q", "from", "to", "date", "url", "x"] {
        args.insert(name.into(), Tree::String(value.clone()));
    }
    Json::from_tree(Tree::Object(args))
}

/// A tool's manifest, and what a tool prints.
pub(crate) fn manifest(data: &[u8]) {
    for json in [true, false] {
        if let Some(tool) = interlingua_tools::fuzzing::manifest(data, json, Path::new("/nonexistent")) {
            let name = tool.skill.id.skill.as_str();
            assert!(!name.is_empty() && name.len() <= 100, "{name}");
            assert!(tool.limits.parallel > 0 && !tool.limits.timeout.is_zero());
            assert!(tool.skill.input.0.is_object());
        }
    }
    let (lines, _) = interlingua_tools::fuzzing::tool_reply(data);
    assert!(lines <= data.len());
}

pub(crate) fn configuration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // What stands elsewhere is not read here: a value would be this machine's.
    if text.contains("file:") {
        return;
    }
    let file = Path::new("/nonexistent/hub.yaml");
    match config::load_text(text, file, &Overrides::default(), &|_| None) {
        Ok(loaded) => {
            let again = config::load_text(text, file, &Overrides::default(), &|_| None);
            assert_eq!(again.ok().map(|again| again.config).as_ref(), Some(&loaded.config));
        }
        Err(rejected) => assert!(!rejected.problems.is_empty() && !rejected.render().is_empty()),
    }
    if let Ok(peer) = McpPeer::of_words(text) {
        assert!(peer.url.is_some() != peer.command.is_some(), "a URL or a program");
        let letters: usize = peer.args.iter().map(String::len).sum();
        assert!(letters <= text.len());
    }
}

/// A configuration of another program becomes one that can be written and read.
pub(crate) fn foreign(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(converted) = import::convert(text) {
        let written = import::yaml(&converted.config);
        let again: Tree = interlingua_sites::fuzzing::yaml(&written).expect("what was written can be read");
        assert_eq!(again, converted.config, "{written}");
    }
    let _ = Scripted::parse(text);
}

/// A pattern, then a path.
pub(crate) fn glob(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (pattern, path) = text.split_once('\n').unwrap_or((text, "a/b.txt"));
    let path: Vec<String> = path.split('/').take(16).map(str::to_owned).collect();
    if let Some((matches, excludes)) = interlingua_tools::fuzzing::glob(pattern, &path) {
        assert!(!matches || excludes, "what matches is excluded");
        // A pattern of letters alone is a name.
        if pattern.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            assert_eq!(matches, path == [pattern]);
        }
    }
}

/// The first byte says where the rest, output of a program, is cut.
pub(crate) fn lines(data: &[u8]) {
    let [cut, bytes @ ..] = data else { return };
    let whole = interlingua_process::fuzzing::lines(&[bytes]);
    let (head, tail) = bytes.split_at(usize::from(*cut) % (bytes.len() + 1));
    assert_eq!(interlingua_process::fuzzing::lines(&[head, tail]), whole);
    let wanted: Vec<&[u8]> = match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(last) => bytes[..last].split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect(),
        None => Vec::new(),
    };
    assert_eq!(whole, wanted);
    for line in whole {
        super::mcp_client::message(&line);
    }
}
