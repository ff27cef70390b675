//! A client against a hub whose front door is a script: answers, artifacts, questions, cancels, errors, and a tool by the hub's
//! own extension.

use std::collections::HashMap;
use std::sync::Arc;

use a2a::{
    Artifact, CancelTaskRequest, GetTaskRequest, ListTasksRequest, Message, Part, PartContent, Role,
    SendMessageRequest, SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskState, VERSION,
    error_code,
};
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::auth::AuthInterceptor;
use a2a_client::{A2AClient, A2AClientFactory, Transport};
use a2a_grpc::GrpcTransportFactory;
use futures::StreamExt;
use serde_json::json;

use crate::Problem;

const OURS: &str = "urn:interlingua:hub:1";

pub(crate) async fn run(url: &str, binding: &str, token: &str) -> Result<(), Problem> {
    let mut card = AgentCardResolver::new(None).resolve(url).await?;
    card.supported_interfaces.retain(|one| one.protocol_binding == binding && one.protocol_version == VERSION);
    let factory = A2AClientFactory::builder()
        .register(Arc::new(GrpcTransportFactory::new()))
        .preferred_bindings(vec![binding.to_owned()])
        .build();
    let shows = AuthInterceptor::custom("authorization", format!("Bearer {token}"));
    let client = factory.create_from_card(&card).await?.with_interceptors(vec![Arc::new(shows)]);
    let checks = Checks { client };
    checks.answers().await?;
    checks.artifacts_stream_in_order().await?;
    checks.questions_are_asked_and_answered().await?;
    checks.a_running_task_is_subscribed_and_cancelled().await?;
    checks.errors_are_typed().await?;
    checks.a_tool_is_called_by_the_extension().await
}

struct Checks {
    client: A2AClient<Box<dyn Transport>>,
}

/// A problem that shows what was seen, unless all is well.
fn check(well: bool, what: &str, seen: &dyn std::fmt::Debug) -> Result<(), Problem> {
    if well { Ok(()) } else { Err(format!("{what}: {seen:?}").into()) }
}

/// A request that says something; `task`: goes on with it.
fn said(text: &str, task: Option<&Task>) -> SendMessageRequest {
    let mut message = Message::new(Role::User, vec![Part::text(text)]);
    message.task_id = task.map(|task| task.id.clone());
    message.context_id = task.map(|task| task.context_id.clone());
    SendMessageRequest { message, configuration: None, metadata: None, tenant: None }
}

fn text(artifact: &Artifact) -> String {
    artifact.parts.iter().filter_map(Part::as_text).collect()
}

fn state(update: Option<&StreamResponse>) -> Option<&TaskState> {
    match update {
        Some(StreamResponse::StatusUpdate(update)) => Some(&update.status.state),
        Some(StreamResponse::Task(task)) => Some(&task.status.state),
        _ => None,
    }
}

impl Checks {
    async fn stream(&self, text: &str) -> Result<Vec<StreamResponse>, Problem> {
        let stream = self.client.send_streaming_message(&said(text, None)).await?;
        let updates: Vec<_> = stream.collect().await;
        Ok(updates.into_iter().collect::<Result<_, _>>()?)
    }

    async fn task(&self, request: &SendMessageRequest) -> Result<Task, Problem> {
        match self.client.send_message(request).await? {
            SendMessageResponse::Task(task) => Ok(task),
            SendMessageResponse::Message(message) => Err(format!("a message, not a task: {message:?}").into()),
        }
    }

    async fn answers(&self) -> Result<(), Problem> {
        let answer = self.client.send_message(&said("hello", None)).await?;
        let heard = match &answer {
            SendMessageResponse::Message(message) => message.text().map(str::to_owned),
            SendMessageResponse::Task(task) => task.artifacts.iter().flatten().next().map(text),
        };
        check(heard.as_deref() == Some("Hello there"), "an answer", &answer)
    }

    async fn artifacts_stream_in_order(&self) -> Result<(), Problem> {
        let updates = self.stream("artifact").await?;
        let Some(StreamResponse::Task(task)) = updates.first() else {
            return Err(format!("a task comes first: {updates:?}").into());
        };
        let pieces: Vec<_> = updates
            .iter()
            .filter_map(|update| match update {
                StreamResponse::ArtifactUpdate(piece) => Some((text(&piece.artifact), piece.append.unwrap_or(false))),
                _ => None,
            })
            .collect();
        check(pieces == [("chunk-1 ".to_owned(), false), ("chunk-2".to_owned(), true)], "pieces", &pieces)?;
        check(state(updates.last()) == Some(&TaskState::Completed), "the end", &updates)?;
        let request = GetTaskRequest { id: task.id.clone(), history_length: None, tenant: None };
        let whole = self.client.get_task(&request).await?;
        let artifact = whole.artifacts.iter().flatten().next().map(text);
        check(artifact.as_deref() == Some("chunk-1 chunk-2"), "an artifact", &whole)?;
        let listed = ListTasksRequest {
            context_id: Some(whole.context_id.clone()),
            status: None,
            page_size: None,
            page_token: None,
            history_length: None,
            status_timestamp_after: None,
            include_artifacts: None,
            tenant: None,
        };
        let listed = self.client.list_tasks(&listed).await?;
        check(listed.tasks.iter().any(|one| one.id == whole.id), "a list", &listed)
    }

    async fn questions_are_asked_and_answered(&self) -> Result<(), Problem> {
        let asked = self.task(&said("ask", None)).await?;
        check(asked.status.state == TaskState::InputRequired, "a question", &asked)?;
        let question = asked.status.message.as_ref().and_then(Message::text);
        check(question == Some("Which dates?"), "its words", &asked)?;
        let done = self.task(&said("May 1", Some(&asked))).await?;
        check(done.id == asked.id && done.status.state == TaskState::Completed, "an answer that was taken", &done)
    }

    async fn a_running_task_is_subscribed_and_cancelled(&self) -> Result<(), Problem> {
        let mut stream = self.client.send_streaming_message(&said("slow", None)).await?;
        let Some(Ok(StreamResponse::Task(task))) = stream.next().await else {
            return Err("a stream begins with its task".into());
        };
        let request = SubscribeToTaskRequest { id: task.id.clone(), tenant: None };
        let mut again = self.client.subscribe_to_task(&request).await?;
        let first = again.next().await;
        check(matches!(&first, Some(Ok(StreamResponse::Task(same))) if same.id == task.id), "a snapshot", &first)?;
        let request = CancelTaskRequest { id: task.id.clone(), metadata: None, tenant: None };
        let cancelled = self.client.cancel_task(&request).await?;
        check(cancelled.status.state == TaskState::Canceled, "a cancel", &cancelled)?;
        for rest in [stream, again] {
            let rest: Vec<_> = rest.collect().await;
            let last = rest.last().and_then(|last| last.as_ref().ok());
            check(state(last) == Some(&TaskState::Canceled), "the end of a stream", &rest)?;
        }
        Ok(())
    }

    async fn errors_are_typed(&self) -> Result<(), Problem> {
        let request = GetTaskRequest { id: "0".repeat(32), history_length: None, tenant: None };
        let missing = self.client.get_task(&request).await;
        let code = missing.as_ref().err().map(|error| error.code);
        check(code == Some(error_code::TASK_NOT_FOUND), "a task that is not there", &missing)?;
        let done = self.stream("artifact").await?;
        let Some(StreamResponse::Task(task)) = done.first() else { return Err("a task comes first".into()) };
        let request = SubscribeToTaskRequest { id: task.id.clone(), tenant: None };
        let refused = match self.client.subscribe_to_task(&request).await {
            Err(error) => Some(error),
            Ok(mut stream) => stream.next().await.and_then(Result::err),
        };
        let code = refused.as_ref().map(|error| error.code);
        check(code == Some(error_code::UNSUPPORTED_OPERATION), "a task that is over", &refused)
    }

    async fn a_tool_is_called_by_the_extension(&self) -> Result<(), Problem> {
        let mut request = said("", None);
        request.message.parts = vec![Part::data(json!({"a": 2, "b": 3}))];
        request.message.metadata = Some(HashMap::from([(OURS.to_owned(), json!({"skill": "local/add"}))]));
        let answer = self.client.send_message(&request).await?;
        let parts = match &answer {
            SendMessageResponse::Message(message) => message.parts.clone(),
            SendMessageResponse::Task(task) => {
                task.artifacts.iter().flatten().flat_map(|artifact| artifact.parts.clone()).collect()
            }
        };
        let sum = parts.iter().find_map(|part| match &part.content {
            PartContent::Data(data) => data.get("sum")?.as_f64(),
            _ => None,
        });
        check(sum == Some(5.0), "a tool", &answer)
    }
}
