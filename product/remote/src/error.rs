//! The reasons why a daemon gives no answer, each with what would be right.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use quietcore_api::convert::answer::{UnknownValue, harmless};
use quietcore_api::refusal;
use quietcore_control::ControlError;
use tokio_rustls::rustls::{self, AlertDescription, CertificateError};
use tonic::{Code, Status};

/// The reason why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// A text is no address.
    #[error("`{text}` is no address; write `HOST`, `HOST:PORT` or `unix:` and an absolute path")]
    Address {
        /// Text that was given.
        text: String,
    },
    /// A machine is named, and nothing to be shown there.
    #[error(
        "`{address}`: nothing says who calls; name the folder that `quietcore auth issue` has \
         made, by `quietcore context add NAME --address {address} --access FOLDER`"
    )]
    NoCredential {
        /// Address of the daemon.
        address: String,
    },
    /// A file with a credential can't be read.
    #[error("`{}` can't be read", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Others may read a secret, or it is somebody else's.
    #[error("`{}` is a secret that others may read; `chmod 600` it, as its owner", path.display())]
    NotSecret {
        /// Path of the file.
        path: PathBuf,
    },
    /// A file holds something else than a credential.
    #[error("`{}` holds no {what}; take the file that `quietcore auth` has made", path.display())]
    Content {
        /// Path of the file.
        path: PathBuf,
        /// Content that it should have.
        what: &'static str,
    },
    /// Nobody answers at the address.
    #[error("no daemon can be reached at `{address}`: {why}; {remedy}")]
    Unreachable {
        /// Address of the daemon.
        address: String,
        /// Fault as it was found.
        why: String,
        /// Remedy, as the end of the sentence.
        remedy: &'static str,
    },
    /// The daemon, or this client, was not accepted by TLS.
    #[error("`{address}`: {why}")]
    Tls {
        /// Address of the daemon.
        address: String,
        /// The fault and the remedy.
        why: String,
    },
    /// The connection has broken.
    #[error("the connection to `{address}` has broken: {why}; try again")]
    Lost {
        /// Address of the daemon.
        address: String,
        /// Fault as it was found.
        why: String,
    },
    /// The daemon does not know the call.
    #[error(
        "the daemon at `{address}` is older than this `quietcore` and does not know this; start \
         its `quietcored` of this version, or use a `quietcore` of its version"
    )]
    Old {
        /// Address of the daemon.
        address: String,
    },
    /// The site has refused; the sentence is that of the machine itself.
    #[error(transparent)]
    Refused(#[from] ControlError),
    /// The daemon has refused.
    #[error("{told}")]
    Told {
        /// The sentence of the daemon.
        told: String,
        /// `true` if the site does not run, or not any more.
        is_down: bool,
    },
    /// The answer has something that this version does not know.
    #[error(transparent)]
    Unknown(#[from] UnknownValue),
    /// The answer is beyond a limit.
    #[error("the daemon at `{address}` answers with more than {limit}; ask for less")]
    TooMuch {
        /// Address of the daemon.
        address: String,
        /// The limit, in words.
        limit: &'static str,
    },
    /// The program to send can't be sent.
    #[error("`{}`: {why}", path.display())]
    Folder {
        /// The folder, or a file in it.
        path: PathBuf,
        /// The fault and the remedy.
        why: String,
    },
    /// The program does not compile.
    #[error("{}", .0.join("\n"))]
    Build(Vec<String>),
}

impl RemoteError {
    /// Reads the error of a call.
    pub(crate) fn of_status(status: &Status, address: &str) -> Self {
        let address = || address.to_owned();
        if let Some(refused) = refusal::refused(status) {
            let text = |text: String| harmless(text);
            let ControlError { kind, what, place, remedy, .. } = refused;
            return Self::Refused(ControlError::new(kind, text(place), text(what), text(remedy)));
        }
        if let Some(why) = find_tls(status).map(tls_words) {
            return Self::Tls { address: address(), why };
        }
        let told = harmless(status.message().to_owned());
        match status.code() {
            Code::Unimplemented => Self::Old { address: address() },
            Code::OutOfRange => Self::TooMuch { address: address(), limit: "a message may hold" },
            _ if status.source().is_some() => Self::Lost { address: address(), why: last(status) },
            Code::DeadlineExceeded | Code::Cancelled if told.is_empty() => {
                Self::Lost { address: address(), why: "no answer came in time".to_owned() }
            }
            Code::Unauthenticated => Self::Told {
                told: format!(
                    "`{}`: {told}; what has expired or was revoked is replaced by `quietcore auth \
                     issue` there",
                    address()
                ),
                is_down: false,
            },
            code => {
                Self::Told { told, is_down: matches!(code, Code::NotFound | Code::Unavailable) }
            }
        }
    }

    /// Reads the error of a connection on which HTTP/2 was not begun.
    pub(crate) fn of_transport(error: &(dyn Error + 'static), address: String) -> Self {
        match find_tls(error) {
            Some(fault) => Self::Tls { address, why: tls_words(fault) },
            None => Self::Lost { address, why: last(error) },
        }
    }

    /// Reads the error of a handshake.
    pub(crate) fn of_handshake(error: &io::Error, address: String) -> Self {
        match find_tls(error) {
            Some(fault) => Self::Tls { address, why: tls_words(fault) },
            None => Self::Tls {
                address,
                why: format!("no TLS is spoken there: {error}; name the port of `--listen`"),
            },
        }
    }
}

/// Returns the fault of TLS in a chain of causes.
fn find_tls<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // An error of the operating system hides what it holds from the chain.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = inner.and_then(|inner| find_tls(inner)) {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn last(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        words = cause.to_string();
        next = cause.source();
    }
    harmless(words)
}

fn tls_words(fault: &rustls::Error) -> String {
    match fault {
        rustls::Error::InvalidCertificate(why) => match why {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the daemon's certificate has expired; renew it there with `quietcore auth init \
                 --renew`, and look at the clocks of both machines"
            }
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "the daemon's certificate is of another authority; take `authority.pem` from the \
                 machine that is meant"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "the daemon's certificate is for another name; use a name that `quietcore auth \
                 init --name` was given there"
            }
            other => return format!("the daemon's certificate is refused: {other:?}"),
        }
        .to_owned(),
        rustls::Error::AlertReceived(alert) => match alert {
            AlertDescription::CertificateExpired => {
                "the certificate that was shown has expired; ask for another one, which \
                 `quietcore auth issue` makes there"
            }
            AlertDescription::UnknownCA | AlertDescription::DecryptError => {
                "the certificate that was shown is of another authority; take the one that \
                 `quietcore auth issue` of that machine has made"
            }
            other => return format!("the daemon refuses the connection: {other:?}"),
        }
        .to_owned(),
        other => format!("no TLS 1.3 is spoken there: {other}; name the port of `--listen`"),
    }
}

#[cfg(test)]
mod tests;
