//! Capabilities of a client (schema: `ClientCapabilities`), as the questions it may be asked and the results it accepts.

use interlingua_model::KindSet;

use super::meta;
use super::version::Version;
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;

/// What was declared; nothing else may be asked for or sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Client {
    pub form: bool,
    pub url: bool,
    pub sampling: bool,
    pub roots: bool,
    /// The extension for long exchanges.
    pub tasks: bool,
}

impl Client {
    pub fn decode(capabilities: &Members, version: Version) -> Client {
        let elicitation = capabilities.object("elicitation").filter(|_| version.has_elicitation());
        let url = elicitation.as_ref().is_some_and(|modes| modes.has("url")) && version.has_url_elicitation();
        // An empty object is the form mode alone; so is one of a version that knew no modes.
        let form = elicitation.is_some_and(|modes| !modes.has("url") || modes.has("form"));
        let extensions = capabilities.object("extensions");
        Client {
            form,
            url,
            sampling: capabilities.object("sampling").is_some(),
            roots: capabilities.object("roots").is_some(),
            tasks: version.is_modern() && extensions.is_some_and(|all| all.has(meta::TASKS)),
        }
    }

    /// The kinds of questions it can answer.
    pub fn kinds(self) -> KindSet {
        let declared = [
            (self.form, KindSet::INPUT.with(KindSet::CONFIRM)),
            (self.url, KindSet::VISIT),
            (self.sampling, KindSet::MODEL),
            (self.roots, KindSet::ROOTS),
        ];
        declared.into_iter().filter(|(has, _)| *has).fold(KindSet::NONE, |all, (_, kind)| all.with(kind))
    }
}

/// What the hub offers: only what it truly relays (schema: `ServerCapabilities`).
pub fn write_server(version: Version, out: &mut Object<'_>) {
    out.object("capabilities", |all| {
        all.object("tools", |tools| tools.bool("listChanged", true));
        all.object("prompts", |prompts| prompts.bool("listChanged", true));
        all.object("resources", |resources| {
            resources.bool("listChanged", true);
            resources.bool("subscribe", true);
        });
        all.object("logging", |_| {});
        all.object("completions", |_| {});
        if version.is_modern() {
            all.object("extensions", |extensions| extensions.object(meta::TASKS, |_| {}));
        }
    });
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use interlingua_model::Json;

    use super::*;

    fn declared(text: &'static str, version: Version) -> Client {
        Client::decode(&Members::of(&Json::parse(Bytes::from_static(text.as_bytes())).expect("JSON")), version)
    }

    #[test]
    fn m_18_only_what_was_declared_in_a_version_that_knows_it_counts() {
        assert_eq!(declared("{}", Version::LATEST).kinds(), KindSet::NONE);
        let form = Client { form: true, ..Client::default() };
        assert_eq!(declared(r#"{"elicitation":{}}"#, Version::LATEST), form);
        assert_eq!(declared(r#"{"elicitation":{}}"#, Version::V2025_06_18), form);
        assert_eq!(declared(r#"{"elicitation":{}}"#, Version::V2025_03_26), Client::default());
        let both = r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#;
        assert_eq!(
            declared(both, Version::LATEST),
            Client { form: true, url: true, sampling: true, roots: true, tasks: false }
        );
        assert!(!declared(r#"{"elicitation":{"url":{}}}"#, Version::LATEST).form);
        let tasks = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
        assert!(declared(tasks, Version::LATEST).tasks && !declared(tasks, Version::LATEST_LEGACY).tasks);
    }
}
