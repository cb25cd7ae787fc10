//! TLS as the daemon takes it: version 1.3 alone; the client may show a certificate.

use std::sync::Arc;

use quietcore_access::Server;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig, version};

/// The protocol that is spoken within TLS: HTTP/2.
const PROTOCOL: &[u8] = b"h2";

/// The error of files that give no server.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file holds no certificate or key.
    #[error("its files hold no certificate or key")]
    Pem(#[source] pem::Error),
    /// Certificate or key can't be used.
    #[error("its certificate or key can't be used")]
    Certificate(#[from] rustls::Error),
    /// The authority can't be used.
    #[error("its authority can't be used")]
    Authority(#[from] VerifierBuilderError),
}

/// Makes the server's side of TLS.
///
/// # Errors
/// [`TlsError`] if the files are not those of `quietcore auth`.
pub(crate) fn acceptor(server: &Server) -> Result<TlsAcceptor, TlsError> {
    let provider = Arc::new(default_provider());
    let mut authorities = RootCertStore::empty();
    for certificate in certificates(&server.authority)? {
        authorities.add(certificate)?;
    }
    let clients = WebPkiClientVerifier::builder_with_provider(authorities.into(), provider.clone())
        .allow_unauthenticated()
        .build()?;
    let key = PrivateKeyDer::from_pem_slice(server.identity.as_bytes()).map_err(TlsError::Pem)?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&version::TLS13])?
        .with_client_cert_verifier(clients)
        .with_single_cert(certificates(&server.identity)?, key)?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    // Each connection shows its certificate anew.
    config.send_tls13_tickets = 0;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(text: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<Vec<_>, _>>();
    read.map_err(TlsError::Pem)
}
