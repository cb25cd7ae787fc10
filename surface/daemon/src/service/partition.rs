//! `PartitionService`: the states of partitions; programs held and started anew.

use quietcore_api::convert::restart;
use quietcore_api::v1::partition_service_server::PartitionService;
use quietcore_api::v1::{
    GetTimingRequest, GetTimingResponse, ListPartitionsRequest, ListPartitionsResponse,
    PausePartitionRequest, PausePartitionResponse, RestartPartitionRequest,
    RestartPartitionResponse, ResumePartitionRequest, ResumePartitionResponse,
};
use quietcore_supervisor::control::{Done, Paused, Verb};
use quietcore_supervisor::places::Places;
use tonic::{Request, Response, Status};

use super::timing;
use crate::audit::Audit;
use crate::caller::Caller;
use crate::failure::CallError;
use crate::sites::{Sites, connect_to};

/// Answers calls about partitions by asking their site.
#[derive(Debug)]
pub(crate) struct PartitionCalls {
    sites: Sites,
    audit: Audit,
}

impl PartitionCalls {
    pub(crate) fn new(sites: &Sites, audit: &Audit) -> Self {
        Self { sites: sites.clone(), audit: audit.clone() }
    }
}

#[tonic::async_trait]
impl PartitionService for PartitionCalls {
    async fn list_partitions(
        &self,
        request: Request<ListPartitionsRequest>,
    ) -> Result<Response<ListPartitionsResponse>, Status> {
        let caller = Caller::of(&request)?;
        let ListPartitionsRequest { site } = request.into_inner();
        let grants = caller.grants().clone();
        let list = self.sites.ask(site, caller, move |client| {
            let mut found = client.partitions()?;
            found.partitions.retain(|it| grants.has_partition(client.site(), &it.name));
            Ok(found)
        });
        let found = list.await?;
        Ok(Response::new(found.into()))
    }

    async fn get_timing(
        &self,
        request: Request<GetTimingRequest>,
    ) -> Result<Response<GetTimingResponse>, Status> {
        let caller = Caller::of(&request)?;
        let GetTimingRequest { site, partition } = request.into_inner();
        let read = move |places: &Places| {
            let mut client = connect_to(places, (&site, &partition), &caller)?;
            timing::read(&mut client, &partition)
        };
        Ok(Response::new(self.sites.wait_for(read).await?))
    }

    async fn restart_partition(
        &self,
        request: Request<RestartPartitionRequest>,
    ) -> Result<Response<RestartPartitionResponse>, Status> {
        let caller = Caller::of(&request)?;
        let RestartPartitionRequest { site, partition, kind } = request.into_inner();
        let how = restart(kind).map_err(CallError::from)?;
        let (call, of) = ("PartitionService/RestartPartition", (site, partition));
        let ask = self.audit.ask(&self.sites, call, of, caller, Verb::Restart { how });
        let Done {} = ask.await?;
        Ok(Response::new(RestartPartitionResponse {}))
    }

    async fn pause_partition(
        &self,
        request: Request<PausePartitionRequest>,
    ) -> Result<Response<PausePartitionResponse>, Status> {
        let caller = Caller::of(&request)?;
        let PausePartitionRequest { site, partition } = request.into_inner();
        let (call, of) = ("PartitionService/PausePartition", (site, partition));
        let Paused { was_paused, has_fieldbus, .. } =
            self.audit.ask(&self.sites, call, of, caller, Verb::Pause).await?;
        Ok(Response::new(PausePartitionResponse { was_paused, has_fieldbus }))
    }

    async fn resume_partition(
        &self,
        request: Request<ResumePartitionRequest>,
    ) -> Result<Response<ResumePartitionResponse>, Status> {
        let caller = Caller::of(&request)?;
        let ResumePartitionRequest { site, partition } = request.into_inner();
        let (call, of) = ("PartitionService/ResumePartition", (site, partition));
        let Paused { was_paused, .. } =
            self.audit.ask(&self.sites, call, of, caller, Verb::Resume).await?;
        Ok(Response::new(ResumePartitionResponse { was_paused }))
    }
}
