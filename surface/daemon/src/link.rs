//! The other end of the socket: a link to the live page is asked for.

use std::path::{Path, PathBuf};

use quietcore_api::v1::CreateLinkRequest;
use quietcore_api::v1::page_service_client::PageServiceClient;
use tonic::Status;
use tonic::transport::Endpoint;

/// The reason why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The daemon does not answer.
    #[error("no daemon answers at `{}`; start `quietcored`", socket.display())]
    Connect {
        /// Path of its socket.
        socket: PathBuf,
        /// The fault of the connection.
        #[source]
        source: tonic::transport::Error,
    },
    /// The daemon has refused.
    #[error("{}", .0.message())]
    Refused(Status),
}

/// Asks the daemon at a socket for a link to its page, with this role or with the caller's own.
///
/// # Errors
/// [`LinkError::Connect`] if no daemon runs there, [`LinkError::Refused`] if it serves no page or
/// the caller may not have the role.
pub async fn ask_for_link(socket: &Path, role: Option<&str>) -> Result<String, LinkError> {
    let refused = |source| LinkError::Connect { socket: socket.to_owned(), source };
    let endpoint = Endpoint::from_shared(format!("unix:{}", socket.display())).map_err(refused)?;
    let mut client = PageServiceClient::new(endpoint.connect().await.map_err(refused)?);
    let role = role.unwrap_or_default().to_owned();
    let made = client.create_link(CreateLinkRequest { role }).await.map_err(LinkError::Refused)?;
    Ok(made.into_inner().url)
}
