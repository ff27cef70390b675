//! Encodes the model into frames: requested tasks and commands, results and ends.

use std::borrow::Cow;

use interlingua_model::{
    Ask, Body, Call, CancelWhy, Carried, Channel, Entry, Event, Finished, Json, Loss, LossKind, Outcome, Output, Part,
    Priority, Text, Transcript, Way, lost_parts,
};

use super::link::Tongue;
use super::profile;
use super::say::End;
use super::wire::{ClientKind, ClientMessage, ClientType, Command, CommandResult, ResultStatus, Status, ToolType};
use interlingua_wire::codec;
use interlingua_wire::object::Object;

/// How many of the losses before an end are told with it.
const MOST_TOLD: usize = 256;

/// What the Python device says of an action it did not begin.
const SKIPPED: &str = "Skipped due to previous failure (early_exit=True).";

/// What the caller of a task is told. The rules of the server make the frames of it: they know where the caller is, and whether
/// a device hears it, too.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// Log lines on the way.
    Lines(Vec<Text>),
    End(End),
}

pub type Frames = codec::Frames<Report>;

/// What a task is told with.
#[derive(Debug)]
pub struct Telling<'a> {
    pub tongue: Tongue,
    /// All that the exchange has said so far, this entry included. The end tells it.
    pub transcript: &'a mut Transcript,
}

/// What an entry is to whoever asked for the task: lines in the wider profile, and the end.
pub fn encode(entry: &Entry, telling: &mut Telling<'_>) -> Carried<Frames> {
    let Some(event) = entry.record.event() else { return Carried::whole(Frames::None) };
    if let Event::Finished(finished) = event {
        let mut whole = telling.transcript.whole(finished);
        telling.transcript.drop_held(&mut whole.output);
        let Carried { value, losses } = end(&whole, &telling.transcript.losses, telling.tongue);
        return Carried { value: Frames::One(Report::End(value)), losses };
    }
    let lines = match telling.tongue {
        Tongue::Plain => Vec::new(),
        Tongue::Profile => lines(event),
    };
    Carried::whole((!lines.is_empty()).then_some(Report::Lines(lines)).into())
}

/// The end of a task, and what is lost here. It is told with `before`, what was lost so far: as lines, in the wider profile as
/// data.
pub fn end(finished: &Finished, before: &[Loss], tongue: Tongue) -> Carried<End> {
    let mut losses = Vec::new();
    let (status, error) = match &finished.outcome {
        Outcome::Completed => (Status::Completed, None),
        Outcome::Failed(fault) => (Status::Failed, Some(fault.public.clone())),
        Outcome::Cancelled { why, .. } => {
            losses.push(Loss::new("finished.outcome", LossKind::Approximated));
            (Status::Failed, Some(cancelled(*why)))
        }
    };
    let (judged, output) = without_evaluation(&finished.output);
    if judged.is_some() && tongue == Tongue::Plain {
        losses.push(Way::Output.part("data", LossKind::Dropped));
    }
    let given = value(&output, &mut losses);
    let result = if status == Status::Failed { given.or_else(|| Some(Json::empty_object())) } else { given };
    let told = [&before[..before.len().min(MOST_TOLD)], &losses].concat();
    let (messages, metadata) = match tongue {
        Tongue::Profile => {
            let fault = finished.outcome.fault().map(|fault| fault.kind);
            (None, profile::told(&told, fault, judged.as_ref()))
        }
        Tongue::Plain => ((!told.is_empty()).then(|| told.iter().map(line).collect()), None),
    };
    Carried { value: End { status, error, result, messages, metadata }, losses }
}

/// What an evaluator says, which is data by that name, and the rest.
fn without_evaluation(output: &Output) -> (Option<Json>, Cow<'_, Output>) {
    let is_it = |part: &Part| part.name.as_deref() == Some(profile::EVALUATION) && part.as_data().is_some();
    let Some(judged) = output.parts.iter().find(|part| is_it(part)).and_then(Part::as_data).cloned() else {
        return (None, Cow::Borrowed(output));
    };
    let mut rest = output.clone();
    rest.parts.retain(|part| !is_it(part));
    (Some(judged), Cow::Owned(rest))
}

fn line(loss: &Loss) -> Text {
    format!("lost on the way: {} ({})", loss.what, loss.kind.as_str()).into()
}

fn cancelled(why: CancelWhy) -> Text {
    format!("cancelled: {}", why.as_str()).into()
}

/// The one place for a result: structured, else data that is alone, else text and data as they are written. Artifacts have no
/// address here that a client could fetch.
fn value(output: &Output, losses: &mut Vec<Loss>) -> Option<Json> {
    let texts: Vec<&str> = output.parts.iter().filter_map(written).collect();
    losses.extend(lost_parts(Way::Output, output.parts.iter().filter(|part| written(part).is_none())));
    if output.parts.iter().any(|part| part.label.is_some() && written(part).is_some()) {
        losses.push(Way::Output.part("label", LossKind::Dropped));
    }
    if output.parts.iter().any(|part| part.uri.is_some() && part.body != Body::Link) {
        losses.push(Way::Output.part("uri", LossKind::Dropped));
    }
    if output.parts.iter().any(|part| part.name.is_some() && written(part).is_some()) {
        losses.push(Way::Output.part("name", LossKind::Dropped));
    }
    if !output.artifacts.is_empty() {
        losses.push(Loss::new("output.artifacts", LossKind::Dropped));
    }
    losses.extend(lost_parts(Way::Output, output.beside_structured().filter(|part| written(part).is_some())));
    match &output.structured {
        Some(structured) => Some(structured.clone()),
        None if texts.len() == 1 && data(output).is_some() => data(output),
        None if !texts.is_empty() => Some(Json::from_tree(texts.join("\n").into())),
        None => None,
    }
}

/// The first part that is data.
fn data(output: &Output) -> Option<Json> {
    output.parts.iter().find_map(Part::as_data).cloned()
}

/// What became of one action, at a device.
pub fn result(finished: &Finished, call_id: Option<Text>, namespace: Option<Text>) -> Carried<CommandResult> {
    let mut losses = Vec::new();
    let (status, error) = match &finished.outcome {
        Outcome::Completed => (ResultStatus::Success, None),
        Outcome::Failed(fault) => (ResultStatus::Failure, Some(fault.public.clone())),
        Outcome::Cancelled { why: CancelWhy::EarlierFailed, .. } => (ResultStatus::Skipped, Some(SKIPPED.into())),
        Outcome::Cancelled { why, .. } => {
            losses.push(Loss::new("finished.outcome", LossKind::Approximated));
            (ResultStatus::Failure, Some(cancelled(*why)))
        }
    };
    let result = value(&finished.output, &mut losses);
    let namespace = namespace.filter(|_| status != ResultStatus::Skipped);
    Carried { value: CommandResult { status, error, result, namespace, call_id }, losses }
}

/// The results of a COMMAND: its session and id, and its status, come back.
pub fn results(
    session: Option<Text>,
    response: Option<Text>,
    status: Status,
    results: Vec<CommandResult>,
    lines: &[Text],
) -> ClientMessage {
    let mut frame = ClientMessage::new(ClientKind::CommandResults, status, ClientType::Device);
    frame.session_id = session;
    frame.prev_response_id = response;
    frame.action_results = Some(results);
    frame.metadata = (!lines.is_empty()).then(|| log(lines));
    frame
}

/// `metadata` with log lines.
pub fn log(lines: &[Text]) -> Json {
    let write = |line: &Text, out: &mut Vec<u8>| interlingua_model::json::write_string(line, out);
    Object::json(|out| out.array("messages", lines, write))
}

/// One action of a device: its tool, by the name the device gave it, and the arguments.
pub fn command(call: &Call, tool: Text, tool_type: ToolType, call_id: Text) -> Carried<Command> {
    let losses = lost(call);
    let parameters = call.input().and_then(|input| input.args.clone()).filter(Json::is_object);
    Carried { value: Command { tool_name: tool, parameters, tool_type, call_id: Some(call_id) }, losses }
}

/// A TASK for a server that we orchestrate: everything as text.
pub fn task(call: &Call, client_id: Text, target: Text, session: Text, task_name: Text) -> Carried<ClientMessage> {
    let mut losses = lost(call);
    let mut frame = ClientMessage::new(ClientKind::Task, Status::Continue, ClientType::Constellation);
    let mut request = String::new();
    if let Ask::Invoke { input, .. } = &call.ask {
        request.push_str(&input.words());
        losses.extend(input.lost_but_words());
        losses.extend(input.lost_marks());
        losses.extend(input.lost_history());
        if let Some(args) = &input.args {
            losses.push(Loss::new("input.args", LossKind::Flattened));
            request.push_str(if request.is_empty() { "" } else { "\n" });
            request.push_str(args.as_str());
        }
    }
    frame.client_id = Some(client_id);
    frame.target_id = Some(target);
    frame.session_id = Some(session);
    frame.task_name = Some(task_name);
    frame.request = Some(request.into());
    frame.metadata = hops(call);
    Carried { value: frame, losses }
}

/// Hubs passed and trace context: clients have a place for them, servers do not.
fn hops(call: &Call) -> Option<Json> {
    let headers = interlingua_wire::hub_headers::encode(call);
    let known = |name: &str| match name {
        interlingua_wire::hub_headers::VIA => Some("via"),
        interlingua_wire::hub_headers::ORIGIN
        | interlingua_wire::hub_headers::TRACEPARENT
        | interlingua_wire::hub_headers::TRACESTATE
        | interlingua_wire::hub_headers::BAGGAGE => Some(""),
        _ => None,
    };
    let kept: Vec<(&str, &String)> = headers
        .iter()
        .filter_map(|(name, text)| known(name).map(|key| (if key.is_empty() { *name } else { key }, text)))
        .collect();
    (!kept.is_empty()).then(|| Object::json(|out| kept.iter().for_each(|(key, text)| out.text(key, text))))
}

/// What this wire has no place for, whoever is called.
fn lost(call: &Call) -> Vec<Loss> {
    let mut losses = Vec::new();
    if call.limits.priority != Priority::NORMAL {
        losses.push(Loss::new("call.priority", LossKind::Dropped));
    }
    if call.conversation.is_some() {
        losses.push(Loss::new("call.conversation", LossKind::Dropped));
    }
    losses
}

/// A part as one line can hold it: text, or data as it is written.
fn written(part: &Part) -> Option<&str> {
    match &part.body {
        Body::Text { text, .. } => Some(text),
        Body::Data(data) => Some(data.as_str()),
        Body::Blob(_) | Body::Link | Body::Code { .. } | Body::Place { .. } | Body::Other { .. } => None,
    }
}

/// An event as log lines of the wider profile; what is not for reading on the way gives none.
fn lines(event: &Event) -> Vec<Text> {
    match event {
        Event::Said { channel: Channel::Note(_) | Channel::Answer, parts, .. } => {
            parts.iter().filter_map(written).map(Text::from).collect()
        }
        Event::Progress { done, total, note } => {
            let count = match (done, total) {
                (Some(done), Some(total)) => format!("{done} of {total}"),
                (Some(done), None) => done.to_string(),
                (None, _) => String::new(),
            };
            let words: Vec<&str> =
                [count.as_str(), note.as_deref().unwrap_or_default()].into_iter().filter(|w| !w.is_empty()).collect();
            if words.is_empty() { Vec::new() } else { vec![words.join(": ").into()] }
        }
        Event::Step(step) => step.note().map(Text::from).into_iter().collect(),
        Event::Asked(question) => vec![format!("waits for an answer: {}", question.text).into()],
        Event::Said { channel: Channel::Reasoning, .. }
        | Event::Started(_)
        | Event::Artifact(_)
        | Event::Settled { .. }
        | Event::Finished(_) => Vec::new(),
    }
}
