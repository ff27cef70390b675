//! An agent's own ids of a call: its task and its conversation. They are stored with the call, so that it is found again after a restart.

use interlingua_model::{Json, Secret, Text};

use interlingua_wire::object::Object;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub task: Text,
    pub context: Option<Text>,
}

impl Remote {
    pub fn seal(&self) -> Secret {
        let json = Object::json(|object| {
            object.text("task", &self.task);
            if let Some(context) = &self.context {
                object.text("context", context);
            }
        });
        Secret::new(json.as_bytes())
    }

    pub fn open(secret: &Secret) -> Option<Remote> {
        let json = Json::parse(bytes::Bytes::copy_from_slice(secret.value()?)).ok()?;
        let text = |key: &str| json.get(key).and_then(|value| value.as_str()).map(Text::from);
        Some(Remote { task: text("task")?, context: text("context") })
    }
}
