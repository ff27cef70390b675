//! An agent that behaves by the first word it is told: echo, work, ask, slow, fail, reject. Every binding is served; its card
//! names one.

use std::sync::Arc;

use a2a::{
    A2AError, AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Artifact, Message, Part, Role, StreamResponse,
    Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use a2a_grpc::GrpcHandler;
use a2a_pb::proto::a2a_service_server::A2aServiceServer;
use a2a_server::agent_card::agent_card_router;
use a2a_server::jsonrpc::jsonrpc_router;
use a2a_server::rest::rest_router;
use a2a_server::{AgentExecutor, DefaultRequestHandler, ExecutorContext, InMemoryTaskStore, StaticAgentCard};
use axum::serve::ListenerExt;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::json;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::Problem;

type Events = BoxStream<'static, Result<StreamResponse, A2AError>>;

pub(crate) async fn run(address: &str, binding: &str) -> Result<(), Problem> {
    let listener = TcpListener::bind(address).await?;
    let calls = TcpListener::bind((listener.local_addr()?.ip(), 0)).await?;
    let url = match binding {
        "JSONRPC" => format!("http://{address}/rpc"),
        "HTTP+JSON" => format!("http://{address}/rest"),
        "GRPC" => calls.local_addr()?.to_string(),
        other => return Err(format!("no binding is called {other}").into()),
    };
    let handler = Arc::new(DefaultRequestHandler::new(Actor, InMemoryTaskStore::new()));
    let grpc = A2aServiceServer::new(GrpcHandler::new(handler.clone()));
    let grpc =
        Server::builder().add_service(grpc).serve_with_incoming(TcpIncoming::from(calls).with_nodelay(Some(true)));
    let web = axum::Router::new()
        .nest("/rpc", jsonrpc_router(handler.clone()))
        .nest("/rest", rest_router(handler))
        .merge(agent_card_router(Arc::new(StaticAgentCard::new(card(&url, binding)))));
    // An answer that waits for its acknowledgement would be measured, not the server.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    tokio::select! {
        ended = grpc => Ok(ended?),
        ended = axum::serve(listener, web) => Ok(ended?),
    }
}

fn card(url: &str, binding: &str) -> AgentCard {
    let modes = vec!["text/plain".to_owned(), "application/json".to_owned()];
    let skill = AgentSkill {
        id: "act".into(),
        name: "Act".into(),
        description: "Does what its first word says.".into(),
        tags: vec!["test".into()],
        examples: None,
        input_modes: None,
        output_modes: None,
        security_requirements: None,
    };
    AgentCard {
        name: "Rust agent".into(),
        description: "Does what its first word says.".into(),
        version: "1.0.0".into(),
        supported_interfaces: vec![AgentInterface::new(url, binding)],
        capabilities: AgentCapabilities { streaming: Some(true), ..AgentCapabilities::default() },
        default_input_modes: modes.clone(),
        default_output_modes: modes,
        skills: vec![skill],
        provider: None,
        documentation_url: None,
        icon_url: None,
        security_schemes: None,
        security_requirements: None,
        signatures: None,
    }
}

struct Actor;

impl AgentExecutor for Actor {
    fn execute(&self, context: ExecutorContext) -> Events {
        let text = context.message.as_ref().and_then(|message| message.text()).unwrap_or_default().to_owned();
        let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let teller = Teller::of(&context);
        // A task that was only just made is stored, too.
        let asked = |task: &Task| task.status.state == TaskState::InputRequired;
        if context.stored_task.as_ref().is_some_and(asked) {
            let answer = teller.artifact("answer", Part::text(format!("you said {text}")), false, true);
            return told(vec![
                teller.status(TaskState::Working, None),
                answer,
                teller.status(TaskState::Completed, None),
            ]);
        }
        if word == "echo" {
            return told(vec![StreamResponse::Message(says(rest))]);
        }
        let events = [vec![teller.task()], teller.play(word, rest)].concat();
        match word {
            "slow" => told(events).chain(stream::pending()).boxed(),
            _ => told(events),
        }
    }

    fn cancel(&self, context: ExecutorContext) -> Events {
        told(vec![Teller::of(&context).status(TaskState::Canceled, None)])
    }
}

fn told(events: Vec<StreamResponse>) -> Events {
    stream::iter(events.into_iter().map(Ok)).boxed()
}

fn says(text: &str) -> Message {
    Message::new(Role::Agent, vec![Part::text(text)])
}

/// What is told of one task.
struct Teller {
    task: String,
    context: String,
}

impl Teller {
    fn of(context: &ExecutorContext) -> Teller {
        Teller { task: context.task_id.clone(), context: context.context_id.clone() }
    }

    fn play(&self, word: &str, rest: &str) -> Vec<StreamResponse> {
        let ends = |state, text: &str| vec![self.status(state, Some(says(text)))];
        match word {
            "work" => vec![
                self.status(TaskState::Working, Some(says("looking"))),
                self.artifact("page", Part::text("one "), false, false),
                self.artifact("page", Part::text(rest), true, true),
                self.artifact("facts", Part::data(json!({ "rest": rest })), false, true),
                self.status(TaskState::Completed, None),
            ],
            "ask" => ends(TaskState::InputRequired, "Which dates?"),
            "slow" => ends(TaskState::Working, "this takes long"),
            "fail" => ends(TaskState::Failed, "no room"),
            "reject" => ends(TaskState::Rejected, "not here"),
            other => ends(TaskState::Completed, &format!("done: {other}")),
        }
    }

    fn task(&self) -> StreamResponse {
        StreamResponse::Task(Task {
            id: self.task.clone(),
            context_id: self.context.clone(),
            status: TaskStatus { state: TaskState::Submitted, message: None, timestamp: None },
            artifacts: None,
            history: None,
            metadata: None,
        })
    }

    fn status(&self, state: TaskState, message: Option<Message>) -> StreamResponse {
        StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task.clone(),
            context_id: self.context.clone(),
            status: TaskStatus { state, message, timestamp: None },
            metadata: None,
        })
    }

    fn artifact(&self, id: &str, part: Part, append: bool, last: bool) -> StreamResponse {
        StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: self.task.clone(),
            context_id: self.context.clone(),
            artifact: Artifact {
                artifact_id: id.into(),
                name: Some(id.into()),
                description: None,
                parts: vec![part],
                metadata: None,
                extensions: None,
            },
            append: Some(append),
            last_chunk: Some(last),
            metadata: None,
        })
    }
}
