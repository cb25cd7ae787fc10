//! Ten clients that follow a thousand variables each, 100 times a second: what the daemon needs for
//! a value, beside a server of OPC UA, and whether the partition notices.
//!
//! ```text
//! quietcored   alone ─ followed ──────────── followed ─ alone ──────────── …   pairs of blocks
//! asyncua                         one client                      one client   between some
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_api::v1::subscribe_variables_response::Content;
use quietcore_api::v1::variable_service_client::VariableServiceClient;
use quietcore_api::v1::{Sample, SubscribeVariablesRequest};
use tokio::runtime::Builder;
use tonic::transport::Channel;

use crate::findings::{Common, Findings, Goal};
use crate::site::Life;
use crate::watch::{self, model};

use super::process::{Served, processor_time};
use super::{LEAVES, opc_ua};

/// Clients of the daemon.
const CLIENTS: usize = 10;
/// Clients of the peer: with ten its server is so busy that next to nothing comes.
const PEER_CLIENTS: usize = 1;
/// The most rounds with a block of the peer, whose server takes seconds to start.
const PEER_ROUNDS: usize = 6;
/// Time between two samples of a client.
const INTERVAL: Duration = Duration::from_millis(10);
/// The most of a core that the daemon may need.
const GOAL: Goal = Goal::AtMost(15.0);
/// Time in which the clients must have a first sample.
const PATIENCE: Duration = Duration::from_secs(10);

/// Counts of what the clients have got.
#[derive(Debug, Default)]
struct Got {
    samples: AtomicU64,
    values: AtomicU64,
    left_out: AtomicU64,
    ended: AtomicBool,
}

/// The figures of the daemon, a value a block.
#[derive(Default)]
struct Followed {
    core_percent: Vec<f64>,
    ns_a_value: Vec<f64>,
    lost: u64,
    samples: u64,
}

/// Measures blocks with and without clients, and the peer between them.
pub(super) fn measure(
    life: &Life,
    served: &Served,
    rounds: usize,
    common: &Common,
    findings: &mut Findings,
) -> Result<(), String> {
    let cycles = common.length(2_000, 300);
    let mut followed = Followed::default();
    let (mut off, mut on) = (Vec::new(), Vec::new());
    let mut peer = Peer::default();
    for round in 0..rounds {
        for has_clients in [round.is_multiple_of(2), !round.is_multiple_of(2)] {
            let clients = has_clients.then(|| Clients::begin(life, served)).transpose()?;
            let window = match &clients {
                None => watch::block(life, cycles)?,
                Some(clients) => followed.block(life, served, clients, cycles)?,
            };
            if has_clients { on.push(window) } else { off.push(window) }
        }
        if round.is_multiple_of(rounds.div_ceil(PEER_ROUNDS)) {
            peer.block(common, followed.ns_a_value.last().copied().unwrap_or_default());
        }
    }
    findings.goal("part of a core, quietcored with ten clients", "%", &followed.core_percent, GOAL);
    findings.figure("a value, quietcored", "ns", &followed.ns_a_value);
    findings.remark(format!(
        "{} samples of {LEAVES} values came, {} were left out by the daemon for a slow client",
        followed.samples, followed.lost
    ));
    watch::tell(findings, &off, &on, cycles)?;
    peer.tell(findings);
    Ok(())
}

impl Followed {
    /// Measures a block with clients, once each has its first sample.
    fn block(
        &mut self,
        life: &Life,
        served: &Served,
        clients: &Clients,
        cycles: u64,
    ) -> Result<watch::Window, String> {
        let moment = || -> Result<_, String> {
            let got = &clients.got;
            let counts = [&got.samples, &got.values, &got.left_out].map(|it| it.load(Relaxed));
            Ok((Instant::now(), served.processor_time()?, counts))
        };
        let (begun, used_before, before) = moment()?;
        let window = watch::block(life, cycles)?;
        let (ended, used, after) = moment()?;
        if clients.got.ended.load(Relaxed) {
            return Err("a subscription ended by itself".to_owned());
        }
        let [samples, values, left_out] = [0, 1, 2].map(|index| after[index] - before[index]);
        let used = (used - used_before).as_secs_f64();
        self.core_percent.push(used / (ended - begun).as_secs_f64() * 100.0);
        self.ns_a_value.push(used * 1e9 / (values.max(1)) as f64);
        self.samples += samples;
        self.lost += left_out;
        Ok(window)
    }
}

/// Clients that follow all variables, on a thread of their own, until this is dropped.
struct Clients {
    got: Arc<Got>,
    thread: Option<thread::JoinHandle<()>>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl Clients {
    /// Begins to follow, and waits for the first sample of each.
    fn begin(life: &Life, served: &Served) -> Result<Self, String> {
        let request = SubscribeVariablesRequest {
            partition: life.client()?.1.to_owned(),
            patterns: vec![model::ALL.to_owned()],
            interval_us: INTERVAL.as_micros() as u64,
            ..SubscribeVariablesRequest::default()
        };
        let got = Arc::new(Got::default());
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = {
            let (got, endpoint) = (Arc::clone(&got), served.endpoint());
            thread::spawn(move || {
                let Ok(runtime) = Builder::new_current_thread().enable_all().build() else {
                    return got.ended.store(true, Relaxed);
                };
                runtime.block_on(async {
                    for _ in 0..CLIENTS {
                        let got = Arc::clone(&got);
                        let Ok(channel) = endpoint.connect().await else {
                            return got.ended.store(true, Relaxed);
                        };
                        tokio::spawn(follow(channel, request.clone(), got));
                    }
                    let _ = stopped.await;
                });
            })
        };
        let clients = Self { got, thread: Some(thread), stop: Some(stop) };
        let end = Instant::now() + PATIENCE;
        while clients.got.samples.load(Relaxed) < 2 * CLIENTS as u64 {
            if clients.got.ended.load(Relaxed) || Instant::now() > end {
                return Err("the daemon sends no samples".to_owned());
            }
            thread::sleep(INTERVAL);
        }
        Ok(clients)
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Had it panicked, its counts would have stood still.
            let _ = thread.join();
        }
    }
}

/// Follows as one client, on a connection of its own.
async fn follow(channel: Channel, request: SubscribeVariablesRequest, got: Arc<Got>) {
    let mut service = VariableServiceClient::new(channel);
    if let Ok(answer) = service.subscribe_variables(request).await {
        let mut stream = answer.into_inner();
        while let Ok(Some(message)) = stream.message().await {
            if let Some(Content::Sample(sample)) = message.content {
                got.take(&sample);
            }
        }
    }
    got.ended.store(true, Relaxed);
}

impl Got {
    fn take(&self, sample: &Sample) {
        self.samples.fetch_add(1, Relaxed);
        self.values.fetch_add(sample.values.len() as u64, Relaxed);
        self.left_out.fetch_add(sample.left_out, Relaxed);
    }
}

/// The figures of the peer, a value a block.
#[derive(Default)]
struct Peer {
    ns_a_value: Vec<f64>,
    /// The figure of `quietcored` in the same round.
    ours: Vec<f64>,
    values_a_second: Vec<f64>,
    problem: Option<String>,
}

impl Peer {
    /// Measures a block, unless one before has failed.
    fn block(&mut self, common: &Common, ours: f64) {
        if self.problem.is_some() {
            return;
        }
        match Self::measure(common) {
            Ok((ns_a_value, values_a_second)) => {
                self.ns_a_value.push(ns_a_value);
                self.values_a_second.push(values_a_second);
                self.ours.push(ours);
            }
            Err(problem) => self.problem = Some(problem),
        }
    }

    /// Returns the processor time of its server for a value that came, in ns, and the values that
    /// came in a second.
    fn measure(common: &Common) -> Result<(f64, f64), String> {
        let server = opc_ua::Server::start(LEAVES)?;
        let mut clients = server.followed_by(PEER_CLIENTS)?;
        let (begun, used_before, before) =
            (Instant::now(), processor_time(server.process_number())?, clients.values()?);
        thread::sleep(Duration::from_millis(common.length(5_000, 1_000)));
        let (used, values) = (processor_time(server.process_number())?, clients.values()?);
        let came = (values - before).max(1) as f64;
        let used = (used - used_before).as_secs_f64();
        Ok((used * 1e9 / came, came / begun.elapsed().as_secs_f64()))
    }

    fn tell(self, findings: &mut Findings) {
        if let Some(problem) = self.problem {
            return findings.not_measured(problem);
        }
        findings.peer("asyncua", opc_ua::version());
        findings.figure("a value, asyncua", "ns", &self.ns_a_value);
        findings.ratio("a value, asyncua / quietcored", &self.ns_a_value, &self.ours, None);
        findings.figure("values that came, asyncua", "/s", &self.values_a_second);
        findings.remark(format!(
            "asyncua has {PEER_CLIENTS} client, since with ten its server is so busy that next to \
             nothing comes"
        ));
    }
}
