//! `VariableService`: variables of running programs, read from their memory and written by their
//! site.

use std::time::Duration;

use quietcore_api::convert::{change, value};
use quietcore_api::v1;
use quietcore_api::v1::variable_service_server::VariableService;
use quietcore_api::v1::{
    ListChangesRequest, ListChangesResponse, ListVariablesRequest, ListVariablesResponse,
    ReadVariablesRequest, ReadVariablesResponse, SubscribeVariablesRequest,
    SubscribeVariablesResponse, UnforceAllRequest, UnforceAllResponse, VariableValue,
    WriteVariablesRequest, WriteVariablesResponse,
};
use quietcore_program::Pattern;
use quietcore_program::place::Memory;
use quietcore_supervisor::control::{Applied, Verb};
use quietcore_supervisor::monitor::Monitor;
use quietcore_supervisor::monitor::watch::{Row, Watch};
use quietcore_supervisor::places::Places;
use tonic::codegen::Bytes;
use tonic::{Request, Response, Status};

use crate::audit::Audit;
use crate::caller::Caller;
use crate::failure::CallError;
use crate::following::{
    Deadband, FOLLOWED_MAX, Feeds, Stream, Streams, Subject, interval, variables,
};
use crate::sites::{Sites, connect_to};

/// The most patterns of one call.
pub const PATTERNS_MAX: usize = 1000;
/// The longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 512;
/// Variables of a page where nothing is said, and the most of one.
const PAGE_DEFAULT: u32 = 1000;
const PAGE_MAX: u32 = 10_000;

/// Answers calls about variables; reading asks a site for the memory alone.
#[derive(Debug)]
pub(crate) struct VariableCalls {
    sites: Sites,
    streams: Streams,
    feeds: Feeds,
    audit: Audit,
}

impl VariableCalls {
    pub(crate) fn new(sites: &Sites, streams: &Streams, audit: &Audit) -> Self {
        let (sites, streams, audit) = (sites.clone(), streams.clone(), audit.clone());
        Self { sites, streams, feeds: Feeds::default(), audit }
    }

    /// Answers `SubscribeVariables` with messages that are encoded already.
    ///
    /// # Errors
    /// Those of the site; `RESOURCE_EXHAUSTED` if there are too many streams.
    pub(crate) async fn subscribe(
        &self,
        request: Request<SubscribeVariablesRequest>,
    ) -> Result<Stream<Bytes>, Status> {
        let caller = Caller::of(&request)?;
        let asked = request.into_inner();
        check_patterns(&asked.patterns)?;
        let (interval, deadband) = rate(&asked)?;
        let place = self.streams.begin()?;
        let feeds = self.feeds.clone();
        let (end, stream) = place.open(&self.sites);
        let join = move |places: &Places| {
            let SubscribeVariablesRequest { site, partition, patterns, .. } = asked;
            let watch = watch(places, &caller, (&site, &partition), &patterns)?;
            let opened = watch.opened();
            let subject = Subject {
                partition: (opened.site.clone(), opened.partition.clone()),
                exchange: (opened.incarnation, opened.generation),
                patterns,
                interval,
                deadband,
            };
            Ok(feeds.join(subject, watch, end))
        };
        self.sites.wait_for(join).await??;
        Ok(stream)
    }
}

#[tonic::async_trait]
impl VariableService for VariableCalls {
    type SubscribeVariablesStream = Stream<SubscribeVariablesResponse>;

    async fn list_variables(
        &self,
        request: Request<ListVariablesRequest>,
    ) -> Result<Response<ListVariablesResponse>, Status> {
        let caller = Caller::of(&request)?;
        let asked = request.into_inner();
        check_patterns(std::slice::from_ref(&asked.pattern))?;
        let list = self.sites.wait_for(move |places| {
            let mut client = connect_to(places, (&asked.site, &asked.partition), &caller)?;
            page(&Monitor::open(&mut client, &asked.partition)?, &asked)
        });
        Ok(Response::new(list.await?))
    }

    async fn read_variables(
        &self,
        request: Request<ReadVariablesRequest>,
    ) -> Result<Response<ReadVariablesResponse>, Status> {
        let caller = Caller::of(&request)?;
        let ReadVariablesRequest { site, partition, patterns } = request.into_inner();
        check_patterns(&patterns)?;
        let read = self.sites.wait_for(move |places| {
            Ok(watch(places, &caller, (&site, &partition), &patterns)?.sample()?)
        });
        let sample = read.await?;
        let reading = Some(variables::reading(&sample));
        let variables = sample.rows.iter().map(shown).collect();
        Ok(Response::new(ReadVariablesResponse { variables, reading }))
    }

    async fn write_variables(
        &self,
        request: Request<WriteVariablesRequest>,
    ) -> Result<Response<WriteVariablesResponse>, Status> {
        let caller = Caller::of(&request)?;
        let WriteVariablesRequest { site, partition, changes, confirm } = request.into_inner();
        let changes: Result<Vec<_>, _> = changes.into_iter().map(change).collect();
        let verb = Verb::Write { changes: changes.map_err(CallError::from)?, confirm };
        verb.check().map_err(CallError::from)?;
        let (call, of) = ("VariableService/WriteVariables", (site, partition));
        let applied: Applied = self.audit.ask(&self.sites, call, of, caller, verb).await?;
        Ok(Response::new(applied.into()))
    }

    async fn unforce_all(
        &self,
        request: Request<UnforceAllRequest>,
    ) -> Result<Response<UnforceAllResponse>, Status> {
        let caller = Caller::of(&request)?;
        let UnforceAllRequest { site, partition } = request.into_inner();
        let (call, of) = ("VariableService/UnforceAll", (site, partition));
        let ask = self.audit.ask(&self.sites, call, of, caller, Verb::UnforceAll);
        let applied: Applied = ask.await?;
        Ok(Response::new(applied.into()))
    }

    async fn subscribe_variables(
        &self,
        _: Request<SubscribeVariablesRequest>,
    ) -> Result<Response<Self::SubscribeVariablesStream>, Status> {
        Err(Status::internal("subscriptions are answered before they come here"))
    }

    async fn list_changes(
        &self,
        request: Request<ListChangesRequest>,
    ) -> Result<Response<ListChangesResponse>, Status> {
        let caller = Caller::of(&request)?;
        let ListChangesRequest { site, since } = request.into_inner();
        let grants = caller.grants().clone();
        let ask = self.sites.ask(site, caller, move |client| {
            let mut found = client.changes(since)?;
            found.changes.retain(|it| grants.has_partition(client.site(), &it.partition));
            Ok(found)
        });
        Ok(Response::new(ask.await?.into()))
    }
}

/// Begins to watch the variables of a partition, [`FOLLOWED_MAX`] at most.
fn watch(
    places: &Places,
    caller: &Caller,
    (site, partition): (&str, &str),
    patterns: &[String],
) -> Result<Watch, CallError> {
    let client = connect_to(places, (site, partition), caller)?;
    let mut watch = Watch::begin(client, partition, patterns)?;
    watch.rest();
    match watch.variable_count() {
        0..=FOLLOWED_MAX => Ok(watch),
        more => Err(CallError::Argument(format!(
            "the patterns choose {more} variables; at most {FOLLOWED_MAX} are read together"
        ))),
    }
}

/// Refuses too many patterns, and too long ones.
pub(crate) fn check_patterns(patterns: &[String]) -> Result<(), CallError> {
    if patterns.len() > PATTERNS_MAX {
        let count = patterns.len();
        let told = format!("{count} patterns; a call has at most {PATTERNS_MAX}");
        return Err(CallError::Argument(told));
    }
    match patterns.iter().find(|pattern| pattern.len() > PATTERN_BYTES_MAX) {
        None => Ok(()),
        Some(long) => Err(CallError::Argument(format!(
            "a pattern has {} bytes; it may have {PATTERN_BYTES_MAX}",
            long.len()
        ))),
    }
}

/// Returns the interval of a subscription, and what it leaves out.
fn rate(asked: &SubscribeVariablesRequest) -> Result<(Duration, Deadband), CallError> {
    let refuse = |told: &str| CallError::Argument(told.to_owned());
    let deadband = Deadband::new(asked.deadband);
    let deadband = deadband
        .ok_or_else(|| refuse("deadband: it is below zero or no number; give 0 or more"))?;
    Ok((interval(Duration::from_micros(asked.interval_us))?, deadband))
}

/// Returns a page of the partition's variables.
fn page(
    monitor: &Monitor,
    asked: &ListVariablesRequest,
) -> Result<ListVariablesResponse, CallError> {
    let generation = monitor.opened().generation;
    let begin = first_of(&asked.page_token, generation)?;
    let size = match asked.page_size {
        0 => PAGE_DEFAULT,
        size => size.min(PAGE_MAX),
    } as usize;
    let pattern = match asked.pattern.as_str() {
        "" => None,
        text => Some(
            Pattern::parse(text)
                .map_err(|error| CallError::Argument(format!("pattern `{text}`: {error}")))?,
        ),
    };
    let leaves = monitor.symbols().leaves(pattern.as_ref(), usize::MAX);
    let mut found = leaves.filter(|(_, place)| place.memory == Memory::Data).skip(begin);
    let page = found.by_ref().take(size).map(|(path, place)| v1::Variable {
        path,
        r#type: place.scalar.to_string(),
        role: place.access.to_string(),
        writable: place.writable,
    });
    let variables: Vec<_> = page.collect();
    let next_page_token = match found.next() {
        None => String::new(),
        Some(_) => format!("{generation}:{}", begin + variables.len()),
    };
    Ok(ListVariablesResponse { variables, next_page_token, generation })
}

/// Returns the number of the first variable of a page.
fn first_of(token: &str, generation: u32) -> Result<usize, CallError> {
    if token.is_empty() {
        return Ok(0);
    }
    let parts = token.split_once(':');
    let read = parts.and_then(|(build, first)| {
        Some((build.parse::<u32>().ok()?, first.parse::<usize>().ok()?))
    });
    match read {
        Some((build, first)) if build == generation => Ok(first),
        _ => Err(CallError::Argument(
            "page_token: it is not of the build that runs; begin again without one".to_owned(),
        )),
    }
}

fn shown(row: &Row) -> VariableValue {
    VariableValue {
        variable: Some(variables::described(row)),
        value: Some(value(&row.value)),
        forced: row.forced,
    }
}
