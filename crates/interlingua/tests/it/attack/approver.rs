//! What an approver is shown, in every protocol.
