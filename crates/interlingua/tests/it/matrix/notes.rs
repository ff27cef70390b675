//! Observations of callees about work that takes hours: how often it began, and how often it was ended early. Each callee reports it
//! itself: programs in a file of theirs, the device and the pages in this process, custom tools by running or not.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interlingua_testkit::pages::Pages;
use tempfile::TempDir;

use super::callees::Callee;
use super::callees::site::HELD;

/// What a device heard.
#[derive(Debug, Clone, Default)]
pub(super) struct OfDevice {
    pub(super) begun: Arc<AtomicUsize>,
    /// TASK_END told it that the task is not wanted any more.
    pub(super) ended: Arc<AtomicUsize>,
}

pub(super) struct Notes {
    folder: TempDir,
    pub(super) device: OfDevice,
}

impl Notes {
    pub(super) fn new() -> Notes {
        Notes { folder: tempfile::tempdir().expect("a folder"), device: OfDevice::default() }
    }

    /// Where a program notes what happens to it.
    pub(super) fn file(&self, program: &str) -> PathBuf {
        self.folder.path().join(program)
    }

    fn lines(&self, program: &str, line: &str) -> usize {
        let text = std::fs::read_to_string(self.file(program)).unwrap_or_default();
        text.lines().filter(|said| *said == line).count()
    }

    /// How often it began what takes hours.
    pub(super) fn begun(&self, callee: Callee, pages: &Pages) -> usize {
        match callee {
            Callee::Nlip => self.lines("desk", "begun"),
            Callee::Mcp => self.lines("toolbox", "begun"),
            Callee::A2a => self.lines("scholar", "begun"),
            Callee::Aip => self.device.begun.load(Ordering::SeqCst),
            Callee::Nlweb => self.lines("almanac", "begun"),
            Callee::Site => pages.asked().iter().filter(|asked| asked.trim() == HELD).count(),
            Callee::Local => self.processes().count(),
            Callee::Agent => self.lines("model", "begun ann"),
            Callee::Team => self.of_members("begun"),
        }
    }

    /// How often that was ended before its time, in the words of the callee: told, or seen by its connection.
    pub(super) fn ended(&self, callee: Callee, pages: &Pages) -> usize {
        match callee {
            Callee::Nlip => self.lines("desk", "closed"),
            Callee::Mcp => self.lines("toolbox", "stopped"),
            Callee::A2a => self.lines("scholar", "cancelled"),
            Callee::Aip => self.device.ended.load(Ordering::SeqCst),
            Callee::Nlweb => self.lines("almanac", "closed"),
            Callee::Site => pages.closed(HELD),
            Callee::Local => self.processes().filter(|process| !Path::new("/proc").join(process).exists()).count(),
            Callee::Agent => self.lines("model", "closed ann"),
            Callee::Team => self.of_members("closed"),
        }
    }

    /// All three of them.
    fn of_members(&self, what: &str) -> usize {
        let counts = ["bob", "carl", "dora"].map(|name| self.lines("model", &format!("{what} {name}")));
        counts.into_iter().min().unwrap_or_default()
    }

    /// Of the custom tool, each of which noted its number.
    fn processes(&self) -> impl Iterator<Item = String> {
        let text = std::fs::read_to_string(self.file("local")).unwrap_or_default();
        text.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
    }
}
