//! Reads the audit log: lines for people, whole pages for verification. It also redacts lines (right to erasure).

use interlingua_machines::audit::{Checkpoint, Page, PageLine};
use interlingua_model::ports::Stored;
use interlingua_model::{Fault, FaultKind, Log, Principal, journal};

use super::{AuditLine, short, writer};
use crate::Hub;

/// So that a line's number says where it stands: more than a record holds.
const PLACES: u64 = 4_096;
/// How many lines one reading returns.
const MAX_PAGE: usize = 1_000;
/// How many records one reading returns, and how many are read at once when all are gone through: a record may hold a
/// thousand lines.
const MAX_RECORDS: usize = 16;

impl Hub {
    /// A page of the audit, newest first: lines before the number `before`, or the newest. Only an Owner may read it.
    pub async fn audit_lines(
        &self,
        by: &Principal,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, AuditLine)>, Fault> {
        self.only_for_owner(by, "audit")?;
        let limit = limit.clamp(1, MAX_PAGE);
        self.audit.written().await;
        let end = match before {
            Some(before) => before,
            None => number(self.store.journal.last(Log::Audit).await?.saturating_add(1), 0),
        };
        let mut lines = Vec::new();
        let mut record = end / PLACES;
        while lines.len() < limit {
            let found = self.store.journal.read(Log::Audit, record.saturating_sub(1), 1).await?;
            match found.first() {
                Some(stored) if stored.seq == record => {
                    lines.extend(numbered(stored).into_iter().rev().filter(|(number, _)| *number < end));
                }
                // Retention took it, and with it all that is older.
                Some(_) => break,
                None => {}
            }
            if record == 0 {
                break;
            }
            record -= 1;
        }
        lines.truncate(limit);
        Ok(lines)
    }

    /// Whole records after a number, oldest first; `None` for one that cannot be read. Only an Owner may read them.
    pub async fn audit_pages(
        &self,
        by: &Principal,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Option<Page>)>, Fault> {
        self.only_for_owner(by, "audit")?;
        let found = self.store.journal.read(Log::Audit, after, limit.clamp(1, MAX_RECORDS)).await?;
        Ok(found.iter().map(|stored| (stored.seq, page(stored))).collect())
    }

    /// Signs everything so far, and returns the newest checkpoint, which is stored beside the records. Only an Owner may do that.
    pub async fn audit_checkpoint(&self, by: &Principal) -> Result<Option<Checkpoint>, Fault> {
        self.only_for_owner(by, "audit")?;
        self.audit.signed().await;
        Ok(writer::kept(&*self.store.records, self.now()).await?)
    }

    /// Redacts every line of this caller: its text is removed, the line remains, and the chain still verifies. Returns how many there were.
    /// Only an Owner may do that.
    pub async fn forget_in_audit(&self, by: &Principal, who: &str) -> Result<u64, Fault> {
        self.only_for_owner(by, "forget_audit")?;
        self.audit.written().await;
        let who = short(who.to_owned());
        let (mut after, mut forgotten) = (0, 0);
        loop {
            let found = self.store.journal.read(Log::Audit, after, MAX_RECORDS).await?;
            let Some(last) = found.last() else { break };
            after = last.seq;
            for stored in &found {
                let Some(mut page) = page(stored) else { continue };
                let count = forget(&mut page, &who);
                if count > 0 {
                    let bytes = journal::to_bytes(&page).map_err(Fault::internal)?;
                    self.store.journal.redact(Log::Audit, stored.seq, bytes).await?;
                    forgotten += count;
                }
            }
        }
        self.audit.write(AuditLine::new("forget_audit", by.owner()));
        Ok(forgotten)
    }

    fn only_for_owner(&self, by: &Principal, action: &'static str) -> Result<(), Fault> {
        if by.is_hub_owner() {
            return Ok(());
        }
        self.audit.write(AuditLine::new(action, by.owner()).refused(FaultKind::Denied));
        Err(Fault::caller(FaultKind::Denied, "only the hub's Owner reads the audit"))
    }
}

/// How many lines of this caller were redacted, also of those where it acted through another.
fn forget(page: &mut Page, who: &str) -> u64 {
    let mut count = 0;
    for line in &mut page.lines {
        if said(line).is_some_and(|line| line.by == who || line.by.split('>').any(|link| link == who)) {
            line.forget();
            count += 1;
        }
    }
    count
}

/// A line's number: its record's, and its place in it.
fn number(record: u64, place: u64) -> u64 {
    record * PLACES + place
}

fn page(stored: &Stored) -> Option<Page> {
    journal::from_bytes(&stored.bytes).ok()
}

fn said(line: &PageLine) -> Option<AuditLine> {
    line.said().and_then(|said| serde_json::from_slice(said.as_bytes()).ok())
}

/// Lines that were taken out leave their numbers.
fn numbered(stored: &Stored) -> Vec<(u64, AuditLine)> {
    let lines = page(stored).map(|page| page.lines).unwrap_or_default();
    (0..).zip(&lines).filter_map(|(place, line)| Some((number(stored.seq, place), said(line)?))).collect()
}
