//! `PageService`: the way of a person to the live page.

use std::sync::Arc;

use quietcore_access::Role;
use quietcore_api::v1::page_service_server::PageService;
use quietcore_api::v1::{CreateLinkRequest, CreateLinkResponse};
use quietcore_audit::Intention;
use serde_json::Value;
use tonic::{Request, Response, Status};

use crate::audit::Audit;
use crate::caller::Caller;
use crate::failure::CallError;
use crate::page::{LINK_TIME, Page};

/// Answers calls about the page.
#[derive(Debug)]
pub(crate) struct PageCalls {
    page: Arc<Page>,
    audit: Audit,
}

impl PageCalls {
    pub(crate) fn new(page: &Arc<Page>, audit: &Audit) -> Self {
        Self { page: Arc::clone(page), audit: audit.clone() }
    }
}

#[tonic::async_trait]
impl PageService for PageCalls {
    async fn create_link(
        &self,
        request: Request<CreateLinkRequest>,
    ) -> Result<Response<CreateLinkResponse>, Status> {
        let caller = Caller::of(&request)?;
        let CreateLinkRequest { role } = request.into_inner();
        let role = match role.as_str() {
            "" => caller.role(),
            word => word.parse::<Role>().map_err(|it| CallError::Argument(it.to_string()))?,
        };
        caller.check_role(role, "CreateLink")?;
        // Nobody could revoke a session that outlives its maker's credential.
        if !caller.is_at_the_socket() {
            let told = "a link is made on the machine itself; run `quietcored link` there";
            return Err(Status::failed_precondition(told));
        }
        let intention = Intention {
            who: caller.who(),
            call: "PageService/CreateLink".to_owned(),
            site: String::new(),
            partition: String::new(),
            what: serde_json::json!({ "role": role.word() }),
        };
        let page = Arc::clone(&self.page);
        // The link itself would open the page to whoever reads the trail.
        let make = async move { Ok((page.link(caller.on_the_page(role))?, Value::Null)) };
        let url = self.audit.change(intention, make).await?;
        let lifetime_s = u32::try_from(LINK_TIME.as_secs()).unwrap_or(u32::MAX);
        Ok(Response::new(CreateLinkResponse { url, lifetime_s }))
    }
}
