//! System information: the current system, processors, memory, disk, graphics, network and load of this machine.
//!
//! It is read from `/proc` and `/sys` where they exist; elsewhere from the standard library. No program is started and no service is
//! queried, so reading is cheap and can be done often.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::path::Path;

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Account {
    /// `linux`, `macos`, `windows`.
    pub platform: String,
    pub os_version: String,
    pub hostname: String,
    /// What others see it call from; its own loopback when it has no way out.
    pub ip_address: String,
    /// The model of the processor, where the system tells it.
    pub cpu: Option<String>,
    pub cpu_count: usize,
    /// How busy the processors were since the last look.
    pub cpu_percent: Option<f64>,
    pub memory_total_gb: Option<f64>,
    pub memory_available_gb: Option<f64>,
    pub disk_total_gb: Option<f64>,
    pub disk_free_gb: Option<f64>,
    pub gpu: Vec<String>,
    /// How busy the busiest of them is, where its driver tells it.
    pub gpu_percent: Option<f64>,
    pub gpu_memory_total_gb: Option<f64>,
    pub gpu_memory_free_gb: Option<f64>,
    pub active_processes: Option<usize>,
    /// `connected` where there is a way out, else `disconnected`.
    pub network_status: String,
    /// Bytes received and sent, by interface.
    pub network: BTreeMap<String, [u64; 2]>,
    /// Over one, five and fifteen minutes.
    pub load: Option<[f64; 3]>,
}

impl Account {
    /// Is there news for somebody who knows the other? Counters that always rise, and small changes, are none.
    pub fn is_news_to(&self, other: &Account) -> bool {
        let steady = |account: &Account| Account {
            cpu_percent: None,
            memory_available_gb: None,
            disk_free_gb: None,
            gpu_percent: None,
            gpu_memory_free_gb: None,
            active_processes: None,
            load: None,
            network: account.network.keys().map(|name| (name.clone(), [0, 0])).collect(),
            ..account.clone()
        };
        let share =
            |part: Option<f64>, whole: Option<f64>| part.zip(whole).map(|(part, whole)| part / whole.max(0.001));
        let moved = |a: Option<f64>, b: Option<f64>, by: f64| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() >= by,
            (None, None) => false,
            (Some(_), None) | (None, Some(_)) => true,
        };
        let memory = |account: &Account| share(account.memory_available_gb, account.memory_total_gb);
        let disk = |account: &Account| share(account.disk_free_gb, account.disk_total_gb);
        let load = |account: &Account| account.load.map(|load| load[0]);
        steady(self) != steady(other)
            || moved(memory(self), memory(other), 0.05)
            || moved(disk(self), disk(other), 0.01)
            || moved(load(self), load(other), 0.5)
            || moved(self.cpu_percent, other.cpu_percent, 20.0)
            || moved(self.gpu_percent, other.gpu_percent, 20.0)
    }
}

/// Looks at the machine, and remembers what it needs to say how busy it was.
#[derive(Debug, Default)]
pub struct Machine {
    before: Option<Ticks>,
    /// Does not change while the machine runs.
    cpu: Option<String>,
}

impl Machine {
    /// `disk` is where files of interest are.
    pub fn look(&mut self, disk: &Path) -> Account {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let memory = read("/proc/meminfo");
        let now = ticks(&read("/proc/stat"));
        let busy = self.before.zip(now).and_then(|(before, now)| busy(before, now));
        self.before = now;
        let cpu = self.cpu.take().or_else(|| model(&read("/proc/cpuinfo")));
        self.cpu.clone_from(&cpu);
        let (outward, cards) = (outward(), graphics());
        let space = rustix::fs::statvfs(disk).ok();
        let space =
            space.map(|space| [space.f_blocks, space.f_bavail].map(|blocks| gigabytes(blocks * space.f_frsize)));
        Account {
            platform: std::env::consts::OS.to_owned(),
            os_version: os_version(&read("/etc/os-release"), read("/proc/sys/kernel/osrelease").trim()),
            hostname: Some(read("/proc/sys/kernel/hostname").trim().to_owned())
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "unknown".to_owned()),
            ip_address: outward.unwrap_or(Ipv4Addr::LOCALHOST.into()).to_string(),
            network_status: if outward.is_some() { "connected" } else { "disconnected" }.to_owned(),
            cpu,
            cpu_count: std::thread::available_parallelism().map_or(1, usize::from),
            cpu_percent: busy,
            memory_total_gb: kilobytes(&memory, "MemTotal:").map(|kb| gigabytes(kb * 1024)),
            memory_available_gb: kilobytes(&memory, "MemAvailable:").map(|kb| gigabytes(kb * 1024)),
            disk_total_gb: space.map(|[total, _]| total),
            disk_free_gb: space.map(|[_, free]| free),
            gpu: cards.names,
            gpu_percent: cards.percent,
            gpu_memory_total_gb: cards.memory.map(|[total, _]| gigabytes(total)),
            gpu_memory_free_gb: cards.memory.map(|[total, used]| gigabytes(total.saturating_sub(used))),
            active_processes: processes(),
            network: interfaces(&read("/proc/net/dev")),
            load: load(&read("/proc/loadavg")),
        }
    }
}

/// The address that the system would call the outside from. A datagram's socket that connects sends nothing; the far address is
/// one of those set aside for documents.
fn outward() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    socket.local_addr().ok().map(|own| own.ip())
}

/// With two digits behind the point.
fn gigabytes(bytes: u64) -> f64 {
    let hundredths = bytes / (1024 * 1024 * 1024 / 100);
    f64::from(u32::try_from(hundredths).unwrap_or(u32::MAX)) / 100.0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    idle: u64,
    all: u64,
}

/// The first line: user, nice, system, idle, iowait, irq, softirq, steal.
fn ticks(stat: &str) -> Option<Ticks> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let counts: Vec<u64> = line.split_whitespace().take(8).filter_map(|count| count.parse().ok()).collect();
    let idle = counts.get(3)? + counts.get(4)?;
    Some(Ticks { idle, all: counts.iter().sum() })
}

fn busy(before: Ticks, now: Ticks) -> Option<f64> {
    let all = u32::try_from(now.all.checked_sub(before.all)?).ok().filter(|all| *all > 0)?;
    let idle = u32::try_from(now.idle.checked_sub(before.idle)?).ok()?;
    let tenths = (1.0 - f64::from(idle.min(all)) / f64::from(all)) * 1000.0;
    Some(tenths.round() / 10.0)
}

fn kilobytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn os_version(release: &str, kernel: &str) -> String {
    let named = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    match named.map(|name| name.trim_matches('"')) {
        Some(name) if !kernel.is_empty() => format!("{name} ({kernel})"),
        Some(name) => name.to_owned(),
        None => kernel.to_owned(),
    }
}

fn load(text: &str) -> Option<[f64; 3]> {
    let mut numbers = text.split_whitespace().filter_map(|number| number.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// All but the one to itself; at most 64.
fn interfaces(dev: &str) -> BTreeMap<String, [u64; 2]> {
    let one = |line: &str| {
        let (name, counts) = line.split_once(':')?;
        let counts: Vec<u64> = counts.split_whitespace().filter_map(|count| count.parse().ok()).collect();
        Some((name.trim().to_owned(), [*counts.first()?, *counts.get(8)?]))
    };
    dev.lines().filter_map(one).filter(|(name, _)| name != "lo").take(64).collect()
}

/// The model of the first processor.
fn model(cpuinfo: &str) -> Option<String> {
    let named = |line: &str| {
        let (key, value) = line.split_once(':')?;
        matches!(key.trim(), "model name" | "Model" | "Hardware").then(|| value.trim().to_owned())
    };
    cpuinfo.lines().find_map(named).filter(|name| !name.is_empty())
}

/// Each process has a folder that is called by its number.
fn processes() -> Option<usize> {
    let is_number = |name: &[u8]| name.iter().all(u8::is_ascii_digit);
    let entries = fs::read_dir("/proc").ok()?.flatten();
    Some(entries.filter(|entry| is_number(entry.file_name().as_encoded_bytes())).count()).filter(|count| *count > 0)
}

/// What is known of the graphics processors. Only some drivers tell how busy they are without a program of theirs.
#[derive(Debug, Default)]
struct Cards {
    names: Vec<String>,
    percent: Option<f64>,
    /// Bytes of all of them: there are, and in use.
    memory: Option<[u64; 2]>,
}

fn graphics() -> Cards {
    let below = |directory: &str| fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let number = |path: std::path::PathBuf| -> Option<u64> { fs::read_to_string(path).ok()?.trim().parse().ok() };
    let (mut percent, mut memory): (Option<u64>, Option<[u64; 2]>) = (None, None);
    for card in below("/sys/class/drm").filter(|card| is_card(card)).take(64) {
        percent = percent.max(number(card.join("device/gpu_busy_percent")));
        let (total, used) =
            (number(card.join("device/mem_info_vram_total")), number(card.join("device/mem_info_vram_used")));
        if let Some((total, used)) = total.zip(used) {
            let [all, all_used] = memory.unwrap_or_default();
            memory = Some([all.saturating_add(total), all_used.saturating_add(used)]);
        }
    }
    let percent = percent.and_then(|percent| u32::try_from(percent).ok()).map(|percent| f64::from(percent.min(100)));
    Cards { names: models(), percent, memory }
}

/// `card0`; its outputs are `card0-HDMI-A-1`.
fn is_card(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("card"));
    name.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn models() -> Vec<String> {
    let below = |directory: &str| fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let nvidia = below("/proc/driver/nvidia/gpus").filter_map(|card| {
        let told = fs::read_to_string(card.join("information")).ok()?;
        Some(told.lines().find_map(|line| line.strip_prefix("Model:"))?.trim().to_owned())
    });
    let cards = below("/sys/class/drm").filter_map(|card| {
        let told = fs::read_to_string(card.join("device/uevent")).ok()?;
        // Its outputs are listed there, too, and have no driver.
        told.lines().find_map(|line| line.strip_prefix("DRIVER=")).map(str::to_owned)
    });
    let mut all: Vec<String> = nvidia.chain(cards).take(64).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_processors_memory_and_a_disk() {
        let mut machine = Machine::default();
        let first = machine.look(Path::new("/"));
        assert!(first.cpu_count > 0 && first.disk_total_gb.is_some_and(|total| total > 0.0), "{first:?}");
        assert_eq!(first.cpu_percent, None, "nothing to compare with");
        assert_eq!(first.platform, std::env::consts::OS);
        if cfg!(target_os = "linux") {
            assert!(first.memory_total_gb.is_some() && first.load.is_some(), "{first:?}");
            assert!(first.active_processes.is_some_and(|count| count > 0), "{first:?}");
        }
    }

    #[test]
    fn files_of_the_system_are_read_as_they_are_written() {
        let before = ticks("cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 1 2").expect("counts");
        let now = ticks("cpu  40 0 30 110 20 0 0 0 0 0\n").expect("counts");
        assert_eq!(busy(before, now), Some(50.0));
        assert_eq!(busy(now, before), None, "a counter that fell says nothing");
        assert_eq!(ticks("intr 1"), None);
        assert_eq!(kilobytes("MemTotal:  4000000 kB\nMemFree: 1 kB", "MemTotal:"), Some(4_000_000));
        assert_eq!(load("0.52 0.58 0.59 1/467 12345\n"), Some([0.52, 0.58, 0.59]));
        assert_eq!(load("none"), None);
        let dev = "Inter-|   Receive\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0: 100 1 0 0 0 0 0 0 200 2 0\n";
        assert_eq!(interfaces(dev), BTreeMap::from([("eth0".to_owned(), [100, 200])]));
        assert_eq!(os_version("NAME=x\nPRETTY_NAME=\"Some Linux 1\"\n", "6.1"), "Some Linux 1 (6.1)");
        assert_eq!(gigabytes(3 * 1024 * 1024 * 1024 / 2), 1.5);
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nmodel name\t: another\n";
        assert_eq!(model(cpuinfo).as_deref(), Some("Some CPU @ 2.00GHz"));
        assert_eq!(model("flags : fpu\n"), None);
        assert!(is_card(Path::new("/sys/class/drm/card0")) && !is_card(Path::new("/sys/class/drm/card0-DP-1")));
    }

    #[test]
    fn the_machines_address_is_one_of_its_own() {
        let own: IpAddr = Machine::default().look(Path::new("/")).ip_address.parse().expect("an address");
        assert!(UdpSocket::bind((own, 0)).is_ok(), "only an address of this machine can be bound: {own}");
    }

    #[test]
    fn only_what_matters_is_news() {
        let one = Account {
            memory_total_gb: Some(4.0),
            memory_available_gb: Some(2.0),
            load: Some([0.1; 3]),
            ..Account::default()
        };
        let more = |change: fn(&mut Account)| {
            let mut other = one.clone();
            change(&mut other);
            other.is_news_to(&one)
        };
        assert!(!more(|_| {}));
        assert!(!more(|it| it.memory_available_gb = Some(1.95)));
        assert!(more(|it| it.memory_available_gb = Some(1.0)));
        assert!(!more(|it| it.load = Some([0.3, 9.0, 9.0])));
        assert!(more(|it| it.load = Some([0.9; 3])));
        assert!(more(|it| it.hostname = "other".to_owned()));
        assert!(more(|it| {
            it.network.insert("wlan0".to_owned(), [1, 1]);
        }));
    }
}
