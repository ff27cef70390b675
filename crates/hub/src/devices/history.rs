//! Histories of devices: a ring of a day's minutes for each, within bounds for one, for one owner and for all.
//!
//! A history belongs to a name and an owner together: another that comes in under a name that is free has none of what was there before.

use std::collections::{BTreeMap, VecDeque};

use interlingua_model::{DeviceState, Digest, Time};

use super::sample::{Open, Rates, Sample, minute};

/// Minutes of a day: so many are kept of a device.
pub const DAY: usize = 1_440;
/// Bytes of all samples in memory. Where there are more devices than this is enough for, each has fewer minutes.
const MOST: usize = 64 * 1024 * 1024;
/// Devices that have a history.
const HISTORIES: usize = 20_000;
/// Those of one owner.
const OF_ONE: usize = 512;
/// Minutes that wait to be written, of all devices. A store that is so far behind loses the rest.
const UNWRITTEN: usize = 100_000;

/// Whose a history is: eight bytes of the digest of the owner, then eight of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Tag(pub(super) [u8; 16]);

impl Tag {
    pub(super) fn of(owner: &str, name: &str) -> Tag {
        let (owner, name) = (Digest::of(owner.as_bytes()), Digest::of(name.as_bytes()));
        let mut tag = [0; 16];
        tag[..8].copy_from_slice(&owner.0[..8]);
        tag[8..].copy_from_slice(&name.0[..8]);
        Tag(tag)
    }

    /// All of the same owner lie between these.
    fn of_owner(self) -> std::ops::RangeInclusive<Tag> {
        let (mut first, mut last) = (self, self);
        first.0[8..].fill(0);
        last.0[8..].fill(u8::MAX);
        first..=last
    }
}

#[derive(Debug, Default)]
struct History {
    samples: VecDeque<Sample>,
    open: Option<Open>,
    /// The counters of the last report, and when it came.
    traffic: Option<(Time, Option<u64>, Option<u64>)>,
}

impl History {
    fn newest(&self) -> u32 {
        let closed = self.samples.back().map(|sample| sample.minute);
        self.open.map(|open| open.minute).max(closed).unwrap_or_default()
    }

    fn rates(&mut self, state: &DeviceState, now: Time) -> Rates {
        let (received, sent) = (state.network_received, state.network_sent);
        let Some((then, received_then, sent_then)) = self.traffic.replace((now, received, sent)) else {
            return [None, None];
        };
        let seconds = now.until(then).as_secs_f64();
        let rate = |before: Option<u64>, after: Option<u64>| {
            // A counter that fell was set back.
            let bytes = after?.checked_sub(before?)?;
            (seconds >= 1.0).then(|| bytes as f64 / seconds)
        };
        [rate(received_then, received), rate(sent_then, sent)]
    }

    /// Adds a minute at its place; of two of the same minute the later one counts.
    fn insert(&mut self, sample: Sample, most: usize) {
        let at = self.samples.partition_point(|known| known.minute < sample.minute);
        match self.samples.get_mut(at).filter(|known| known.minute == sample.minute) {
            Some(known) => *known = sample,
            None => self.samples.insert(at, sample),
        }
        let over = self.samples.len().saturating_sub(most);
        self.samples.drain(..over);
    }
}

/// All histories.
#[derive(Debug, Default)]
pub(super) struct Histories {
    of: BTreeMap<Tag, History>,
    /// Minutes that are over and not written yet.
    closed: Vec<(Tag, Sample)>,
}

impl Histories {
    /// How many minutes of one device are kept now.
    fn minutes(&self) -> usize {
        DAY.min(MOST / (size_of::<Sample>() * self.of.len().max(1)))
    }

    /// What a device reported.
    pub(super) fn add(&mut self, tag: Tag, state: &DeviceState, now: Time) {
        self.make_room(tag);
        let most = self.minutes();
        let history = self.of.entry(tag).or_default();
        let rates = history.rates(state, now);
        let this = minute(now);
        if let Some(over) = history.open.take_if(|open| open.minute < this) {
            history.insert(over.sample(), most);
            if self.closed.len() < UNWRITTEN {
                self.closed.push((tag, over.sample()));
            }
        }
        let stored = history.samples.pop_back_if(|stored| stored.minute == this);
        let open = history.open.get_or_insert_with(|| Open::begin(this));
        stored.iter().for_each(|stored| open.resume(stored));
        open.add(state, rates);
    }

    /// A minute that was stored.
    pub(super) fn restore(&mut self, tag: Tag, sample: Sample) {
        self.make_room(tag);
        let most = self.minutes();
        let history = self.of.entry(tag).or_default();
        match history.open.as_mut().filter(|open| open.minute == sample.minute) {
            Some(open) => open.resume(&sample),
            None => history.insert(sample, most),
        }
    }

    /// For a history that is new: the one that was silent longest makes way, of the same owner where that has as many as it may.
    fn make_room(&mut self, tag: Tag) {
        if self.of.contains_key(&tag) {
            return;
        }
        let silent = |(tag, history): (&Tag, &History)| (history.newest(), *tag);
        let evicted = if self.of.range(tag.of_owner()).count() >= OF_ONE {
            self.of.range(tag.of_owner()).map(silent).min()
        } else if self.of.len() >= HISTORIES {
            self.of.iter().map(silent).min()
        } else {
            None
        };
        if let Some((_, evicted)) = evicted {
            self.of.remove(&evicted);
        }
    }

    /// Ends the minutes that are over, drops what is older than a day, and takes what is to be written.
    pub(super) fn close(&mut self, now: Time) -> Vec<(Tag, Sample)> {
        let (this, most) = (minute(now), self.minutes());
        let oldest = this.saturating_sub(DAY as u32);
        for (tag, history) in &mut self.of {
            if let Some(over) = history.open.take_if(|open| open.minute < this) {
                history.insert(over.sample(), most);
                self.closed.push((*tag, over.sample()));
            }
            let old = history.samples.partition_point(|sample| sample.minute < oldest);
            let over = history.samples.len().saturating_sub(most);
            history.samples.drain(..old.max(over));
        }
        self.of.retain(|_, history| history.open.is_some() || !history.samples.is_empty());
        std::mem::take(&mut self.closed)
    }

    /// The same, with the minute that is not over: for the last time before the hub ends.
    pub(super) fn close_all(&mut self, now: Time) -> Vec<(Tag, Sample)> {
        let mut closed = self.close(now);
        closed.extend(self.of.iter().filter_map(|(tag, history)| Some((*tag, history.open?.sample()))));
        closed
    }

    /// Samples of a device from this minute on, oldest first, with the one that is not over.
    pub(super) fn since(&self, tag: Tag, from: u32) -> Vec<Sample> {
        let Some(history) = self.of.get(&tag) else { return Vec::new() };
        let open = history.open.map(|open| open.sample());
        history.samples.iter().copied().chain(open).filter(|sample| sample.minute >= from).collect()
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.of.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::MINUTE;
    use super::*;

    fn at(minute: u64) -> Time {
        Time(minute * MINUTE)
    }

    fn busy(percent: f64) -> DeviceState {
        DeviceState { cpu_percent: Some(percent), ..DeviceState::default() }
    }

    #[test]
    fn a_day_is_kept_gaps_stay_gaps_and_a_minute_is_written_once() {
        let (mut all, box_) = (Histories::default(), Tag::of("ann", "box"));
        for minute in (1..=2_000).filter(|minute| *minute != 1_990) {
            all.add(box_, &busy(10.0), at(minute));
        }
        let written = all.close(at(2_001));
        assert_eq!(written.len(), 1_999);
        assert!(all.close(at(2_001)).is_empty());
        let samples = all.since(box_, 0);
        assert_eq!(samples.len(), DAY - 1, "the minutes of a day, without the one that is missing");
        assert_eq!(samples.first().map(Sample::at), Some(at(561)));
        assert_eq!(all.since(box_, 1_989).iter().map(|sample| sample.minute).collect::<Vec<_>>()[..2], [1_989, 1_991]);
        assert!(all.close(at(2_001 + DAY as u64)).is_empty());
        assert_eq!(all.count(), 0, "a device that was silent for a day is forgotten");
    }

    #[test]
    fn traffic_is_a_rate_between_reports_and_a_counter_that_fell_says_nothing() {
        let (mut all, tag) = (Histories::default(), Tag::of("", "box"));
        let report = |bytes: u64| DeviceState { network_received: Some(bytes), ..DeviceState::default() };
        all.add(tag, &report(1_000), Time(60_000));
        all.add(tag, &report(3_000), Time(62_000));
        all.add(tag, &report(5), Time(64_000));
        assert_eq!(all.since(tag, 0)[0].received_per_second(), Some(1_000.0));
    }

    #[test]
    fn a_minute_in_which_the_hub_was_restarted_is_one_sample() {
        let tag = Tag::of("", "box");
        let mut before = Histories::default();
        before.add(tag, &busy(10.0), at(5));
        let stored = before.close_all(at(5));
        let (mut early, mut late) = (Histories::default(), Histories::default());
        stored.iter().for_each(|(tag, sample)| early.restore(*tag, *sample));
        early.add(tag, &busy(30.0), at(5));
        late.add(tag, &busy(30.0), at(5));
        stored.iter().for_each(|(tag, sample)| late.restore(*tag, *sample));
        for histories in [early, late] {
            let samples = histories.since(tag, 0);
            assert_eq!(samples.iter().map(Sample::cpu_percent).collect::<Vec<_>>(), [Some(20.0)]);
        }
    }

    #[test]
    fn attack_another_owner_of_a_name_has_none_of_its_history() {
        let mut all = Histories::default();
        all.add(Tag::of("user:ann", "box"), &busy(50.0), at(5));
        assert_eq!(all.since(Tag::of("user:bob", "box"), 0), []);
        assert_eq!(all.since(Tag::of("user:ann", "box"), 0).len(), 1);
    }

    #[test]
    fn attack_one_owner_with_many_names_evicts_its_own_histories() {
        let mut all = Histories::default();
        let ann = Tag::of("user:ann", "box");
        all.add(ann, &busy(50.0), at(1));
        for name in 0..3 * OF_ONE {
            all.add(Tag::of("user:mallory", &name.to_string()), &busy(1.0), at(2));
        }
        assert_eq!(all.count(), OF_ONE + 1);
        assert_eq!(all.since(ann, 0).len(), 1);
    }

    #[test]
    fn attack_samples_of_all_devices_are_bounded_in_bytes() {
        let mut all = Histories::default();
        for device in 0..HISTORIES + 100 {
            all.add(Tag::of(&device.to_string(), "box"), &busy(1.0), at(1));
        }
        assert_eq!(all.count(), HISTORIES);
        assert!(all.minutes() * all.count() * size_of::<Sample>() <= MOST);
        assert!(
            size_of::<Sample>() <= 28 && 1_000 * DAY * size_of::<Sample>() <= MOST,
            "a thousand devices have a day"
        );
    }
}
