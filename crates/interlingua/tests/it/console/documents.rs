//! The documents of the console: the same for everybody, and with the headers that keep a page to itself.

use http::Method;

use super::ask;
use crate::support::hub;

const VISIT: [(&str, &str); 3] =
    [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml");

#[tokio::test]
async fn every_document_has_a_policy_and_is_kept_by_its_name() {
    let hub = hub("").await;
    let page = ask(&hub, Method::GET, "/console/", &[], None).await;
    assert_eq!((page.status, page.header("cache-control")), (200, Some("no-store")));
    let text = page.text();
    let named = text.split('"').filter(|word| [".js", ".css", ".svg"].iter().any(|end| word.ends_with(end)));
    let mut paths: Vec<String> = named.map(|name| format!("/console/{name}")).collect();
    assert_eq!(paths.len(), 3, "{text}");
    paths.extend(["/console/", "/console", "/console/none"].map(str::to_owned));
    for path in paths {
        let answer = ask(&hub, Method::GET, &path, &[("accept-encoding", "gzip")], None).await;
        let policy = answer.header("content-security-policy").unwrap_or_else(|| panic!("{path}: a policy"));
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "font-src 'self'",
            "img-src 'self' blob:",
            "connect-src 'self'",
            "worker-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types console",
        ] {
            assert!(policy.split("; ").any(|said| said == part), "{path}: {part}");
        }
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", ""),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        if path.contains('-') {
            assert_eq!((answer.status, answer.header("content-encoding")), (200, Some("gzip")), "{path}");
            assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"), "{path}");
        }
    }
}

#[tokio::test]
async fn v_84_a_link_leads_to_the_console_and_to_nothing_else() {
    let hub = hub("").await;
    let visit = [&VISIT[..], &[HTML]].concat();
    let home = ask(&hub, Method::GET, "/", &visit, None).await;
    assert_eq!((home.status, home.header("location")), (303, Some("console/")));
    assert_eq!(ask(&hub, Method::GET, "/console/", &visit, None).await.status, 200);
    let program = ask(&hub, Method::GET, "/", &[], None).await;
    assert!(program.status == 200 && program.text().contains("/api/openapi.json"), "a program keeps the page");
    for path in ["/api/session", "/api/openapi.json", "/metrics", "/console/none", "/llms.txt"] {
        assert_eq!(ask(&hub, Method::GET, path, &visit, None).await.status, 403, "{path}");
    }
    for path in ["/", "/console/"] {
        assert_eq!(ask(&hub, Method::POST, path, &visit, None).await.status, 403, "{path}");
        for dest in ["iframe", "image", "script", "empty"] {
            let framed = [VISIT[0], VISIT[1], ("sec-fetch-dest", dest), HTML];
            assert_eq!(ask(&hub, Method::GET, path, &framed, None).await.status, 403, "{path} as {dest}");
        }
    }
}

#[tokio::test]
async fn a_console_that_is_switched_off_leaves_the_page_at_the_root() {
    let hub = hub("console: { enabled: false }\n").await;
    let home = ask(&hub, Method::GET, "/", &[HTML], None).await;
    assert!(home.status == 200 && home.text().contains("/api/openapi.json"), "{}", home.text());
    for path in ["/console", "/console/"] {
        assert_eq!(ask(&hub, Method::GET, path, &[HTML], None).await.status, 404, "{path}");
    }
    let refused = hub.post_json("/api/session/tickets", &serde_json::json!({})).await;
    assert_eq!(refused.status, 404, "{}", refused.text());
}
