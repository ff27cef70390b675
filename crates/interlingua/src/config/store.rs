//! The section `store`: where the hub keeps its data, and its encryption.

use std::path::{Path, PathBuf};

use interlingua_settings::{Found, Secret, unreadable};
use interlingua_store_postgres::{OpenFault, Options};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Encryption;

/// The directory where nothing says otherwise.
const DIRECTORY: &str = "data";
/// Connections of one kind to the database.
const CONNECTIONS: std::ops::RangeInclusive<u16> = 1..=64;

#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// The data directory: database, blobs, keys and the hub's socket. One hub at a time can use it. Default: `data`.
    pub embedded: Option<PathBuf>,
    /// Keeps tasks, records and blobs in a PostgreSQL database (15 or newer) and not in the data directory.
    pub postgres: Option<PostgresStore>,
    /// With `postgres`: the directory for what stays on this machine (socket, the Owner's token, workspaces). Default: `data`.
    pub local: Option<PathBuf>,
    /// Encryption at rest of tasks, conversations, records with their credentials, uploads and artifacts. An unencrypted store
    /// is encrypted at the first start with this setting; an encrypted store cannot be opened without it. Required with `postgres`.
    pub encryption: Option<Encryption>,
}

/// A database that one hub uses.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostgresStore {
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, as `file:PATH` or `${NAME}`. Several hosts (`HOST1:PORT1,HOST2:PORT2`) are
    /// tried in turn; the one that can be written to is used.
    pub url: Secret,
    /// The certificate authority of the server, as a PEM file. Default: those of the system.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// Connects to a database on another machine without TLS. Anyone who can read the network can then read everything.
    #[serde(default)]
    pub insecure: bool,
    /// The schema that holds the tables. It is created if it does not exist.
    #[serde(default = "default_schema")]
    pub schema: String,
    /// Connections that write.
    #[serde(default = "default_writers")]
    pub writers: u16,
    /// Connections that read.
    #[serde(default = "default_readers")]
    pub readers: u16,
}

fn default_schema() -> String {
    Options::default().schema
}

fn default_writers() -> u16 {
    Options::default().writers
}

fn default_readers() -> u16 {
    Options::default().readers
}

impl Store {
    /// The directory of this machine: the data directory, or beside a database what stays here.
    pub fn directory(&self) -> &Path {
        let named = if self.postgres.is_some() { &self.local } else { &self.embedded };
        named.as_deref().unwrap_or(Path::new(DIRECTORY))
    }

    pub(super) fn set_directory(&mut self, directory: PathBuf) {
        let named = if self.postgres.is_some() { &mut self.local } else { &mut self.embedded };
        *named = Some(directory);
    }

    /// The paths of this section, which start at the folder of the file.
    pub(super) fn anchor(&mut self, base: &Path) {
        if base.as_os_str().is_empty() {
            return;
        }
        // The default starts there, too.
        self.set_directory(self.directory().to_owned());
        let ca = self.postgres.iter_mut().filter_map(|postgres| postgres.ca.as_mut());
        for path in self.embedded.iter_mut().chain(&mut self.local).chain(ca) {
            *path = base.join(&path);
        }
    }

    pub(super) fn check(&self, found: &mut Found) {
        self.encryption.iter().for_each(|encryption| encryption.check(found));
        let Some(postgres) = &self.postgres else {
            found.require(self.local.is_none(), "store.local", "only a hub on `postgres` has it; use `embedded`");
            return;
        };
        let path = "store.postgres";
        let one = "the data is in the database or in a directory: remove `embedded`; `local` names the directory of this machine";
        found.require(self.embedded.is_none(), "store.embedded", one);
        let sealed = "the database is read by others than this machine's user: set `store.encryption`, too";
        found.require(self.encryption.is_some(), path, sealed);
        for (key, count) in [("writers", postgres.writers), ("readers", postgres.readers)] {
            let fits = CONNECTIONS.contains(&count);
            found.require(fits, &format!("{path}.{key}"), "expected a whole number from 1 to 64");
        }
        match postgres.options().map(|options| options.check()) {
            Ok(Ok(())) => {}
            Ok(Err(OpenFault::Tls(problem))) => found.refuse(format!("{path}.ca"), problem),
            Ok(Err(OpenFault::Url(problem))) => found.refuse(format!("{path}.url"), problem),
            Ok(Err(fault)) => found.refuse(path, fault.to_string()),
            Err(problem) => found.refuse(format!("{path}.ca"), problem),
        }
    }
}

impl PostgresStore {
    /// How the driver opens it, or why the file of the authority cannot be read.
    pub fn options(&self) -> Result<Options, String> {
        let ca = match &self.ca {
            Some(path) => Some(std::fs::read(path).map_err(|error| unreadable(path, &error))?),
            None => None,
        };
        Ok(Options {
            url: self.url.expose().clone(),
            ca,
            insecure: self.insecure,
            schema: self.schema.clone(),
            writers: self.writers,
            readers: self.readers,
            ..Options::default()
        })
    }
}
