//! `ProgramService`: programs received, built, deployed and rolled back.

use quietcore_api::v1::program_service_server::ProgramService;
use quietcore_api::v1::upload_program_request::Content;
use quietcore_api::v1::{
    BuildProgramRequest, BuildProgramResponse, DeleteVersionRequest, DeleteVersionResponse,
    DeployProgramRequest, DeployProgramResponse, ListProgramsRequest, ListProgramsResponse,
    ListVersionsRequest, ListVersionsResponse, Program, RollBackProgramRequest,
    RollBackProgramResponse, UploadBegin, UploadProgramRequest, UploadProgramResponse,
};
use quietcore_audit::Intention;
use quietcore_programs::{DeployPlace, Version};
use quietcore_supervisor::control::{DeployPatience, Deployed};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use crate::audit::{Audit, details};
use crate::caller::Caller;
use crate::failure::CallError;
use crate::following::Streams;
use crate::programs::{Asked, Live, Part, Received, UPLOAD_SILENCE_MAX, deploy, feed, roll_back};
use crate::sites::Sites;

/// Parts of an upload that wait for the disk.
const PARTS_WAITING_MAX: usize = 2;

/// Answers calls about programs.
#[derive(Debug)]
pub(crate) struct ProgramCalls {
    sites: Sites,
    streams: Streams,
    received: Received,
    audit: Audit,
}

impl ProgramCalls {
    pub(crate) fn new(sites: &Sites, streams: &Streams, received: Received, audit: &Audit) -> Self {
        let (sites, streams, audit) = (sites.clone(), streams.clone(), audit.clone());
        Self { sites, streams, received, audit }
    }

    /// Changes something on a thread, with intention and outcome in the audit trail. `change`
    /// returns the answer with the details of the outcome.
    ///
    /// # Errors
    /// Those of the trail and of the change.
    async fn change<T: Send + 'static>(
        &self,
        intention: Intention,
        change: impl FnOnce(&Received) -> Result<(T, Value), CallError> + Send + 'static,
    ) -> Result<T, Status> {
        let (sites, received) = (self.sites.clone(), self.received.clone());
        let act = async move { sites.wait_for(move |_| change(&received)).await };
        self.audit.change(intention, act).await
    }
}

/// Returns the intention of a call, as the audit trail has it.
fn intention(caller: &Caller, call: &str, place: &DeployPlace, what: Value) -> Intention {
    Intention {
        who: caller.who(),
        call: format!("ProgramService/{call}"),
        site: place.site.clone(),
        partition: place.partition.clone(),
        what,
    }
}

/// Returns no partition, for what is not about one.
fn nowhere() -> DeployPlace {
    DeployPlace { site: String::new(), partition: String::new() }
}

/// Returns the details of a deployment's outcome.
fn deployed_as(version: &Version, deployed: &Deployed) -> Value {
    json!({
        "program": version.program,
        "version": version.number,
        "sha256": version.sha256,
        "deployed": details(deployed),
    })
}

#[tonic::async_trait]
impl ProgramService for ProgramCalls {
    type BuildProgramStream = ReceiverStream<Result<BuildProgramResponse, Status>>;

    async fn upload_program(
        &self,
        request: Request<Streaming<UploadProgramRequest>>,
    ) -> Result<Response<UploadProgramResponse>, Status> {
        let caller = Caller::of(&request)?;
        let place = self.received.begin_upload()?;
        let mut sent = request.into_inner();
        let first = next_part(&mut sent).await?;
        let Some(Content::Begin(UploadBegin { program })) = first else {
            return Err(Status::invalid_argument("the first message is to begin the upload"));
        };
        let what = json!({ "program": program });
        let intention = intention(&caller, "UploadProgram", &nowhere(), what);
        let (parts, receiver) = channel(PARTS_WAITING_MAX);
        let received = self.received.clone();
        let act = async move {
            let work = tokio::task::spawn_blocking(move || {
                let _place = place;
                let version = received.receive(&program, &caller, receiver)?;
                let mut live = Live::new(received.places(), &caller);
                received.describe(vec![version], &mut live)
            });
            // The parts end early where one is refused; the thread says why.
            let passed_on = pass_on(&mut sent, parts).await;
            let kept = work.await.map_err(|_| Status::internal("the upload ended by a fault"))?;
            passed_on?;
            let version = kept?.pop();
            let what =
                version.as_ref().map(|it| json!({ "version": it.number, "sha256": it.sha256 }));
            Ok((version, what.unwrap_or_default()))
        };
        let version = self.audit.change(intention, act).await?;
        Ok(Response::new(UploadProgramResponse { version }))
    }

    async fn build_program(
        &self,
        request: Request<BuildProgramRequest>,
    ) -> Result<Response<Self::BuildProgramStream>, Status> {
        let caller = Caller::of(&request)?;
        let BuildProgramRequest { program, version, site, partition } = request.into_inner();
        if partition.is_empty() && !site.is_empty() {
            let told = "a site without a partition; name the partition that it is built for";
            return Err(Status::invalid_argument(told));
        }
        let stream = self.streams.begin()?;
        let place = DeployPlace { site, partition };
        let what = json!({ "program": program, "version": version });
        let intention = intention(&caller, "BuildProgram", &place, what);
        let find = move |received: &Received| {
            let version = received.programs()?.version(&program, version)?;
            let what = json!({ "begun": version.number, "sha256": version.sha256 });
            Ok((version, what))
        };
        let version = self.change(intention, find).await?;
        let place = (!place.partition.is_empty()).then_some(place);
        let asked = Asked { caller, version, place };
        let received = self.received.clone();
        let stream =
            stream.follow("build", &self.sites, move |end| feed(&received, &asked, end))?;
        Ok(Response::new(stream))
    }

    async fn list_programs(
        &self,
        request: Request<ListProgramsRequest>,
    ) -> Result<Response<ListProgramsResponse>, Status> {
        Caller::of(&request)?;
        let received = self.received.clone();
        let listed = self.sites.wait_for(move |_| Ok(received.programs()?.programs()?)).await?;
        let programs = listed.into_iter().map(|program| Program {
            name: program.name,
            newest: program.newest.unwrap_or_default(),
            version_count: program.version_count,
        });
        Ok(Response::new(ListProgramsResponse { programs: programs.collect() }))
    }

    async fn list_versions(
        &self,
        request: Request<ListVersionsRequest>,
    ) -> Result<Response<ListVersionsResponse>, Status> {
        let caller = Caller::of(&request)?;
        let ListVersionsRequest { program } = request.into_inner();
        let received = self.received.clone();
        let versions = self.sites.wait_for(move |places| {
            let versions = received.programs()?.versions(&program)?;
            received.describe(versions, &mut Live::new(places, &caller))
        });
        Ok(Response::new(ListVersionsResponse { versions: versions.await? }))
    }

    async fn deploy_program(
        &self,
        request: Request<DeployProgramRequest>,
    ) -> Result<Response<DeployProgramResponse>, Status> {
        let caller = Caller::of(&request)?;
        let DeployProgramRequest { site, partition, program, version, no_wait } =
            request.into_inner();
        let site = self.sites.named(site, &caller).await?;
        let place = DeployPlace { site, partition };
        let what = json!({ "program": program, "version": version });
        let intention = intention(&caller, "DeployProgram", &place, what);
        let deployed = self.change(intention, move |received| {
            let version = received.programs()?.version(&program, version)?;
            let deployed = deploy(received, &caller, &place, &version, patience(no_wait))?;
            let what = deployed_as(&version, &deployed);
            let (version, deployed) = (version.number, Some(deployed.into()));
            Ok((DeployProgramResponse { version, deployed }, what))
        });
        Ok(Response::new(deployed.await?))
    }

    async fn roll_back_program(
        &self,
        request: Request<RollBackProgramRequest>,
    ) -> Result<Response<RollBackProgramResponse>, Status> {
        let caller = Caller::of(&request)?;
        let RollBackProgramRequest { site, partition, no_wait } = request.into_inner();
        let site = self.sites.named(site, &caller).await?;
        let place = DeployPlace { site, partition };
        let intention = intention(&caller, "RollBackProgram", &place, json!({}));
        let deployed = self.change(intention, move |received| {
            let (version, deployed) = roll_back(received, &caller, &place, patience(no_wait))?;
            let what = deployed_as(&version, &deployed);
            let (program, version) = (version.program, version.number);
            let deployed = Some(deployed.into());
            Ok((RollBackProgramResponse { program, version, deployed }, what))
        });
        Ok(Response::new(deployed.await?))
    }

    async fn delete_version(
        &self,
        request: Request<DeleteVersionRequest>,
    ) -> Result<Response<DeleteVersionResponse>, Status> {
        let caller = Caller::of(&request)?;
        let DeleteVersionRequest { program, version } = request.into_inner();
        if version == 0 {
            return Err(CallError::Argument("version: give its number".to_owned()).into());
        }
        let what = json!({ "program": program, "version": version });
        let intention = intention(&caller, "DeleteVersion", &nowhere(), what);
        let deleted = self.change(intention, move |received| {
            // A site that does not answer may run it.
            let runs = |it: &_| Live::new(received.places(), &caller).runs(it) != Some(false);
            Ok((received.programs()?.delete(&program, version, runs)?, Value::Null))
        });
        deleted.await?;
        Ok(Response::new(DeleteVersionResponse {}))
    }
}

const fn patience(no_wait: bool) -> DeployPatience {
    match no_wait {
        true => DeployPatience::UntilItRuns,
        false => DeployPatience::UntilProven,
    }
}

/// Waits for the next part of an upload; `None` at its end.
async fn next_part(sent: &mut Streaming<UploadProgramRequest>) -> Result<Option<Content>, Status> {
    let waited = timeout(UPLOAD_SILENCE_MAX, sent.message()).await;
    let message = waited.map_err(|_| {
        let told = format!("nothing came for {} s", UPLOAD_SILENCE_MAX.as_secs());
        Status::deadline_exceeded(told)
    })??;
    match message {
        None => Ok(None),
        Some(UploadProgramRequest { content: Some(content) }) => Ok(Some(content)),
        Some(_) => Err(Status::invalid_argument("a message of the upload holds nothing")),
    }
}

/// Passes all parts on, and says when they have ended.
async fn pass_on(
    sent: &mut Streaming<UploadProgramRequest>,
    parts: Sender<Part>,
) -> Result<(), Status> {
    loop {
        let part = match next_part(sent).await? {
            Some(Content::File(name)) => Part::File(name),
            Some(Content::Chunk(bytes)) => Part::Chunk(bytes),
            Some(Content::Begin(_)) => {
                return Err(Status::invalid_argument("the upload has begun already"));
            }
            None => Part::End,
        };
        let is_end = matches!(part, Part::End);
        if parts.send(part).await.is_err() || is_end {
            return Ok(());
        }
    }
}
