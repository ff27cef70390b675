//! Both encodings carry every message without loss.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::arbitrary::any_message;

proptest! {
    #[test]
    fn json_carries_every_message(message in any_message()) {
        for keys in [Keys::Lower, Keys::Title] {
            let frame = Bytes::from(json::encode(&message, keys));
            prop_assert_eq!(&json::decode(&frame, &Limits::default()).unwrap(), &message);
        }
    }

    #[test]
    fn cbor_carries_every_message(message in any_message()) {
        for keys in [Keys::Lower, Keys::Title] {
            let frame = Bytes::from(cbor::encode(&message, keys));
            prop_assert_eq!(&cbor::decode(&frame, &Limits::default()).unwrap(), &message);
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let frame = Bytes::from(bytes);
        let _ = json::decode(&frame, &Limits::default());
        let _ = cbor::decode(&frame, &Limits::default());
    }

    /// Frames that are nearly right reach further than random bytes.
    #[test]
    fn no_damage_to_a_frame_makes_a_decoder_panic(message in any_message(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut frame = cbor::encode(&message, Keys::Lower);
        let index = at.index(frame.len());
        frame[index] = byte;
        if let Ok(read) = cbor::decode(&Bytes::from(frame), &Limits::default()) {
            let again = Bytes::from(cbor::encode(&read, Keys::Lower));
            prop_assert_eq!(cbor::decode(&again, &Limits::default()).unwrap(), read);
        }
    }
}
