//! Invariants of AIP's file transfer for any bytes: a header survives a round trip, and what a receiver accepts is a whole file of the
//! announced size.

use bytes::Bytes;
use interlingua_aip::binary::{Heading, Receiving, Sending, Start};
use interlingua_model::Time;

const LIMIT: u64 = 1 << 20;

/// Frames are separated by a line; one that is no heading is a binary frame.
pub(crate) fn frames(data: &[u8]) {
    let mut receiving: Option<(Receiving, Start, u64)> = None;
    for frame in data.split(|byte| *byte == b'\n') {
        let heading = Heading::decode(&Bytes::copy_from_slice(frame), 16);
        if let Ok(heading) = &heading {
            let written = Bytes::from(heading.encode(Time(0)));
            assert!(written.is_ascii(), "as their Python writer does");
            assert_eq!(Heading::decode(&written, 16).as_ref(), Ok(heading));
        }
        receiving = match (heading, receiving) {
            (Ok(Heading::Start(start)), _) => {
                let opened = Receiving::new(start.clone(), LIMIT);
                assert!(opened.is_err() || start.size <= LIMIT);
                opened.ok().map(|receiving| (receiving, start, 0))
            }
            (Ok(Heading::Data { size, chunk }), Some((mut receiving, start, came))) => {
                receiving.announced(size, chunk).is_ok().then_some((receiving, start, came))
            }
            (Ok(Heading::Complete { filename, chunks, checksum }), Some((receiving, start, came))) => {
                if receiving.complete(&filename, chunks, checksum.as_deref()).is_ok() {
                    assert_eq!((came, &filename), (start.size, &start.filename), "a part was taken for the whole");
                }
                None
            }
            (Err(_), Some((mut receiving, start, came))) => {
                let taken = receiving.bytes(frame).is_ok();
                taken.then_some((receiving, start, came + frame.len() as u64))
            }
            (Ok(_) | Err(_), None) => None,
        };
    }
    sent(data);
}

/// What is sent here arrives here.
fn sent(data: &[u8]) {
    let [size, content @ ..] = data else { return };
    let (start, mut sending) = Sending::new(Start::new("f", content.len() as u64, u64::from(*size), None));
    let Heading::Start(start) = start else { panic!("a transfer begins with its start") };
    let mut receiving = Receiving::new(start, u64::MAX).expect("it is not too large");
    let mut rest = content;
    while let Some(size) = sending.wants() {
        let (chunk, after) = rest.split_at(usize::try_from(size).expect("small"));
        rest = after;
        let Heading::Data { size, chunk: number } = sending.chunk(chunk) else { panic!("a chunk has a heading") };
        receiving.announced(size, number).expect("it is in order");
        receiving.bytes(chunk).expect("it has its size");
    }
    let Heading::Complete { filename, chunks, checksum } = sending.complete() else { panic!("a transfer ends") };
    assert_eq!(receiving.complete(&filename, chunks, checksum.as_deref()), Ok(()));
}
