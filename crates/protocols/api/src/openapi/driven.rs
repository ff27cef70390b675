//! Operations about what the hub drives: devices and websites.

use super::{Operation, PAGE, bytes, delete, get, page, schema};
use crate::view::{DeviceView, PageView, SitePagesView, SiteSessionView, TelemetryView};

/// Devices, and how they were.
pub(super) fn devices() -> Vec<Operation> {
    vec![
        page(
            "/api/devices",
            "list_devices",
            "List the devices that you may see: what each is, what it can do, and how it is now",
            PAGE,
            schema::<PageView<DeviceView>>,
        ),
        get("/api/devices/{id}", "read_device", "Read the state of a device", schema::<DeviceView>),
        page(
            "/api/devices/{id}/telemetry",
            "read_telemetry",
            "Read how a device was, minute by minute, in the last day at most",
            &[("minutes", "How many minutes, up to 1440; 60 without it")],
            schema::<TelemetryView>,
        ),
    ]
}

/// What driven websites keep from call to call, and what they look like now.
pub(super) fn sites() -> Vec<Operation> {
    vec![
        page(
            "/api/sites/sessions",
            "list_site_sessions",
            "List your sessions at driven websites",
            PAGE,
            schema::<PageView<SiteSessionView>>,
        ),
        delete("/api/sites/sessions/{id}", "end_site_session", "End a session and delete its stored data"),
        get("/api/sites/pages", "list_site_pages", "List the pages that your calls use now", schema::<SitePagesView>),
        get("/api/sites/pages/{id}", "watch_site_page", "Fetch a picture of a page in use, as JPEG", bytes),
    ]
}
