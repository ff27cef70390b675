//! Push configurations: flat in 1.0, nested in 0.3.

use interlingua_model::json::Reader;
use interlingua_model::{Secret, Text};

use super::Dialect;
use super::field;
use crate::invalid::{Invalid, Problem};
use crate::wire::{Authentication, PushConfig};
use interlingua_wire::object::Object;

/// The parts of a configuration as they are found.
#[derive(Default)]
pub(super) struct Found {
    id: Option<Text>,
    task: Option<Text>,
    url: Option<Text>,
    token: Option<Secret>,
    authentication: Option<Authentication>,
    pub(super) tenant: Option<Text>,
}

impl Found {
    pub(super) fn finish(self) -> Result<PushConfig, Invalid> {
        let url = self.url.ok_or_else(|| Invalid::at("url", Problem::Missing))?;
        Ok(PushConfig { id: self.id, task: self.task, url, token: self.token, authentication: self.authentication })
    }

    /// A configuration as it stands in 1.0.
    pub(super) fn v1(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<(), Invalid> {
        match key {
            "tenant" => self.tenant = field::non_empty(reader)?,
            "taskId" | "task_id" => self.task = field::non_empty(reader)?,
            _ => self.inner(key, reader, Dialect::V1)?,
        }
        Ok(())
    }

    /// What every generation has.
    fn inner(&mut self, key: &str, reader: &mut Reader<'_>, dialect: Dialect) -> Result<(), Invalid> {
        match key {
            "id" => self.id = field::non_empty(reader)?,
            "url" => self.url = field::non_empty(reader)?,
            "token" => self.token = secret(reader)?,
            "authentication" => {
                if field::present(reader)? {
                    self.authentication = authentication(reader, dialect)?;
                }
            }
            _ => field::skip(reader)?,
        }
        Ok(())
    }

    /// `{taskId, pushNotificationConfig}` of JSON-RPC in 0.3; in its proto `{parent or name, pushNotificationConfig}`.
    pub(super) fn v03(&mut self, key: &str, reader: &mut Reader<'_>, dialect: Dialect) -> Result<(), Invalid> {
        match key {
            "taskId" | "task_id" => self.task = field::non_empty(reader)?,
            "pushNotificationConfig" | "push_notification_config" => {
                field::object(reader, |key, reader| self.inner(key, reader, dialect))?;
            }
            "parent" | "name" => {
                let name = field::non_empty(reader)?;
                self.task = name.as_deref().and_then(task_of_name).or(self.task.take());
            }
            "configId" if dialect == Dialect::V03Proto => self.id = field::non_empty(reader)?.or(self.id.take()),
            // `{config: {name, pushNotificationConfig}}` is how a set is asked for in the older proto.
            "config" if dialect == Dialect::V03Proto => {
                field::object(reader, |key, reader| self.v03(key, reader, dialect))?;
            }
            _ => field::skip(reader)?,
        }
        Ok(())
    }
}

/// The configuration inside a send.
pub(super) fn read(reader: &mut Reader<'_>, dialect: Dialect) -> Result<Option<PushConfig>, Invalid> {
    if !field::present(reader)? {
        return Ok(None);
    }
    let mut found = Found::default();
    field::object(reader, |key, reader| match dialect {
        Dialect::V1 => found.v1(key, reader),
        Dialect::V03 | Dialect::V03Proto => found.inner(key, reader, dialect),
    })?;
    found.finish().map(Some)
}

/// A credential goes into a header: what could end one is refused.
fn secret(reader: &mut Reader<'_>) -> Result<Option<Secret>, Invalid> {
    let Some(text) = field::non_empty(reader)? else { return Ok(None) };
    if text.chars().any(char::is_control) {
        return Err(Invalid::whole(Problem::Control));
    }
    Ok(Some(Secret::new(text.as_bytes())))
}

/// One scheme in 1.0; 0.3 lists several, of which the first counts.
fn authentication(reader: &mut Reader<'_>, dialect: Dialect) -> Result<Option<Authentication>, Invalid> {
    let (mut scheme, mut credentials) = (None, None);
    field::object(reader, |key, reader| {
        match (dialect, key) {
            (Dialect::V1, "scheme") => scheme = field::non_empty(reader)?,
            (Dialect::V03 | Dialect::V03Proto, "schemes") => scheme = field::texts(reader)?.into_iter().next(),
            (_, "credentials") => credentials = secret(reader)?,
            _ => field::skip(reader)?,
        }
        Ok(())
    })?;
    if scheme.as_deref().is_some_and(|scheme| scheme.chars().any(char::is_control)) {
        return Err(Invalid::at("scheme", Problem::Control));
    }
    match (scheme, credentials) {
        (Some(scheme), credentials) => Ok(Some(Authentication { scheme, credentials })),
        (None, None) if dialect != Dialect::V1 => Ok(None),
        (None, _) => Err(Invalid::at("scheme", Problem::Missing)),
    }
}

/// `tasks/{id}` and `tasks/{id}/pushNotificationConfigs/{config}` of the older proto.
pub(super) fn task_of_name(name: &str) -> Option<Text> {
    let id = name.strip_prefix("tasks/")?.split('/').next()?;
    (!id.is_empty()).then(|| id.into())
}

pub(super) fn config_of_name(name: &str) -> Option<Text> {
    let (_, id) = name.strip_prefix("tasks/")?.split_once("/pushNotificationConfigs/")?;
    (!id.is_empty()).then(|| id.into())
}

pub(super) fn write(config: &PushConfig, dialect: Dialect, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    let (id, task) = (config.id.as_deref().unwrap_or_default(), config.task.as_deref().unwrap_or_default());
    match dialect {
        Dialect::V1 => {
            object.text("taskId", task);
            write_inner(config, dialect, &mut object);
        }
        Dialect::V03 => {
            object.text("taskId", task);
            object.object("pushNotificationConfig", |inner| write_inner(config, dialect, inner));
        }
        Dialect::V03Proto => {
            object.text("name", &format!("tasks/{task}/pushNotificationConfigs/{id}"));
            object.object("pushNotificationConfig", |inner| write_inner(config, dialect, inner));
        }
    }
    object.finish();
}

fn write_inner(config: &PushConfig, dialect: Dialect, object: &mut Object<'_>) {
    if let Some(id) = &config.id {
        object.text("id", id);
    }
    object.text("url", &config.url);
    if let Some(token) = config.token.as_ref().and_then(Secret::text) {
        object.text("token", token);
    }
    let Some(authentication) = &config.authentication else { return };
    object.object("authentication", |object| {
        match dialect {
            Dialect::V1 => object.text("scheme", &authentication.scheme),
            Dialect::V03 | Dialect::V03Proto => object.array("schemes", [&authentication.scheme], |scheme, out| {
                interlingua_model::json::write_string(scheme, out);
            }),
        }
        if let Some(credentials) = authentication.credentials.as_ref().and_then(Secret::text) {
            object.text("credentials", credentials);
        }
    });
}
