//! Pagination of records, filtered by what the reader may see.

use interlingua_model::Fault;
use serde::de::DeserializeOwned;

use super::Hub;

/// How many are read at once, and how often: somebody with few among many gets short pages, not long waits.
const READ: usize = 500;
const MAX_READS: usize = 20;

impl Hub {
    /// The records of a kind after a key for which `sees` is true, and the key to continue after.
    pub(super) async fn page_of<T: DeserializeOwned + Send>(
        &self,
        kind: &'static str,
        after: Option<&str>,
        limit: usize,
        sees: impl Fn(&T) -> bool + Send,
    ) -> Result<(Vec<T>, Option<String>), Fault> {
        let (mut found, mut after) = (Vec::new(), after.map(str::to_owned));
        for _ in 0..MAX_READS {
            let page = self.store.records.list(kind, after.as_deref(), READ, self.now()).await?;
            let last = page.len() < READ;
            for item in page {
                if found.len() == limit {
                    return Ok((found, after));
                }
                after = Some(item.key.to_string());
                found.extend(serde_json::from_slice::<T>(&item.value).ok().filter(&sees));
            }
            if last {
                return Ok((found, None));
            }
        }
        Ok((found, after))
    }
}
