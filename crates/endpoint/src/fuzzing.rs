//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use http::{HeaderMap, Method, Uri};
use interlingua_model::FaultKind;

use crate::guard::Guard;
use crate::paths::PathTable;

/// Why the guard of a loopback listener with the additional name `host` refuses a request.
pub fn judge(paths: &PathTable, host: &str, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<FaultKind> {
    let guard = Guard { hosts: vec![host.to_owned()], loopback_only: true };
    guard.judge(paths, method, uri.path(), uri.authority(), headers).err().map(|fault| fault.kind)
}
