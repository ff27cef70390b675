//! Invariants of every decoder for any bytes.
//!
//! [`TARGETS`] has one row for each target: its name, its check, and the files whose decoders it reaches. The program beside this
//! library (`main.rs`, built by `scripts/fuzz`) looks for bytes that break a check; `tests/seeds.rs` runs every check on the seeds in
//! `fixtures/fuzz`, one folder for each target, and `tests/table.rs` looks whether a decoder has none.

mod checks;

use checks::{
    a2a, a2a_client, addresses, aip, aip_binary, audit, cookies, core, database, envelope, files, forms, gguf,
    http_head, ids, journal, mcp, mcp_client, nlip, nlweb, oauth, planted, providers, rules, small, words,
};

/// One thing to fuzz.
#[derive(Debug)]
pub struct Target {
    /// Also the folder of its seeds.
    pub name: &'static str,
    /// Panics when something does not hold.
    pub check: fn(&[u8]),
    /// The sources whose decoders it reaches, from the root of the project.
    pub decoders: &'static [&'static str],
}

const fn row(name: &'static str, check: fn(&[u8]), decoders: &'static [&'static str]) -> Target {
    Target { name, check, decoders }
}

pub static TARGETS: &[Target] = &[
    row(
        "a2a_client",
        a2a_client::said,
        &[
            "crates/protocols/a2a/src/discover/read.rs",
            "crates/protocols/a2a/src/client/decode.rs",
            "crates/protocols/a2a/src/client/fault.rs",
        ],
    ),
    row(
        "a2a_json",
        a2a::json,
        &[
            "crates/protocols/a2a/src/json/read.rs",
            "crates/protocols/a2a/src/json/parts.rs",
            "crates/protocols/a2a/src/request.rs",
            "crates/protocols/a2a/src/decode/mod.rs",
        ],
    ),
    row(
        "a2a_proto",
        a2a::proto,
        &[
            "crates/protocols/a2a/src/proto/mod.rs",
            "crates/protocols/a2a/src/proto/value.rs",
            "crates/protocols/a2a/src/grpc.rs",
        ],
    ),
    row(
        "addresses",
        addresses::text,
        &[
            "crates/model/src/percent.rs",
            "crates/model/src/visit.rs",
            "crates/model/src/address.rs",
            "crates/net/src/client/guard.rs",
            "crates/protocols/a2a/src/outbound/address.rs",
            "crates/protocols/a2a/src/push/guard.rs",
        ],
    ),
    row("aip_binary", aip_binary::frames, &["crates/protocols/aip/src/binary/mod.rs"]),
    row(
        "aip_json",
        aip::json,
        &[
            "crates/protocols/aip/src/wire/read.rs",
            "crates/protocols/aip/src/custom.rs",
            "crates/protocols/aip/src/plan.rs",
            "crates/protocols/aip/src/discover.rs",
            "crates/protocols/aip/src/telemetry.rs",
            "crates/model/src/device.rs",
            "crates/protocols/aip/src/wire/mod.rs",
        ],
    ),
    row("api", small::api, &["crates/protocols/api/src/view/event.rs", "crates/protocols/api/src/decode.rs"]),
    row("audit", audit::pages, &["crates/machines/src/audit/mod.rs"]),
    row("callback", forms::callback, &["crates/wire/src/oauth/callback.rs", "crates/wire/src/oauth/form.rs"]),
    row(
        "config",
        files::configuration,
        &[
            "crates/settings/src/document/tree.rs",
            "crates/settings/src/scalar.rs",
            "crates/interlingua/src/config/listen.rs",
            "crates/settings/src/secret.rs",
            "crates/protocols/mcp/src/settings/peer.rs",
            "crates/settings/src/phrases.rs",
            "crates/interlingua/src/config/load.rs",
        ],
    ),
    row("cookies", cookies::session, &["crates/access/src/sessions/cookies.rs"]),
    row(
        "core_json",
        core::json,
        &["crates/model/src/json/mod.rs", "crates/model/src/json/reader.rs", "crates/model/src/json/count.rs"],
    ),
    row("database", database::messages, &["crates/store-postgres/src/bounded.rs", "crates/store-postgres/src/tls.rs"]),
    row("device_minute", journal::device_minute, &["crates/hub/src/devices/record.rs"]),
    row(
        "envelope_json",
        envelope::json,
        &[
            "crates/protocols/envelope/src/wire/read.rs",
            "crates/protocols/envelope/src/decode/mod.rs",
            "crates/protocols/envelope/src/ecma.rs",
            "crates/protocols/envelope/src/wire/mod.rs",
        ],
    ),
    row("gguf", gguf::file, &["crates/local/src/gguf.rs", "crates/local/src/tokens.rs"]),
    row("glob", files::glob, &["crates/tools/src/files/glob.rs"]),
    row("hook", small::hook, &["crates/hooks/src/message.rs"]),
    row(
        "http_head",
        http_head::request,
        &[
            "crates/endpoint/src/guard.rs",
            "crates/net/src/upgrade.rs",
            "crates/access/src/lib.rs",
            "crates/telemetry/src/trace.rs",
            "crates/wire/src/hub_headers.rs",
        ],
    ),
    row(
        "ids",
        ids::text,
        &[
            "crates/model/src/id.rs",
            "crates/model/src/digest.rs",
            "crates/model/src/principal.rs",
            "crates/machines/src/bus/topic.rs",
            "crates/hub/src/approvals.rs",
            "crates/protocols/mcp/src/inbound/resume.rs",
            "crates/protocols/mcp/src/inbound/listing.rs",
            "crates/protocols/api/src/page.rs",
            "crates/protocols/a2a/src/inbound/links.rs",
            "crates/protocols/mcp/src/wire/headers.rs",
            "crates/machines/src/bus/message.rs",
            "crates/model/src/content.rs",
            "crates/model/src/policy.rs",
            "crates/model/src/ports.rs",
            "crates/protocols/a2a/src/lib.rs",
        ],
    ),
    row(
        "journal",
        journal::records,
        &["crates/agents/src/memory.rs", "crates/model/src/journal.rs", "crates/machines/src/task/apply.rs"],
    ),
    row(
        "keys",
        small::keys,
        &[
            "crates/keys/src/load.rs",
            "crates/keys/src/wrapped.rs",
            "crates/keys/src/jws/mod.rs",
            "crates/protocols/a2a/src/signing.rs",
        ],
    ),
    row("lines", files::lines, &["crates/process/src/child/mod.rs", "crates/protocols/mcp/src/outbound/link/pipe.rs"]),
    row(
        "manifest",
        files::manifest,
        &[
            "crates/tools/src/custom/manifest.rs",
            "crates/tools/src/custom/catalogue.rs",
            "crates/tools/src/custom/reply.rs",
            "crates/tools/src/custom/fields.rs",
        ],
    ),
    row(
        "massgen",
        files::foreign,
        &["crates/interlingua/src/cli/import/mod.rs", "crates/agents/src/models/scripted.rs"],
    ),
    row(
        "mcp_client",
        mcp_client::message,
        &["crates/protocols/mcp/src/client/decode.rs", "crates/protocols/mcp/src/client/list.rs"],
    ),
    row(
        "mcp_json",
        mcp::json,
        &[
            "crates/protocols/mcp/src/decode/mod.rs",
            "crates/protocols/mcp/src/decode/call.rs",
            "crates/protocols/mcp/src/decode/said.rs",
            "crates/protocols/mcp/src/wire/content.rs",
            "crates/protocols/mcp/src/discover.rs",
            "crates/protocols/mcp/src/question.rs",
            "crates/protocols/mcp/src/wire/meta.rs",
            "crates/protocols/mcp/src/wire/version.rs",
        ],
    ),
    row("multipart", forms::multipart, &["crates/protocols/nlip/src/uploads/multipart.rs"]),
    row("nlip_cbor", nlip::cbor, &["crates/protocols/nlip/src/cbor/decode.rs"]),
    row(
        "nlip_json",
        nlip::json,
        &[
            "crates/protocols/nlip/src/json.rs",
            "crates/protocols/nlip/src/decode/mod.rs",
            "crates/protocols/nlip/src/decode/ours.rs",
            "crates/protocols/nlip/src/client/decode.rs",
            "crates/protocols/nlip/src/topic.rs",
            "crates/protocols/nlip/src/fault.rs",
        ],
    ),
    row(
        "nlweb_json",
        nlweb::json,
        &[
            "crates/protocols/nlweb/src/decode.rs",
            "crates/protocols/nlweb/src/client/mod.rs",
            "crates/protocols/nlweb/src/item.rs",
        ],
    ),
    row(
        "oauth",
        oauth::said,
        &[
            "crates/wire/src/oauth/metadata.rs",
            "crates/wire/src/oauth/challenge.rs",
            "crates/wire/src/oauth/token.rs",
            "crates/wire/src/oauth/address.rs",
            "crates/wire/src/oauth/scope.rs",
        ],
    ),
    row(
        "plan",
        small::plan,
        &[
            "crates/agents/src/plans/constellation/read.rs",
            "crates/agents/src/plans/change.rs",
            "crates/machines/src/graph/results.rs",
        ],
    ),
    row("policy", rules::policy, &["crates/policy/src/load.rs", "crates/policy/src/reads.rs"]),
    row("protobuf", small::protobuf, &["crates/wire/src/protobuf.rs"]),
    row(
        "providers",
        providers::stream,
        &[
            "crates/agents/src/providers/listen.rs",
            "crates/agents/src/providers/anthropic.rs",
            "crates/agents/src/providers/gemini.rs",
            "crates/agents/src/providers/ollama.rs",
            "crates/agents/src/providers/openai.rs",
            "crates/machines/src/llm/assemble.rs",
        ],
    ),
    row("proxy", http_head::proxy, &["crates/sites/src/browser/proxy/head.rs"]),
    row("rpc_batch", small::batch, &["crates/wire/src/rpc.rs", "crates/wire/src/members.rs"]),
    row(
        "schema",
        rules::schema,
        &["crates/model/src/schema/mod.rs", "crates/model/src/schema/read.rs", "crates/hub/src/validate.rs"],
    ),
    row(
        "signed_card",
        small::signed_card,
        &["crates/protocols/a2a/src/discover/signature.rs", "crates/wire/src/jcs.rs"],
    ),
    row(
        "site",
        files::site,
        &[
            "crates/sites/src/definition/read/mod.rs",
            "crates/sites/src/definition/read/action.rs",
            "crates/sites/src/definition/read/step.rs",
            "crates/sites/src/definition/template.rs",
            "crates/sites/src/definition/extract.rs",
            "crates/sites/src/browser/file.rs",
        ],
    ),
    row("sse", mcp_client::events, &["crates/wire/src/sse.rs"]),
    row(
        "token",
        small::token,
        &["crates/wire/src/oauth/jwt.rs", "crates/wire/src/jwk.rs", "crates/access/src/issuers.rs"],
    ),
    row("websocket", http_head::websocket, &["crates/net/src/counted.rs"]),
    row(
        "words",
        words::said,
        &[
            "crates/machines/src/words/pattern.rs",
            "crates/machines/src/words/answer.rs",
            "crates/machines/src/words/given.rs",
            "crates/machines/src/team/plain.rs",
            "crates/model/src/visible.rs",
            "crates/machines/src/team/tools.rs",
            "crates/machines/src/team/turn.rs",
            "crates/machines/src/words/value/mod.rs",
        ],
    ),
];

/// Has a fault on purpose, and is no row of the table.
pub static PLANTED: Target = row("planted", planted::fault, &[]);

pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().chain([&PLANTED]).find(|target| target.name == name)
}
