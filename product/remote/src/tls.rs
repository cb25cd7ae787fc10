//! The client's side of TLS: version 1.3 alone.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, version};

use crate::error::RemoteError;
use crate::files;
use crate::target::Credential;

/// The protocol that is spoken within TLS: HTTP/2.
const PROTOCOL: &[u8] = b"h2";

/// A connector, and the token that goes with each call if there is one.
pub(crate) struct Secured {
    pub(crate) connector: TlsConnector,
    pub(crate) token: Option<String>,
}

/// Reads the files of a credential.
pub(crate) fn secured(credential: &Credential) -> Result<Secured, RemoteError> {
    let (Credential::Certificate { authority, .. } | Credential::Token { authority, .. }) =
        credential;
    let mut authorities = RootCertStore::empty();
    for certificate in certificates(authority)? {
        authorities.add(certificate).map_err(|_| content(authority, "certificate"))?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&version::TLS13])
        .expect("the provider has TLS 1.3")
        .with_root_certificates(authorities);
    let (mut config, token) = match credential {
        Credential::Certificate { certificate, key, .. } => {
            let chain = certificates(certificate)?;
            let private = PrivateKeyDer::from_pem_slice(files::read_secret(key)?.as_bytes());
            let private = private.map_err(|_| content(key, "key"))?;
            let config = config.with_client_auth_cert(chain, private);
            (config.map_err(|_| content(key, "key of the certificate beside it"))?, None)
        }
        Credential::Token { token_file, .. } => {
            let token = files::read_secret(token_file)?.trim().to_owned();
            let is_token = !token.is_empty() && token.bytes().all(|it| it.is_ascii_graphic());
            let token = is_token.then_some(token).ok_or_else(|| content(token_file, "token"))?;
            (config.with_no_client_auth(), Some(token))
        }
    };
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(Secured { connector: TlsConnector::from(Arc::new(config)), token })
}

/// Reads the certificates of a file, of which there is one at least.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, RemoteError> {
    let text = files::read(path)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let read = read.map_err(|_| content(path, "certificate"))?;
    if read.is_empty() { Err(content(path, "certificate")) } else { Ok(read) }
}

fn content(path: &Path, what: &'static str) -> RemoteError {
    RemoteError::Content { path: path.to_owned(), what }
}
