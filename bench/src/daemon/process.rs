//! The daemon as a process of its own, and what the kernel says of it.

use std::fs;
use std::future::Future;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_api::v1::ListSitesRequest;
use quietcore_api::v1::site_service_client::SiteServiceClient;
use quietcore_supervisor::places::{Places, RUN_VARIABLE, STATE_VARIABLE};
use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::{Builder, Runtime};
use tonic::transport::{Channel, Endpoint};

/// Time in which the daemon must answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two tries to reach it.
const GLANCE: Duration = Duration::from_micros(200);

/// A daemon that runs, and a client of it. Dropping it ends the process.
pub(crate) struct Served {
    process: Child,
    runtime: Runtime,
    endpoint: Endpoint,
    channel: Channel,
    /// From the start of the process to its first answer.
    pub(crate) until_ready: Duration,
}

impl Served {
    /// Starts a daemon in these folders that serves calls alone, and waits for its first answer.
    pub(crate) fn start(places: &Places) -> Result<Self, String> {
        Self::start_with(places, &["--no-page"])
    }

    /// The same with these arguments.
    pub(crate) fn start_with(places: &Places, arguments: &[&str]) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let program = own.with_file_name("quietcored");
        if !program.is_file() {
            let how = "cargo build --release -p quietcore-daemon";
            return Err(format!("quietcored is missing; run `{how}` first"));
        }
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let socket = places.daemon_socket();
        let state = places.daemon_state().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(arguments).stderr(Stdio::null());
        command.env(RUN_VARIABLE, places.run_folder());
        command.env(STATE_VARIABLE, state.parent().ok_or("there is no state folder")?);
        let begun = Instant::now();
        let mut process = command.spawn().map_err(|error| error.to_string())?;
        let endpoint = Endpoint::from_shared(format!("unix:{}", socket.display()));
        let endpoint = endpoint.map_err(|error| error.to_string())?;
        loop {
            let answered = runtime.block_on(async {
                let channel = endpoint.connect().await.ok()?;
                let mut client = SiteServiceClient::new(channel.clone());
                client.list_sites(ListSitesRequest {}).await.ok()?;
                Some(channel)
            });
            if let Some(channel) = answered {
                let until_ready = begun.elapsed();
                return Ok(Self { process, runtime, endpoint, channel, until_ready });
            }
            if begun.elapsed() > PATIENCE {
                let _ = process.kill();
                let _ = process.wait();
                return Err("quietcored does not answer after 10 s".to_owned());
            }
            thread::sleep(GLANCE);
        }
    }

    /// Returns the address at which other clients reach it.
    pub(crate) fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    /// A connection to it.
    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Runs calls of a client to their end.
    pub(crate) fn wait<T>(&self, calls: impl Future<Output = T>) -> T {
        self.runtime.block_on(calls)
    }

    /// Its memory that is resident, in MB.
    pub(crate) fn resident_mb(&self) -> Result<f64, String> {
        resident_mb(self.process.id())
    }

    /// The processor time that it has used.
    pub(crate) fn processor_time(&self) -> Result<Duration, String> {
        processor_time(self.process.id())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It ends in order, and its socket with it.
        let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let _ = self.process.wait();
    }
}

/// Returns the resident memory of a process in MB.
pub(super) fn resident_mb(process: u32) -> Result<f64, String> {
    let path = format!("/proc/{process}/status");
    let status = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kib.map(|kib| kib * 1024.0 / 1e6).ok_or_else(|| format!("{path}: no VmRSS"))
}

/// Returns the processor time of all threads of a process, which the kernel counts in ticks.
pub(super) fn processor_time(process: u32) -> Result<Duration, String> {
    let path = format!("/proc/{process}/stat");
    let stat = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    // The name, in parentheses, may hold anything.
    let fields = stat.rsplit_once(") ").map(|(_, fields)| fields).unwrap_or_default();
    let mut ticks = fields.split(' ').skip(11).map(|field| field.parse::<u64>().unwrap_or(0));
    let used = ticks.next().unwrap_or(0) + ticks.next().unwrap_or(0);
    let a_second = rustix::param::clock_ticks_per_second();
    Ok(Duration::from_secs_f64(used as f64 / a_second as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_memory_and_processor_time() {
        let own = std::process::id();
        assert!(resident_mb(own).unwrap() > 0.1);
        let before = processor_time(own).unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while processor_time(own).unwrap() == before {
            assert!(Instant::now() < end, "no time is counted");
        }
        assert!(resident_mb(u32::MAX).unwrap_err().contains("/proc/"));
    }
}
