//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use http::Uri;
use interlingua_model::{PeerId, TaskId};

use crate::encode::Addresses as _;
use crate::inbound::links::Links;
use crate::outbound::address::Address;

/// Where the cards of an agent at this address are, and what one of its interfaces becomes.
pub fn agent_address(url: &str, interface: &str) -> Option<(Vec<Uri>, Option<Uri>, Option<Uri>)> {
    let address = Address::of(&PeerId::from("p"), url, &[]).ok()?;
    let (plain, service) = (address.interface(interface).ok(), address.service(interface).ok());
    Some((address.cards, plain, service))
}

/// The task that a path to stored content names, and the path written again.
pub fn content_path(path: &str) -> Option<(TaskId, String)> {
    let (task, digest) = Links::read(path)?;
    let again = Links::new("x".to_owned(), task).blob(&digest)?;
    Some((task, again.strip_prefix("x/")?.to_owned()))
}
