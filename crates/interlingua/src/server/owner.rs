//! Whose is the other end of a loopback connection? One `sock_diag` lookup by the connection's four numbers (Linux); nobody
//! elsewhere. See sock_diag(7).

use std::net::SocketAddr;

/// True when the connection's other end is a socket of this process's own user on this machine.
#[cfg(target_os = "linux")]
pub(super) fn is_own_user(ours: SocketAddr, theirs: SocketAddr) -> bool {
    let both_loopback = ours.ip().to_canonical().is_loopback() && theirs.ip().to_canonical().is_loopback();
    both_loopback && linux::uid_of(theirs, ours) == Some(rustix::process::getuid().as_raw())
}

#[cfg(not(target_os = "linux"))]
pub fn is_own_user(_: SocketAddr, _: SocketAddr) -> bool {
    false
}

#[cfg(target_os = "linux")]
mod linux {
    use std::net::{IpAddr, SocketAddr};

    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const NLM_F_REQUEST: u16 = 1;
    const IPPROTO_TCP: u8 = 6;
    const HEADER: usize = 16;
    const REQUEST: usize = HEADER + 56;
    /// In `inet_diag_msg`, after the netlink header: four bytes, the socket's id (48), three counters.
    const UID_AT: usize = HEADER + 4 + 48 + 12;

    /// The user of the socket whose own address is `local` and whose other end is `remote`.
    pub(super) fn uid_of(local: SocketAddr, remote: SocketAddr) -> Option<u32> {
        let socket = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(netlink::SOCK_DIAG),
        )
        .ok()?;
        rustix::net::send(&socket, &request(local, remote), SendFlags::empty()).ok()?;
        let mut reply = [0_u8; 512];
        let (length, _) = rustix::net::recv(&socket, &mut reply, RecvFlags::DONTWAIT).ok()?;
        let kind = u16::from_ne_bytes([reply[4], reply[5]]);
        if kind != SOCK_DIAG_BY_FAMILY || length < UID_AT + 4 {
            return None;
        }
        Some(u32::from_ne_bytes([reply[UID_AT], reply[UID_AT + 1], reply[UID_AT + 2], reply[UID_AT + 3]]))
    }

    /// `nlmsghdr` and `inet_diag_req_v2`.
    fn request(local: SocketAddr, remote: SocketAddr) -> [u8; REQUEST] {
        let mut bytes = [0; REQUEST];
        bytes[0..4].copy_from_slice(&u32::try_from(REQUEST).unwrap_or_default().to_ne_bytes());
        bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        bytes[6..8].copy_from_slice(&NLM_F_REQUEST.to_ne_bytes());
        bytes[16] = u8::try_from(if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }.as_raw())
            .unwrap_or_default();
        bytes[17] = IPPROTO_TCP;
        bytes[20..24].copy_from_slice(&u32::MAX.to_ne_bytes());
        bytes[24..26].copy_from_slice(&local.port().to_be_bytes());
        bytes[26..28].copy_from_slice(&remote.port().to_be_bytes());
        put_address(&mut bytes[28..44], local.ip());
        put_address(&mut bytes[44..60], remote.ip());
        bytes[64..72].fill(0xff);
        bytes
    }

    fn put_address(slot: &mut [u8], address: IpAddr) {
        match address {
            IpAddr::V4(address) => slot[..4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => slot.copy_from_slice(&address.octets()),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn our_own_loopback_connection_is_recognised_and_a_closed_one_is_not() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
            let (accepted, theirs) = listener.accept().expect("accepts");
            let ours = accepted.local_addr().expect("connected");
            assert!(super::is_own_user(ours, theirs), "{address}");
            let other_port = std::net::SocketAddr::new(theirs.ip(), theirs.port() ^ 1);
            assert!(!super::is_own_user(ours, other_port));
            drop(client);
        }
    }
}
