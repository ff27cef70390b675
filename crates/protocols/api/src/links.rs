//! Content links: the address beside the digest of stored content.

use std::sync::Arc;

use interlingua_model::{Digest, Part, Principal};

use crate::view::{PartView, Tells};
use interlingua_endpoint::content;
use interlingua_hub::Hub;

/// Addresses for one caller, who reaches the hub at `base`.
#[derive(Clone)]
pub(super) struct Links {
    pub(super) hub: Arc<Hub>,
    pub(super) by: Principal,
    pub(super) base: String,
}

impl Links {
    /// The same view, with an address wherever it tells content that is kept.
    pub(super) fn within<T: Tells>(&self, mut view: T) -> T {
        view.each_part(&mut |part| self.fill(part));
        view
    }

    /// A part as they are shown it.
    pub(super) fn of(&self, part: &Part) -> PartView {
        let mut view = PartView::from(part);
        self.fill(&mut view);
        view
    }

    fn fill(&self, part: &mut PartView) {
        let Some(digest) = part.sha256.as_deref().and_then(|digest| digest.parse::<Digest>().ok()) else { return };
        let address = content::address(&self.hub, &self.by, &self.base, &digest, part.media.as_deref());
        part.url = address.map(|address| address.to_string());
    }
}
