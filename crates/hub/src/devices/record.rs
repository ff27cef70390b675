//! The stored form of a minute: one record with a sample of each device, so that a thousand devices cost one write.
//!
//! A version, the minute, then for each device 16 bytes of whose it is and 22 of its sample. What a day's records hold together is bounded:
//! of more devices than fit each is written every second, third… minute, in turns.

use super::history::{DAY, Tag};
use super::sample::{BYTES, Sample};

/// Bytes of a day's records.
const MOST: usize = 64 * 1024 * 1024;
const VERSION: u8 = 1;
const HEAD: usize = 5;
const ENTRY: usize = 16 + BYTES;
/// Devices of one record.
pub(super) const DEVICES: usize = (MOST / DAY - HEAD) / ENTRY;

/// The record of one minute.
pub(super) fn write(minute: u32, samples: &[(Tag, Sample)]) -> Vec<u8> {
    let turns = u32::try_from(samples.len().div_ceil(DEVICES)).unwrap_or(u32::MAX).max(1);
    let its_turn = |(tag, _): &&(Tag, Sample)| {
        let [.., a, b] = tag.0;
        u32::from(u16::from_le_bytes([a, b])).wrapping_add(minute) % turns == 0
    };
    let mut out = Vec::with_capacity(HEAD + ENTRY * samples.len().min(DEVICES));
    out.push(VERSION);
    out.extend_from_slice(&minute.to_le_bytes());
    for (tag, sample) in samples.iter().filter(its_turn).take(DEVICES) {
        out.extend_from_slice(&tag.0);
        sample.write(&mut out);
    }
    out
}

/// The samples of a record. A record of another version has none that can be read, and of one that is cut the whole ones count.
pub(super) fn read(record: &[u8]) -> Vec<(Tag, Sample)> {
    let Some(([VERSION, minute @ ..], entries)) = record.split_first_chunk::<HEAD>() else { return Vec::new() };
    let minute = u32::from_le_bytes(*minute);
    let entry = |entry: &[u8; ENTRY]| {
        let (tag, sample) = entry.split_first_chunk::<16>()?;
        Some((Tag(*tag), Sample::read(minute, sample.first_chunk::<BYTES>()?)?))
    };
    entries.as_chunks::<ENTRY>().0.iter().take(DEVICES).filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use interlingua_model::DeviceState;

    use super::super::sample::Open;
    use super::*;

    fn sample(minute: u32) -> Sample {
        let mut open = Open::begin(minute);
        open.add(&DeviceState { cpu_percent: Some(12.5), ..DeviceState::default() }, [None, None]);
        open.sample()
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let samples: Vec<(Tag, Sample)> =
            (0..3).map(|device| (Tag::of("ann", &device.to_string()), sample(7))).collect();
        let record = write(7, &samples);
        assert_eq!(record.len(), HEAD + 3 * ENTRY);
        assert_eq!(read(&record), samples);
        assert_eq!(read(&record[..record.len() - 1]), samples[..2]);
        assert_eq!(read(&[]), []);
        assert_eq!(read(&[2, 0, 0, 0, 0]), []);
    }

    #[test]
    fn more_devices_than_fit_take_turns() {
        let samples: Vec<(Tag, Sample)> =
            (0..3 * DEVICES).map(|device| (Tag::of("ann", &device.to_string()), sample(0))).collect();
        let mut written = 0;
        for minute in 0..3 {
            let record = write(minute, &samples);
            assert!(record.len() * DAY <= MOST, "a day of it fits");
            written += read(&record).len();
        }
        assert!(written > 2 * DEVICES, "nearly all of them within three minutes: {written}");
        const { assert!(DEVICES >= 1_000, "a thousand devices are written every minute") };
    }
}
