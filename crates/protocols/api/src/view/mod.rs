//! The JSON of `/api`. Each type is made from one of the model's by `From`, and read again by the client commands.
//!
//! Rules: lower-case names with underscores, absent rather than null, times in RFC 3339, ids as text, numbers of people's data as they were
//! written. No field holds a token or a secret, nor the cause of a fault.

mod artifact;
mod bus;
mod call;
mod card;
mod content;
mod device;
mod event;
mod fault;
mod keys;
mod parts;
mod question;
mod routed;
mod session;
mod site;
mod task;
#[cfg(test)]
mod tests;
mod tokens;

pub use artifact::{RelistRequest, ShareRequest, SharedArtifactView};
pub use bus::{AgentCardView, AgentView, CapabilityView, MessageKind, MessageView, NewAgentView, NumberedMessage};
pub use call::{
    AnswerRequest, ClientToolView, ConfirmationRequest, ExchangeRequest, ExplainRequest, ExplainView, SayRequest,
    SignalRequest,
};
pub use card::{EffectsView, PeerView, PhraseView, SkillView, StandingView};
pub use content::{PartKind, PartView};
pub use device::{DeviceView, MeasuresView, SampleView, TelemetryView};
pub use event::{
    ArtifactView, AskedView, EventView, FinishedView, LossView, NumberedEvent, OutcomeView, ProgressView, RouteView,
    SaidView, SettledView, StartedView, StepEventView, StepView, UsageView,
};
pub use fault::{ErrorBody, FaultView, FieldView, RetryView};
pub use keys::{KeyView, KeysView, RotateRequest, Rotated};
pub use parts::Tells;
pub use question::{ChoiceView, ConfirmView, GrantedView, LinkView, QuestionView};
pub use routed::{MessageHeadView, NotificationView, RoutedSessionView};
pub use session::{HubView, RightsView, SessionView, SignInRequest, SignInView, TicketView};
pub use site::{SitePageView, SitePagesView, SiteSessionView};
pub use task::{
    AuditForgetRequest, AuditForgottenView, AuditKeyView, AuditPagesView, AuditRecordView, AuditView, ConversationView,
    ExchangeView, PageView, TaskView,
};
pub use tokens::{TokenMadeView, TokenRequest, TokenView, TokensView};

use interlingua_model::Party;

/// `caller`, `hub`, or the name of a peer.
fn party(party: &Party) -> String {
    match party {
        Party::Caller => "caller".into(),
        Party::Hub => "hub".into(),
        Party::Peer(peer) => peer.to_string(),
    }
}
