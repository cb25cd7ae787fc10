//! An example of each call of the contract, which is carried out; but for a roll-back, which needs
//! a site that is more than a fake.

use std::time::{Duration, Instant};

use quietcore_api::v1;
use quietcore_api::v1::audit_service_client::AuditServiceClient;
use quietcore_api::v1::host_service_client::HostServiceClient;
use quietcore_api::v1::page_service_client::PageServiceClient;
use quietcore_api::v1::partition_service_client::PartitionServiceClient;
use quietcore_api::v1::program_service_client::ProgramServiceClient;
use quietcore_api::v1::qualification_service_client::QualificationServiceClient;
use quietcore_api::v1::site_service_client::SiteServiceClient;
use quietcore_api::v1::start_run_request::Source;
use quietcore_api::v1::trace_service_client::TraceServiceClient;
use quietcore_api::v1::upload_program_request::Content;
use quietcore_api::v1::variable_service_client::VariableServiceClient;
use tonic::Status;

use super::Bench;

const PARTITION: &str = "axis";
const VARIABLE: &str = "servo_P.Kp";

const PROGRAM: &str = "counter";

/// The text of a site without a program, which is applied, or measured by the probe.
const SITE: &str = "[site]\nname = \"line\"\n[[partition]]\nname = \"axis\"\n\
                    class = \"motion-control\"\n[partition.vcr]\ncpus = [1]\n";

/// Returns the site and the partition that a call of [`make`] is about.
pub(crate) fn place(call: &str) -> (&'static str, &'static str) {
    match call {
        "PageService/CreateLink"
        | "ProgramService/UploadProgram"
        | "ProgramService/BuildProgram"
        | "ProgramService/DeleteVersion" => ("", ""),
        "SiteService/ApplySite" | "SiteService/UndoSite" => ("line", ""),
        call if call.starts_with("QualificationService/") => ("line", ""),
        _ => ("line", PARTITION),
    }
}

/// Returns `true` if a call of [`make`] is refused, since the site is a fake and the command line
/// is not beside the tests.
pub(crate) fn is_refused(call: &str) -> bool {
    let refused = [
        "ProgramService/RollBackProgram",
        "QualificationService/FetchFile",
        "SiteService/ApplySite",
        "SiteService/GetSite",
        "SiteService/PlanSite",
        "SiteService/UndoSite",
    ];
    refused.contains(&call)
}

/// Sends the two versions of a program that other calls are about, and makes a run and two traces.
pub(crate) fn prepare(bench: &Bench) {
    for text in ["double first;", "double second;"] {
        upload(bench, text).expect("a version");
    }
    start_run(bench).expect("a run");
    for number in 1..=2 {
        start_trace(bench).expect("a trace");
        let mut traces = TraceServiceClient::new(bench.channel.clone());
        bench.run(traces.stop_trace(v1::StopTraceRequest { number })).expect("it runs");
    }
}

/// Makes a call, as it is called in [`quietcore_daemon::CALLS`].
pub(crate) fn make(bench: &Bench, call: &str) {
    let (service, name) = call.split_once('/').expect("a service and its call");
    let made = match service {
        "AuditService" => audit(bench, name),
        "HostService" => host(bench, name),
        "PageService" => page(bench, name),
        "PartitionService" => partition(bench, name),
        "ProgramService" => program(bench, name),
        "QualificationService" => qualification(bench, name),
        "SiteService" => site(bench, name),
        "TraceService" => trace(bench, name),
        "VariableService" => variable(bench, name),
        _ => None,
    };
    let made = made.unwrap_or_else(|| panic!("a new call: say here how `{call}` is made"));
    assert_eq!(made.is_err(), is_refused(call), "{call}: {made:?}");
}

/// The outcome of a call; `None` for a name that is not known.
type Made = Option<Result<(), Status>>;

fn audit(bench: &Bench, name: &str) -> Made {
    let mut audit = AuditServiceClient::new(bench.channel.clone());
    let request = v1::ListEntriesRequest::default();
    (name == "ListEntries").then(|| bench.run(audit.list_entries(request)).map(drop))
}

fn host(bench: &Bench, name: &str) -> Made {
    let mut host = HostServiceClient::new(bench.channel.clone());
    Some(match name {
        "ExamineHost" => {
            let request = v1::ExamineHostRequest { cpus: "0".to_owned(), with_report: false };
            bench.run(host.examine_host(request)).map(drop)
        }
        "ListCpus" => bench.run(host.list_cpus(v1::ListCpusRequest {})).map(drop),
        "GetHost" => bench.run(host.get_host(v1::GetHostRequest {})).map(drop),
        _ => return None,
    })
}

fn page(bench: &Bench, name: &str) -> Made {
    let mut page = PageServiceClient::new(bench.channel.clone());
    let request = v1::CreateLinkRequest { role: "viewer".to_owned() };
    (name == "CreateLink").then(|| bench.run(page.create_link(request)).map(drop))
}

fn program(bench: &Bench, name: &str) -> Made {
    let mut programs = ProgramServiceClient::new(bench.channel.clone());
    let (partition, program) = (PARTITION.to_owned(), PROGRAM.to_owned());
    Some(match name {
        "BuildProgram" => {
            let request = v1::BuildProgramRequest { program, version: 2, ..<_>::default() };
            bench.run(programs.build_program(request)).map(drop)
        }
        "DeleteVersion" => {
            let request = v1::DeleteVersionRequest { program, version: 1 };
            bench.run(programs.delete_version(request)).map(drop)
        }
        "DeployProgram" => {
            let request =
                v1::DeployProgramRequest { partition, program, version: 2, ..<_>::default() };
            bench.run(programs.deploy_program(request)).map(drop)
        }
        "ListPrograms" => bench.run(programs.list_programs(v1::ListProgramsRequest {})).map(drop),
        "ListVersions" => {
            bench.run(programs.list_versions(v1::ListVersionsRequest { program })).map(drop)
        }
        "RollBackProgram" => {
            let request = v1::RollBackProgramRequest { partition, ..<_>::default() };
            bench.run(programs.roll_back_program(request)).map(drop)
        }
        "UploadProgram" => upload(bench, "double third;"),
        _ => return None,
    })
}

fn start_run(bench: &Bench) -> Result<(), Status> {
    let mut runs = QualificationServiceClient::new(bench.channel.clone());
    let request = v1::StartRunRequest {
        kind: v1::RunKind::Qualify.into(),
        source: Some(Source::Toml(SITE.to_owned())),
        ..v1::StartRunRequest::default()
    };
    bench.run(runs.start_run(request)).map(drop)
}

/// Waits for a run that was cancelled before: it ends in its own time, and one goes on at once.
fn wait_for_end(bench: &Bench, number: u64) {
    let mut runs = QualificationServiceClient::new(bench.channel.clone());
    let end = Instant::now() + Duration::from_secs(60);
    let mut state = || {
        let told = bench.run(runs.get_run(v1::GetRunRequest { number })).expect("a run");
        told.run.expect("a run").state()
    };
    while state() == v1::RunState::Running {
        assert!(Instant::now() < end, "run {number} goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn qualification(bench: &Bench, name: &str) -> Made {
    let mut runs = QualificationServiceClient::new(bench.channel.clone());
    let number = 1;
    Some(match name {
        "CancelRun" => bench.run(runs.cancel_run(v1::CancelRunRequest { number })).map(drop),
        "FetchFile" => {
            let request = v1::FetchFileRequest { number, name: "manifest.json".to_owned() };
            bench.run(runs.fetch_file(request)).map(drop)
        }
        "GetRun" => bench.run(runs.get_run(v1::GetRunRequest { number })).map(drop),
        "ListRuns" => bench.run(runs.list_runs(v1::ListRunsRequest {})).map(drop),
        "ListVerdicts" => bench.run(runs.list_verdicts(v1::ListVerdictsRequest {})).map(drop),
        "StartRun" => {
            wait_for_end(bench, number);
            start_run(bench)
        }
        "WatchRun" => bench.run(runs.watch_run(v1::WatchRunRequest { number })).map(drop),
        _ => return None,
    })
}

fn upload(bench: &Bench, text: &str) -> Result<(), Status> {
    let parts = [
        Content::Begin(v1::UploadBegin { program: PROGRAM.to_owned() }),
        Content::File("counter.c".to_owned()),
        Content::Chunk(text.as_bytes().to_vec()),
    ];
    let parts = parts.map(|part| v1::UploadProgramRequest { content: Some(part) });
    let mut programs = ProgramServiceClient::new(bench.channel.clone());
    bench.run(programs.upload_program(tokio_stream::iter(parts))).map(drop)
}

fn partition(bench: &Bench, name: &str) -> Made {
    let mut partitions = PartitionServiceClient::new(bench.channel.clone());
    let (site, partition) = (String::new(), PARTITION.to_owned());
    Some(match name {
        "GetTiming" => {
            let request = v1::GetTimingRequest { site, partition };
            bench.run(partitions.get_timing(request)).map(drop)
        }
        "ListPartitions" => {
            bench.run(partitions.list_partitions(v1::ListPartitionsRequest { site })).map(drop)
        }
        "PausePartition" => {
            let request = v1::PausePartitionRequest { site, partition };
            bench.run(partitions.pause_partition(request)).map(drop)
        }
        "ResumePartition" => {
            let request = v1::ResumePartitionRequest { site, partition };
            bench.run(partitions.resume_partition(request)).map(drop)
        }
        "RestartPartition" => {
            let request = v1::RestartPartitionRequest { site, partition, kind: 0 };
            bench.run(partitions.restart_partition(request)).map(drop)
        }
        _ => return None,
    })
}

fn site(bench: &Bench, name: &str) -> Made {
    let mut sites = SiteServiceClient::new(bench.channel.clone());
    let (toml, site) = (SITE.to_owned(), "line".to_owned());
    Some(match name {
        "ApplySite" => {
            let request = v1::ApplySiteRequest { toml, replace: true, ..<_>::default() };
            bench.run(sites.apply_site(request)).map(drop)
        }
        "GetSite" => bench.run(sites.get_site(v1::GetSiteRequest { site, version: 0 })).map(drop),
        "ListSiteVersions" => {
            let request = v1::ListSiteVersionsRequest { site };
            bench.run(sites.list_site_versions(request)).map(drop)
        }
        "PlanSite" => {
            let request = v1::PlanSiteRequest { toml, ..<_>::default() };
            bench.run(sites.plan_site(request)).map(drop)
        }
        "UndoSite" => {
            let request = v1::UndoSiteRequest { site, before: false };
            bench.run(sites.undo_site(request)).map(drop)
        }
        "ListSites" => bench.run(sites.list_sites(v1::ListSitesRequest {})).map(drop),
        "ValidateSite" => {
            bench.run(sites.validate_site(v1::ValidateSiteRequest::default())).map(drop)
        }
        "WatchEvents" => bench.run(sites.watch_events(v1::WatchEventsRequest::default())).map(drop),
        _ => return None,
    })
}

fn start_trace(bench: &Bench) -> Result<(), Status> {
    let mut traces = TraceServiceClient::new(bench.channel.clone());
    let request = v1::StartTraceRequest {
        partition: PARTITION.to_owned(),
        variables: vec![VARIABLE.to_owned()],
        after: 10,
        ..v1::StartTraceRequest::default()
    };
    bench.run(traces.start_trace(request)).map(drop)
}

fn trace(bench: &Bench, name: &str) -> Made {
    let mut traces = TraceServiceClient::new(bench.channel.clone());
    let (deleted, kept, started) = (1, 2, 3);
    Some(match name {
        "DeleteTrace" => {
            bench.run(traces.delete_trace(v1::DeleteTraceRequest { number: deleted })).map(drop)
        }
        "FetchTrace" => {
            bench.run(traces.fetch_trace(v1::FetchTraceRequest { number: kept })).map(drop)
        }
        "GetTrace" => bench.run(traces.get_trace(v1::GetTraceRequest { number: kept })).map(drop),
        "ListTraces" => bench.run(traces.list_traces(v1::ListTracesRequest::default())).map(drop),
        "StartTrace" => start_trace(bench),
        "StopTrace" => {
            bench.run(traces.stop_trace(v1::StopTraceRequest { number: started })).map(drop)
        }
        _ => return None,
    })
}

fn variable(bench: &Bench, name: &str) -> Made {
    let mut variables = VariableServiceClient::new(bench.channel.clone());
    let (site, partition) = (String::new(), PARTITION.to_owned());
    let patterns = vec![VARIABLE.to_owned()];
    Some(match name {
        "ListChanges" => {
            bench.run(variables.list_changes(v1::ListChangesRequest::default())).map(drop)
        }
        "ListVariables" => {
            let request = v1::ListVariablesRequest { partition, ..<_>::default() };
            bench.run(variables.list_variables(request)).map(drop)
        }
        "ReadVariables" => {
            let request = v1::ReadVariablesRequest { site, partition, patterns };
            bench.run(variables.read_variables(request)).map(drop)
        }
        "SubscribeVariables" => {
            let interval_us = 100_000;
            let request = v1::SubscribeVariablesRequest {
                partition,
                patterns,
                interval_us,
                ..v1::SubscribeVariablesRequest::default()
            };
            bench.run(variables.subscribe_variables(request)).map(drop)
        }
        "UnforceAll" => {
            let request = v1::UnforceAllRequest { site, partition };
            bench.run(variables.unforce_all(request)).map(drop)
        }
        "WriteVariables" => bench.write(VARIABLE).map(drop),
        _ => return None,
    })
}
