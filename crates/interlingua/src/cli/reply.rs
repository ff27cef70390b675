//! `answer`: answers a question of a task from a script, or later than it was asked; without an id it lists the open questions.

use std::io::Read;

use interlingua_model::Json;

use super::answer::{self, Reply};
use super::arguments::{AnswerArguments, HubArguments};
use super::client::Client;
use super::screen::{Screen, plain};
use super::table::Table;
use super::{Exit, Failure, decide, ids, list};
use interlingua_api::view::{PageView, QuestionView, TaskView};
use interlingua_model::percent::encoded;

/// No answer on standard input is longer.
const LONGEST: u64 = 1 << 20;

pub(super) async fn reply(arguments: AnswerArguments) -> Result<Exit, Failure> {
    let screen = Screen { json: arguments.hub.json };
    let Some(typed) = arguments.id.as_deref() else { return open(screen, &arguments.hub).await };
    let client = Client::new(&arguments.hub)?;
    let (task, number) = match typed.split_once('.') {
        Some((task, number)) => (task, Some(number)),
        None => (typed, None),
    };
    let id = ids::task(&arguments.hub, task).await?;
    let task: TaskView = client.get(&format!("/api/tasks/{}", encoded(&id))).await?;
    let question = asked(&task, number)?;
    let said = given(&arguments, question)?;
    let said = match said {
        Some(said) => said,
        None if screen.can_ask() => answer::ask(screen, question)?,
        None => return Err(answer::needed(question)),
    };
    answer::send(&client, question, said).await?;
    if screen.json {
        let task: TaskView = client.get(&format!("/api/tasks/{}", encoded(&id))).await?;
        screen.value(&task)?;
        return Ok(Exit::Done);
    }
    screen.note(&format!("answered {}", question.id));
    decide::afterwards(&client, screen, &id, task.seq.unwrap_or(0)).await?;
    Ok(Exit::Done)
}

/// What the caller may answer. Approvals have a list of their own.
async fn open(screen: Screen, hub: &HubArguments) -> Result<Exit, Failure> {
    let mut page: PageView<QuestionView> = list::all(hub, "/api/questions?limit=200").await?;
    page.items.retain(|question| question.kind != "confirm");
    if page.items.is_empty() && !screen.json {
        screen.note("no question waits for your answer");
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["id", "asked by", "kind", "until", "question"]);
    for question in &page.items {
        let (id, until) = (ids::short(&question.id), list::briefly(&question.expires));
        table.row([&*id, &question.asked_by, &question.kind, &until, &plain(&question.text)]);
    }
    list::show(hub, &page, &table)
}

/// The question that is meant: the one that is open, or the one whose number was given.
fn asked<'a>(task: &'a TaskView, number: Option<&str>) -> Result<&'a QuestionView, Failure> {
    let fits = |question: &&QuestionView| number.is_none_or(|number| question.id.ends_with(&format!(".{number}")));
    let open: Vec<&QuestionView> = task.questions.iter().filter(fits).collect();
    match open.as_slice() {
        [] => Err(Failure::new(Exit::Usage, format!("nothing is asked there: the task is {}", task.state))),
        [one] if one.kind == "confirm" => {
            let text = format!("this wants an approval, not an answer\n  interlingua approve {}", one.id);
            Err(Failure::new(Exit::Usage, text))
        }
        [one] => Ok(one),
        several => {
            let listed: Vec<String> =
                several.iter().map(|question| format!("  {}  {}", question.id, question.text)).collect();
            Err(Failure::new(Exit::Usage, format!("several questions are open; name one:\n{}", listed.join("\n"))))
        }
    }
}

/// What was said on the command line; none where nothing was.
fn given(arguments: &AnswerArguments, question: &QuestionView) -> Result<Option<Reply>, Failure> {
    if arguments.decline {
        return Ok(Some(Reply::No));
    }
    if arguments.visited {
        return Ok(Some(Reply::Visited));
    }
    let text = match arguments.words.as_slice() {
        [] => return Ok(None),
        [dash] if dash == "-" => from_input()?,
        words => words.join(" "),
    };
    Ok(Some(read(&text, question)?))
}

fn read(text: &str, question: &QuestionView) -> Result<Reply, Failure> {
    if question.kind == "credential" {
        return Ok(Reply::Token(text.trim().to_owned()));
    }
    if !text.trim_start().starts_with('{') {
        let chosen = text.parse::<usize>().ok().and_then(|number| question.choices.get(number.checked_sub(1)?));
        return Ok(Reply::Words(chosen.map_or_else(|| text.to_owned(), |choice| choice.id.clone())));
    }
    let fields = Json::parse(text.to_owned().into());
    fields.map(Reply::Fields).map_err(|error| Failure::new(Exit::Usage, format!("the answer is not JSON: {error}")))
}

fn from_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(LONGEST).read_to_string(&mut text);
    read.map_err(|error| Failure::new(Exit::Usage, format!("cannot read standard input: {}", error.kind())))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}
