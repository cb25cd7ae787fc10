//! `HostService`: the machine, and its fitness as `quietcore doctor` finds it.

use quietcore_api::v1::host_service_server::HostService;
use quietcore_api::v1::{
    Cpu, ExamineHostRequest, ExamineHostResponse, GetHostRequest, GetHostResponse, ListCpusRequest,
    ListCpusResponse,
};
use quietcore_host::cpu_use::UsedCpu;
use quietcore_host::doctor::Report;
use quietcore_host::running_partitions::RunningPartition;
use quietcore_host::{Facts, Source, cpu_use};
use quietcore_process::thread::setting;
use quietcore_units::CpuSet;
use rustix::system::uname;
use tonic::{Request, Response, Status};

use crate::caller::Caller;
use crate::failure::CallError;
use crate::sites::Sites;

/// Answers calls about the machine; they ask no site.
#[derive(Debug)]
pub(crate) struct HostCalls {
    sites: Sites,
}

impl HostCalls {
    pub(crate) fn new(sites: &Sites) -> Self {
        Self { sites: sites.clone() }
    }
}

#[tonic::async_trait]
impl HostService for HostCalls {
    async fn get_host(
        &self,
        request: Request<GetHostRequest>,
    ) -> Result<Response<GetHostResponse>, Status> {
        Caller::of(&request)?;
        let machine = uname();
        Ok(Response::new(GetHostResponse {
            name: machine.nodename().to_string_lossy().into_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: machine.release().to_string_lossy().into_owned(),
        }))
    }

    async fn examine_host(
        &self,
        request: Request<ExamineHostRequest>,
    ) -> Result<Response<ExamineHostResponse>, Status> {
        Caller::of(&request)?;
        let ExamineHostRequest { cpus, with_report } = request.into_inner();
        let cpus = match cpus.as_str() {
            "" => None,
            list => {
                let cpus = list.parse::<CpuSet>();
                let refused = |error| CallError::Argument(format!("cpus: {error}"));
                Some(cpus.map_err(refused)?)
            }
        };
        let examined = self.sites.wait_for(move |_| Ok(Report::new(Facts::read(), cpus.as_ref())));
        let examined = examined.await?;
        let report = match with_report {
            true => as_json(&examined)?,
            false => String::new(),
        };
        let findings = examined.findings.into_iter().map(Into::into).collect();
        Ok(Response::new(ExamineHostResponse { findings, report }))
    }

    async fn list_cpus(
        &self,
        request: Request<ListCpusRequest>,
    ) -> Result<Response<ListCpusResponse>, Status> {
        let caller = Caller::of(&request)?;
        let cpus = self.sites.wait_for(move |_| {
            let source = Source::live();
            let partitions = RunningPartition::find_others(&source);
            let own = setting::allowed().unwrap_or_default();
            let cpus = cpu_use::read(&source, &partitions).into_iter();
            Ok(cpus.map(|cpu| told(cpu, own, &caller)).collect())
        });
        Ok(Response::new(ListCpusResponse { cpus: cpus.await? }))
    }
}

/// Tells of a CPU, with those of its partitions that are granted to the caller.
fn told(cpu: UsedCpu, own: CpuSet, caller: &Caller) -> Cpu {
    let is_own = own.contains(cpu.number);
    let mut told = Cpu { daemon: is_own, ..Cpu::from(cpu) };
    let grants = caller.grants();
    told.owners.retain(|owner| {
        grants.is_everything() || grants.has_partition(&owner.site, &owner.partition)
    });
    told
}

fn as_json(report: &Report) -> Result<String, Status> {
    serde_json::to_string_pretty(report).map_err(|error| Status::internal(error.to_string()))
}
