//! The EtherCAT cycle over virtual interfaces, beside a raw echo and two other main devices.
//!
//! ```text
//!  CPU near                     a network of its own                       CPU far
//!  bare       ── send, receive ── echo     ═══ echo-far     ── send back what comes
//!  own        ── Fieldbus::cycle ─ own      ═══ own-far      ── simulated segment
//!  ethercrab  ── tx_rx ─────────── crab     ═══ crab-far     ── simulated segment
//!  pysoem     ── send, receive ─── soem     ═══ soem-far     ── simulated segment
//!  in process ── Fieldbus::cycle ─ simulated segment, no kernel
//! ```
//!
//! All stand ready at once and take turns in short blocks, so that no SubDevice's watchdog bites in
//! between. Everything is of ordinary priority. The first cycles of a block, in which the far side
//! still sleeps, don't count. The bare echo carries frames as long as those of our cycle.
//!
//! The segment takes its time to answer; what it takes, together with our main device, is the
//! cycle in process.

mod crab;
mod echo;
mod network;
mod own;
mod soem;

use quietcore_units::Nanos;

use crate::cores::{Cores, pin};
use crate::findings::pairs::Median;
use crate::findings::{Common, Findings, Goal};
use crate::peers::versions;

/// Cycles at the start of a block that don't count.
const SETTLING: usize = 20;
/// Time that a frame may be out.
const TIMEOUT: Nanos = Nanos::from_millis(100);
/// Cycles of a run at the highest rate, and their number in a quick one.
const SUSTAINED: [u64; 2] = [100_000, 5_000];
/// Runs at the highest rate.
const SUSTAINED_RUNS: [usize; 2] = [10, 2];

/// The EtherCAT cycle, beside a raw echo, `ethercrab`'s own task and `pysoem`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    cores: Cores,
    /// Cycles of a block
    #[arg(long, default_value_t = 200)]
    cycles: usize,
    /// Set in the process that has a network of its own
    #[arg(long, hide = true)]
    inside: bool,
}

/// One of those that take turns.
trait Side {
    /// Runs so many cycles, and returns the round trips in ns. One that lost its frame has none.
    fn block(&mut self, cycles: usize) -> Result<Vec<u64>, String>;
}

/// A side and the medians of its blocks.
struct Turn<S> {
    side: S,
    p50_ns: Vec<f64>,
    lost: usize,
}

impl<S: Side> Turn<S> {
    fn new(side: S) -> Self {
        Self { side, p50_ns: Vec::new(), lost: 0 }
    }

    /// The medians, and the frames lost.
    fn outcome(&self) -> (Vec<f64>, usize) {
        (self.p50_ns.clone(), self.lost)
    }

    fn take(&mut self, cycles: usize) -> Result<(), String> {
        let trips = self.side.block(cycles + SETTLING)?;
        self.lost += (cycles + SETTLING).saturating_sub(trips.len());
        let counted: Vec<f64> = trips.iter().skip(SETTLING).map(|trip| *trip as f64).collect();
        let median = Median::of(&counted).ok_or("every frame of a block was lost")?;
        self.p50_ns.push(median.value);
        Ok(())
    }
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    if !request.inside {
        return network::enter(request);
    }
    let common = &request.common;
    let rounds = common.rounds_or(200);
    let method = format!(
        "six SubDevices over veth; medians of blocks of {} cycles, in turn; main devices on CPU \
         {}, segment or echo on CPU {}",
        request.cycles, request.cores.cpu, request.cores.other_cpu
    );
    let mut findings = Findings::begin("ethercat", method, common, rounds);
    let far = request.cores.other_cpu;
    pin(request.cores.cpu)?;
    let own = own::Own::over_network(far)?;
    let frame_bytes = own.frame_bytes();
    let mut own = Turn::new(own);
    let mut echo = Turn::new(echo::Echo::new(frame_bytes, far)?);
    let mut in_process = Turn::new(own::Own::in_process()?);
    let mut crab = peer(crab::Crab::new(request.cores), &mut findings);
    let mut soem = peer(soem::Soem::new(request.cores), &mut findings);
    for round in 0..rounds {
        // The order turns with the rounds, so that no side always follows the same other.
        for place in 0..5 {
            match (round + place) % 5 {
                0 => echo.take(request.cycles)?,
                1 => own.take(request.cycles)?,
                2 => crab.as_mut().map_or(Ok(()), |crab| crab.take(request.cycles))?,
                3 => in_process.take(request.cycles)?,
                _ => soem.as_mut().map_or(Ok(()), |soem| soem.take(request.cycles))?,
            }
        }
    }
    if crab.is_some() {
        findings.peer("ethercrab", versions::of_crate("ethercrab"));
    }
    if soem.is_some() {
        findings.peer("pysoem", soem::version());
    }
    findings.remark(format!("frames of {frame_bytes} bytes"));
    let (crab_ns, crab_lost) = crab.as_ref().map(Turn::outcome).unwrap_or_default();
    let (soem_ns, soem_lost) = soem.as_ref().map(Turn::outcome).unwrap_or_default();
    tell(&mut findings, [&echo.p50_ns, &own.p50_ns, &crab_ns, &in_process.p50_ns, &soem_ns]);
    findings.remark(format!(
        "frames lost: echo {}, own {}, ethercrab {crab_lost}, pysoem {soem_lost}",
        echo.lost, own.lost
    ));
    // The others' threads sleep, and nothing else wants the CPU of the segment.
    drop((echo, crab, soem));
    sustained(&mut own.side, common, &mut findings)?;
    findings.print(common)
}

/// A peer that takes part, or why it can't.
fn peer<S: Side>(side: Result<S, String>, findings: &mut Findings) -> Option<Turn<S>> {
    side.map(Turn::new).map_err(|why| findings.not_measured(why)).ok()
}

fn tell(findings: &mut Findings, [echo, own, crab, in_process, soem]: [&Vec<f64>; 5]) {
    findings.figure("round trip p50, bare echo", "ns", echo);
    findings.figure("round trip p50, own", "ns", own);
    findings.figure("round trip p50, own in process", "ns", in_process);
    findings.ratio("own / bare echo", own, echo, Some(Goal::AtMost(1.3)));
    let less: Vec<f64> = own.iter().zip(in_process).map(|(own, inside)| own - inside).collect();
    findings.ratio("(own - own in process) / bare echo", &less, echo, None);
    if !crab.is_empty() {
        findings.figure("round trip p50, ethercrab tx_rx_task", "ns", crab);
        findings.ratio("ethercrab tx_rx_task / own", crab, own, None);
    }
    if !soem.is_empty() {
        findings.figure("round trip p50, pysoem", "ns", soem);
        findings.ratio("pysoem / own", soem, own, None);
    }
}

/// Cycles a second, one after the other at once, in the slowest thousand of a run.
fn sustained(own: &mut own::Own, common: &Common, findings: &mut Findings) -> Result<(), String> {
    let cycles = common.length(SUSTAINED[0], SUSTAINED[1]);
    let runs = common.length(SUSTAINED_RUNS[0], SUSTAINED_RUNS[1]);
    let (mut slowest, mut mean) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (slowest_rate, mean_rate) = own.rates(cycles)?;
        slowest.push(slowest_rate);
        mean.push(mean_rate);
    }
    let goal = Goal::AtLeast(20_000.0);
    findings.goal("cycles a second, slowest thousand of a run", "/s", &slowest, goal);
    findings.goal("cycles a second, mean of a run", "/s", &mean, goal);
    findings.remark(format!("rates: {runs} runs of {cycles} cycles"));
    Ok(())
}
