//! A PostgreSQL server of the test's own: Debian's package, in a temporary directory, on a free loopback port, as a user that is
//! not root. Every commit is synced, as in production. It ends with the test.

use std::net::SocketAddr;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{NOBODY, Process, as_another_user, port, root, within};

/// What a server is started with.
#[derive(Debug, Default)]
pub struct PostgresBuilder {
    /// The password that it asks for.
    login: Option<String>,
    /// A certificate and its key, as PEM.
    tls: Option<(String, String)>,
}

/// A running server.
#[derive(Debug)]
pub struct PostgresServer {
    // Before the directory: it ends first.
    process: Process,
    address: SocketAddr,
    login: Option<String>,
    _dir: TempDir,
}

/// A new server, or what this machine lacks for one.
pub async fn postgres() -> Result<PostgresServer, String> {
    PostgresBuilder::default().start().await
}

impl PostgresBuilder {
    /// Asks whoever connects for this password (SCRAM).
    pub fn password(mut self, password: &str) -> PostgresBuilder {
        self.login = Some(password.to_owned());
        self
    }

    /// Offers TLS with this certificate and its key, both PEM.
    pub fn tls(mut self, certificate: &str, key: &str) -> PostgresBuilder {
        self.tls = Some((certificate.to_owned(), key.to_owned()));
        self
    }

    /// Starts it, or says what this machine lacks.
    pub async fn start(self) -> Result<PostgresServer, String> {
        let programs = programs(&places(), std::env::var_os("CI").is_some())?;
        let dir = tempfile::tempdir().expect("a temporary directory");
        give_away(dir.path());
        let data = dir.path().join("data");
        let mut initdb = unprivileged(&programs.join("initdb"))?;
        initdb.args(["--username=hub", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"]).arg(&data);
        match &self.login {
            Some(password) => {
                let file = private(dir.path(), "password", password);
                initdb.arg("--auth=scram-sha-256").arg("--pwfile").arg(file);
            }
            None => {
                initdb.arg("--auth=trust");
            }
        }
        let made = initdb.current_dir(dir.path()).output().expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let address = port::free();
        let mut server = unprivileged(&programs.join("postgres"))?;
        server.current_dir(dir.path()).arg("-D").arg(&data).arg("-k").arg(dir.path());
        server.args(["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"]);
        server.args(["-p", &address.port().to_string()]);
        if let Some((certificate, key)) = &self.tls {
            let files = [("ssl_cert_file", "server.pem", certificate), ("ssl_key_file", "server.key", key)];
            server.args(["-c", "ssl=on"]);
            for (setting, name, content) in files {
                let file = private(dir.path(), name, content);
                server.arg("-c").arg(format!("{setting}={}", file.display()));
            }
        }
        let process = Process::start(server);
        let mut running = PostgresServer { process, address, login: self.login, _dir: dir };
        within("the database to accept connections", async {
            while !running.process.output().contains("ready to accept connections") {
                assert!(running.process.ended().is_none(), "{}", running.process.output());
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        })
        .await;
        Ok(running)
    }
}

/// The server does not run as root, and reads only what is its own.
fn give_away(path: &Path) {
    if rustix::process::getuid().is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).expect("root may give a file away");
    }
}

fn private(dir: &Path, name: &str, content: &str) -> PathBuf {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let path = dir.join(name);
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).expect("a new file");
    file.write_all(content.as_bytes()).expect("a file that can be written");
    give_away(&path);
    path
}

impl PostgresServer {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of its database, as seen through this address.
    pub fn url_at(&self, address: impl std::fmt::Display) -> String {
        let password = self.login.as_ref().map(|password| format!(":{password}")).unwrap_or_default();
        format!("postgres://hub{password}@{address}/postgres")
    }

    /// The URL of its database.
    pub fn url(&self) -> String {
        self.url_at(self.address)
    }

    /// What it wrote.
    pub fn output(&self) -> String {
        self.process.output()
    }
}

/// Where `initdb` and `postgres` are: installed, or unpacked by `scripts/setup-postgres`.
fn places() -> [PathBuf; 2] {
    [PathBuf::from("/usr/lib/postgresql/15/bin"), root().join(".tools/debian/usr/lib/postgresql/15/bin")]
}

/// The first place that has both. What is missing skips a test, but in continuous integration it fails one.
fn programs(places: &[PathBuf], ci: bool) -> Result<PathBuf, String> {
    let found = places.iter().find(|place| place.join("postgres").exists() && place.join("initdb").exists());
    let missing = "there is no PostgreSQL 15: run scripts/setup-postgres";
    assert!(found.is_some() || !ci, "{missing}");
    found.cloned().ok_or_else(|| missing.to_owned())
}

/// PostgreSQL refuses to run as root.
fn unprivileged(program: &Path) -> Result<Command, String> {
    let program = program.to_str().expect("a path of text");
    if rustix::process::getuid().is_root() { as_another_user(program) } else { Ok(Command::new(program)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_48_without_a_server_a_test_is_skipped_with_a_word() {
        let missing = programs(&[PathBuf::from("/nowhere")], false);
        assert!(missing.is_err_and(|word| word.contains("scripts/setup-postgres")));
    }

    #[test]
    #[should_panic(expected = "there is no PostgreSQL 15")]
    fn k_48_without_a_server_a_test_fails_in_continuous_integration() {
        let _ = programs(&[PathBuf::from("/nowhere")], true);
    }
}
