//! The address of a daemon, and what the caller shows there.
//!
//! The words are those of the Python client: a folder of access, or certificate, key and authority,
//! or a token and the authority.

use std::path::{Path, PathBuf};

use crate::error::RemoteError;

/// The port of a daemon where none is named.
pub const PORT: u16 = 7443;
/// The word before the path of a local socket.
const UNIX: &str = "unix:";
/// The longest name of a machine, in bytes; names of DNS have no more.
const HOST_BYTES_MAX: usize = 253;

/// Files by which both sides prove who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A client certificate, shown in the handshake.
    Certificate {
        /// File with the certificate.
        certificate: PathBuf,
        /// Its key; for its owner alone.
        key: PathBuf,
        /// The certificate of the machine's authority.
        authority: PathBuf,
    },
    /// A token that goes with each call.
    Token {
        /// File with the token; for its owner alone.
        token_file: PathBuf,
        /// The certificate of the machine's authority.
        authority: PathBuf,
    },
}

impl Credential {
    /// Returns the certificate in a folder that `quietcore auth issue` has made.
    pub fn in_folder(access: &Path) -> Self {
        let file = |name| access.join(name);
        Self::Certificate {
            certificate: file("certificate.pem"),
            key: file("key.pem"),
            authority: file("authority.pem"),
        }
    }
}

/// A daemon, and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// By its socket on this machine, where the kernel names the caller.
    Socket(PathBuf),
    /// Over the network, by TLS.
    Network {
        /// Name or address of the machine, as its certificate has it.
        host: String,
        /// Port of the daemon, from 1.
        port: u16,
        /// Files that the caller shows, and knows the daemon by.
        credential: Credential,
    },
}

impl Target {
    /// Takes `unix:PATH`, or `HOST[:PORT]` with a credential.
    ///
    /// # Errors
    /// [`RemoteError::Address`] for a text that is no address, [`RemoteError::NoCredential`] for a
    /// machine without a credential.
    pub fn of(address: &str, credential: Option<Credential>) -> Result<Self, RemoteError> {
        if let Some(path) = address.strip_prefix(UNIX) {
            let path = PathBuf::from(path);
            let is_right = path.is_absolute() && credential.is_none();
            return if is_right { Ok(Self::Socket(path)) } else { Err(no_address(address)) };
        }
        let (host, port) = host_and_port(address).ok_or_else(|| no_address(address))?;
        let credential =
            credential.ok_or_else(|| RemoteError::NoCredential { address: address.to_owned() })?;
        Ok(Self::Network { host, port, credential })
    }

    /// Returns the address as a person writes it.
    pub fn address(&self) -> String {
        match self {
            Self::Socket(path) => format!("{UNIX}{}", path.display()),
            Self::Network { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            Self::Network { host, port, .. } => format!("{host}:{port}"),
        }
    }
}

/// Returns `true` for what can be an address: `unix:PATH` or `HOST[:PORT]`.
pub(crate) fn is_address(text: &str) -> bool {
    text.strip_prefix(UNIX).is_some_and(|path| Path::new(path).is_absolute())
        || host_and_port(text).is_some()
}

fn no_address(text: &str) -> RemoteError {
    RemoteError::Address { text: text.to_owned() }
}

/// Splits `HOST`, `HOST:PORT` or `[IPV6]:PORT`.
fn host_and_port(text: &str) -> Option<(String, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, after.strip_prefix(':').map_or(Some(None), |port| port.parse().ok().map(Some))?)
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port.parse::<u16>().ok()?)),
            None => (text, None),
        },
    };
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '_' | ':');
    let is_host = !host.is_empty() && host.len() <= HOST_BYTES_MAX && host.chars().all(is_of_name);
    let port = port.unwrap_or(PORT);
    (is_host && port > 0).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str) -> Option<String> {
        let credential = Credential::in_folder(Path::new("anna"));
        Target::of(address, Some(credential)).ok().map(|target| target.address())
    }

    #[test]
    fn a_machine_has_a_name_or_an_address_and_perhaps_a_port() {
        for (address, meant) in [
            ("plant7.example", "plant7.example:7443"),
            ("plant7:80", "plant7:80"),
            ("10.1.2.3:7443", "10.1.2.3:7443"),
            ("[::1]", "[::1]:7443"),
            ("[fe80::1]:7444", "[fe80::1]:7444"),
        ] {
            assert_eq!(network(address).as_deref(), Some(meant));
        }
        for address in
            ["", ":7443", "plant7:", "plant7:0", "plant7:99999", "[plant7]:1", "::1", "a b", "é"]
        {
            assert_eq!(network(address), None, "{address}");
        }
    }

    #[test]
    fn a_socket_needs_no_credential_and_a_machine_does() {
        let target = Target::of("unix:/run/x", None).unwrap();
        assert_eq!(target, Target::Socket(PathBuf::from("/run/x")));
        assert!(Target::of("unix:run/x", None).is_err());
        let refused = Target::of("plant7", None).unwrap_err().to_string();
        assert!(refused.contains("quietcore context add"), "{refused}");
    }
}
