//! Arguments of `quietcore auth`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use quietcore_access::{CERTIFICATE_DAYS_MAX, Grant, Name, Role, TOKEN_HOURS_MAX};

use crate::arguments::choice::{Choice, one_of};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quietcore auth init --name plant7.example --address 10.1.2.3\n  \
    quietcore auth issue anna --role operator --grant line/axis --out anna\n  \
    quietcore auth token dashboard --role viewer --hours 8\n  \
    quietcore auth revoke anna\n\n\
    `quietcored --listen 10.1.2.3:7443` then takes calls from the network, by TLS 1.3 alone. Its \
    local socket needs none of this: there the user of the daemon and root may do everything.\n\n\
    Each role may do what those before it may: a viewer sees everything, an operator sets and \
    forces variables and pauses, resumes and restarts programs, an engineer builds and deploys, \
    an admin does all. What is revoked, or has expired, is refused at the next call, on \
    connections that stand, too.")]
pub(crate) struct Auth {
    #[command(subcommand)]
    pub(crate) auth: AuthKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuthKind {
    /// Make the authority of this machine, and the certificate of its daemon
    Init(AuthInit),
    /// Make a certificate with a key for a person or a program
    Issue(AuthIssue),
    /// Make a token, and print it this once
    Token(AuthToken),
    /// Take a certificate or token back, or all that somebody has
    Revoke(AuthRevoke),
    /// List the certificates and tokens that were handed out
    List(AuthList),
}

#[derive(Debug, Args)]
#[command(after_help = "The folder `@daemon/access` of QUIETCORE_STATE_DIR holds the authority \
    with its key, which only this user can read; keep a copy of it where nobody else can. Clients \
    get `authority.pem` with each certificate; those with a token need that file, too.")]
pub(crate) struct AuthInit {
    /// A name by which clients call this machine; may be repeated. The machine's own name and
    /// `localhost` are always among them
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,
    /// An address by which clients call this machine; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) address: Vec<IpAddr>,
    /// Keep the authority, and make a new certificate of the daemon for these names and addresses;
    /// it takes it when it is started again
    #[arg(long)]
    pub(crate) renew: bool,
}

/// Roles by their words, each with its help.
const ROLES: &[Choice<Role>] = &[
    ("viewer", Role::Viewer, "Sees everything and changes nothing"),
    ("operator", Role::Operator, "Sets and forces variables; pauses, resumes, restarts programs"),
    ("engineer", Role::Engineer, "Uploads, builds and deploys programs"),
    ("admin", Role::Admin, "Does all"),
];

#[derive(Debug, Args)]
pub(crate) struct AuthIssue {
    /// Name of whoever gets it: letters, digits, `-`, `_` and `.`; sites tell it with each change
    pub(crate) name: Name,
    /// The role that it gives
    #[arg(long, value_parser = one_of(ROLES))]
    pub(crate) role: Role,
    /// A site or one of its partitions that it is for; may be repeated. Without any it is for
    /// everything
    #[arg(long, value_name = "SITE[/PARTITION]")]
    pub(crate) grant: Vec<Grant>,
    /// Days for which it holds
    #[arg(long, value_name = "N", default_value_t = 365,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(CERTIFICATE_DAYS_MAX)))]
    pub(crate) days: u32,
    /// The new folder for certificate, key and the authority's certificate; by default ./NAME
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "The token goes with each call as `authorization: Bearer TOKEN`. This \
    machine keeps its SHA-256 only, so nobody can print it again; whoever reads it has it, so hand \
    it on by a safe way.")]
pub(crate) struct AuthToken {
    /// Name of whoever gets it: letters, digits, `-`, `_` and `.`; sites tell it with each change
    pub(crate) name: Name,
    /// The role that it gives
    #[arg(long, value_parser = one_of(ROLES))]
    pub(crate) role: Role,
    /// A site or one of its partitions that it is for; may be repeated. Without any it is for
    /// everything
    #[arg(long, value_name = "SITE[/PARTITION]")]
    pub(crate) grant: Vec<Grant>,
    /// Hours for which it holds
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(TOKEN_HOURS_MAX)))]
    pub(crate) hours: u32,
}

#[derive(Debug, Args)]
pub(crate) struct AuthRevoke {
    /// Serial number of a certificate or token, as `list` shows it, or the name of whoever has it:
    /// then all of theirs
    #[arg(value_name = "NAME|SERIAL")]
    pub(crate) which: String,
}

#[derive(Debug, Args)]
pub(crate) struct AuthList {
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
