//! The gate: who calls, and may they?
//!
//! ```text
//! socket  ── user of the daemon or root ───────────────────► admin
//! network ── token in the call, or certificate of TLS ──► registry ──► name, role, grants
//! page    ── session in the call ──► whoever asked for its link
//! ```
//!
//! Whoever can't show a credential that holds is told the same sentence in each case; the reason
//! stands in the daemon's log.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quietcore_access::{CredentialKind, Doorkeeper, Identity, Refused};
use quietcore_units::Causes;
use tonic::Status;
use tonic::codegen::http::{HeaderMap, Request, header};

use super::rates::{CALLS_PER_SECOND, Rates};
use crate::caller::Caller;
use crate::calls;
use crate::log;
use crate::network::{Arrival, NetworkArrival};
use crate::page::{self, Page};

/// The answer to each whose credential opens nothing.
const NO_CREDENTIAL: &str = "no credential that holds; connect with a client certificate or a \
                             token that `quietcore auth` of this machine has made";
/// The answer to those whose address has failed too often.
const TOO_MANY_FAILURES: &str = "too many calls without a credential that holds came from this \
                                 address; try again in a minute";
/// The answer to a page without a session.
const NO_SESSION: &str = "the session of this page has ended; `quietcored link` opens another one";
/// The word before a token in the header `authorization`.
const BEARER: &str = "Bearer ";

/// The credential that a call over the network has shown.
#[derive(Clone, Debug)]
pub(super) enum Shown {
    Token(String),
    Certificate(Arc<NetworkArrival>),
    Session(String),
}

/// A caller who was let in. From the network with what has to hold as long as the call does.
pub(super) struct Admitted {
    pub(super) caller: Option<Caller>,
    pub(super) shown: Option<Shown>,
}

/// Decides about each call.
#[derive(Debug)]
pub(crate) struct Gate {
    /// `None` where no call can come from the network.
    doorkeeper: Option<Doorkeeper>,
    page: Arc<Page>,
    rates: Mutex<Rates>,
}

impl Gate {
    pub(crate) fn new(doorkeeper: Option<Doorkeeper>, page: Arc<Page>) -> Self {
        Self { doorkeeper, page, rates: Mutex::new(Rates::new(Instant::now())) }
    }

    /// Lets a call in.
    ///
    /// # Errors
    /// `UNAUTHENTICATED` without a credential that holds, `PERMISSION_DENIED` if the role is not
    /// enough, `RESOURCE_EXHAUSTED` beyond a rate.
    pub(super) fn admit<T>(&self, request: &Request<T>) -> Result<Admitted, Status> {
        let path = request.uri().path();
        let agent = text(request.headers(), header::USER_AGENT).unwrap_or_default();
        match request.extensions().get::<Arrival>() {
            Some(Arrival::Network(arrival)) => {
                let shown = shown(request.headers(), arrival);
                let identity = self.identify(shown.as_ref(), arrival.address())?;
                arrival.known().set();
                self.check_rate(&identity)?;
                let caller = Caller::from_network(identity, agent);
                caller.check_role(calls::role(path), call_of(path))?;
                Ok(Admitted { caller: Some(caller), shown })
            }
            Some(Arrival::Socket(uid)) => match Caller::at_socket(*uid, agent) {
                Ok(caller) => Ok(Admitted { caller: Some(caller), shown: None }),
                Err(_) if calls::is_about_the_daemon(path) => {
                    Ok(Admitted { caller: None, shown: None })
                }
                Err(refused) => Err(refused),
            },
            Some(Arrival::Page(_)) => self.admit_page(request.headers(), path),
            None => Err(Status::unauthenticated(NO_CREDENTIAL)),
        }
    }

    fn admit_page(&self, headers: &HeaderMap, path: &str) -> Result<Admitted, Status> {
        let session = page::session(headers).unwrap_or_default();
        let caller =
            self.page.caller(session).ok_or_else(|| Status::unauthenticated(NO_SESSION))?;
        caller.check_role(calls::role(path), call_of(path))?;
        let shown = Some(Shown::Session(session.to_owned()));
        Ok(Admitted { caller: Some(caller), shown })
    }

    /// Looks again if a credential holds, while a stream goes on.
    ///
    /// # Errors
    /// `UNAUTHENTICATED` if it holds no more.
    pub(super) fn check_again(&self, shown: &Shown) -> Result<(), Status> {
        let (holds, told) = match shown {
            Shown::Session(session) => (self.page.caller(session).is_some(), NO_SESSION),
            _ => (self.look_up(shown).is_ok(), NO_CREDENTIAL),
        };
        if holds { Ok(()) } else { Err(Status::unauthenticated(told)) }
    }

    /// Finds out who calls. Beyond the limit of its address a call that fails is not even logged; a
    /// credential that holds is let in all the same, for a secret of 256 bits can't be guessed, and
    /// others behind the same address should not suffer.
    fn identify(&self, shown: Option<&Shown>, address: IpAddr) -> Result<Identity, Status> {
        let found = match shown {
            Some(shown) => self.look_up(shown).map_err(|refused| Causes(&refused).to_string()),
            None => Err("neither certificate nor token".to_owned()),
        };
        found.map_err(|reason| {
            let now = Instant::now();
            let mut rates = self.rates();
            if !rates.take_failure(address, now) {
                return Status::resource_exhausted(TOO_MANY_FAILURES);
            }
            if rates.take_line(now) {
                log::say(format_args!("refused a call from {address}: {reason}"));
            }
            Status::unauthenticated(NO_CREDENTIAL)
        })
    }

    fn look_up(&self, shown: &Shown) -> Result<Identity, Refused> {
        let doorkeeper = self.doorkeeper.as_ref();
        match shown {
            Shown::Token(text) => doorkeeper
                .ok_or(Refused::Unknown(CredentialKind::Token))
                .and_then(|doorkeeper| doorkeeper.by_token(text)),
            Shown::Session(_) => Err(Refused::Unknown(CredentialKind::Token)),
            Shown::Certificate(arrival) => {
                let unknown = Refused::Unknown(CredentialKind::Certificate);
                match (doorkeeper, arrival.certificate()) {
                    (Some(doorkeeper), Some(der)) => doorkeeper.by_certificate(der),
                    _ => Err(unknown),
                }
            }
        }
    }

    fn check_rate(&self, identity: &Identity) -> Result<(), Status> {
        if self.rates().take_call(&identity.serial, Instant::now()) {
            return Ok(());
        }
        let told = format!("`{}` calls more than {CALLS_PER_SECOND} times a second", identity.name);
        Err(Status::resource_exhausted(told))
    }

    fn rates(&self) -> MutexGuard<'_, Rates> {
        self.rates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the token of a call, or else the certificate of its connection.
fn shown(headers: &HeaderMap, arrival: &Arc<NetworkArrival>) -> Option<Shown> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let text = value.to_str().unwrap_or_default();
        return Some(Shown::Token(text.strip_prefix(BEARER).unwrap_or_default().to_owned()));
    }
    arrival.certificate().map(|_| Shown::Certificate(Arc::clone(arrival)))
}

/// Returns the call in a path.
fn call_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}
