//! `audit`: the audit log, for people, and as a file that anyone can verify.
//!
//! The file is lines of JSON: first the signing key, the earlier keys and the newest checkpoint, then the records in their order. `verify`
//! trusts these keys unless it is given the expected ones: somebody who could change the file could change them too.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use interlingua_keys::jws::PublicKey;
use interlingua_machines::audit::{Broken, Checkpoint, Page, Verified, Verifier};
use interlingua_model::percent::encoded;
use interlingua_model::visible::visible_json;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::arguments::{
    AuditArguments, AuditCommand, ExportArguments, ForgetArguments, ShowArguments, VerifyArguments,
};
use crate::cli::client::{Client, Extras};
use crate::cli::list::show as shown;
use crate::cli::screen::{Screen, plain};
use crate::cli::table::Table;
use crate::cli::{Exit, Failure};
use crate::config;
use interlingua_api::view::{
    AuditForgetRequest, AuditForgottenView, AuditKeyView, AuditPagesView, AuditRecordView, AuditView, PageView,
};

/// No line of a file is longer: a record has a thousand lines at most.
const LONGEST: u64 = 64 << 20;

/// One line of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<AuditKeyView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    older: Vec<AuditKeyView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Checkpoint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<Page>,
}

impl Written {
    fn record(AuditRecordView { record, page }: AuditRecordView) -> Written {
        Written { record: Some(record), page, ..Written::default() }
    }
}

pub(crate) async fn audit(arguments: AuditArguments) -> Result<Exit, Failure> {
    match arguments.command {
        AuditCommand::Show(arguments) => show(&arguments).await,
        AuditCommand::Export(arguments) => export(&arguments).await,
        AuditCommand::Verify(arguments) => verify(&arguments).await,
        AuditCommand::Forget(arguments) => forget(&arguments).await,
    }
}

async fn show(arguments: &ShowArguments) -> Result<Exit, Failure> {
    let client = Client::new(&arguments.hub)?;
    let mut page: PageView<AuditView> = client.get(&format!("/api/audit?limit={}", arguments.limit)).await?;
    page.next = None;
    let mut table = Table::new(&["at", "who", "what", "on", "outcome"]);
    for line in &page.items {
        table.row([&line.at, &line.who, &line.action, line.on.as_deref().unwrap_or("-"), &*outcome(line)]);
    }
    shown(&arguments.hub, &page, &table)
}

/// How it went, and what was lost.
fn outcome(line: &AuditView) -> Cow<'_, str> {
    match &*line.losses {
        [] => Cow::Borrowed(&line.outcome),
        losses => Cow::Owned(format!("{}, but {}", line.outcome, losses.join(", "))),
    }
}

/// Every record of a running hub after one, in order, and before them what there is to verify them with.
async fn all(
    client: &Client,
    after: Option<u64>,
    mut each: impl FnMut(Written) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut page: AuditPagesView = client.get("/api/audit/pages?limit=16").await?;
    let (key, older) = (page.key.take(), std::mem::take(&mut page.older));
    each(Written { key, older, checkpoint: page.checkpoint.take(), ..Written::default() })?;
    if let Some(after) = after {
        page = client.get(&format!("/api/audit/pages?limit=16&after={after}")).await?;
    }
    loop {
        for record in page.items {
            each(Written::record(record))?;
        }
        let Some(next) = page.next else { return Ok(()) };
        page = client.get(&format!("/api/audit/pages?limit=16&after={}", encoded(&next))).await?;
    }
}

async fn export(arguments: &ExportArguments) -> Result<Exit, Failure> {
    let client = Client::new(&arguments.hub)?;
    let screen = Screen::people();
    let unwritable = |_| Failure::new(Exit::Failed, "a record cannot be written");
    all(&client, arguments.after, |written| {
        screen.say(&visible_json(&serde_json::to_string(&written).map_err(unwritable)?))
    })
    .await?;
    Ok(Exit::Done)
}

async fn forget(arguments: &ForgetArguments) -> Result<Exit, Failure> {
    let client = Client::new(&arguments.hub)?;
    let request = AuditForgetRequest { who: arguments.who.clone() };
    let view: AuditForgottenView = client.post("/api/audit/forget", &request, &Extras::default()).await?;
    let screen = Screen { json: arguments.hub.json };
    if screen.json {
        screen.value(&view)?;
    } else {
        screen.say(&format!("took out what {} lines of {} said", view.forgotten, plain(&arguments.who)))?;
    }
    Ok(Exit::Done)
}

/// Goes through what was written.
struct Checking<'a> {
    verifier: Verifier,
    expected: Option<&'a str>,
}

impl Checking<'_> {
    fn take(&mut self, written: Written) -> Result<(), String> {
        for key in written.key.iter().chain(&written.older) {
            self.verifier.know(hex::decode(&*key.public).map_err(|_| "it holds an invalid key")?);
        }
        if let Some(checkpoint) = written.checkpoint {
            let public = self.verifier.public(&checkpoint.key);
            if !public.is_some_and(|public| checkpoint.is_good(public, &signed)) {
                return Err("the signature of the newest checkpoint is not good".into());
            }
            self.verifier.expect(checkpoint.record, checkpoint.head);
        }
        match (written.record, written.page) {
            (None, None) => Ok(()),
            (Some(record), Some(page)) => {
                self.verifier.page(record, &page, &signed).map_err(|broken| broken.to_string())
            }
            (record, _) => Err(Broken::Unreadable(record.unwrap_or_default()).to_string()),
        }
    }

    fn is_empty(&self) -> bool {
        self.verifier.head().is_none()
    }

    /// After the last record.
    fn finish(&self) -> Result<&Verified, String> {
        let found = self.verifier.finish().map_err(|broken| broken.to_string())?;
        match (self.expected, found.keys.last()) {
            (Some(expected), Some(last)) if !found.keys.iter().any(|key| &**key == expected) => {
                Err(format!("it is signed with another key: {}", plain(last)))
            }
            (Some(_), None) => Err("it is signed with no key".into()),
            (Some(_) | None, _) => Ok(found),
        }
    }
}

fn signed(public: &[u8], statement: &[u8], signature: &[u8]) -> bool {
    PublicKey::Ed25519 { x: public.to_vec() }.verifies(statement, signature)
}

async fn verify(arguments: &VerifyArguments) -> Result<Exit, Failure> {
    let mut checking = Checking { verifier: Verifier::default(), expected: arguments.key.as_deref() };
    if let Some(text) = &arguments.checkpoint {
        let known = text.split_once(':').and_then(|(record, head)| Some((record.parse().ok()?, head.parse().ok()?)));
        let (record, head) = known
            .ok_or_else(|| Failure::new(Exit::Usage, "--checkpoint: expected RECORD:DIGEST, as `verify` tells it"))?;
        checking.verifier.expect(record, head);
    }
    let broken = |text: String| Failure::new(Exit::Failed, text);
    for file in &arguments.files {
        read(file, |written| checking.take(written).map_err(broken))?;
    }
    if arguments.files.is_empty() {
        all(&Client::new(&arguments.hub)?, None, |written| checking.take(written).map_err(broken)).await?;
    }
    if !arguments.files.is_empty() && checking.is_empty() {
        return Err(broken("there is no record to verify: a file was cut, or is the wrong one".to_owned()));
    }
    report(&checking, Screen { json: arguments.hub.json })
}

fn read(file: &Path, mut each: impl FnMut(Written) -> Result<(), Failure>) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| Failure::new(Exit::Usage, config::unreadable(file, &error));
    let mut lines = BufReader::new(File::open(file).map_err(unreadable)?);
    for number in 1.. {
        let mut line = String::new();
        if lines.by_ref().take(LONGEST).read_line(&mut line).map_err(unreadable)? == 0 {
            break;
        }
        let written = serde_json::from_str(&line);
        let text = || format!("line {number} of {} is no record", file.display());
        each(written.map_err(|_| Failure::new(Exit::Failed, text()))?)?;
    }
    Ok(())
}

fn report(checking: &Checking<'_>, screen: Screen) -> Result<Exit, Failure> {
    let found = checking.finish().map_err(|text| Failure::new(Exit::Failed, text))?;
    let signed = found.checkpoint.as_ref();
    if screen.json {
        screen.value(&json!({
            "holds": true, "first": found.first, "records": found.records, "lines": found.lines,
            "forgotten": found.forgotten, "checkpoints": found.checkpoints, "keys": found.keys,
            "checkpoint": signed.map(|signed| format!("{}:{}", signed.record, signed.head)),
        }))?;
        return Ok(Exit::Done);
    }
    screen.say(&format!(
        "the chain holds: {} lines in {} records, {} of them taken out",
        found.lines, found.records, found.forgotten
    ))?;
    if let Some(first) = found.first.filter(|first| *first > 1) {
        screen.say(&format!("records before {first} are not here: removed by their age, or in another file"))?;
    }
    match signed {
        Some(signed) => {
            screen.say(&format!("signed up to record {} with key {}", signed.record, signed.key))?;
            if let Some(next) = found.keys.last().filter(|next| **next != signed.key) {
                screen.say(&format!("what follows is signed with key {next}"))?;
            }
            screen.say(&format!("to compare later: --checkpoint {}:{}", signed.record, signed.head))?;
        }
        None => screen.say("nothing is signed: the last records could have been cut off")?,
    }
    Ok(Exit::Done)
}
