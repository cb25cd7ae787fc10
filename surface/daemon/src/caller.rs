//! The caller: who it is, how it came in, and what it may do.

use quietcore_access::{CredentialKind, Grants, Identity, Role};
use quietcore_audit::Who;
use quietcore_host::Source;
use quietcore_host::running_partitions::user_name;
use quietcore_supervisor::control::Introduction;
use rustix::process::geteuid;
use tonic::{Request, Status};

/// Name of the daemon, as sites hear it.
const DAEMON: &str = "quietcored";
/// Way by which a caller comes in, as the audit trail has it.
const SOCKET: &str = "socket";
/// The way of calls of the live page, as the audit trail names it.
const PAGE: &str = "page";
/// User number of root.
const ROOT: u32 = 0;

/// The way by which a caller came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// The local socket, by the kernel's word.
    Socket,
    /// The network, by a credential of this serial number.
    Network { kind: CredentialKind, serial: String },
    /// The live page, by a link that somebody asked for.
    Page,
}

/// A client whose identity is known. The layer before the services puts it into each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    name: String,
    entrance: Entrance,
    role: Role,
    grants: Grants,
    agent: String,
}

impl Caller {
    /// Returns the caller of a request.
    ///
    /// # Errors
    /// `UNAUTHENTICATED` if the layer has put none into it.
    pub(crate) fn of<T>(request: &Request<T>) -> Result<Self, Status> {
        let caller = request.extensions().get::<Self>().cloned();
        caller.ok_or_else(|| Status::unauthenticated("the caller is not known"))
    }

    /// Takes a user at the other end of the local socket, by the kernel's word.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` for anybody but this user and root; the folder of the socket keeps
    /// others out already.
    pub(crate) fn at_socket(uid: Option<u32>, agent: &str) -> Result<Self, Status> {
        let own = geteuid().as_raw();
        let Some(uid) = uid.filter(|uid| *uid == own || *uid == ROOT) else {
            let told = "another user runs this daemon; use the same user, or root";
            return Err(Status::permission_denied(told));
        };
        Ok(Self {
            name: user_name(&Source::live(), uid),
            entrance: Entrance::Socket,
            role: Role::Admin,
            grants: Grants::default(),
            agent: agent.to_owned(),
        })
    }

    /// Takes the owner of a credential.
    pub(crate) fn from_network(identity: Identity, agent: &str) -> Self {
        let Identity { name, serial, kind, role, grants } = identity;
        Self {
            name: name.into(),
            entrance: Entrance::Network { kind, serial },
            role,
            grants,
            agent: agent.to_owned(),
        }
    }

    /// Returns `true` if it is a user of this machine, by the kernel's word.
    pub(crate) fn is_at_the_socket(&self) -> bool {
        self.entrance == Entrance::Socket
    }

    /// Returns the caller as a page of its own, which may do what `role` may.
    pub(crate) fn on_the_page(&self, role: Role) -> Self {
        Self { entrance: Entrance::Page, role, agent: String::new(), ..self.clone() }
    }

    /// Returns the name of the user, or of the credential's owner.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the role, which decides what it may do where it was granted.
    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Returns the sites and partitions that it may reach.
    pub(crate) fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Refuses a call that needs another role.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`, which says what is needed.
    pub(crate) fn check_role(&self, needed: Role, call: &str) -> Result<(), Status> {
        if self.role.includes(needed) {
            return Ok(());
        }
        let Self { name, role, .. } = self;
        let told = format!("`{call}` needs the role {needed}; `{name}` has the role {role}");
        Err(Status::permission_denied(told))
    }

    /// Refuses a site of which nothing is granted.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`, which says what is granted.
    pub(crate) fn check_site(&self, site: &str) -> Result<(), Status> {
        if self.grants.has_part_of(site) { Ok(()) } else { Err(self.not_granted(site)) }
    }

    /// Refuses a site of which anything is not granted.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`, which says what is granted.
    pub(crate) fn check_whole_site(&self, site: &str) -> Result<(), Status> {
        match self.grants.has_whole_site(site) {
            true => Ok(()),
            false => Err(self.not_granted(site)),
        }
    }

    /// Refuses a partition that is not granted.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`, which says what is granted.
    pub(crate) fn check_partition(&self, site: &str, partition: &str) -> Result<(), Status> {
        match self.grants.has_partition(site, partition) {
            true => Ok(()),
            false => Err(self.not_granted(&format!("{site}/{partition}"))),
        }
    }

    fn not_granted(&self, asked: &str) -> Status {
        let Self { name, grants, .. } = self;
        let told = format!("`{asked}` is not granted to `{name}`, who has {grants}");
        Status::permission_denied(told)
    }

    /// Returns the caller as the audit trail names it.
    pub(crate) fn who(&self) -> Who {
        let (user, program) = (self.name.clone(), self.agent.clone());
        let role = Some(self.role.word().to_owned());
        match &self.entrance {
            Entrance::Socket => Who { user, program, via: SOCKET.to_owned(), ..Who::default() },
            Entrance::Network { kind, .. } => {
                let certificate = Some(user.clone());
                Who { user, program, via: kind.to_string(), certificate, role }
            }
            Entrance::Page => Who { user, program, via: PAGE.to_owned(), role, ..Who::default() },
        }
    }
    /// Introduces the caller to a site.
    pub(crate) fn introduction(&self) -> Introduction {
        let program = match self.agent.is_empty() {
            true => DAEMON.to_owned(),
            false => format!("{DAEMON} for {}", self.agent),
        };
        let login = match &self.entrance {
            Entrance::Socket => self.name.clone(),
            Entrance::Network { kind, .. } => format!("{} ({}, {kind})", self.name, self.role),
            Entrance::Page => format!("{} ({}, page)", self.name, self.role),
        };
        Introduction { program, login: Some(login), ..Introduction::default() }
    }
}
