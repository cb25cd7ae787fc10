//! Arguments of the commands around `quietcored`.

mod audit;
mod auth;
mod context;

pub(crate) use audit::{AuditRequest, Since};
pub(crate) use auth::{Auth, AuthInit, AuthIssue, AuthKind, AuthList, AuthRevoke, AuthToken};
pub(crate) use context::{ContextAdd, ContextKind, ContextVerb};
