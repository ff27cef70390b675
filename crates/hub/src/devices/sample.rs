//! One minute of a device: the mean of what it reported in it, in 26 bytes.

use interlingua_model::{DeviceState, Time};

/// Milliseconds of a minute.
pub(super) const MINUTE: u64 = 60_000;
/// Bytes of a sample in a record, without its minute.
pub(super) const BYTES: usize = 22;

/// What a measure is when the device did not report it.
const NO_BYTE: u8 = u8::MAX;
const NO_COUNT: u16 = u16::MAX;
const NO_NUMBER: f32 = -1.0;

/// The minute that a time is in, counted from 1970.
pub(super) fn minute(at: Time) -> u32 {
    u32::try_from(at.0 / MINUTE).unwrap_or(u32::MAX)
}

/// The means of one minute. Percentages are kept in halves, the load in hundredths; what was not reported is absent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub(super) minute: u32,
    cpu: u8,
    gpu: u8,
    load: u16,
    processes: u16,
    memory: f32,
    disk: f32,
    received: f32,
    sent: f32,
}

impl Sample {
    /// When its minute began.
    pub fn at(&self) -> Time {
        Time(u64::from(self.minute) * MINUTE)
    }

    /// How busy the processors were, 0 to 100.
    pub fn cpu_percent(&self) -> Option<f64> {
        (self.cpu != NO_BYTE).then(|| f64::from(self.cpu) / 2.0)
    }

    /// How busy the busiest graphics processor was, 0 to 100.
    pub fn gpu_percent(&self) -> Option<f64> {
        (self.gpu != NO_BYTE).then(|| f64::from(self.gpu) / 2.0)
    }

    /// How many processes wanted to run.
    pub fn load(&self) -> Option<f64> {
        (self.load != NO_COUNT).then(|| f64::from(self.load) / 100.0)
    }

    /// How many processes there were.
    pub fn active_processes(&self) -> Option<u32> {
        (self.processes != NO_COUNT).then(|| u32::from(self.processes))
    }

    /// Gigabytes of memory that were free to use.
    pub fn memory_available_gb(&self) -> Option<f64> {
        number(self.memory)
    }

    /// Gigabytes of disk that were free.
    pub fn disk_free_gb(&self) -> Option<f64> {
        number(self.disk)
    }

    /// Bytes received in a second.
    pub fn received_per_second(&self) -> Option<f64> {
        number(self.received)
    }

    /// Bytes sent in a second.
    pub fn sent_per_second(&self) -> Option<f64> {
        number(self.sent)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.cpu, self.gpu]);
        out.extend_from_slice(&self.load.to_le_bytes());
        out.extend_from_slice(&self.processes.to_le_bytes());
        for number in [self.memory, self.disk, self.received, self.sent] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// `None` where the bytes are none of ours.
    pub(super) fn read(minute: u32, bytes: &[u8; BYTES]) -> Option<Sample> {
        let [cpu, gpu, l0, l1, p0, p1, rest @ ..] = *bytes;
        let (quads, []) = rest.as_chunks::<4>() else { return None };
        let [memory, disk, received, sent] = quads else { return None };
        let sample = Sample {
            minute,
            cpu,
            gpu,
            load: u16::from_le_bytes([l0, l1]),
            processes: u16::from_le_bytes([p0, p1]),
            memory: f32::from_le_bytes(*memory),
            disk: f32::from_le_bytes(*disk),
            received: f32::from_le_bytes(*received),
            sent: f32::from_le_bytes(*sent),
        };
        let percent = |half: u8| half <= 200 || half == NO_BYTE;
        let finite = [sample.memory, sample.disk, sample.received, sample.sent].iter().all(|number| number.is_finite());
        (percent(cpu) && percent(gpu) && finite).then_some(sample)
    }
}

fn number(kept: f32) -> Option<f64> {
    // Two digits behind the point are what devices tell.
    (kept >= 0.0).then(|| (f64::from(kept) * 100.0).round() / 100.0)
}

/// The reports of a minute that is not over.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Open {
    pub(super) minute: u32,
    cpu: Mean,
    gpu: Mean,
    load: Mean,
    processes: Mean,
    memory: Mean,
    disk: Mean,
    received: Mean,
    sent: Mean,
}

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count = self.count.saturating_add(1);
        }
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }

    fn halves(&self) -> u8 {
        self.value().map_or(NO_BYTE, |value| (value * 2.0).round().clamp(0.0, 200.0) as u8)
    }

    fn counted(&self, scale: f64) -> u16 {
        let most = f64::from(NO_COUNT - 1);
        self.value().map_or(NO_COUNT, |value| (value * scale).round().clamp(0.0, most) as u16)
    }

    fn number(&self) -> f32 {
        self.value().map_or(NO_NUMBER, |value| value as f32)
    }
}

/// Bytes in a second, received and sent.
pub(super) type Rates = [Option<f64>; 2];

impl Open {
    pub(super) fn begin(minute: u32) -> Open {
        Open { minute, ..Open::default() }
    }

    pub(super) fn add(&mut self, state: &DeviceState, [received, sent]: Rates) {
        self.cpu.add(state.cpu_percent);
        self.gpu.add(state.gpu_percent);
        self.load.add(state.load);
        self.processes.add(state.active_processes.map(f64::from));
        self.memory.add(state.memory_available_gb);
        self.disk.add(state.disk_free_gb);
        self.received.add(received);
        self.sent.add(sent);
    }

    /// What was stored of this minute before a restart counts as one report.
    pub(super) fn resume(&mut self, stored: &Sample) {
        self.cpu.add(stored.cpu_percent());
        self.gpu.add(stored.gpu_percent());
        self.load.add(stored.load());
        self.processes.add(stored.active_processes().map(f64::from));
        self.memory.add(stored.memory_available_gb());
        self.disk.add(stored.disk_free_gb());
        self.received.add(stored.received_per_second());
        self.sent.add(stored.sent_per_second());
    }

    pub(super) fn sample(&self) -> Sample {
        Sample {
            minute: self.minute,
            cpu: self.cpu.halves(),
            gpu: self.gpu.halves(),
            load: self.load.counted(100.0),
            processes: self.processes.counted(1.0),
            memory: self.memory.number(),
            disk: self.disk.number(),
            received: self.received.number(),
            sent: self.sent.number(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_is_the_mean_of_its_reports_and_keeps_its_gaps() {
        let mut open = Open::begin(7);
        let report = |cpu: f64| DeviceState {
            cpu_percent: Some(cpu),
            memory_available_gb: Some(6.1),
            active_processes: Some(145),
            ..DeviceState::default()
        };
        open.add(&report(10.0), [None, None]);
        open.add(&report(21.0), [Some(1_000.0), None]);
        let sample = open.sample();
        assert_eq!((sample.at(), sample.cpu_percent()), (Time(420_000), Some(15.5)));
        assert_eq!((sample.memory_available_gb(), sample.active_processes()), (Some(6.1), Some(145)));
        assert_eq!((sample.received_per_second(), sample.sent_per_second()), (Some(1_000.0), None));
        assert_eq!((sample.disk_free_gb(), sample.load(), sample.gpu_percent()), (None, None, None));
    }

    #[test]
    fn a_sample_is_written_and_read() {
        let mut open = Open::begin(9);
        let most = DeviceState {
            cpu_percent: Some(100.0),
            load: Some(1e7),
            active_processes: Some(10_000_000),
            disk_free_gb: Some(1e9),
            ..DeviceState::default()
        };
        open.add(&most, [Some(1e12), Some(0.0)]);
        let sample = open.sample();
        let mut out = Vec::new();
        sample.write(&mut out);
        let bytes: [u8; BYTES] = out.try_into().expect("its size");
        assert_eq!(Sample::read(9, &bytes), Some(sample));
        assert_eq!(sample.load(), Some(655.34), "what is more than fits is the most that fits");
        let mut bad = bytes;
        bad[0] = 201;
        assert_eq!(Sample::read(9, &bad), None);
        bad = bytes;
        bad[6..10].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(Sample::read(9, &bad), None);
    }
}
