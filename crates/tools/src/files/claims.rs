//! File ownership in a run (S-07): which caller made which file. Claims are in memory only, and the oldest are evicted when there are too
//! many; without its claim a file can be changed with `edit_file` only, not with `write_file`.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use interlingua_model::Owner;

const MAX_CLAIMS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Claims {
    owners: HashMap<PathBuf, Owner>,
    order: VecDeque<PathBuf>,
}

impl Claims {
    pub(super) fn holds(&self, path: &Path, owner: &Owner) -> bool {
        self.owners.get(path) == Some(owner)
    }

    pub(super) fn claim(&mut self, path: &Path, owner: &Owner) {
        if self.owners.insert(path.to_path_buf(), owner.clone()).is_none() {
            self.order.push_back(path.to_path_buf());
        }
        while self.order.len() > MAX_CLAIMS {
            if let Some(oldest) = self.order.pop_front() {
                self.owners.remove(&oldest);
            }
        }
    }

    /// Someone else put work into the file: its maker may not replace it whole any more.
    pub(super) fn touched(&mut self, path: &Path, owner: &Owner) {
        if self.owners.get(path).is_some_and(|maker| maker != owner) {
            self.owners.remove(path);
            self.order.retain(|known| known != path);
        }
    }
}
