//! The two kinds of frames and their members, as the Python implementation declares them.
//!
//! `type` and `status` are the only required members of a frame. Other members may be absent, unknown members are skipped, words are
//! matched exactly and in lower case. A frame is written with every member, nulls included.

mod read;
mod write;

use interlingua_model::json::DEFAULT_DEPTH;
use interlingua_model::{Json, Text};

/// What one frame may weigh. Sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    pub depth: usize,
    /// An id, a name or a time.
    pub name: usize,
    /// Actions, results or messages in one frame.
    pub list: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes: 100 * 1024 * 1024, depth: DEFAULT_DEPTH, name: 4096, list: 4096 }
    }
}

/// A closed list of words, each spelt in one way.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($variant),+ }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// For whoever used another word.
            pub const KNOWN: &'static str = words!(@list $($word),+);

            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            pub fn parse(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }
        }
    };
    (@list $first:literal $(, $word:literal)*) => { concat!($first $(, ", ", $word)*) };
}

words!(
    /// What a client says.
    ClientKind {
        Task = "task",
        Heartbeat = "heartbeat",
        CommandResults = "command_results",
        Error = "error",
        Register = "register",
        TaskEnd = "task_end",
        TaskCancel = "task_cancel",
        DeviceInfoRequest = "device_info_request",
        DeviceInfoResponse = "device_info_response",
    }
);

/// What a client may say, for whoever used another word: the kinds of the Python implementation, without those of the wider profile.
const CLIENT_KINDS: &str =
    "task, heartbeat, command_results, error, register, task_end, device_info_request, device_info_response";

words!(
    /// What a server says.
    ServerKind {
        Task = "task",
        Heartbeat = "heartbeat",
        TaskEnd = "task_end",
        Command = "command",
        Error = "error",
        DeviceInfoRequest = "device_info_request",
        DeviceInfoResponse = "device_info_response",
    }
);

words!(
    /// The status of a frame. Not that of a node of a plan, which has words of its own.
    Status { Continue = "continue", Completed = "completed", Failed = "failed", Ok = "ok", Error = "error" }
);

words!(ClientType { Device = "device", Constellation = "constellation" });
words!(ResultStatus { Success = "success", Failure = "failure", Skipped = "skipped", None = "none" });
words!(ToolType { DataCollection = "data_collection", Action = "action" });

/// From a device or a constellation to the server.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientMessage {
    pub kind: ClientKind,
    pub status: Status,
    /// A device when it is left out.
    pub client_type: ClientType,
    pub session_id: Option<Text>,
    pub task_name: Option<Text>,
    pub client_id: Option<Text>,
    pub target_id: Option<Text>,
    pub request: Option<Text>,
    pub action_results: Option<Vec<CommandResult>>,
    pub timestamp: Option<Text>,
    pub request_id: Option<Text>,
    /// Which COMMAND these are the results of.
    pub prev_response_id: Option<Text>,
    pub error: Option<Text>,
    pub metadata: Option<Json>,
}

impl ClientMessage {
    pub fn new(kind: ClientKind, status: Status, client_type: ClientType) -> ClientMessage {
        ClientMessage {
            kind,
            status,
            client_type,
            session_id: None,
            task_name: None,
            client_id: None,
            target_id: None,
            request: None,
            action_results: None,
            timestamp: None,
            request_id: None,
            prev_response_id: None,
            error: None,
            metadata: None,
        }
    }

    /// Bytes of memory that it takes, counted from its texts and its JSON.
    pub fn weight(&self) -> usize {
        let texts = [
            &self.session_id,
            &self.task_name,
            &self.client_id,
            &self.target_id,
            &self.request,
            &self.timestamp,
            &self.request_id,
            &self.prev_response_id,
            &self.error,
        ];
        let results: usize = self.action_results.iter().flatten().map(CommandResult::weight).sum();
        let metadata = self.metadata.as_ref().map_or(0, |json| json.as_bytes().len());
        size_of::<ClientMessage>() + long(texts) + results + metadata
    }
}

/// From the server to a device or a constellation.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerMessage {
    pub kind: ServerKind,
    pub status: Status,
    pub user_request: Option<Text>,
    pub agent_name: Option<Text>,
    pub process_name: Option<Text>,
    pub root_name: Option<Text>,
    pub actions: Option<Vec<Command>>,
    pub messages: Option<Vec<Text>>,
    pub error: Option<Text>,
    pub session_id: Option<Text>,
    pub task_name: Option<Text>,
    pub timestamp: Option<Text>,
    pub response_id: Option<Text>,
    pub result: Option<Json>,
    /// Only in the wider profile, and only written when there is one: the Python implementation does not declare it.
    pub metadata: Option<Json>,
}

impl ServerMessage {
    pub fn new(kind: ServerKind, status: Status) -> ServerMessage {
        ServerMessage {
            kind,
            status,
            user_request: None,
            agent_name: None,
            process_name: None,
            root_name: None,
            actions: None,
            messages: None,
            error: None,
            session_id: None,
            task_name: None,
            timestamp: None,
            response_id: None,
            result: None,
            metadata: None,
        }
    }

    /// Bytes of memory that it takes, counted from its texts and its JSON.
    pub fn weight(&self) -> usize {
        let texts = [
            &self.user_request,
            &self.agent_name,
            &self.process_name,
            &self.root_name,
            &self.error,
            &self.session_id,
            &self.task_name,
            &self.timestamp,
            &self.response_id,
        ];
        let lines: usize = self.messages.iter().flatten().map(|line| size_of::<Text>() + line.len()).sum();
        let actions: usize = self.actions.iter().flatten().map(Command::weight).sum();
        let json: usize = [&self.result, &self.metadata].into_iter().flatten().map(|json| json.as_bytes().len()).sum();
        size_of::<ServerMessage>() + long(texts) + lines + actions + json
    }
}

/// One thing a device is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    pub tool_name: Text,
    /// An object.
    pub parameters: Option<Json>,
    pub tool_type: ToolType,
    pub call_id: Option<Text>,
}

/// Bytes of these texts together.
fn long<'a>(texts: impl IntoIterator<Item = &'a Option<Text>>) -> usize {
    texts.into_iter().flatten().map(|text| text.len()).sum()
}

impl Command {
    fn weight(&self) -> usize {
        let parameters = self.parameters.as_ref().map_or(0, |json| json.as_bytes().len());
        size_of::<Command>() + self.tool_name.len() + parameters + long([&self.call_id])
    }
}

/// What came of a [`Command`].
#[derive(Debug, Clone, PartialEq)]
pub struct CommandResult {
    pub status: ResultStatus,
    pub error: Option<Text>,
    pub result: Option<Json>,
    pub namespace: Option<Text>,
    pub call_id: Option<Text>,
}

impl CommandResult {
    fn weight(&self) -> usize {
        let result = self.result.as_ref().map_or(0, |json| json.as_bytes().len());
        size_of::<CommandResult>() + long([&self.error, &self.namespace, &self.call_id]) + result
    }
}
