//! Simulated disk that loses what was not synced, for programs that must survive a power cut.
//!
//! Killing a process does not lose the kernel's page cache. So the program runs with a layer (`shim.c`) that notes what each
//! sync made safe, is killed, and its directory is put back to what such a disk would hold. A cut is tried in two ways:
//! nothing of what was not synced is there, or a random choice of its sectors is. Both are what a real disk may do.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::shim;

const SECTOR: usize = 512;

/// One directory on such a disk.
#[derive(Debug)]
pub struct Disk {
    shim: PathBuf,
    root: PathBuf,
    shadow: PathBuf,
    faults: PathBuf,
}

/// What a disk can be told to do wrong, until it is told to stop.
#[derive(Debug, Clone, Copy)]
pub enum DiskFault {
    /// Every sync fails with EIO.
    Fail,
    /// Every write fails with ENOSPC.
    Full,
}

impl DiskFault {
    fn switch(self) -> &'static str {
        match self {
            DiskFault::Fail => "fail",
            DiskFault::Full => "full",
        }
    }
}

impl Disk {
    /// A directory `data` below `home`, which is made.
    pub fn below(home: &Path) -> Self {
        let home = home.canonicalize().expect("a directory");
        let shim = shim::build("shim.c", &home);
        let (root, shadow, faults) = (home.join("data"), home.join("shadow"), home.join("faults"));
        fs::create_dir(&root).expect("a new directory");
        fs::create_dir(&faults).expect("a new directory");
        fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).expect("it is ours");
        let disk = Self { shim, root, shadow, faults };
        disk.settle();
        disk
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the program's environment must hold.
    pub fn environment(&self) -> [(&'static str, &Path); 4] {
        [
            ("LD_PRELOAD", &self.shim),
            ("POWERCUT_ROOT", &self.root),
            ("POWERCUT_SHADOW", &self.shadow),
            ("POWERCUT_FAULTS", &self.faults),
        ]
    }

    /// From now on.
    pub fn begin(&self, fault: DiskFault) {
        fs::write(self.faults.join(fault.switch()), "").expect("written");
    }

    pub fn end(&self, fault: DiskFault) {
        fs::remove_file(self.faults.join(fault.switch())).expect("it was begun");
    }

    /// What is there now counts as synced: also what was written by somebody that runs without the layer, such as a judge who
    /// opened the store and closed it again.
    pub fn settle(&self) {
        let _none_yet = fs::remove_dir_all(&self.shadow);
        fs::create_dir(&self.shadow).expect("a new directory");
        self.remember(&self.root);
    }

    fn remember(&self, dir: &Path) {
        let mut names = String::new();
        for entry in fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("a name")) {
            let (path, inode) = (entry.path(), inode(&entry.path()));
            if entry.file_type().is_ok_and(|kind| kind.is_socket()) {
                continue;
            }
            let kind = if path.is_dir() { 'd' } else { 'f' };
            names += &format!("{kind} {inode} {}\n", entry.file_name().to_str().expect("a plain name"));
            if path.is_dir() {
                self.remember(&path);
            } else {
                fs::copy(&path, self.shadow.join(format!("f-{inode}"))).expect("a copy");
            }
        }
        fs::write(self.shadow.join(format!("d-{}", inode(dir))), names).expect("written");
    }

    /// Puts what the disk held in the place of what the kernel held; the program must have been killed. With `sectors`, some
    /// of what was written after the last sync is there as well.
    pub fn cut_power(&self, sectors: Option<&mut Random>) {
        let rebuilt = self.root.with_file_name("rebuilt");
        let mut live = HashMap::new();
        if sectors.is_some() {
            files_by_inode(&self.root, &mut live);
        }
        let mut restore = Restore { shadow: &self.shadow, live, sectors };
        restore.directory(&inode(&self.root), &rebuilt);
        fs::remove_dir_all(&self.root).expect("it is ours");
        fs::rename(&rebuilt, &self.root).expect("it is ours");
        self.settle();
    }
}

/// As the shim spells it.
fn inode(path: &Path) -> String {
    let about = fs::symlink_metadata(path).expect("it is there");
    let born = about.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{}-{}-{}", about.ino(), born.as_secs(), born.subsec_nanos())
}

fn files_by_inode(dir: &Path, files: &mut HashMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("a name")) {
        let path = entry.path();
        if path.is_dir() {
            files_by_inode(&path, files);
        } else if path.is_file() {
            files.insert(inode(&path), fs::read(&path).expect("a file"));
        }
    }
}

struct Restore<'a> {
    shadow: &'a Path,
    live: HashMap<String, Vec<u8>>,
    sectors: Option<&'a mut Random>,
}

impl Restore<'_> {
    fn directory(&mut self, inode: &str, to: &Path) {
        fs::create_dir(to).expect("a new directory");
        fs::set_permissions(to, fs::Permissions::from_mode(0o700)).expect("it is ours");
        // Never synced: no name in it survived.
        let names = fs::read_to_string(self.shadow.join(format!("d-{inode}"))).unwrap_or_default();
        for line in names.lines() {
            let mut words = line.splitn(3, ' ');
            let mut word = || words.next().expect("kind, inode, name");
            let (kind, inode, name) = (word(), word(), word());
            match kind {
                "d" => self.directory(inode, &to.join(name)),
                _ => self.file(inode, &to.join(name)),
            }
        }
    }

    fn file(&mut self, inode: &str, to: &Path) {
        let synced = fs::read(self.shadow.join(format!("f-{inode}"))).unwrap_or_default();
        let mixed = match (&mut self.sectors, self.live.get(inode)) {
            (Some(random), Some(live)) => mix(&synced, live, random),
            _ => synced,
        };
        fs::write(to, mixed).expect("written");
        fs::set_permissions(to, fs::Permissions::from_mode(0o600)).expect("it is ours");
    }
}

/// The length and each sector are either as synced or as written last.
fn mix(synced: &[u8], live: &[u8], random: &mut Random) -> Vec<u8> {
    let len = if random.below(2) == 0 { synced.len() } else { live.len() };
    let mut mixed = vec![0; len];
    for start in (0..len).step_by(SECTOR) {
        let from = if random.below(2) == 0 { synced } else { live };
        let end = from.len().min(len).min(start + SECTOR);
        if start < end {
            mixed[start..end].copy_from_slice(&from[start..end]);
        }
    }
    mixed
}

/// splitmix64: the same cuts in every run.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// The next number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}
