//! Call failure: *refused*, so that another peer may be tried (failover), or *failed*, because the work may have begun. Every protocol uses
//! the same two.

use interlingua_model::peer::Reply;
use interlingua_model::{Fault, FaultKind, Finished, Party, PeerId};

use super::transport_error::{Begun, TransportError, Why};

/// Why a call to a peer has no answer and nothing to follow.
#[derive(Debug)]
pub enum CallFailure {
    /// Nothing was begun: another peer may be tried.
    Refused(Fault),
    /// It was begun, and this is its outcome.
    Failed(Fault),
}

impl CallFailure {
    /// Nothing came back. `repeatable`: to do it twice does no harm, so that nobody has to look what happened.
    pub fn lost(peer: &PeerId, lost: &TransportError, repeatable: bool) -> CallFailure {
        let fault = |kind, what: &str| fault(peer, kind, what);
        match (lost.why, lost.begun) {
            (Why::Certificate, _) => {
                CallFailure::Refused(fault(FaultKind::Unreachable, "cannot be trusted: its certificate was refused"))
            }
            (Why::Refused, _) => {
                CallFailure::Refused(fault(FaultKind::Unreachable, "is at an address that this hub does not call"))
            }
            (Why::TooLarge, _) => {
                CallFailure::Failed(fault(FaultKind::BadReply, "answered with more than is read (limits.body)"))
            }
            (Why::Slow, _) => {
                CallFailure::Failed(fault(FaultKind::BadReply, "began an answer and did not end it in time"))
            }
            (Why::Busy, _) => CallFailure::Failed(Fault::hub(
                FaultKind::Busy,
                format!("{peer} answered, and the hub holds as much of its peers' answers as it may"),
            )),
            (Why::Connection, Begun::No) => CallFailure::Refused(unreachable(peer)),
            (Why::Connection, Begun::Perhaps) if repeatable => {
                CallFailure::Failed(fault(FaultKind::BadReply, "ended the connection without an answer"))
            }
            (Why::Connection, Begun::Perhaps) => CallFailure::Failed(unknown(peer)),
        }
    }

    pub fn fault(self) -> Fault {
        match self {
            CallFailure::Refused(fault) | CallFailure::Failed(fault) => fault,
        }
    }

    /// What the hub is told.
    pub fn reply(self) -> Result<Reply, Fault> {
        match self {
            CallFailure::Refused(fault) => Err(fault),
            CallFailure::Failed(fault) => Ok(Reply::Done(Box::new(Finished::failed(fault)), None)),
        }
    }
}

/// A failure of the hub's own, before anything was said.
impl From<Fault> for CallFailure {
    fn from(fault: Fault) -> CallFailure {
        CallFailure::Refused(fault)
    }
}

/// A fault of this peer's: `what` goes on after its name.
pub fn fault(peer: &PeerId, kind: FaultKind, what: &str) -> Fault {
    Fault::new(kind, Party::Peer(peer.clone()), format!("{peer} {what}"))
}

pub fn unreachable(peer: &PeerId) -> Fault {
    fault(peer, FaultKind::Unreachable, "cannot be reached")
}

pub fn too_late(peer: &PeerId) -> Fault {
    fault(peer, FaultKind::Deadline, "did not answer in the time configured for it")
}

/// Nobody can know whether it was done.
pub fn unknown(peer: &PeerId) -> Fault {
    let what = "ended the connection without an answer; what was asked may have happened: look before trying again";
    fault(peer, FaultKind::OutcomeUnknown, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_never_begun_is_refused() {
        let peer = PeerId::from("desk");
        let ended =
            |begun, why, repeatable| CallFailure::lost(&peer, &TransportError::new(begun, why, "gone"), repeatable);
        for (ended, kind) in [
            (ended(Begun::No, Why::Connection, false), FaultKind::Unreachable),
            (ended(Begun::No, Why::Certificate, false), FaultKind::Unreachable),
        ] {
            assert!(matches!(&ended, CallFailure::Refused(fault) if fault.kind == kind), "{ended:?}");
        }
        for (ended, kind) in [
            (ended(Begun::Perhaps, Why::Connection, false), FaultKind::OutcomeUnknown),
            (ended(Begun::Perhaps, Why::Connection, true), FaultKind::BadReply),
            (ended(Begun::Perhaps, Why::TooLarge, false), FaultKind::BadReply),
        ] {
            assert!(matches!(&ended, CallFailure::Failed(fault) if fault.kind == kind), "{ended:?}");
        }
    }
}
