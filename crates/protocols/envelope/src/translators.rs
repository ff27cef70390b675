//! Spellings of tool names, and which of them are switched on.
//!
//! A translator is a name, a matcher and a speller. Three are built in, those of the seed; more can be registered. A matcher only
//! guesses what an unknown name was meant for: the registry decides who owns a known tool, so that a custom tool called `vote` is
//! never captured (H-13). Translators do not execute tools.

use std::fmt;
use std::sync::Arc;

use interlingua_model::{Json, SkillId, Text};

use interlingua_wire::object::Object;

/// More translators than this are refused.
const MOST: usize = 64;

/// The prefix of tools reached through a tool server.
const SERVED: &str = "mcp__";
/// The prefix of tools that are programs of the hub's owner.
const CUSTOM: &str = "custom_tool__";

/// The built-in tools the seed names.
pub const BUILTIN_NAMES: [&str; 7] =
    ["vote", "new_answer", "edit_file", "read_file", "write_file", "search_files", "list_directory"];

/// The names under which one skill can be called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spellings {
    /// Belong to this skill alone; two skills that claim the same one collide.
    pub own: Vec<String>,
    /// Good only while one skill claims it.
    pub short: Vec<String>,
}

type Matcher = Arc<dyn Fn(&str) -> bool + Send + Sync>;
type Speller = Arc<dyn Fn(&SkillId) -> Spellings + Send + Sync>;

/// One way of spelling tool names.
#[derive(Clone)]
pub struct Translator {
    pub name: Text,
    pub enabled: bool,
    matches: Matcher,
    spell: Speller,
    marks: Json,
}

impl Translator {
    pub fn new(
        name: impl Into<Text>,
        matches: impl Fn(&str) -> bool + Send + Sync + 'static,
        spell: impl Fn(&SkillId) -> Spellings + Send + Sync + 'static,
    ) -> Translator {
        let name = name.into();
        let marks = Object::json(|marks| marks.text("protocol", &name));
        Translator { name, enabled: true, matches: Arc::new(matches), spell: Arc::new(spell), marks }
    }

    /// A second mark beside `protocol` in the metadata of every result.
    fn marked(mut self, key: &str, value: &str) -> Translator {
        self.marks = Object::json(|marks| {
            marks.text("protocol", &self.name);
            marks.text(key, value);
        });
        self
    }

    pub fn matches(&self, tool_name: &str) -> bool {
        (self.matches)(tool_name)
    }

    pub fn spell(&self, skill: &SkillId) -> Spellings {
        (self.spell)(skill)
    }

    /// What the metadata of a result says of where it came from.
    pub fn marks(&self) -> &Json {
        &self.marks
    }

    fn served() -> Translator {
        let spell = |skill: &SkillId| Spellings {
            own: vec![format!("{SERVED}{}__{}", skill.peer, skill.skill)],
            // With `__` in it, it would read as the whole name of another peer's skill.
            short: Vec::from_iter((!skill.skill.as_str().contains("__")).then(|| format!("{SERVED}{}", skill.skill))),
        };
        Translator::new("mcp", |name| name.starts_with(SERVED), spell).marked("original_format", "mcp_tool_result")
    }

    fn builtin() -> Translator {
        let spell = |skill: &SkillId| Spellings { own: vec![skill.skill.to_string()], short: Vec::new() };
        Translator::new("builtin", |name| BUILTIN_NAMES.contains(&name), spell)
            .marked("tool_category", "massgen_builtin")
    }

    fn custom() -> Translator {
        let spell = |skill: &SkillId| Spellings {
            own: vec![format!("{CUSTOM}{}", skill.skill)],
            short: vec![skill.skill.to_string()],
        };
        Translator::new("custom", |_| true, spell).marked("tool_type", "massgen_custom")
    }
}

impl fmt::Debug for Translator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Translator").field("name", &self.name).field("enabled", &self.enabled).finish_non_exhaustive()
    }
}

/// Why a translator was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRegistered {
    #[error("there is a translator called {0} already")]
    Taken(Text),
    #[error("there are {MOST} translators already")]
    Full,
}

/// All translators, in the order in which their matchers are asked.
#[derive(Debug, Clone)]
pub struct Translators {
    /// Asked in order: the prefix first, then the seven names, then what was registered.
    list: Vec<Translator>,
    /// Takes every name nobody else does.
    rest: Translator,
}

impl Default for Translators {
    fn default() -> Self {
        Translators { list: vec![Translator::served(), Translator::builtin()], rest: Translator::custom() }
    }
}

impl Translators {
    pub fn register(&mut self, translator: Translator) -> Result<(), NotRegistered> {
        if self.get(&translator.name).is_some() {
            return Err(NotRegistered::Taken(translator.name));
        }
        if self.list.len() + 1 >= MOST {
            return Err(NotRegistered::Full);
        }
        self.list.push(translator);
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&Translator> {
        self.list.iter().chain([&self.rest]).find(|translator| &*translator.name == name)
    }

    /// Switches one on or off. False when there is none of that name.
    pub fn switch(&mut self, name: &str, enabled: bool) -> bool {
        match self.list.iter_mut().chain([&mut self.rest]).find(|translator| &*translator.name == name) {
            Some(translator) => {
                translator.enabled = enabled;
                true
            }
            None => false,
        }
    }

    /// Whom an unknown name was probably meant for.
    pub fn guess(&self, tool_name: &str) -> &Translator {
        self.list.iter().find(|translator| translator.matches(tool_name)).unwrap_or(&self.rest)
    }
}
