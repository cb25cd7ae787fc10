//! Errors of the product as gRPC statuses.

use quietcore_api::refusal;
use quietcore_audit::TrailError;
use quietcore_programs::ProgramsError;
use quietcore_programs::sites::SitesError;
use quietcore_supervisor::ControlError;
use quietcore_supervisor::client::ClientError;
use quietcore_supervisor::monitor::MonitorError;
use quietcore_supervisor::places::PlaceError;
use quietcore_supervisor::recording::RecordingError;
use quietcore_units::Causes;
use tonic::Status;

use crate::qualification::RunError;
use crate::traces::TraceError;

/// The reason why a call was not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// The site could not be reached, or has refused.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The partition's memory can't be read.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// The folders of running sites can't be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The audit trail can't be read.
    #[error(transparent)]
    Audit(#[from] TrailError),
    /// The daemon has refused.
    #[error(transparent)]
    Refused(#[from] ControlError),
    /// The caller may not do it.
    #[error(transparent)]
    Denied(#[from] Status),
    /// Programs that were received can't be used so.
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    /// Sites whose texts were received can't be used so.
    #[error(transparent)]
    Sites(#[from] SitesError),
    /// Runs can't be used so.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Variables can't be recorded so.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// Traces can't be used so.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The state of the daemon, or of a site, does not allow it now.
    #[error("{0}")]
    NotNow(String),
    /// The client asks for something that the contract has no room for.
    #[error("{0}")]
    Argument(String),
}

impl From<CallError> for Status {
    fn from(error: CallError) -> Self {
        match &error {
            CallError::Refused(refused)
            | CallError::Client(ClientError::Refused(refused))
            | CallError::Monitor(MonitorError::Client(ClientError::Refused(refused))) => {
                refusal::status(refused)
            }
            CallError::Client(client) => of_client(client),
            CallError::Monitor(monitor) => of_monitor(monitor),
            CallError::Place(_) => Self::internal(Causes(&error).to_string()),
            CallError::Denied(status) => status.clone(),
            CallError::Audit(_) => Self::unavailable(Causes(&error).to_string()),
            CallError::Programs(error) => of_programs(error),
            CallError::Sites(error) => of_sites(error),
            CallError::Run(error) => of_runs(error),
            CallError::Recording(error) => of_recordings(error),
            CallError::Trace(error) => of_traces(error),
            CallError::NotNow(told) => Self::failed_precondition(told),
            CallError::Argument(told) => Self::invalid_argument(told),
        }
    }
}

fn of_runs(error: &RunError) -> Status {
    let told = Causes(error).to_string();
    match error {
        RunError::NoRun { .. } | RunError::NoFile { .. } => Status::not_found(told),
        RunError::Goes { .. } => Status::aborted(told),
        RunError::Ended { .. } | RunError::Start { .. } => Status::failed_precondition(told),
        RunError::FileSize { .. } => Status::resource_exhausted(told),
        RunError::Io { .. } => Status::internal(told),
    }
}

fn of_recordings(error: &RecordingError) -> Status {
    let told = Causes(error).to_string();
    match error {
        RecordingError::Client(client) => of_client(client),
        RecordingError::Monitor(monitor) => of_monitor(monitor),
        RecordingError::TooMany { .. }
        | RecordingError::NoTask { .. }
        | RecordingError::NoPeriod { .. }
        | RecordingError::Nothing { .. }
        | RecordingError::Limit { .. } => Status::invalid_argument(told),
        RecordingError::Replaced => Status::aborted(told),
        RecordingError::Silent(_) => Status::failed_precondition(told),
        RecordingError::Output(_) => Status::internal(told),
    }
}

fn of_traces(error: &TraceError) -> Status {
    let told = Causes(error).to_string();
    match error {
        TraceError::NoTrace { .. } => Status::not_found(told),
        TraceError::TooMany | TraceError::Thread(_) => Status::resource_exhausted(told),
        TraceError::Goes { .. } => Status::unavailable(told),
        TraceError::Damaged { .. } => Status::data_loss(told),
        TraceError::Io { .. } => Status::internal(told),
    }
}

fn of_programs(error: &ProgramsError) -> Status {
    let told = Causes(error).to_string();
    match error {
        ProgramsError::ProgramName { .. }
        | ProgramsError::FileName { .. }
        | ProgramsError::EntryKind { .. }
        | ProgramsError::Archive { .. }
        | ProgramsError::Empty
        | ProgramsError::Order(_) => Status::invalid_argument(told),
        ProgramsError::Limit { .. } | ProgramsError::Full { .. } => {
            Status::resource_exhausted(told)
        }
        ProgramsError::NoProgram { .. } | ProgramsError::NoVersion { .. } => {
            Status::not_found(told)
        }
        ProgramsError::InUse { .. } | ProgramsError::NothingBefore { .. } => {
            Status::failed_precondition(told)
        }
        ProgramsError::Damaged { .. } => Status::data_loss(told),
        ProgramsError::Index(_) | ProgramsError::Io { .. } => Status::internal(told),
    }
}

fn of_sites(error: &SitesError) -> Status {
    let told = Causes(error).to_string();
    match error {
        SitesError::Programs(programs) => of_programs(programs),
        SitesError::NoSite { .. } | SitesError::NoVersion { .. } => Status::not_found(told),
        SitesError::NothingBefore { .. } => Status::failed_precondition(told),
        SitesError::Busy { .. } => Status::aborted(told),
        SitesError::TooMany { .. } => Status::resource_exhausted(told),
        SitesError::Damaged { .. } => Status::data_loss(told),
    }
}

fn of_client(error: &ClientError) -> Status {
    let told = Causes(error).to_string();
    match error {
        ClientError::NothingRuns { .. } | ClientError::NotRunning { .. } => Status::not_found(told),
        ClientError::Several { .. } => Status::invalid_argument(told),
        ClientError::Connect { .. } | ClientError::Broken { .. } => Status::unavailable(told),
        ClientError::StillUp { .. } => Status::deadline_exceeded(told),
        ClientError::Refused(refused) => refusal::status(refused),
        ClientError::Folder(_) | ClientError::Unexpected { .. } => Status::internal(told),
    }
}

fn of_monitor(error: &MonitorError) -> Status {
    let told = Causes(error).to_string();
    match error {
        MonitorError::Client(client) => of_client(client),
        MonitorError::Symbol(_) => Status::not_found(told),
        MonitorError::Pattern { .. } => Status::invalid_argument(told),
        MonitorError::Replaced { .. } => Status::aborted(told),
        MonitorError::Exchange(_) | MonitorError::Symbols { .. } | MonitorError::Data(_) => {
            Status::internal(told)
        }
    }
}
