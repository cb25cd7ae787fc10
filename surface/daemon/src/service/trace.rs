//! `TraceService`: variables cycle by cycle, around a trigger, with or without a client.

use quietcore_api::v1::trace_service_server::TraceService;
use quietcore_api::v1::{
    DeleteTraceRequest, DeleteTraceResponse, FetchTraceRequest, FetchTraceResponse,
    GetTraceRequest, GetTraceResponse, ListTracesRequest, ListTracesResponse, StartTraceRequest,
    StartTraceResponse, StopTraceRequest, StopTraceResponse, Trace,
};
use quietcore_audit::Intention;
use serde_json::{Value, json};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use crate::audit::Audit;
use crate::caller::Caller;
use crate::failure::CallError;
use crate::following::{StreamEnd, Streams};
use crate::sites::Sites;
use crate::traces::{CheckedTrace, Messages, Traces};

/// Answers calls about traces.
#[derive(Debug)]
pub(crate) struct TraceCalls {
    sites: Sites,
    streams: Streams,
    audit: Audit,
    traces: Traces,
}

impl TraceCalls {
    pub(crate) fn new(sites: &Sites, streams: &Streams, audit: &Audit, traces: &Traces) -> Self {
        let (streams, audit) = (streams.clone(), audit.clone());
        Self { sites: sites.clone(), streams, audit, traces: traces.clone() }
    }

    /// Does something with the traces on a thread.
    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Traces) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, Status> {
        let traces = self.traces.clone();
        self.sites.wait_for(move |_| work(&traces)).await
    }

    /// Changes a trace on behalf of a caller, to whom its partition is granted, with intention and
    /// outcome in the audit trail.
    async fn change<T: Send + 'static>(
        &self,
        (caller, call, number): (Caller, &str, u64),
        change: impl FnOnce(&Traces, &Caller) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, Status> {
        let by = caller.clone();
        let of = self.on_thread(move |traces| traces.partition_of(number, &by)).await?;
        let call = format!("TraceService/{call}");
        let ((site, partition), what) = (of, json!({ "trace": number }));
        let intention = Intention { who: caller.who(), call, site, partition, what };
        let (sites, traces) = (self.sites.clone(), self.traces.clone());
        let act = async move {
            let changed = sites.wait_for(move |_| change(&traces, &caller)).await?;
            Ok((changed, Value::Null))
        };
        self.audit.change(intention, act).await
    }
}

/// Returns the settings of a trace as the audit trail has them.
fn settings(asked: &CheckedTrace) -> Value {
    let recording = &asked.recording;
    json!({
        "variables": recording.variables,
        "every": recording.every,
        "trigger": recording.trigger.as_ref().map(ToString::to_string),
        "before": asked.before,
        "after": asked.after,
        "windows": asked.windows,
    })
}

/// Sends the messages of a trace until the client has gone.
fn send(messages: Messages, end: StreamEnd<FetchTraceResponse>) {
    for message in messages {
        let sent = match message {
            Ok(message) => end.send_all([message]),
            Err(error) => return end.fail(CallError::from(error)),
        };
        if !sent {
            return;
        }
    }
}

#[tonic::async_trait]
impl TraceService for TraceCalls {
    type FetchTraceStream = ReceiverStream<Result<FetchTraceResponse, Status>>;

    async fn start_trace(
        &self,
        request: Request<StartTraceRequest>,
    ) -> Result<Response<StartTraceResponse>, Status> {
        let caller = Caller::of(&request)?;
        let mut asked = CheckedTrace::of(request.into_inner())?;
        asked.site = self.sites.named(asked.site, &caller).await?;
        let intention = Intention {
            who: caller.who(),
            call: "TraceService/StartTrace".to_owned(),
            site: asked.site.clone(),
            partition: asked.partition.clone(),
            what: settings(&asked),
        };
        let (sites, traces) = (self.sites.clone(), self.traces.clone());
        let act = async move {
            let trace = sites.wait_for(move |_| traces.start(&asked, &caller)).await?;
            let what = json!({ "trace": trace.number });
            Ok((trace, what))
        };
        let trace: Trace = self.audit.change(intention, act).await?;
        Ok(Response::new(StartTraceResponse { trace: Some(trace) }))
    }

    async fn stop_trace(
        &self,
        request: Request<StopTraceRequest>,
    ) -> Result<Response<StopTraceResponse>, Status> {
        let caller = Caller::of(&request)?;
        let StopTraceRequest { number } = request.into_inner();
        let stop = move |traces: &Traces, caller: &Caller| traces.stop(number, caller);
        let trace = self.change((caller, "StopTrace", number), stop).await?;
        Ok(Response::new(StopTraceResponse { trace: Some(trace) }))
    }

    async fn list_traces(
        &self,
        request: Request<ListTracesRequest>,
    ) -> Result<Response<ListTracesResponse>, Status> {
        let caller = Caller::of(&request)?;
        let ListTracesRequest { site, partition } = request.into_inner();
        let mut traces = self.on_thread(move |traces| traces.list(&caller)).await?;
        let is_asked = |asked: &str, name: &str| asked.is_empty() || asked == name;
        traces.retain(|it| is_asked(&site, &it.site) && is_asked(&partition, &it.partition));
        Ok(Response::new(ListTracesResponse { traces }))
    }

    async fn get_trace(
        &self,
        request: Request<GetTraceRequest>,
    ) -> Result<Response<GetTraceResponse>, Status> {
        let caller = Caller::of(&request)?;
        let GetTraceRequest { number } = request.into_inner();
        let trace = self.on_thread(move |traces| traces.get(number, &caller)).await?;
        Ok(Response::new(GetTraceResponse { trace: Some(trace) }))
    }

    async fn fetch_trace(
        &self,
        request: Request<FetchTraceRequest>,
    ) -> Result<Response<Self::FetchTraceStream>, Status> {
        let caller = Caller::of(&request)?;
        let FetchTraceRequest { number } = request.into_inner();
        let place = self.streams.begin()?;
        let messages = self.on_thread(move |traces| traces.messages(number, &caller)).await?;
        let stream = place.follow("trace-rows", &self.sites, move |end| send(messages, end))?;
        Ok(Response::new(stream))
    }

    async fn delete_trace(
        &self,
        request: Request<DeleteTraceRequest>,
    ) -> Result<Response<DeleteTraceResponse>, Status> {
        let caller = Caller::of(&request)?;
        let DeleteTraceRequest { number } = request.into_inner();
        let delete = move |traces: &Traces, caller: &Caller| traces.delete(number, caller);
        self.change((caller, "DeleteTrace", number), delete).await?;
        Ok(Response::new(DeleteTraceResponse {}))
    }
}
