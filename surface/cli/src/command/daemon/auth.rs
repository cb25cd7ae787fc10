//! `quietcore auth`: the authority of this machine, and what it hands out.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use quietcore_access::{
    Access, AccessError, Credential, CredentialKind, Grants, Name, Order, Role, ServerNames,
};
use quietcore_supervisor::places::Places;
use rustix::system::uname;
use serde::Serialize;
use serde_json::{Value, json};

use super::entered::{WithoutTrail, entered};
use crate::arguments::{Auth, AuthInit, AuthIssue, AuthKind, AuthList, AuthRevoke, AuthToken};
use crate::command;
use crate::status::{Failure, Status};
use crate::table::Table;
use crate::terminal::say;

/// The schema name of what `list --json` prints.
const SCHEMA: &str = "quietcore.credentials/1";
/// Characters of a time, up to its minute.
const MINUTE_CHARACTERS: usize = 16;

/// The credentials, as `list --json` prints them.
#[derive(Serialize)]
struct Listing {
    schema: &'static str,
    credentials: Vec<Entry>,
}

/// A credential without the hash of its secret.
#[derive(Serialize)]
struct Entry {
    serial: String,
    name: Name,
    kind: CredentialKind,
    role: Role,
    /// The sites and partitions; empty for everything.
    grants: Grants,
    issued_at: String,
    expires_at: String,
    state: &'static str,
}

impl Entry {
    fn of(one: &Credential, now: Timestamp) -> Self {
        Self {
            serial: one.serial.clone(),
            name: one.name.clone(),
            kind: one.kind,
            role: one.role,
            grants: one.grants.clone(),
            issued_at: one.issued_at.to_string(),
            expires_at: one.expires_at.to_string(),
            state: one.state(now).word(),
        }
    }
}

pub(in crate::command) fn run(request: &Auth) -> Result<Status, Failure> {
    match &request.auth {
        AuthKind::Init(request) => init(request),
        AuthKind::Issue(request) => issue(request),
        AuthKind::Token(request) => token(request),
        AuthKind::Revoke(request) => revoke(request),
        AuthKind::List(request) => list(request),
    }
}

fn init(request: &AuthInit) -> Result<Status, Failure> {
    // A machine may have a name that no certificate can hold.
    let own = uname().nodename().to_string_lossy().into_owned();
    let own = Some(own).filter(|own| ServerNames::new(vec![own.clone()], Vec::new()).is_ok());
    let names = request.name.iter().cloned().chain(own).collect();
    let server = ServerNames::new(names, request.address.clone())?;
    let called = server.all().collect::<Vec<_>>().join(", ");
    let what = json!({ "names": server.all().collect::<Vec<_>>() });
    if request.renew {
        let (state, access) = existing()?;
        let renew = || -> Result<_, AccessError> {
            access.renew_server(&server, Timestamp::now())?;
            Ok(((), Value::Null))
        };
        entered((&state, WithoutTrail::Refused), ("init --renew", what), renew)?;
        let text = format!("the daemon has a new certificate, for {called}\nstart it again\n");
        command::print_lines(&text)?;
        return Ok(Status::Done);
    }
    let state = Places::of_environment()?.daemon_state()?;
    let access = Access::of_state(&state);
    let make = || -> Result<_, AccessError> {
        access.init(&server, Timestamp::now())?;
        Ok(((), Value::Null))
    };
    entered((&state, WithoutTrail::Refused), ("init", what), make)?;
    command::print_lines(&format!(
        "made the authority of this machine in `{}`\nclients call it by {called}; `quietcore auth \
         init --renew` changes that\nnext: `quietcore auth issue NAME --role operator`, then \
         `quietcored --listen ADDRESS:PORT`\n",
        access.folder().display()
    ))?;
    Ok(Status::Done)
}

fn issue(request: &AuthIssue) -> Result<Status, Failure> {
    let AuthIssue { name, role, grant, days, out } = request;
    let grants = Grants::new(grant.clone());
    let order = Order { name: name.clone(), role: *role, grants };
    let out = out.clone().unwrap_or_else(|| PathBuf::from(name.as_str()));
    let (state, access) = existing()?;
    let issue = || -> Result<_, AccessError> {
        let made = access.issue(&order, *days, &out, Timestamp::now())?;
        let what = outcome(&made);
        Ok((made, what))
    };
    let made = entered((&state, WithoutTrail::Refused), ("issue", asked(&order)), issue)?;
    command::print_lines(&format!(
        "wrote `{}`: certificate.pem, key.pem and authority.pem\n{}\n",
        out.display(),
        described(&made)
    ))?;
    Ok(Status::Done)
}

/// Prints the token on standard output alone, so that it can be taken by a program, and all else on
/// standard error.
fn token(request: &AuthToken) -> Result<Status, Failure> {
    let AuthToken { name, role, grant, hours } = request;
    let grants = Grants::new(grant.clone());
    let order = Order { name: name.clone(), role: *role, grants };
    let (state, access) = existing()?;
    let make = || -> Result<_, AccessError> {
        let made = access.token(&order, *hours, Timestamp::now())?;
        let what = outcome(&made.credential);
        Ok((made, what))
    };
    let made = entered((&state, WithoutTrail::Refused), ("token", asked(&order)), make)?;
    say(described(&made.credential));
    command::print(&(made.secret + "\n"))?;
    Ok(Status::Done)
}

fn revoke(request: &AuthRevoke) -> Result<Status, Failure> {
    let (state, access) = existing()?;
    let revoke = || -> Result<_, AccessError> {
        let revoked = access.revoke(&request.which, Timestamp::now())?;
        let what = json!({ "revoked": revoked.iter().map(outcome).collect::<Vec<_>>() });
        Ok((revoked, what))
    };
    let what = json!({ "which": request.which });
    let revoked = entered((&state, WithoutTrail::Made), ("revoke", what), revoke)?;
    let lines: String = revoked
        .iter()
        .map(|it| format!("revoked the {} {} of {}, {}\n", it.kind, it.serial, it.name, it.role))
        .collect();
    command::print_lines(&lines)?;
    Ok(Status::Done)
}

fn list(request: &AuthList) -> Result<Status, Failure> {
    let registry = existing()?.1.registry()?;
    let now = Timestamp::now();
    let credentials = registry.credentials().iter().map(|it| Entry::of(it, now)).collect();
    let listing = Listing { schema: SCHEMA, credentials };
    if request.json {
        command::print_json(&listing)?;
        return Ok(Status::Done);
    }
    let mut table =
        Table::new(&["name", "role", "kind", "serial", "state", "expires (UTC)", "granted"]);
    for it in listing.credentials {
        let cells = [
            it.name.to_string(),
            it.role.to_string(),
            it.kind.to_string(),
            it.serial,
            it.state.to_owned(),
            minute(&it.expires_at),
            it.grants.to_string(),
        ];
        table.row(cells);
    }
    if table.is_empty() {
        command::print_lines("nothing was handed out yet\n")?;
    } else {
        command::print(&(table.lines_within(crate::terminal::width()).join("\n") + "\n"))?;
    }
    Ok(Status::Done)
}

/// Returns the details of an order for the audit trail.
fn asked(order: &Order) -> Value {
    json!({ "name": order.name, "role": order.role, "grants": order.grants })
}

/// Returns the details of a credential for the audit trail.
fn outcome(made: &Credential) -> Value {
    json!({
        "serial": made.serial,
        "name": made.name,
        "kind": made.kind,
        "role": made.role,
        "grants": made.grants,
        "expires_at": made.expires_at.to_string(),
    })
}

/// Returns the state of the daemon with its folder of access, which may not be there yet.
fn existing() -> Result<(PathBuf, Access), Failure> {
    let state = Places::of_environment()?.existing_daemon_state();
    match state {
        Some(state) => {
            let access = Access::of_state(&state);
            Ok((state, access))
        }
        None => Err(AccessError::NoAuthority { folder: Path::new("@daemon/access").into() }.into()),
    }
}

fn described(one: &Credential) -> String {
    format!(
        "{} {} of {}: {}, for {}, until {} UTC",
        one.kind,
        one.serial,
        one.name,
        one.role,
        one.grants,
        minute(&one.expires_at.to_string())
    )
}

/// Returns a time of RFC 3339 up to its minute.
fn minute(time: &str) -> String {
    time.chars().take(MINUTE_CHARACTERS).collect::<String>().replace('T', " ")
}
