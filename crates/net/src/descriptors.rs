//! File descriptor limit (`RLIMIT_NOFILE`): every connection takes a descriptor. Connections of strangers are bounded by this limit, so
//! that the store, peers and the Owner's socket always have descriptors left.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the hub needs besides connections: its store, listeners, peers, programs; a quarter of it is for the Owner's socket.
pub const RESERVE: u64 = 256;
/// Where the system names no hard limit, it may still have one that is not much higher (OPEN_MAX on macOS).
const UNNAMED: u64 = 10_240;

/// How many connections are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub connections: u32,
    /// Of these, from one address.
    pub each: u32,
    /// On the socket in the data directory, besides.
    pub owner: u32,
}

impl Share {
    /// Of so many descriptors, `None` is without bound: what is left of the connections that are `wanted`, `each` of them from one
    /// address.
    pub fn of(allowed: Option<u64>, wanted: u32, each: u32) -> Share {
        let Some(allowed) = allowed else {
            return Share { connections: wanted, each, owner: wanted };
        };
        let reserve = RESERVE.min(allowed / 2);
        let left = u32::try_from(allowed - reserve).unwrap_or(u32::MAX);
        let connections = wanted.min(left).max(1);
        let each = match connections < wanted {
            true => each.min(connections - connections / 4),
            false => each,
        };
        let own = u32::try_from(reserve / 4).unwrap_or(u32::MAX);
        Share { connections, each, owner: (left - connections.min(left)).max(own).min(wanted).max(1) }
    }
}

/// Raises the soft limit as far as these connections want it and the hard one lets it: each may lead to a connection to a peer.
/// Not further: programs that the hub starts inherit it, and some look at every descriptor there may be. What is allowed then.
pub fn raise(connections: u32) -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let soft = limit.current?;
    let wanted = (u64::from(connections) * 2 + RESERVE).min(limit.maximum.unwrap_or(UNNAMED));
    if wanted <= soft {
        return Some(soft);
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum }) {
        Ok(()) => Some(wanted),
        Err(error) => {
            tracing::warn!(event = "open_files_not_raised", %error, allowed = soft, wanted, "the limit of open files could not be raised");
            Some(soft)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_enough_for_the_hub_and_its_owner() {
        let share = |allowed| {
            let Share { connections, each, owner } = Share::of(allowed, 16_384, 12_288);
            (connections, each, owner)
        };
        assert_eq!(share(None), (16_384, 12_288, 16_384));
        assert_eq!(share(Some(1 << 20)), (16_384, 12_288, 16_384));
        assert_eq!(share(Some(1_024)), (768, 576, 64));
        assert_eq!(share(Some(64)), (32, 24, 8));
        assert_eq!(Share::of(Some(1_024), 12, 12), Share { connections: 12, each: 12, owner: 12 });
    }
}
