//! A connection to a daemon, and the calls on it: one call, one answer.

use std::future::Future;
use std::time::Duration;

use quietcore_api::convert::answer::{applied, event, finding, harmless, partitions, read_value};
use quietcore_api::v1;
use quietcore_api::v1::audit_service_client::AuditServiceClient;
use quietcore_api::v1::host_service_client::HostServiceClient;
use quietcore_api::v1::partition_service_client::PartitionServiceClient;
use quietcore_api::v1::site_service_client::SiteServiceClient;
use quietcore_api::v1::variable_service_client::VariableServiceClient;
use quietcore_control::{
    Answer, Applied, ControlError, Done, ErrorKind, EventLine, Partitions, Paused, Restart, Verb,
};
use quietcore_host::Finding;
use quietcore_program::Value;
use tokio::runtime::{Builder, Runtime};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Request, Response, Status};

use crate::dial::dial;
use crate::error::RemoteError;
use crate::target::Target;

/// The most bytes of a message.
pub const MESSAGE_BYTES_MAX: usize = 4 << 20;
/// The most sites of a machine.
pub const SITES_MAX: usize = 1000;
/// The most past events of a site.
pub const EVENTS_MAX: usize = 200_000;
/// The most bytes of an audit trail that are read.
pub const AUDIT_BYTES_MAX: usize = 256 << 20;
/// The longest wait for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// Entries of the audit trail that a page looks at.
const PAGE: u32 = 1000;

/// A connection to a daemon.
#[derive(Debug)]
pub struct Remote {
    address: String,
    runtime: Runtime,
    pub(crate) channel: Channel,
    token: Option<MetadataValue<Ascii>>,
}

/// A variable with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Path by which it is read and set.
    pub path: String,
    /// Value at this instant.
    pub value: Value,
    /// Its type, in words.
    pub kind: String,
    /// Its part in the model, in words.
    pub role: String,
    /// `true` if it is forced.
    pub forced: bool,
}

/// Variables that were read together.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Cycle of the fastest task after which they were read.
    pub cycle: u64,
    /// Number of the build that runs.
    pub generation: u32,
    /// `true` if all values are of one instant between two cycles.
    pub consistent: bool,
    /// The variables in the order of the patterns.
    pub variables: Vec<Variable>,
}

/// An entry of the audit trail as it is stored there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// Number in the chain, from 1.
    pub number: u64,
    /// Its canonical form; not made harmless, since its hash is of it as it is.
    pub text: String,
    /// The SHA-256 of it.
    pub hash: String,
}

impl Remote {
    /// Connects to a daemon.
    ///
    /// # Errors
    /// [`RemoteError`] for files that can't be used, and where no daemon of that name answers.
    pub fn connect(target: &Target) -> Result<Self, RemoteError> {
        let address = target.address();
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| RemoteError::Lost {
            address: address.clone(),
            why: error.to_string(),
        })?;
        let (channel, token) = runtime.block_on(dial(target))?;
        let header = |token: String| format!("Bearer {token}").parse();
        let token = token.map(header).transpose().ok().flatten();
        Ok(Self { address, runtime, channel, token })
    }

    /// Returns the address as a person writes it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Lists the sites that run.
    ///
    /// # Errors
    /// [`RemoteError`], as for all calls.
    pub fn sites(&self) -> Result<Vec<v1::RunningSite>, RemoteError> {
        let request = self.request(v1::ListSitesRequest {}, ANSWER_MAX);
        let answer = self.wait(async { self.site_calls().list_sites(request).await })?;
        if answer.sites.len() > SITES_MAX {
            return Err(self.too_much("the sites of one machine"));
        }
        let clean = |site: v1::RunningSite| v1::RunningSite {
            name: harmless(site.name),
            site_file: harmless(site.site_file),
            started_by: harmless(site.started_by),
            started_at: harmless(site.started_at),
            quietcore_version: harmless(site.quietcore_version),
            partitions: site.partitions.into_iter().map(harmless).collect(),
            starter: site.starter.map(clean_starter),
            ..site
        };
        Ok(answer.sites.into_iter().map(clean).collect())
    }

    /// Returns the states of a site's partitions; of the only one that runs for an empty name.
    ///
    /// # Errors
    /// [`RemoteError`], as for all calls.
    pub fn partitions(&self, site: &str) -> Result<Partitions, RemoteError> {
        let request = v1::ListPartitionsRequest { site: site.to_owned() };
        let request = self.request(request, ANSWER_MAX);
        let answer = self.wait(async { self.partition_calls().list_partitions(request).await })?;
        Ok(partitions(answer)?)
    }

    /// Asks a partition to change something.
    ///
    /// # Errors
    /// [`RemoteError`], as for all calls; what was refused was not done, unless the error says
    /// otherwise.
    pub fn ask(&self, site: &str, partition: &str, verb: Verb) -> Result<Answer, RemoteError> {
        let (site, partition) = (site.to_owned(), partition.to_owned());
        match verb {
            Verb::Write { changes, confirm } => {
                let changes = changes.into_iter().map(Into::into).collect();
                let asked = v1::WriteVariablesRequest { site, partition, changes, confirm };
                let asked = self.request(asked, ANSWER_MAX);
                let told =
                    self.wait(async { self.variable_calls().write_variables(asked).await })?;
                Ok(Answer::Applied(applied(told.cycle, told.effects)?))
            }
            Verb::UnforceAll => {
                let asked = self.request(v1::UnforceAllRequest { site, partition }, ANSWER_MAX);
                let told = self.wait(async { self.variable_calls().unforce_all(asked).await })?;
                let done: Applied = applied(told.cycle, told.effects)?;
                Ok(Answer::Applied(done))
            }
            Verb::Restart { how } => {
                let kind = match how {
                    Restart::Warm => v1::RestartKind::Warm,
                    Restart::Cold => v1::RestartKind::Cold,
                    Restart::Origin => v1::RestartKind::Origin,
                };
                let asked = v1::RestartPartitionRequest { site, partition, kind: kind.into() };
                let asked = self.request(asked, ANSWER_MAX);
                self.wait(async { self.partition_calls().restart_partition(asked).await })?;
                Ok(Answer::Done(Done {}))
            }
            Verb::Pause => {
                let asked = self.request(v1::PausePartitionRequest { site, partition }, ANSWER_MAX);
                let told =
                    self.wait(async { self.partition_calls().pause_partition(asked).await })?;
                let v1::PausePartitionResponse { was_paused, has_fieldbus } = told;
                Ok(Answer::Paused(Paused { is_paused: true, was_paused, has_fieldbus }))
            }
            Verb::Resume => {
                let asked =
                    self.request(v1::ResumePartitionRequest { site, partition }, ANSWER_MAX);
                let told =
                    self.wait(async { self.partition_calls().resume_partition(asked).await })?;
                let was_paused = told.was_paused;
                Ok(Answer::Paused(Paused { is_paused: false, was_paused, has_fieldbus: false }))
            }
            _ => Err(no_way().into()),
        }
    }

    /// Returns the events of a site that it keeps, from number `since` on.
    ///
    /// # Errors
    /// [`RemoteError`], as for all calls; [`RemoteError::TooMuch`] beyond [`EVENTS_MAX`].
    pub fn events(&self, site: &str, since: u64) -> Result<Vec<EventLine>, RemoteError> {
        let asked = v1::WatchEventsRequest { site: site.to_owned(), since, past_only: true };
        let asked = self.request(asked, ANSWER_MAX);
        let read = async {
            let mut stream = self.site_calls().watch_events(asked).await?.into_inner();
            let mut told = Vec::new();
            while let Some(message) = stream.message().await? {
                told.extend(message.event);
                if told.len() > EVENTS_MAX {
                    break;
                }
            }
            Ok(Response::new(told))
        };
        let told = self.wait(read)?;
        if told.len() > EVENTS_MAX {
            return Err(self.too_much("the events that a site keeps"));
        }
        told.into_iter().map(|it| Ok(event(it)?)).collect()
    }

    /// Reads the variables that patterns choose, of one instant.
    ///
    /// # Errors
    /// [`RemoteError`], as for all calls.
    pub fn read(
        &self,
        (site, partition): (&str, &str),
        patterns: &[String],
    ) -> Result<Reading, RemoteError> {
        let (site, partition) = (site.to_owned(), partition.to_owned());
        let asked = v1::ReadVariablesRequest { site, partition, patterns: patterns.to_owned() };
        let asked = self.request(asked, ANSWER_MAX);
        let told = self.wait(async { self.variable_calls().read_variables(asked).await })?;
        let variable = |it: v1::VariableValue| -> Result<Variable, RemoteError> {
            let described = it.variable.unwrap_or_default();
            Ok(Variable {
                path: harmless(described.path),
                value: read_value(it.value.unwrap_or_default())?,
                kind: harmless(described.r#type),
                role: harmless(described.role),
                forced: it.forced,
            })
        };
        let reading = told.reading.unwrap_or_default();
        Ok(Reading {
            cycle: reading.cycle,
            generation: reading.generation,
            consistent: reading.consistent,
            variables: told.variables.into_iter().map(variable).collect::<Result<_, _>>()?,
        })
    }

    /// Examines the machine; returns the findings, and the report as JSON if it is asked for.
    ///
    /// # Errors
    /// [`RemoteError`], as for all calls.
    pub fn examine(
        &self,
        cpus: &str,
        with_report: bool,
    ) -> Result<(Vec<Finding>, String), RemoteError> {
        let asked = v1::ExamineHostRequest { cpus: cpus.to_owned(), with_report };
        let asked = self.request(asked, ANSWER_MAX);
        let told = self.wait(async {
            let mut calls = HostServiceClient::new(self.channel.clone())
                .max_decoding_message_size(MESSAGE_BYTES_MAX);
            calls.examine_host(asked).await
        })?;
        if with_report && told.report.is_empty() {
            return Err(RemoteError::Old { address: self.address.clone() });
        }
        let findings = told.findings.into_iter().map(finding).collect::<Result<_, _>>()?;
        Ok((findings, harmless(told.report)))
    }

    /// Shows the entries of the audit trail in their order, until `show` returns `false`.
    ///
    /// # Errors
    /// [`RemoteError`], as for all calls; [`RemoteError::TooMuch`] beyond [`AUDIT_BYTES_MAX`].
    pub fn for_each_entry(
        &self,
        mut show: impl FnMut(StoredEntry) -> bool,
    ) -> Result<(), RemoteError> {
        let (mut since, mut bytes) = (0, 0);
        loop {
            let asked = v1::ListEntriesRequest { since, page_size: PAGE, ..Default::default() };
            let asked = self.request(asked, ANSWER_MAX);
            let page = self.wait(async {
                let mut calls = AuditServiceClient::new(self.channel.clone())
                    .max_decoding_message_size(MESSAGE_BYTES_MAX);
                calls.list_entries(asked).await
            })?;
            for entry in page.entries {
                bytes += entry.text.len();
                if bytes > AUDIT_BYTES_MAX {
                    return Err(self.too_much("256 MiB of the audit trail"));
                }
                let v1::AuditEntry { number, text, hash, .. } = entry;
                if !show(StoredEntry { number, text, hash }) {
                    return Ok(());
                }
            }
            // A page that leads back would have no end.
            if page.at_end || page.next <= since {
                return Ok(());
            }
            since = page.next;
        }
    }

    /// Makes a request that ends after a while, with the token if there is one.
    pub(crate) fn request<T>(&self, message: T, longest: Duration) -> Request<T> {
        let mut request = Request::new(message);
        request.set_timeout(longest);
        if let Some(token) = &self.token {
            request.metadata_mut().insert("authorization", token.clone());
        }
        request
    }

    /// Makes a call in this thread and waits for its answer.
    pub(crate) fn wait<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, RemoteError> {
        let answered = self.runtime.block_on(call);
        let refused = |status: Status| RemoteError::of_status(&status, &self.address);
        answered.map(Response::into_inner).map_err(refused)
    }

    fn too_much(&self, limit: &'static str) -> RemoteError {
        RemoteError::TooMuch { address: self.address.clone(), limit }
    }

    fn site_calls(&self) -> SiteServiceClient<Channel> {
        let calls = SiteServiceClient::new(self.channel.clone());
        calls.max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    fn partition_calls(&self) -> PartitionServiceClient<Channel> {
        let calls = PartitionServiceClient::new(self.channel.clone());
        calls.max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    fn variable_calls(&self) -> VariableServiceClient<Channel> {
        let calls = VariableServiceClient::new(self.channel.clone());
        calls.max_decoding_message_size(MESSAGE_BYTES_MAX)
    }
}

fn clean_starter(starter: v1::Starter) -> v1::Starter {
    v1::Starter {
        user: harmless(starter.user),
        login: starter.login.map(harmless),
        folder: starter.folder.map(harmless),
        terminal: starter.terminal.map(harmless),
        session: starter.session,
        command: starter.command.map(harmless),
        service: starter.service.map(harmless),
    }
}

/// Returns the refusal of a verb that has no call.
fn no_way() -> ControlError {
    let what = "this can't be asked of a daemon";
    ControlError::new(ErrorKind::BadRequest, "", what, "ask the site on its own machine")
}
