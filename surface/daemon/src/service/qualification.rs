//! `QualificationService`: campaigns and experiments, their verdicts and their evidence.

use quietcore_api::v1::qualification_service_server::QualificationService;
use quietcore_api::v1::{
    CancelRunRequest, CancelRunResponse, FetchFileRequest, FetchFileResponse, GetRunRequest,
    GetRunResponse, ListRunsRequest, ListRunsResponse, ListVerdictsRequest, ListVerdictsResponse,
    StartRunRequest, StartRunResponse, WatchRunRequest, WatchRunResponse,
};
use quietcore_audit::Intention;
use serde_json::{Value, json};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use crate::applying::Applying;
use crate::audit::Audit;
use crate::caller::Caller;
use crate::failure::CallError;
use crate::following::Streams;
use crate::qualification::{CheckedRun, Runs, send_file, standing_verdicts, watch};
use crate::sites::Sites;

/// Answers calls about runs.
#[derive(Debug)]
pub(crate) struct QualificationCalls {
    sites: Sites,
    streams: Streams,
    audit: Audit,
    runs: Runs,
    applying: Applying,
}

impl QualificationCalls {
    pub(crate) fn new(
        sites: &Sites,
        streams: &Streams,
        audit: &Audit,
        runs: Runs,
        applying: &Applying,
    ) -> Self {
        let (sites, streams, audit) = (sites.clone(), streams.clone(), audit.clone());
        Self { sites, streams, audit, runs, applying: applying.clone() }
    }

    /// Does something with the runs on a thread.
    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Runs) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, Status> {
        let runs = self.runs.clone();
        self.sites.wait_for(move |_| work(&runs)).await
    }

    /// Changes something on a thread, with intention and outcome in the audit trail.
    async fn change<T: Send + 'static>(
        &self,
        (caller, call, site, what): (&Caller, &str, String, Value),
        change: impl FnOnce(&Runs) -> Result<(T, Value), CallError> + Send + 'static,
    ) -> Result<T, Status> {
        let call = format!("QualificationService/{call}");
        let partition = String::new();
        let intention = Intention { who: caller.who(), call, site, partition, what };
        let (sites, runs) = (self.sites.clone(), self.runs.clone());
        let act = async move { sites.wait_for(move |_| change(&runs)).await };
        self.audit.change(intention, act).await
    }
}

/// Returns `true` if a site is granted to a caller with all its partitions: a run is of all.
fn has_whole(caller: &Caller, site: &str) -> bool {
    // No partition has an empty name, so only a grant of the whole site has it.
    caller.grants().has_partition(site, "")
}

fn check_whole(caller: &Caller, site: &str) -> Result<(), Status> {
    caller.check_site(site)?;
    if has_whole(caller, site) {
        return Ok(());
    }
    let (name, grants) = (caller.name(), caller.grants());
    let told =
        format!("a run is of a whole site; `{site}` is not granted to `{name}`, who has {grants}");
    Err(Status::permission_denied(told))
}

#[tonic::async_trait]
impl QualificationService for QualificationCalls {
    type WatchRunStream = ReceiverStream<Result<WatchRunResponse, Status>>;
    type FetchFileStream = ReceiverStream<Result<FetchFileResponse, Status>>;

    async fn start_run(
        &self,
        request: Request<StartRunRequest>,
    ) -> Result<Response<StartRunResponse>, Status> {
        let caller = Caller::of(&request)?;
        let request = request.into_inner();
        let (by, applying) = (caller.clone(), self.applying.clone());
        let check = move |places: &_| CheckedRun::of(&request, places, &applying, &by);
        let run = self.sites.wait_for(check).await?;
        let mut what = json!({ "kind": run.kind.verb(), "options": run.options });
        if let Some(number) = run.version {
            what["version"] = number.into();
        }
        let (site, by) = (run.site.clone(), caller.clone());
        let start = move |runs: &Runs| {
            let record = runs.start(&run, &by)?;
            let what = json!({ "run": record.number });
            Ok((runs.describe(record, false)?, what))
        };
        let run = self.change((&caller, "StartRun", site, what), start).await?;
        Ok(Response::new(StartRunResponse { run: Some(run) }))
    }

    async fn cancel_run(
        &self,
        request: Request<CancelRunRequest>,
    ) -> Result<Response<CancelRunResponse>, Status> {
        let caller = Caller::of(&request)?;
        let CancelRunRequest { number } = request.into_inner();
        let by = caller.clone();
        let find = move |runs: &Runs| {
            let record = runs.record(number)?;
            check_whole(&by, &record.site)?;
            Ok(record)
        };
        let record = self.on_thread(find).await?;
        let (what, by) = (json!({ "run": number }), caller.clone());
        let cancel = move |runs: &Runs| Ok((runs.cancel(number, &by)?, Value::Null));
        self.change((&caller, "CancelRun", record.site, what), cancel).await?;
        Ok(Response::new(CancelRunResponse {}))
    }

    async fn watch_run(
        &self,
        request: Request<WatchRunRequest>,
    ) -> Result<Response<Self::WatchRunStream>, Status> {
        let caller = Caller::of(&request)?;
        let WatchRunRequest { number } = request.into_inner();
        let place = self.streams.begin()?;
        let find = move |runs: &Runs| {
            let record = runs.record(number)?;
            check_whole(&caller, &record.site)?;
            Ok(record)
        };
        let record = self.on_thread(find).await?;
        let runs = self.runs.clone();
        let stream = place.follow("run", &self.sites, move |end| watch(&runs, record, end))?;
        Ok(Response::new(stream))
    }

    async fn list_runs(
        &self,
        request: Request<ListRunsRequest>,
    ) -> Result<Response<ListRunsResponse>, Status> {
        let caller = Caller::of(&request)?;
        let list = move |runs: &Runs| {
            let all = runs.all()?.into_iter();
            let granted = all.filter(|run| has_whole(&caller, &run.site));
            granted.map(|run| runs.describe(run, false)).collect()
        };
        Ok(Response::new(ListRunsResponse { runs: self.on_thread(list).await? }))
    }

    async fn get_run(
        &self,
        request: Request<GetRunRequest>,
    ) -> Result<Response<GetRunResponse>, Status> {
        let caller = Caller::of(&request)?;
        let GetRunRequest { number } = request.into_inner();
        let describe = move |runs: &Runs| {
            let record = runs.record(number)?;
            check_whole(&caller, &record.site)?;
            runs.describe(record, true)
        };
        Ok(Response::new(GetRunResponse { run: Some(self.on_thread(describe).await?) }))
    }

    async fn list_verdicts(
        &self,
        request: Request<ListVerdictsRequest>,
    ) -> Result<Response<ListVerdictsResponse>, Status> {
        let caller = Caller::of(&request)?;
        let verdicts = self.on_thread(move |runs| standing_verdicts(runs, &caller)).await?;
        Ok(Response::new(ListVerdictsResponse { verdicts }))
    }

    async fn fetch_file(
        &self,
        request: Request<FetchFileRequest>,
    ) -> Result<Response<Self::FetchFileStream>, Status> {
        let caller = Caller::of(&request)?;
        let FetchFileRequest { number, name } = request.into_inner();
        let place = self.streams.begin()?;
        let open = move |runs: &Runs| {
            check_whole(&caller, &runs.record(number)?.site)?;
            runs.open_file(number, name)
        };
        let file = self.on_thread(open).await?;
        let stream = place.follow("file", &self.sites, move |end| send_file(file, end))?;
        Ok(Response::new(stream))
    }
}
