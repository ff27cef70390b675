//! What can be typed of `token`, `keys`, `explain` and `audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::arguments::{HubArguments, span};
use crate::config::Span;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua token create alice     prints the token, once; the hub keeps its SHA-256
  interlingua token list             who has one
  interlingua token revoke alice     the hub refuses it at once
  interlingua token owner            prints the Owner's token, from the data directory

A running hub keeps the tokens. Where `access: { tokens: file:tokens.yaml }` of the configuration
(-c) names a list, that is changed instead, and the hub reads it again by itself.")]
pub struct TokenArguments {
    #[command(subcommand)]
    pub command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token for somebody, and print it
    #[command(after_help = "\
Examples:
  interlingua token create alice
  interlingua token create robot --skill 'hotels/*' --expires 90d
  interlingua token create boss -c hub.yaml --role manager --approve
  interlingua token create robot --file tokens.yaml    in the list itself, without a configuration")]
    Create(CreateArguments),
    /// Who has one, and what it reaches
    #[command(after_help = "\
Examples:
  interlingua token list
  interlingua token list --file tokens.yaml --json")]
    List(TokensArguments),
    /// Take one back
    #[command(after_help = "\
Examples:
  interlingua token revoke robot    the hub refuses it at once")]
    Revoke(RevokeArguments),
    /// Print the Owner's token
    #[command(after_help = "\
Examples:
  interlingua token owner    for -H \"Authorization: Bearer TOKEN\"

It is in the file `token` of the data directory, which only the hub's own user may read.")]
    Owner(OwnerArguments),
}

/// Which list.
#[derive(Debug, Clone, Args)]
pub struct TokensArguments {
    /// The configuration that names the list
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The list itself
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub hub: HubArguments,
}

/// Whose Owner.
#[derive(Debug, Args)]
pub struct OwnerArguments {
    /// The configuration that names the data directory
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory; default: the file's, or ./data
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// For programs: JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Who it is for: what tasks and the audit know the caller by
    pub name: String,
    /// A skill it may call, as PEER/SKILL; `*` stands for any letters. May be given several times. Default: all
    #[arg(long = "skill", value_name = "PATTERN")]
    pub skills: Vec<String>,
    /// A role it has in the rules of `access.policy`. May be given several times
    #[arg(long = "role", value_name = "ROLE")]
    pub roles: Vec<String>,
    /// It may say yes to what waits for a confirmation
    #[arg(long)]
    pub approve: bool,
    /// It may register agents
    #[arg(long)]
    pub register: bool,
    /// How long it counts, such as 90d
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub expires: Option<Span>,
    #[command(flatten)]
    pub list: TokensArguments,
}

#[derive(Debug, Args)]
pub struct RevokeArguments {
    /// Whose
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

Exit code 0 when it is allowed, 7 when it is not.")]
pub struct ExplainArguments {
    /// Who: user:NAME, agent:NAME, device:ID, orchestrator:ID, hub:ID, anonymous, owner; several joined by `>` when one works for another
    pub principal: String,
    /// What: list, call, read, approve
    pub action: String,
    /// On which skill: PEER/SKILL
    pub resource: String,
    /// The arguments of the call, as JSON
    #[arg(long, value_name = "JSON")]
    pub args: Option<String>,
    /// What it comes in by, such as mcp
    #[arg(long)]
    pub protocol: Option<String>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua audit show                                what was decided last
  interlingua audit verify                              of a running hub
  interlingua audit export > audit.jsonl                a file that can be verified without the hub
  interlingua audit export --after 812 > more.jsonl     what came since
  interlingua audit verify audit.jsonl more.jsonl --key KEY --checkpoint 812:DIGEST
                                                        as an earlier `verify` told them
  interlingua audit forget user:alice                   what her lines say; the chain still holds

Exit code 1 when the chain does not hold.")]
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
    /// Print the record of decisions as lines of JSON
    #[command(after_help = "\
Examples:
  interlingua audit export > audit.jsonl
  interlingua audit export --after 812 > more.jsonl    what came since")]
    Export(ExportArguments),
    /// Look whether anybody changed it
    #[command(after_help = "\
Examples:
  interlingua audit verify                             of a running hub
  interlingua audit verify audit.jsonl                 of a file, without a hub
  interlingua audit verify audit.jsonl more.jsonl --key KEY --checkpoint 812:DIGEST

Exit code 1 when the chain does not hold.")]
    Verify(VerifyArguments),
    /// Take out what the lines of one caller say
    #[command(after_help = "\
Examples:
  interlingua audit forget user:alice    the chain still holds, and says that she was forgotten")]
    Forget(ForgetArguments),
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// How many lines at most
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub limit: u32,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Only what came after this record
    #[arg(long, value_name = "RECORD")]
    pub after: Option<u64>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// What `export` printed, in its order; default: what the hub has
    pub files: Vec<PathBuf>,
    /// The name of the key that must have signed it, or handed over to those that did
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// A record and its digest that must be in it, as an earlier `verify` told them
    #[arg(long, value_name = "RECORD:DIGEST")]
    pub checkpoint: Option<String>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
pub struct ForgetArguments {
    /// Whose, as the audit names them: user:NAME
    pub who: String,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua keys list                            which keys there are, never what they are
  interlingua keys rotate                          a new key seals from now on; the hub runs on
  interlingua keys retire                          re-encrypts with the newest, deletes the old ones
  interlingua keys rotate --owner-token            a new token for the Owner; the old one is refused
  interlingua keys rotate --audit                  a new key signs the audit; old records verify
  interlingua keys rotate --outer outer.key        a new outer key, first in this file

What the hub hands out is sealed with its keys. With
`store: { encryption: { key: file:outer.key } }` everything it keeps is, and the keys are wrapped by
an outer key that is not kept beside them.")]
pub struct KeysArguments {
    #[command(subcommand)]
    pub command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Which keys there are
    #[command(after_help = "\
Examples:
  interlingua keys list
  interlingua keys list --json")]
    List(HubArguments),
    /// Make a new one
    #[command(after_help = "\
Examples:
  interlingua keys rotate                      a new key seals from now on; the hub goes on running
  interlingua keys rotate --owner-token        a new token for the Owner; the old one is refused
  interlingua keys rotate --audit              a new key signs the audit; old records verify
  interlingua keys rotate --outer outer.key    a new outer key, first in the file that
                                               `store.encryption` names")]
    Rotate(RotateArguments),
    /// Delete the old ones, once what they sealed is sealed by the newest
    #[command(after_help = "\
Examples:
  interlingua keys retire     begins; the hub goes on with it by itself, also after a restart
  interlingua keys list       says how far it is: how much each old key still seals

Outer keys and keys that signed the audit stay. Tokens of conversations and sessions, receipts and
cursors of pages that a deleted key made are refused.")]
    Retire(HubArguments),
}

#[derive(Debug, Args)]
pub struct RotateArguments {
    /// Put a new outer key before those of this file, which is made when it is not there. Works on the file alone
    #[arg(long, value_name = "FILE")]
    pub outer: Option<PathBuf>,
    /// The Owner's token instead
    #[arg(long, conflicts_with = "outer")]
    pub owner_token: bool,
    /// The key that signs the audit instead
    #[arg(long, conflicts_with_all = ["outer", "owner_token"])]
    pub audit: bool,
    #[command(flatten)]
    pub hub: HubArguments,
}
