//! Read connections: a few connections of their own, so no read waits for the writer, and none sees half a commit.
//!
//! Each read is one statement or one short transaction on a blocking thread of the runtime. Permits bound how many run; a reader that waits
//! for a permit holds no lock.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use interlingua_model::ports::StoreFault;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::fault::{OpenFault, Refused};
use super::schema;

#[derive(Debug)]
pub(super) struct Readers {
    permits: Arc<Semaphore>,
    count: u32,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(super) fn open(file: &Path, count: u32) -> Result<Readers, OpenFault> {
        let count = count.max(1);
        let idle = (0..count).map(|_| schema::reader(file)).collect::<Result<Vec<_>, _>>()?;
        Ok(Readers { permits: Arc::new(Semaphore::new(count as usize)), count, idle: Arc::new(Mutex::new(idle)) })
    }

    pub(super) async fn read<T, F>(&self, work: F) -> Result<T, StoreFault>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Refused> + Send + 'static,
    {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| StoreFault::Closed)?;
        let idle = self.idle.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let db = idle.lock().unwrap_or_else(PoisonError::into_inner).pop().ok_or(StoreFault::Closed)?;
            let found = work(&db);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
            found.map_err(StoreFault::from)
        });
        done.await.unwrap_or(Err(StoreFault::Closed))
    }

    /// Waits for the reads under way and closes the connections.
    pub(super) async fn close(&self) {
        if let Ok(_all) = self.permits.acquire_many(self.count).await {
            self.permits.close();
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }
}
