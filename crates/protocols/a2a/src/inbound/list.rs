//! Pagination of tasks, newest status first (section 3.1.4).

use crate::encode::{self, View};
use crate::invalid::{Invalid, Problem};
use crate::wire::{List, Task, TaskPage, TaskState};
use interlingua_model::ports::{Changed, TaskPhase, TaskRow};
use interlingua_model::{ConversationId, Fault, FaultKind, Noun, TaskId, Text, Time};

use super::send::peer_of;
use super::{Asking, refused};

const USUAL: u32 = 50;
/// How often a page is read on when a state leaves most of it out: somebody with few among many gets a short page.
const MAX_READS: usize = 20;

impl Asking<'_> {
    pub(super) async fn list(&self, list: List) -> Result<TaskPage, Fault> {
        let size = list.size.unwrap_or(USUAL);
        let wanted = usize::try_from(size).unwrap_or(usize::MAX);
        let mut filter = Changed {
            conversation: list.context.as_deref().map(ConversationId::from),
            state: list.state.map(phase),
            peer: peer_of(&self.door).map(|peer| peer.0.clone()),
            since: list.after,
            before: list.cursor.as_deref().map(cursor).transpose()?,
            limit: wanted + 1,
            ..Changed::default()
        };
        let view = View { history: list.history, artifacts: list.artifacts };
        let (mut tasks, mut total) = (Vec::new(), 0);
        let mut next: Text = "".into();
        for read in 0..MAX_READS {
            let (rows, count) = self.shared().hub.changed(&self.by, filter.clone()).await?;
            if read == 0 {
                total = count;
            }
            let more = rows.len() > wanted;
            for row in rows.into_iter().take(wanted) {
                let place = place(&row);
                if tasks.len() == wanted {
                    return Ok(TaskPage { tasks, next, size, total });
                }
                next = place.into();
                filter.before = Some((row.updated, row.task));
                tasks.extend(self.listed(&row, view, list.state).await?);
            }
            if !more {
                return Ok(TaskPage { tasks, next: "".into(), size, total });
            }
            if tasks.len() == wanted {
                break;
            }
        }
        Ok(TaskPage { tasks, next, size, total })
    }

    /// `None` when its state is another that the hub keeps under the same word.
    async fn listed(&self, row: &TaskRow, view: View, state: Option<TaskState>) -> Result<Option<Task>, Fault> {
        let folded = match self.shared().hub.task(&self.by, row.task).await {
            Ok(folded) => folded,
            // Forgotten meanwhile, or never theirs, whatever the list says.
            Err(fault) if fault.kind == FaultKind::NotFound(Noun::Task) => return Ok(None),
            Err(fault) => return Err(fault),
        };
        // A list says where tasks stand: what could not be said of one is written down when it is asked for.
        let task = encode::task(&folded, view, &self.links(row.task)).value;
        Ok(Some(task).filter(|task| state.is_none_or(|state| task.status.state == state)))
    }
}

fn phase(state: TaskState) -> TaskPhase {
    match state {
        TaskState::Submitted => TaskPhase::Accepted,
        TaskState::Working => TaskPhase::Running,
        TaskState::Completed => TaskPhase::Completed,
        TaskState::Failed | TaskState::Rejected => TaskPhase::Failed,
        TaskState::Canceled => TaskPhase::Cancelled,
        TaskState::InputRequired | TaskState::AuthRequired => TaskPhase::Waiting,
    }
}

/// Where the page after this row begins.
fn place(row: &TaskRow) -> String {
    format!("{}-{}", row.updated.0, row.task)
}

fn cursor(text: &str) -> Result<(Time, TaskId), Fault> {
    let read = || {
        let (time, task) = text.split_once('-')?;
        Some((Time(time.parse().ok()?), task.parse().ok()?))
    };
    read().ok_or_else(|| refused(&Invalid::at("pageToken", Problem::Cursor)))
}
