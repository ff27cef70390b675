//! Offloads the decoding of large messages to a few threads of their own: decoding tens of megabytes takes seconds, in which a worker would
//! serve nobody. Small messages are decoded in place.

use std::sync::LazyLock;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// What is worked on at once, on the worker.
const SMALL: usize = 256 * 1024;

/// Half of the processors, so that the others answer meanwhile.
static PLACES: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new(processors.div_ceil(2))
});

/// What `work` makes of a message of so many bytes.
pub async fn worked<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes <= SMALL {
        return work();
    }
    // Nobody closes it.
    let _place = PLACES.acquire().await.ok();
    beside(bytes, work)
}

/// The same where nothing can be waited for: what a peer said.
pub fn beside<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        // Other tasks of this worker go on elsewhere.
        Ok(RuntimeFlavor::MultiThread) if bytes > SMALL => tokio::task::block_in_place(work),
        _ => work(),
    }
}
