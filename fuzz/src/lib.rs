//! What must hold of every decoder for any bytes.
//!
//! [`TARGETS`] has one row for each target: its name, its check, and the files whose decoders it reaches. The program beside this
//! library (`main.rs`, built by `scripts/fuzz`) looks for bytes that break a check; `tests/seeds.rs` runs every check on the seeds in
//! `fixtures/fuzz`, one folder for each target, and `tests/table.rs` looks whether a decoder has none.

mod checks;

use checks::{
    a2a, a2a_client, addresses, aip, aip_binary, audit, core, envelope, files, forms, gguf, http_head, ids, journal,
    mcp, mcp_client, nlip, nlweb, oauth, planted, providers, rules, small, words,
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
            "crates/interlingua-protocols/src/a2a/client/card.rs",
            "crates/interlingua-protocols/src/a2a/client/decode.rs",
            "crates/interlingua-protocols/src/a2a/client/fault.rs",
        ],
    ),
    row(
        "a2a_json",
        a2a::json,
        &[
            "crates/interlingua-protocols/src/a2a/json/read.rs",
            "crates/interlingua-protocols/src/a2a/json/parts.rs",
            "crates/interlingua-protocols/src/a2a/method.rs",
            "crates/interlingua-protocols/src/a2a/decode/mod.rs",
        ],
    ),
    row(
        "a2a_proto",
        a2a::proto,
        &[
            "crates/interlingua-protocols/src/a2a/proto/mod.rs",
            "crates/interlingua-protocols/src/a2a/proto/value.rs",
            "crates/interlingua-protocols/src/a2a/grpc.rs",
        ],
    ),
    row(
        "addresses",
        addresses::text,
        &[
            "crates/interlingua-core/src/percent.rs",
            "crates/interlingua-core/src/visit.rs",
            "crates/interlingua-core/src/site/address.rs",
            "crates/interlingua/src/client/guard.rs",
            "crates/interlingua/src/edge/a2a/outbound/address.rs",
            "crates/interlingua/src/edge/a2a/push/guard.rs",
        ],
    ),
    row("aip_binary", aip_binary::frames, &["crates/interlingua-protocols/src/aip/binary/mod.rs"]),
    row(
        "aip_json",
        aip::json,
        &[
            "crates/interlingua-protocols/src/aip/wire/read.rs",
            "crates/interlingua-protocols/src/aip/custom.rs",
            "crates/interlingua-protocols/src/aip/plan.rs",
            "crates/interlingua-protocols/src/aip/discover.rs",
            "crates/interlingua-protocols/src/aip/wire/mod.rs",
        ],
    ),
    row("api", small::api, &["crates/interlingua/src/api/view/event.rs", "crates/interlingua/src/edge/api/decode.rs"]),
    row("audit", audit::pages, &["crates/interlingua-core/src/audit/mod.rs"]),
    row(
        "callback",
        forms::callback,
        &["crates/interlingua-protocols/src/oauth/callback.rs", "crates/interlingua-protocols/src/oauth/form.rs"],
    ),
    row(
        "config",
        files::configuration,
        &[
            "crates/interlingua/src/settings/document/tree.rs",
            "crates/interlingua/src/settings/scalar.rs",
            "crates/interlingua/src/config/listen.rs",
            "crates/interlingua/src/settings/secret.rs",
            "crates/interlingua/src/edge/mcp/settings/peer.rs",
            "crates/interlingua/src/settings/phrases.rs",
            "crates/interlingua/src/config/load.rs",
        ],
    ),
    row(
        "core_json",
        core::json,
        &[
            "crates/interlingua-core/src/json/mod.rs",
            "crates/interlingua-core/src/json/reader.rs",
            "crates/interlingua-core/src/json/count.rs",
        ],
    ),
    row(
        "envelope_json",
        envelope::json,
        &[
            "crates/interlingua-protocols/src/envelope/wire/read.rs",
            "crates/interlingua-protocols/src/envelope/decode/mod.rs",
            "crates/interlingua-protocols/src/envelope/ecma.rs",
            "crates/interlingua-protocols/src/envelope/wire/mod.rs",
        ],
    ),
    row("gguf", gguf::file, &["crates/interlingua-local/src/gguf.rs", "crates/interlingua-local/src/tokens.rs"]),
    row("glob", files::glob, &["crates/interlingua-drivers/src/files/glob.rs"]),
    row("hook", small::hook, &["crates/interlingua/src/edge/hooks/message.rs"]),
    row(
        "http_head",
        http_head::request,
        &[
            "crates/interlingua/src/endpoint/guard.rs",
            "crates/interlingua/src/server/upgrade.rs",
            "crates/interlingua/src/server/access.rs",
            "crates/interlingua/src/telemetry/trace.rs",
            "crates/interlingua-protocols/src/hop.rs",
        ],
    ),
    row(
        "ids",
        ids::text,
        &[
            "crates/interlingua-core/src/id.rs",
            "crates/interlingua-core/src/digest.rs",
            "crates/interlingua-core/src/principal.rs",
            "crates/interlingua-core/src/bus/topic.rs",
            "crates/interlingua/src/hub/approvals.rs",
            "crates/interlingua/src/edge/mcp/inbound/resume.rs",
            "crates/interlingua/src/edge/mcp/inbound/listing.rs",
            "crates/interlingua/src/edge/api/page.rs",
            "crates/interlingua/src/edge/a2a/inbound/links.rs",
            "crates/interlingua-protocols/src/mcp/headers.rs",
            "crates/interlingua-core/src/bus/message.rs",
            "crates/interlingua-core/src/content.rs",
            "crates/interlingua-core/src/policy.rs",
            "crates/interlingua-core/src/ports.rs",
            "crates/interlingua-protocols/src/a2a/mod.rs",
        ],
    ),
    row(
        "journal",
        journal::records,
        &["crates/interlingua-core/src/journal.rs", "crates/interlingua-core/src/task/apply.rs"],
    ),
    row(
        "keys",
        small::keys,
        &[
            "crates/interlingua-drivers/src/keys/load.rs",
            "crates/interlingua-drivers/src/keys/wrapped.rs",
            "crates/interlingua-drivers/src/jws/mod.rs",
            "crates/interlingua/src/edge/a2a/signing.rs",
        ],
    ),
    row(
        "lines",
        files::lines,
        &["crates/interlingua-drivers/src/child/mod.rs", "crates/interlingua/src/edge/mcp/outbound/link/pipe.rs"],
    ),
    row(
        "manifest",
        files::manifest,
        &[
            "crates/interlingua-drivers/src/tools/manifest.rs",
            "crates/interlingua-drivers/src/tools/catalogue.rs",
            "crates/interlingua-drivers/src/tools/reply.rs",
            "crates/interlingua-drivers/src/tools/fields.rs",
        ],
    ),
    row(
        "massgen",
        files::foreign,
        &["crates/interlingua/src/cli/massgen/mod.rs", "crates/interlingua-drivers/src/models/scripted.rs"],
    ),
    row(
        "mcp_client",
        mcp_client::message,
        &[
            "crates/interlingua-protocols/src/mcp/client/decode.rs",
            "crates/interlingua-protocols/src/mcp/client/list.rs",
        ],
    ),
    row(
        "mcp_json",
        mcp::json,
        &[
            "crates/interlingua-protocols/src/mcp/decode.rs",
            "crates/interlingua-protocols/src/mcp/content.rs",
            "crates/interlingua-protocols/src/mcp/definition.rs",
            "crates/interlingua-protocols/src/mcp/question.rs",
            "crates/interlingua-protocols/src/mcp/meta.rs",
            "crates/interlingua-protocols/src/mcp/version.rs",
        ],
    ),
    row("multipart", forms::multipart, &["crates/interlingua/src/edge/nlip/uploads/multipart.rs"]),
    row("nlip_cbor", nlip::cbor, &["crates/interlingua-protocols/src/nlip/cbor/decode.rs"]),
    row(
        "nlip_json",
        nlip::json,
        &[
            "crates/interlingua-protocols/src/nlip/json.rs",
            "crates/interlingua-protocols/src/nlip/decode/mod.rs",
            "crates/interlingua-protocols/src/nlip/decode/ours.rs",
            "crates/interlingua-protocols/src/nlip/client/decode.rs",
            "crates/interlingua-protocols/src/nlip/topic.rs",
            "crates/interlingua-protocols/src/nlip/fault.rs",
        ],
    ),
    row(
        "nlweb_json",
        nlweb::json,
        &[
            "crates/interlingua-protocols/src/nlweb/decode.rs",
            "crates/interlingua-protocols/src/nlweb/form.rs",
            "crates/interlingua-protocols/src/nlweb/client.rs",
            "crates/interlingua-protocols/src/nlweb/item.rs",
        ],
    ),
    row(
        "oauth",
        oauth::said,
        &[
            "crates/interlingua-protocols/src/oauth/metadata.rs",
            "crates/interlingua-protocols/src/oauth/challenge.rs",
            "crates/interlingua-protocols/src/oauth/token.rs",
            "crates/interlingua-protocols/src/oauth/address.rs",
            "crates/interlingua-protocols/src/oauth/scope.rs",
        ],
    ),
    row(
        "plan",
        small::plan,
        &[
            "crates/interlingua-protocols/src/aip/constellation/read.rs",
            "crates/interlingua/src/edge/aip/graph/change.rs",
        ],
    ),
    row("policy", rules::policy, &["crates/interlingua-policy/src/load.rs", "crates/interlingua-policy/src/reads.rs"]),
    row("protobuf", small::protobuf, &["crates/interlingua-protocols/src/protobuf.rs"]),
    row(
        "providers",
        providers::stream,
        &[
            "crates/interlingua-protocols/src/providers/listen.rs",
            "crates/interlingua-protocols/src/providers/anthropic.rs",
            "crates/interlingua-protocols/src/providers/gemini.rs",
            "crates/interlingua-protocols/src/providers/ollama.rs",
            "crates/interlingua-protocols/src/providers/openai.rs",
            "crates/interlingua-core/src/model/assemble.rs",
        ],
    ),
    row("proxy", http_head::proxy, &["crates/interlingua-drivers/src/browser/proxy/head.rs"]),
    row(
        "rpc_batch",
        small::batch,
        &["crates/interlingua-protocols/src/rpc.rs", "crates/interlingua-protocols/src/members.rs"],
    ),
    row(
        "schema",
        rules::schema,
        &[
            "crates/interlingua-core/src/schema/mod.rs",
            "crates/interlingua-core/src/schema/read.rs",
            "crates/interlingua/src/hub/validate.rs",
        ],
    ),
    row(
        "signed_card",
        small::signed_card,
        &["crates/interlingua-protocols/src/a2a/signature.rs", "crates/interlingua-protocols/src/jcs.rs"],
    ),
    row(
        "site",
        files::site,
        &[
            "crates/interlingua-core/src/site/read/mod.rs",
            "crates/interlingua-core/src/site/read/action.rs",
            "crates/interlingua-core/src/site/read/step.rs",
            "crates/interlingua-core/src/site/template.rs",
            "crates/interlingua-core/src/site/extract.rs",
            "crates/interlingua-drivers/src/browser/file.rs",
        ],
    ),
    row("sse", mcp_client::events, &["crates/interlingua-protocols/src/sse.rs"]),
    row(
        "token",
        small::token,
        &[
            "crates/interlingua-protocols/src/oauth/jwt.rs",
            "crates/interlingua-protocols/src/jwk.rs",
            "crates/interlingua/src/server/issuers.rs",
        ],
    ),
    row("websocket", http_head::websocket, &["crates/interlingua/src/server/counted.rs"]),
    row(
        "words",
        words::said,
        &[
            "crates/interlingua-core/src/words/pattern.rs",
            "crates/interlingua-core/src/words/answer.rs",
            "crates/interlingua-core/src/words/given.rs",
            "crates/interlingua-core/src/team/plain.rs",
            "crates/interlingua-core/src/visible.rs",
            "crates/interlingua-core/src/team/tools.rs",
            "crates/interlingua-core/src/team/turn.rs",
            "crates/interlingua-core/src/words/value/mod.rs",
        ],
    ),
];

/// Has a fault on purpose, and is no row of the table.
pub static PLANTED: Target = row("planted", planted::fault, &[]);

pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().chain([&PLANTED]).find(|target| target.name == name)
}
