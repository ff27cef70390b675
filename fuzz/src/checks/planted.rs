//! A deliberate fault. `scripts/fuzz` must find it before its other results count.

/// One byte at a time: each is a branch of its own, so counters lead there in seconds, and chance alone in years.
pub(crate) fn fault(data: &[u8]) {
    let wanted = b"hub!";
    let mut right = 0;
    for (given, wanted) in data.iter().zip(wanted) {
        if given != wanted {
            break;
        }
        right += 1;
    }
    match right {
        0 => {}
        1 => std::hint::black_box(()),
        2 => drop(std::hint::black_box(String::from("two"))),
        3 => drop(std::hint::black_box(vec![3])),
        _ => panic!("the fault that was planted"),
    }
}
