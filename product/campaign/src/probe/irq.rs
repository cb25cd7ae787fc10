//! The probe `irq`: interrupts of a clock board, taken by the OSEK kernel in a guest.

use quietcore_backend::setting::{BackendSetting, ProbeNeeds};
use quietcore_load::LoadRequest;
use quietcore_probe::guest::irq::{
    self, INTERRUPTS_MAX, IrqMeasured, IrqPlan, PERIOD_MAX, PERIOD_MIN, PUBLISHED_INTERRUPTS,
    PUBLISHED_PERIOD,
};
use quietcore_probe::guest::runner::GuestFacts;
use quietcore_record::record::check::self_check;
use quietcore_record::record::{Conditions, Counters, InterruptRun, Measured, Record, ReleaseMode};
use quietcore_site::{Accelerator, Backend};
use quietcore_units::{CpuId, CpuSet, Nanos, ThreadRequest};

use super::circumstances::{Circumstances, degraded};
use super::{Probe, ProbeContext, ProbeError, Probed, guest, some_measured};
use crate::observer::Advance;

/// The partition of records of a measurement by hand.
pub const PARTITION: &str = guest::PARTITION;
/// Interrupts before each run by hand that are taken and forgotten.
pub const WARM_UP: u64 = 100;
/// The clock board counts in steps of this.
const STEP_NS: u64 = 10;

/// Interrupts of one or more periods, one run after the other.
#[derive(Clone, Debug)]
pub struct Irq {
    /// The partition of its records.
    pub partition: String,
    /// The runs; never empty.
    pub plans: Vec<IrqPlan>,
    /// The loads beside each of them.
    pub loads: Vec<LoadRequest>,
    /// The limits of the measurement, a sentence each.
    pub limits: Vec<String>,
    /// The backend whose guest is interrupted.
    pub backend: Backend,
    /// The way in which the guest's instructions are run, where the backend leaves a choice.
    pub accelerator: Accelerator,
}

impl Irq {
    /// Makes the probe of a site's partition in its campaign: an interrupt in each of its periods,
    /// raised on a CPU that no partition has.
    pub(super) fn of_partition(probed: &Probed<'_>) -> Self {
        let Probed { partition, site, facts, length, loads, .. } = *probed;
        let own = partition.program.period;
        let period = Nanos::new(own.get() / STEP_NS * STEP_NS).clamp(PERIOD_MIN, PERIOD_MAX);
        let other = (period != own).then(|| {
            format!(
                "probe `irq` raises an interrupt every {period} and not every {own}, the period of \
                 partition `{}`",
                partition.name
            )
        });
        let interrupts = length.whole_times(period);
        let thread = partition.measuring_thread();
        let others = facts.machine().usable.without(&site.claimed_cpus());
        let plan = IrqPlan {
            period,
            interrupts: interrupts.clamp(1, INTERRUPTS_MAX),
            warm_up: site.campaign().warm_up.whole_times(period),
            thread,
            board: ThreadRequest::new(thread.scheduling.above()).on(others.iter().next()),
            polls: false,
        };
        Self {
            partition: partition.name.clone(),
            plans: vec![plan],
            loads: loads.to_vec(),
            limits: other.into_iter().collect(),
            backend: Backend::OF_PROBES_IN_GUESTS,
            accelerator: Accelerator::default(),
        }
    }
}

impl Probe for Irq {
    fn name(&self) -> &'static str {
        "irq"
    }

    fn pinned(&self) -> Vec<(&str, CpuSet)> {
        let threads = self.plans.iter().flat_map(|plan| [&plan.thread, &plan.board]);
        vec![(&self.partition, threads.filter_map(ThreadRequest::cpu).collect())]
    }

    fn setting(&self) -> BackendSetting {
        let cpus = self.plans.first().and_then(|plan| plan.thread.cpus);
        let needs = ProbeNeeds { cpus, is_real_time: true, ..ProbeNeeds::default() };
        BackendSetting::of_measurement(self.backend, self.accelerator, needs)
    }

    fn profiles(&self, _: &[Record]) -> Vec<(String, String)> {
        self.plans.iter().map(|plan| (profile(plan), words(plan))).collect()
    }

    fn limits(&self) -> Vec<String> {
        self.limits.clone()
    }

    fn measure(&mut self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        let mut records = Vec::new();
        for plan in &self.plans {
            let part = words(plan);
            let (measured, circumstances) =
                Circumstances::measure(context, &self.loads, plan, |observer, progress| {
                    observer.advance(&Advance {
                        part: &part,
                        done: progress.done,
                        all: plan.interrupts,
                        unit: "interrupts",
                        what: "",
                        worst: Some(progress.worst),
                    });
                })?;
            let times = irq::read(&measured.exchange.region())?;
            let facts = &measured.outcome;
            records.push(record(self, plan, times, facts, &circumstances));
            if context.is_stopped() {
                break;
            }
        }
        some_measured(records, context)
    }
}

fn profile(plan: &IrqPlan) -> String {
    let period = plan.period.to_string().replace(['\u{a0}', ' '], "-").replace('µ', "u");
    format!("every-{period}")
}

fn words(plan: &IrqPlan) -> String {
    let is_published = plan.period == PUBLISHED_PERIOD && plan.interrupts == PUBLISHED_INTERRUPTS;
    let published = if is_published { ", as published" } else { "" };
    format!("an interrupt every {}{published}", plan.period)
}

fn record(
    probe: &Irq,
    plan: &IrqPlan,
    measured: IrqMeasured,
    facts: &GuestFacts,
    circumstances: &Circumstances<'_>,
) -> Record {
    let IrqMeasured { response, register, switch, whole, left_out, finished } = measured;
    let Irq { partition, backend, .. } = probe;
    let profile = profile(plan);
    let name = format!("{partition}.{profile}.irq");
    let mut record = Record {
        reserved: true,
        cpu: plan.thread.cpu().map(CpuId::get),
        period_ns: Some(plan.period.get()),
        release: response,
        measured: Measured::Interrupt(InterruptRun {
            path: path(probe, plan),
            kernel: format!(
                "OSEK kernel in a guest of {}: ISR of category 2, a basic task, standard status",
                if *backend == Backend::OF_PROBES_IN_GUESTS { "ours" } else { "QEMU" }
            ),
            register,
            switch,
            until_task: whole,
            left_out,
        }),
        counters: Counters { planned_cycles: plan.interrupts, ..Counters::default() },
        conditions: conditions(*backend, plan, facts, circumstances),
        interrupted: !finished,
        degraded: degraded(&facts.standing),
        invalid_because: circumstances.invalid_in_guest(&facts.standing),
        ..Record::empty(name, "irq", partition, &profile)
    };
    record.invalid_because.extend(self_check(&record, None));
    record
}

/// Describes the way of an interrupt from the thread that raises it to the guest.
fn path(probe: &Irq, plan: &IrqPlan) -> String {
    let cpu = plan.board.cpu().map_or_else(|| "any CPU".to_owned(), |cpu| format!("CPU {cpu}"));
    let hypervisor = match (probe.backend, probe.accelerator) {
        (Backend::Qemu, Accelerator::Kvm) => "KVM, as QEMU's `ivshmem-doorbell`",
        (Backend::Qemu, Accelerator::Tcg) => "QEMU's main thread and its `ivshmem-doorbell`",
        _ => "KVM",
    };
    format!("clock board on {cpu} → event file → {hypervisor} → vector of the guest's processor")
}

fn conditions(
    backend: Backend,
    plan: &IrqPlan,
    facts: &GuestFacts,
    circumstances: &Circumstances<'_>,
) -> Conditions {
    let mut activity = guest::activity(facts, backend);
    activity.extend(facts.board.clone().map(|board| ("clock_board".to_owned(), board)));
    let machine = guest::machine(facts, backend);
    circumstances.conditions(
        ReleaseMode::not_timed(words(plan)),
        &facts.standing,
        machine,
        activity,
    )
}
