//! `quietcore probe irq`

use quietcore_campaign::probe::irq::{Irq as Probe, PARTITION, WARM_UP};
use quietcore_probe::guest::irq::{INTERRUPTS_MAX, IrqPlan, PERIOD_MAX, PERIOD_MIN};
use quietcore_record::verdict::thousands;
use quietcore_site::{Backend, Machine};
use quietcore_units::{CpuId, Nanos, Scheduling, ThreadRequest};

use super::backend::accelerator_of;
use super::{by_hand, loads};
use crate::arguments::Irq;
use crate::status::{Failure, Status};
use crate::{machine, terminal};

pub(super) fn run(request: &Irq) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let facts = machine::read_facts(&stop)?;
    let mut probe = wanted(request, &facts.machine())?;
    let evidence = by_hand(&mut probe, &facts, &stop, request.out.as_deref())?;
    super::super::show::print_evidence(&evidence, request.json)?;
    Ok(Status::Done)
}

/// Returns the requested probe; all problems of the request become one failure.
fn wanted(request: &Irq, machine: &Machine) -> Result<Probe, Failure> {
    let (mut problems, usable) = (Vec::new(), machine.usable);
    let backend = request.backend;
    let accelerator = accelerator_of(backend, request.accelerator, machine, &mut problems);
    if request.polls && backend != Backend::OF_PROBES_IN_GUESTS {
        problems.push(format!(
            "--polls: a guest of the backend `{backend}` leaves its processor to wait; leave it \
             out, or choose --backend {}",
            Backend::OF_PROBES_IN_GUESTS
        ));
    }
    for period in &request.period {
        if !(PERIOD_MIN..=PERIOD_MAX).contains(period) || !period.get().is_multiple_of(10) {
            problems.push(format!(
                "--period {period}: out of range; give {PERIOD_MIN} to {PERIOD_MAX}, in steps of \
                 10 ns"
            ));
        }
        if request.period.iter().filter(|other| *other == period).count() > 1 {
            problems.push(format!("--period {period}: stands there twice"));
        }
    }
    let interrupts = |period: Nanos| match request.duration {
        Some(duration) if period > Nanos::ZERO => duration.whole_times(period),
        _ => request.interrupts,
    };
    for period in &request.period {
        if !(1..=INTERRUPTS_MAX).contains(&interrupts(*period)) {
            problems.push(format!(
                "--duration: with a period of {period} these are {} interrupts; give a time of 1 \
                 to {} of them",
                thousands(interrupts(*period)),
                thousands(INTERRUPTS_MAX)
            ));
        }
    }
    let mut cpu = |option: &str, asked: Option<u32>, default: Option<CpuId>| {
        asked.map_or(default, |asked| super::cpu(option, asked, machine, &mut problems))
    };
    let own = cpu("--cpu", request.cpu, usable.iter().last());
    let board = cpu("--board-cpu", request.board_cpu, usable.iter().next());
    if own == board {
        terminal::say(format_args!(
            "remark: the board raises its interrupts on the CPU of the guest, which it interrupts \
             to do so"
        ));
    }
    let loads = loads(&request.load, &mut problems);
    if !problems.is_empty() {
        return Err(Failure::new(problems.join("\n")));
    }
    let plan = |period: &Nanos| IrqPlan {
        period: *period,
        interrupts: interrupts(*period),
        warm_up: WARM_UP,
        thread: ThreadRequest::measuring(Scheduling::fifo(request.priority), own),
        board: ThreadRequest::new(Scheduling::fifo(request.priority + 1)).on(board),
        polls: request.polls,
    };
    let plans = request.period.iter().map(plan).collect();
    let (partition, limits) = (PARTITION.to_owned(), Vec::new());
    Ok(Probe { partition, plans, loads, limits, backend, accelerator })
}
