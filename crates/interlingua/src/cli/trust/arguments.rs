//! Arguments of `token`, `keys`, `explain` and `audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::arguments::{HubArguments, span};
use crate::config::Span;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua token create alice     print a new token once; the hub stores only its SHA-256
  interlingua token list             list who has a token
  interlingua token revoke alice     revoke it; the hub refuses it at once
  interlingua token owner            print the Owner's token from the data directory

A running hub stores the tokens. If the configuration (-c) names a list with
`access: { tokens: file:tokens.yaml }`, the command changes that list instead. The hub then reloads
it by itself.")]
pub struct TokenArguments {
    #[command(subcommand)]
    pub command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token for a caller and print it
    #[command(after_help = "\
Examples:
  interlingua token create alice
  interlingua token create robot --skill 'hotels/*' --expires 90d
  interlingua token create boss -c hub.yaml --role manager --approve
  interlingua token create robot --file tokens.yaml    add to this list, without a configuration")]
    Create(CreateArguments),
    /// List who has a token and what it can call
    #[command(after_help = "\
Examples:
  interlingua token list
  interlingua token list --file tokens.yaml --json")]
    List(TokensArguments),
    /// Revoke a token
    #[command(after_help = "\
Examples:
  interlingua token revoke robot    revoke it; the hub refuses it at once")]
    Revoke(RevokeArguments),
    /// Print the Owner's token
    #[command(after_help = "\
Examples:
  interlingua token owner    print the token for -H \"Authorization: Bearer TOKEN\"

The token is in the file `token` of the data directory, which only the hub's own user can read.")]
    Owner(OwnerArguments),
}

/// Which list.
#[derive(Debug, Clone, Args)]
pub struct TokensArguments {
    /// Read the configuration that names the list
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Use this list directly
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub hub: HubArguments,
}

/// Whose Owner.
#[derive(Debug, Args)]
pub struct OwnerArguments {
    /// Read the configuration that names the data directory
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Use this data directory; default: the file's, or ./data
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Name the caller, as tasks and the audit log show it
    pub name: String,
    /// Allow calls to this skill, written PEER/SKILL; `*` matches any characters. Repeat the flag for several. Default: all
    #[arg(long = "skill", value_name = "PATTERN")]
    pub skills: Vec<String>,
    /// Give it this role in the rules of `access.policy`. Repeat the flag for several
    #[arg(long = "role", value_name = "ROLE")]
    pub roles: Vec<String>,
    /// Allow it to approve pending calls
    #[arg(long)]
    pub approve: bool,
    /// Allow it to register agents
    #[arg(long)]
    pub register: bool,
    /// Expire the token after this time, such as 90d
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub expires: Option<Span>,
    #[command(flatten)]
    pub list: TokensArguments,
}

#[derive(Debug, Args)]
pub struct RevokeArguments {
    /// Revoke the token of this caller
    pub name: String,
    #[command(flatten)]
    pub list: TokensArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua explain user:alice call hotels/book_room
  interlingua explain user:alice call hotels/book_room --args '{\"amount\": 900}'
  interlingua explain 'user:alice>agent:researcher' call hotels/book_room
  interlingua explain anonymous list local/read_file

Exits with 0 if the call is allowed, with 7 if not.")]
pub struct ExplainArguments {
    /// Explain for this caller: user:NAME, agent:NAME, device:ID, orchestrator:ID, hub:ID, anonymous, owner; join several with `>` if one works for another
    pub principal: String,
    /// Explain this action: list, call, read, approve
    pub action: String,
    /// Explain it for this skill, written PEER/SKILL
    pub resource: String,
    /// Assume these arguments of the call, as JSON
    #[arg(long, value_name = "JSON")]
    pub args: Option<String>,
    /// Assume that the call arrives over this protocol, such as mcp
    #[arg(long)]
    pub protocol: Option<String>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua audit show                                show the newest decisions
  interlingua audit verify                              verify the log of a running hub
  interlingua audit export > audit.jsonl                write a file to verify without the hub
  interlingua audit export --after 812 > more.jsonl     export what was added since
  interlingua audit verify audit.jsonl more.jsonl --key KEY --checkpoint 812:DIGEST
                                                        check what an earlier `verify` printed
  interlingua audit forget user:alice                   redact her records; the chain still verifies

Exits with 1 if the chain does not verify.")]
pub struct AuditArguments {
    #[command(subcommand)]
    pub command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Show the newest decisions
    #[command(after_help = "\
Examples:
  interlingua audit show
  interlingua audit show --limit 5 --json")]
    Show(ShowArguments),
    /// Print the audit log as lines of JSON
    #[command(after_help = "\
Examples:
  interlingua audit export > audit.jsonl
  interlingua audit export --after 812 > more.jsonl    export what was added since")]
    Export(ExportArguments),
    /// Verify that nobody changed the audit log
    #[command(after_help = "\
Examples:
  interlingua audit verify                             verify the log of a running hub
  interlingua audit verify audit.jsonl                 verify a file, without a hub
  interlingua audit verify audit.jsonl more.jsonl --key KEY --checkpoint 812:DIGEST

Exits with 1 if the chain does not verify.")]
    Verify(VerifyArguments),
    /// Redact the records of one caller
    #[command(after_help = "\
Examples:
  interlingua audit forget user:alice    redact; the chain still verifies and records the redaction")]
    Forget(ForgetArguments),
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// Show at most this many lines
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub limit: u32,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Export only what was added after this record
    #[arg(long, value_name = "RECORD")]
    pub after: Option<u64>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Verify these exported files, in the order of export; default: the log of the hub
    pub files: Vec<PathBuf>,
    /// Require that this key signed the log, or handed over to the keys that did
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Require this record with this digest, as an earlier `verify` printed them
    #[arg(long, value_name = "RECORD:DIGEST")]
    pub checkpoint: Option<String>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
pub struct ForgetArguments {
    /// Redact the records of this caller, named as in the audit log: user:NAME
    pub who: String,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua keys list                            list the keys, never their content
  interlingua keys rotate                          seal with a new key; the hub keeps running
  interlingua keys retire                          re-encrypt with the newest, delete the old ones
  interlingua keys rotate --owner-token            replace the Owner's token; refuse the old one
  interlingua keys rotate --audit                  sign the audit with a new key; old records verify
  interlingua keys rotate --outer outer.key        add a new outer key, first in this file

The hub uses its keys to seal what it hands out. With
`store: { encryption: { key: file:outer.key } }` it also encrypts everything it stores, and wraps
its keys with an outer key that is not stored beside them.")]
pub struct KeysArguments {
    #[command(subcommand)]
    pub command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// List the keys
    #[command(after_help = "\
Examples:
  interlingua keys list
  interlingua keys list --json")]
    List(HubArguments),
    /// Create a new key
    #[command(after_help = "\
Examples:
  interlingua keys rotate                      seal with a new key; the hub keeps running
  interlingua keys rotate --owner-token        replace the Owner's token; refuse the old one
  interlingua keys rotate --audit              sign the audit with a new key; old records verify
  interlingua keys rotate --outer outer.key    add a new outer key, first in the file that
                                               `store.encryption` names")]
    Rotate(RotateArguments),
    /// Delete the old keys, once everything they sealed is sealed by the newest
    #[command(after_help = "\
Examples:
  interlingua keys retire     start; the hub continues by itself, also after a restart
  interlingua keys list       show progress: how much each old key still seals

Outer keys and keys that signed the audit are kept. The hub refuses conversation and session tokens,
receipts and page cursors that a deleted key made.")]
    Retire(HubArguments),
}

#[derive(Debug, Args)]
pub struct RotateArguments {
    /// Add a new outer key as the first in this file, and create the file if it does not exist. Changes only the file
    #[arg(long, value_name = "FILE")]
    pub outer: Option<PathBuf>,
    /// Replace the Owner's token instead
    #[arg(long, conflicts_with = "outer")]
    pub owner_token: bool,
    /// Replace the key that signs the audit log instead
    #[arg(long, conflicts_with_all = ["outer", "owner_token"])]
    pub audit: bool,
    #[command(flatten)]
    pub hub: HubArguments,
}
