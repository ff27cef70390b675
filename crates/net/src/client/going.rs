//! An exchange without input, which runs and reports by itself. Dropping it cancels it, and its state notifies the other side on drop; an
//! exchange that shuts down in an orderly way receives a cancellation token instead.

use std::pin::Pin;
use std::task::{Context, Poll};

use interlingua_model::peer::Duplex;
use interlingua_model::{Event, Fault, FaultKind, Feature, Finished, Loss, Record, Signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many events may wait to be taken; more notes than that are dropped.
const NEWS: usize = 256;

/// What a work tells on its way.
#[derive(Debug, Clone)]
pub struct News(mpsc::Sender<Record>);

impl News {
    /// What readers must not miss.
    pub async fn event(&self, event: Event) {
        let _ = self.0.send(Record::emitted(event)).await;
    }

    pub fn tell(&self, event: Event) {
        let _ = self.try_tell(event);
    }

    /// False when too much waits already: it is dropped.
    pub fn try_tell(&self, event: Event) -> bool {
        self.0.try_send(Record::emitted(event)).is_ok()
    }
}

pub type FinalResult = (Finished, Vec<Loss>);

pub struct Going {
    work: Pin<Box<dyn Future<Output = FinalResult> + Send>>,
    news: mpsc::Receiver<Record>,
    ended: Option<FinalResult>,
    over: bool,
    /// How to tell it to stop.
    stop: Option<CancellationToken>,
}

impl std::fmt::Debug for Going {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Going").finish_non_exhaustive()
    }
}

impl Going {
    pub fn new<W>(work: impl FnOnce(News) -> W) -> Going
    where
        W: Future<Output = FinalResult> + Send + 'static,
    {
        let (news, told) = mpsc::channel(NEWS);
        Going { work: Box::pin(work(News(news))), news: told, ended: None, over: false, stop: None }
    }

    /// It ends by itself once this is cancelled.
    pub fn told_to_stop_by(self, stop: CancellationToken) -> Going {
        Going { stop: Some(stop), ..self }
    }
}

impl Duplex for Going {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        if self.over {
            return Poll::Ready(None);
        }
        // What was told is taken before there is more of it: no more waits than the work tells in one turn.
        if let Poll::Ready(Some(record)) = self.news.poll_recv(cx) {
            return Poll::Ready(Some(record));
        }
        if self.ended.is_none()
            && let Poll::Ready(ended) = self.work.as_mut().poll(cx)
        {
            self.ended = Some(ended);
        }
        // What was told before the end comes before it.
        if let Poll::Ready(Some(record)) = self.news.poll_recv(cx) {
            return Poll::Ready(Some(record));
        }
        let Some((finished, losses)) = self.ended.take() else { return Poll::Pending };
        self.over = true;
        Poll::Ready(Some(Record::Emitted { event: Event::Finished(finished), losses, raw: None }))
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        if let (Signal::Cancel(_), Some(stop)) = (&signal, &self.stop) {
            stop.cancel();
            return Ok(());
        }
        Err(Fault::hub(FaultKind::Unsupported(Feature::Operation), "it takes no more input"))
    }
}
