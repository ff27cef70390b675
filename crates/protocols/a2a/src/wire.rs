//! The data model of A2A (specification section 4, `a2a.proto`), common to both generations. [`super::json`] has its spelling.
//!
//! Nothing here knows the purpose of a message; `decode` and `encode` do.

use bytes::Bytes;
use interlingua_model::{Json, Media, Secret, Text, Time};

#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub id: Text,
    pub role: Role,
    pub parts: Vec<Part>,
    pub context: Option<Text>,
    pub task: Option<Text>,
    pub metadata: Option<Json>,
    /// URIs of the extensions that put something into this message.
    pub extensions: Vec<Text>,
    /// Other tasks this message speaks of.
    pub references: Vec<Text>,
}

impl Message {
    pub fn new(id: impl Into<Text>, role: Role, parts: Vec<Part>) -> Message {
        Message {
            id: id.into(),
            role,
            parts,
            context: None,
            task: None,
            metadata: None,
            extensions: Vec::new(),
            references: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Agent,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub content: Content,
    pub media: Option<Media>,
    pub filename: Option<Text>,
    pub metadata: Option<Json>,
}

impl Part {
    pub fn new(content: Content) -> Part {
        Part { content, media: None, filename: None, metadata: None }
    }

    pub fn text(text: impl Into<Text>) -> Part {
        Part::new(Content::Text(text.into()))
    }
}

/// Exactly one of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Text(Text),
    Raw(Bytes),
    Url(Text),
    Data(Json),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: Text,
    pub context: Option<Text>,
    pub status: Status,
    pub artifacts: Vec<Artifact>,
    pub history: Vec<Message>,
    pub metadata: Option<Json>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub state: TaskState,
    pub message: Option<Message>,
    pub at: Option<Time>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskState {
    Submitted,
    Working,
    Completed,
    Failed,
    Canceled,
    InputRequired,
    Rejected,
    AuthRequired,
}

impl TaskState {
    pub const ALL: [TaskState; 8] = [
        TaskState::Submitted,
        TaskState::Working,
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Canceled,
        TaskState::InputRequired,
        TaskState::Rejected,
        TaskState::AuthRequired,
    ];

    /// No message, subscription or cancel is taken any more.
    pub fn is_terminal(self) -> bool {
        match self {
            TaskState::Completed | TaskState::Failed | TaskState::Canceled | TaskState::Rejected => true,
            TaskState::Submitted | TaskState::Working | TaskState::InputRequired | TaskState::AuthRequired => false,
        }
    }

    /// A blocking send returns here.
    pub fn is_interrupted(self) -> bool {
        matches!(self, TaskState::InputRequired | TaskState::AuthRequired)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    pub id: Text,
    pub parts: Vec<Part>,
    pub name: Option<Text>,
    pub description: Option<Text>,
    pub metadata: Option<Json>,
    pub extensions: Vec<Text>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StatusUpdate {
    pub task: Text,
    pub context: Text,
    pub status: Status,
    pub metadata: Option<Json>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactUpdate {
    pub task: Text,
    pub context: Text,
    pub artifact: Artifact,
    pub append: bool,
    pub last: bool,
    pub metadata: Option<Json>,
}

/// One event of a stream, the answer to a send, or what a webhook is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    Task(Task),
    Message(Message),
    Status(StatusUpdate),
    Artifact(ArtifactUpdate),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Send {
    pub message: Message,
    pub configuration: Configuration,
    pub metadata: Option<Json>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Configuration {
    pub accepts: Vec<Media>,
    pub push: Option<PushConfig>,
    /// `None`: as much as the server likes.
    pub history: Option<u32>,
    /// 1.0 says `returnImmediately`, 0.3 the opposite, `blocking`.
    pub immediate: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PushConfig {
    pub id: Option<Text>,
    pub task: Option<Text>,
    pub url: Text,
    pub token: Option<Secret>,
    pub authentication: Option<Authentication>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Authentication {
    pub scheme: Text,
    pub credentials: Option<Secret>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct List {
    pub context: Option<Text>,
    pub state: Option<TaskState>,
    /// 1 to 100.
    pub size: Option<u32>,
    pub cursor: Option<Text>,
    pub history: Option<u32>,
    pub after: Option<Time>,
    pub artifacts: bool,
}

/// What a list answers with.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPage {
    pub tasks: Vec<Task>,
    /// Empty on the last page.
    pub next: Text,
    pub size: u32,
    pub total: u64,
}

/// All that a client can ask for, whatever the binding.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    Send(Box<Send>),
    Stream(Box<Send>),
    Get { task: Text, history: Option<u32> },
    List(List),
    Cancel { task: Text },
    Subscribe { task: Text },
    PushCreate(Box<PushConfig>),
    PushGet { task: Text, id: Option<Text> },
    PushList { task: Text },
    PushDelete { task: Text, id: Text },
    ExtendedCard,
}

/// An operation, and for which agent of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub operation: Operation,
    pub tenant: Option<Text>,
}

/// What an operation leads to, when it is no stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Sent(Update),
    Task(Task),
    Tasks(TaskPage),
    Push(PushConfig),
    Pushes(Vec<PushConfig>),
    Deleted,
    Card(Json),
}
