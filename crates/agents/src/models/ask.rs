//! One request to a model: retries, timeouts, and every failure on the way.

use std::future::poll_fn;
use std::sync::Arc;

use interlingua_machines::llm::{Asking, Broken, Event, Manners, Model, Next, Prompt, Reply};
use interlingua_model::Time;
use tokio::time::{Duration, Instant, sleep_until, timeout_at};

/// Asks until there is a reply or no hope of one. `hear` is given every event as it comes; nothing is asked again once it
/// has heard words. Dropping the future closes the stream.
pub async fn ask(
    model: Arc<dyn Model>,
    prompt: Prompt,
    manners: Manners,
    mut hear: impl FnMut(&Event),
) -> Result<Reply, Broken> {
    let clock = Clock(Instant::now());
    let mut asking = Asking::new(manners, clock.now());
    loop {
        let mut speech = Arc::clone(&model).speak(prompt.clone());
        let mut until = clock.now().after(manners.patience.first);
        let again = loop {
            let next = match timeout_at(clock.at(until), poll_fn(|cx| speech.poll_next(cx))).await {
                Err(_) => asking.timer(clock.now(), roll()),
                Ok(None) => asking.closed(clock.now(), roll()),
                Ok(Some(event)) => {
                    hear(&event);
                    asking.heard(&event, clock.now(), roll())
                }
            };
            match next {
                Next::Listen(later) => until = later,
                Next::Again(at) => break at,
                Next::Done(result) => return *result,
            }
        };
        drop(speech);
        sleep_until(clock.at(again)).await;
        asking.reopened(clock.now());
    }
}

/// Milliseconds since the question, by the clock that does not jump.
struct Clock(Instant);

impl Clock {
    fn now(&self) -> Time {
        Time(u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    fn at(&self, time: Time) -> Instant {
        self.0 + Duration::from_millis(time.0)
    }
}

/// A random number; without one, pauses are merely not spread.
fn roll() -> u32 {
    let mut bytes = [0; 4];
    match aws_lc_rs::rand::fill(&mut bytes) {
        Ok(()) => u32::from_le_bytes(bytes),
        Err(_) => u32::MAX,
    }
}
