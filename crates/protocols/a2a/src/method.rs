//! Operations by name: the methods of JSON-RPC and gRPC. The two generations share no method name, so one address can serve both
//! (section 5.3).

use super::Version;
use super::invalid::{Invalid, Problem};

/// What a client can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    PushCreate,
    PushGet,
    PushList,
    PushDelete,
    ExtendedCard,
}

impl Method {
    pub const ALL: [Method; 11] = [
        Method::Send,
        Method::Stream,
        Method::Get,
        Method::List,
        Method::Cancel,
        Method::Subscribe,
        Method::PushCreate,
        Method::PushGet,
        Method::PushList,
        Method::PushDelete,
        Method::ExtendedCard,
    ];

    /// The name in JSON-RPC; in 1.0 that of gRPC as well. 0.3 cannot list there.
    pub fn name(self, version: Version) -> Option<&'static str> {
        Some(match (version, self) {
            (Version::V1, Method::Send) => "SendMessage",
            (Version::V1, Method::Stream) => "SendStreamingMessage",
            (Version::V1, Method::Get) => "GetTask",
            (Version::V1, Method::List) => "ListTasks",
            (Version::V1, Method::Cancel) => "CancelTask",
            (Version::V1, Method::Subscribe) => "SubscribeToTask",
            (Version::V1, Method::PushCreate) => "CreateTaskPushNotificationConfig",
            (Version::V1, Method::PushGet) => "GetTaskPushNotificationConfig",
            (Version::V1, Method::PushList) => "ListTaskPushNotificationConfigs",
            (Version::V1, Method::PushDelete) => "DeleteTaskPushNotificationConfig",
            (Version::V1, Method::ExtendedCard) => "GetExtendedAgentCard",
            (Version::V03, Method::Send) => "message/send",
            (Version::V03, Method::Stream) => "message/stream",
            (Version::V03, Method::Get) => "tasks/get",
            (Version::V03, Method::List) => return None,
            (Version::V03, Method::Cancel) => "tasks/cancel",
            (Version::V03, Method::Subscribe) => "tasks/resubscribe",
            (Version::V03, Method::PushCreate) => "tasks/pushNotificationConfig/set",
            (Version::V03, Method::PushGet) => "tasks/pushNotificationConfig/get",
            (Version::V03, Method::PushList) => "tasks/pushNotificationConfig/list",
            (Version::V03, Method::PushDelete) => "tasks/pushNotificationConfig/delete",
            (Version::V03, Method::ExtendedCard) => "agent/getAuthenticatedExtendedCard",
        })
    }

    /// The name in gRPC.
    pub fn grpc(self, version: Version) -> Option<&'static str> {
        match (version, self) {
            (Version::V1, _)
            | (
                Version::V03,
                Method::Send
                | Method::Stream
                | Method::Get
                | Method::Cancel
                | Method::PushCreate
                | Method::PushGet
                | Method::PushDelete,
            ) => self.name(Version::V1),
            (Version::V03, Method::Subscribe) => Some("TaskSubscription"),
            (Version::V03, Method::PushList) => Some("ListTaskPushNotificationConfig"),
            (Version::V03, Method::ExtendedCard) => Some("GetAgentCard"),
            (Version::V03, Method::List) => None,
        }
    }

    /// The method of this name in gRPC: there the service says which generation is spoken.
    pub fn of_grpc(name: &str, version: Version) -> Result<Method, Invalid> {
        let found = Method::ALL.into_iter().find(|method| method.grpc(version) == Some(name));
        found.ok_or_else(|| Invalid::whole(Problem::Method(name.chars().take(100).collect())))
    }

    /// The method of this name. One of the other generation is told apart from one that is nobody's.
    pub fn named(name: &str, version: Version) -> Result<Method, Invalid> {
        let of = |version| Method::ALL.into_iter().find(|method| method.name(version) == Some(name));
        let shown = || name.chars().take(100).collect::<String>();
        let other = match version {
            Version::V1 => Version::V03,
            Version::V03 => Version::V1,
        };
        match (of(version), of(other)) {
            (Some(method), _) => Ok(method),
            (None, Some(_)) => Err(Invalid::whole(Problem::OtherVersion(shown(), other.as_str()))),
            (None, None) => Err(Invalid::whole(Problem::Method(shown()))),
        }
    }

    /// Does it answer with a stream?
    pub fn streams(self) -> bool {
        matches!(self, Method::Stream | Method::Subscribe)
    }
}
