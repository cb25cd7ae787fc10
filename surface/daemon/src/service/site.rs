//! `SiteService`: sites that run, site files that are checked and applied, and events.

use quietcore_api::v1::site_service_server::SiteService;
use quietcore_api::v1::{
    ApplySiteRequest, ApplySiteResponse, GetSiteRequest, GetSiteResponse, ListSiteVersionsRequest,
    ListSiteVersionsResponse, ListSitesRequest, ListSitesResponse, PlanSiteRequest,
    PlanSiteResponse, Problem, RunningSite, Starter, UndoSiteRequest, UndoSiteResponse,
    ValidateSiteRequest, ValidateSiteResponse, WatchEventsRequest, WatchEventsResponse,
};
use quietcore_audit::Intention;
use quietcore_record::class::catalogue;
use quietcore_site::read;
use quietcore_supervisor::places::{self, StartedBy};
use serde_json::{Value, json};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use super::site_version::{described_version, get, outcome_of, read_text, versions};
use crate::applying::{Applying, Outcome, sum};
use crate::audit::Audit;
use crate::caller::Caller;
use crate::failure::CallError;
use crate::following::{Streams, events};
use crate::sites::{Sites, connect};

/// Name of a site file that came as a text.
const FILE_NAME: &str = "site.toml";

/// Answers calls about sites; a site file is checked without any.
#[derive(Debug)]
pub(crate) struct SiteCalls {
    sites: Sites,
    streams: Streams,
    applying: Applying,
    audit: Audit,
}

impl SiteCalls {
    pub(crate) fn new(sites: &Sites, streams: &Streams, applying: Applying, audit: &Audit) -> Self {
        let (sites, streams, audit) = (sites.clone(), streams.clone(), audit.clone());
        Self { sites, streams, applying, audit }
    }

    /// Brings a site up or down on a thread, with intention and outcome in the audit trail.
    ///
    /// # Errors
    /// Those of the trail and of the change.
    async fn change(
        &self,
        caller: &Caller,
        (call, site): (&str, &str),
        what: Value,
        change: impl FnOnce(&Applying) -> Result<Outcome, CallError> + Send + 'static,
    ) -> Result<Outcome, Status> {
        let intention = Intention {
            who: caller.who(),
            call: format!("SiteService/{call}"),
            site: site.to_owned(),
            partition: String::new(),
            what,
        };
        let (sites, applying) = (self.sites.clone(), self.applying.clone());
        let act = async move {
            let outcome = sites.wait_for(move |_| change(&applying)).await?;
            let what = outcome_of(&outcome);
            Ok((outcome, what))
        };
        self.audit.change(intention, act).await
    }
}

#[tonic::async_trait]
impl SiteService for SiteCalls {
    type WatchEventsStream = ReceiverStream<Result<WatchEventsResponse, Status>>;

    async fn list_sites(
        &self,
        request: Request<ListSitesRequest>,
    ) -> Result<Response<ListSitesResponse>, Status> {
        let caller = Caller::of(&request)?;
        let running = self.sites.wait_for(|places| Ok(places.running()?)).await?;
        let granted = running.into_iter().filter(|site| caller.grants().has_part_of(&site.name));
        let sites = granted.map(|site| described(site, &caller)).collect();
        Ok(Response::new(ListSitesResponse { sites }))
    }

    async fn validate_site(
        &self,
        request: Request<ValidateSiteRequest>,
    ) -> Result<Response<ValidateSiteResponse>, Status> {
        Caller::of(&request)?;
        let ValidateSiteRequest { toml } = request.into_inner();
        let checked = self.sites.wait_for(move |_| Ok(validate(&toml))).await?;
        Ok(Response::new(checked))
    }

    async fn watch_events(
        &self,
        request: Request<WatchEventsRequest>,
    ) -> Result<Response<Self::WatchEventsStream>, Status> {
        let caller = Caller::of(&request)?;
        let WatchEventsRequest { site, since, past_only } = request.into_inner();
        let place = self.streams.begin()?;
        let begin = move |places: &places::Places| {
            let mut client = connect(places, &site, &caller)?;
            let first = client.events(since)?;
            Ok((client, caller, first))
        };
        let (client, caller, first) = self.sites.wait_for(begin).await?;
        let stream = place.follow("events", &self.sites, move |end| {
            events::follow(client, &caller, first, (since, past_only), end);
        })?;
        Ok(Response::new(stream))
    }

    async fn plan_site(
        &self,
        request: Request<PlanSiteRequest>,
    ) -> Result<Response<PlanSiteResponse>, Status> {
        let caller = Caller::of(&request)?;
        let PlanSiteRequest { toml, programs } = request.into_inner();
        let applying = self.applying.clone();
        let turn = applying.turn_to_plan().await?;
        let plan = move |_: &places::Places| {
            let text = read_text(&toml, programs)?;
            caller.check_site(text.site())?;
            applying.plan(&text, turn)
        };
        Ok(Response::new(self.sites.wait_for(plan).await?))
    }

    async fn apply_site(
        &self,
        request: Request<ApplySiteRequest>,
    ) -> Result<Response<ApplySiteResponse>, Status> {
        let caller = Caller::of(&request)?;
        let ApplySiteRequest { toml, programs, replace } = request.into_inner();
        let read = move |_: &places::Places| read_text(&toml, programs);
        let text = self.sites.wait_for(read).await?;
        caller.check_whole_site(text.site())?;
        let what = json!({
            "sha256": sum(text.text()), "programs": text.programs(), "replace": replace,
        });
        let (site, by) = (text.site().to_owned(), caller.clone());
        let apply = move |applying: &Applying| applying.apply(&text, replace, &by);
        let done = self.change(&caller, ("ApplySite", &site), what, apply).await?;
        let version = done.version.map(described_version);
        Ok(Response::new(ApplySiteResponse { version, lines: done.lines }))
    }

    async fn undo_site(
        &self,
        request: Request<UndoSiteRequest>,
    ) -> Result<Response<UndoSiteResponse>, Status> {
        let caller = Caller::of(&request)?;
        let UndoSiteRequest { site, before } = request.into_inner();
        let site = self.sites.named(site, &caller).await?;
        caller.check_whole_site(&site)?;
        let (name, by) = (site.clone(), caller.clone());
        let undo = move |applying: &Applying| match before {
            true => applying.bring_back(&name, &by),
            false => applying.bring_down(&name, &by),
        };
        let what = json!({ "before": before });
        let done = self.change(&caller, ("UndoSite", &site), what, undo).await?;
        let version = done.version.map(described_version);
        Ok(Response::new(UndoSiteResponse { version, lines: done.lines }))
    }

    async fn list_site_versions(
        &self,
        request: Request<ListSiteVersionsRequest>,
    ) -> Result<Response<ListSiteVersionsResponse>, Status> {
        let caller = Caller::of(&request)?;
        let ListSiteVersionsRequest { site } = request.into_inner();
        let applying = self.applying.clone();
        let list = move |_: &places::Places| {
            caller.check_site(&site)?;
            let mut versions = versions(&applying, &site)?;
            for version in &mut versions {
                version.programs.retain(|it| caller.grants().has_partition(&site, &it.partition));
            }
            Ok(versions)
        };
        let versions = self.sites.wait_for(list).await?;
        Ok(Response::new(ListSiteVersionsResponse { versions }))
    }

    async fn get_site(
        &self,
        request: Request<GetSiteRequest>,
    ) -> Result<Response<GetSiteResponse>, Status> {
        let caller = Caller::of(&request)?;
        let GetSiteRequest { site, version } = request.into_inner();
        let site = self.sites.named(site, &caller).await?;
        let applying = self.applying.clone();
        let get = move |_: &places::Places| {
            // A text tells about all partitions.
            caller.check_whole_site(&site)?;
            get(&applying, site, version)
        };
        Ok(Response::new(self.sites.wait_for(get).await?))
    }
}

/// Describes a site with those of its partitions that are granted.
fn described(site: places::RunningSite, caller: &Caller) -> RunningSite {
    let Some(description) = site.description else {
        return RunningSite { name: site.name, ..RunningSite::default() };
    };
    let partitions = description.partitions.into_iter();
    let granted = partitions.filter(|name| caller.grants().has_partition(&site.name, name));
    RunningSite {
        partitions: granted.collect(),
        name: site.name,
        site_file: description.site_file.display().to_string(),
        pid: description.pid,
        started_at: description.started_at,
        starter: description.started_by.clone().map(starter),
        quietcore_version: description.quietcore_version,
        started_by: description.started_by.map(|by| by.to_string()).unwrap_or_default(),
    }
}

fn starter(by: StartedBy) -> Starter {
    Starter {
        user: by.user,
        login: by.login,
        folder: by.folder.map(|folder| folder.display().to_string()),
        terminal: by.terminal,
        session: by.session,
        command: by.command,
        service: by.service,
    }
}

fn validate(toml: &str) -> ValidateSiteResponse {
    match read(FILE_NAME, toml.as_bytes(), &catalogue()) {
        Ok(site) => {
            ValidateSiteResponse { site: site.name().to_owned(), ..ValidateSiteResponse::default() }
        }
        Err(problems) => ValidateSiteResponse {
            problems: problems.iter().map(Problem::from).collect(),
            left_out: u32::try_from(problems.left_out()).unwrap_or(u32::MAX),
            site: String::new(),
        },
    }
}
