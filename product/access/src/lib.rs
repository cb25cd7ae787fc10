//! Access to the daemon: who may reach it, and what they may do.
//!
//! ```text
//! quietcore auth ──► Access ──► STATE/@daemon/access/     authority, server, registry
//!                                        │
//! quietcored ◄── Doorkeeper ◄────────────┘  read again whenever it has changed
//! ```
//!
//! | module | content |
//! |--------|---------|
//! | [`Role`] | the roles, of which each may do what those before it may |
//! | [`Grants`] | the sites and partitions that a credential is for |
//! | [`Name`] | the checked name of whoever has a credential |
//! | [`Access`] | the folder: authority, certificates and tokens made, listed and revoked |
//! | [`Registry`] | the credentials that were handed out, by serial number |
//! | [`Doorkeeper`] | the question of each call: whose credential is this, and does it hold |
//! | [`Bucket`] | a rate with a burst |
//!
//! Invariants: role and grants stand in the registry alone, so that what is changed or revoked
//! there holds at once. Of a token only the SHA-256 is stored. Keys are readable by the user alone.
//! Each file is written whole or not at all.
//!
//! | limit | value |
//! |-------|-------|
//! | length of a name | [`NAME_BYTES_MAX`] |
//! | grants of a credential | [`GRANTS_MAX`] |
//! | credentials in the registry | [`CREDENTIALS_MAX`] |
//! | names and addresses of the server | [`SERVER_NAMES_MAX`] |
//! | life of a certificate, and of a token | [`CERTIFICATE_DAYS_MAX`], [`TOKEN_HOURS_MAX`] |

#![forbid(unsafe_code)]

mod authority;
mod bucket;
mod clock;
mod doorkeeper;
mod error;
mod files;
mod folder;
mod grant;
mod name;
mod registry;
mod role;

pub use authority::{SERVER_NAMES_MAX, ServerNames};
pub use bucket::Bucket;
pub use doorkeeper::{Doorkeeper, Identity, Refused};
pub use error::AccessError;
pub use folder::{
    Access, CERTIFICATE_DAYS_MAX, IssuedToken, Order, Server, TOKEN_HOURS_MAX, TOKEN_PREFIX,
};
pub use grant::{GRANTS_MAX, Grant, GrantError, Grants};
pub use name::{NAME_BYTES_MAX, Name, NameError};
pub use registry::{CREDENTIALS_MAX, Credential, CredentialKind, Registry, State};
pub use role::{Role, RoleError};
