//! Obstacles to a plan: wishes of the site that this machine or version can't meet.

mod cache;
mod demand;
mod neighbours;
mod network;

use quietcore_units::{ByteSize, Wake};
use quietcore_wording::either;

use crate::backend::{Backend, HostRequirement, MemoryForm};
use crate::machine::{Machine, Obstacle};
use crate::plan::step::cpu_words;
use crate::plan::{Refusal, housekeeping};
use crate::site::{
    Accelerator, Control, Load, LoadPlace, Partition, ProbeName, Profile, Scheduling, Site,
};
use crate::words::{exact_size, policy};

/// The part of the available memory that loads may fill: 8 tenths.
const LOAD_MEMORY_TENTHS: u64 = 8;
/// Processes that a run needs beside the load workers.
const PROCESSES_BESIDE: u32 = 16;

/// All refusals, in the order of the file.
pub(super) fn all(site: &Site, machine: &Machine) -> Vec<Refusal> {
    let (mut refusals, reserved) = run(site, machine);
    for profile in &site.campaign().profiles {
        refusals.profile(profile, reserved);
    }
    refusals.probes();
    refusals.sorted()
}

/// Those that stand against running the site, whatever its campaign asks for.
pub(super) fn of_run(site: &Site, machine: &Machine) -> Vec<Refusal> {
    let (mut refusals, _) = run(site, machine);
    refusals.in_turns();
    refusals.sorted()
}

/// Lists the obstacles to running the site, and the bytes that its partitions reserve.
fn run<'s>(site: &'s Site, machine: &'s Machine) -> (Refusals<'s>, u64) {
    let mut refusals = Refusals { site, machine, refusals: Vec::new() };
    refusals.host();
    let mut reserved = 0_u64;
    for partition in site.partitions() {
        refusals.partition(partition, &mut reserved);
    }
    refusals.all_ways();
    refusals.fieldbuses();
    refusals.cards();
    (refusals, reserved)
}

struct Refusals<'s> {
    site: &'s Site,
    machine: &'s Machine,
    refusals: Vec<Refusal>,
}

impl Refusals<'_> {
    fn sorted(mut self) -> Vec<Refusal> {
        self.refusals.sort();
        self.refusals
    }

    fn refuse(&mut self, key: &str, reason: String, remedy: impl Into<String>) {
        self.refusals.push(Refusal {
            place: self.site.places.of(key),
            reason,
            remedy: remedy.into(),
        });
    }

    /// CPUs that several partitions have because a campaign measures them one after the other.
    fn in_turns(&mut self) {
        for (partition, shared) in self.site.in_turns(self.site.partitions()) {
            self.refuse(
                &format!("partition.{}.vcr.cpus", partition.name),
                format!(
                    "{} belongs to another partition too, as `campaign.alone` allows where each \
                     is measured alone",
                    cpu_words(&shared)
                ),
                "give each CPUs of its own, and all can run at the same time",
            );
        }
    }

    /// CPUs that aren't there, or that threads of this process can't be bound to.
    fn cpus(&mut self, key: &str, obstacle: Option<Obstacle>) {
        if let Some(Obstacle { what, remedy }) = obstacle {
            self.refuse(key, what, remedy);
        }
    }

    fn host(&mut self) {
        match self.site.housekeeping() {
            // What is bound there runs on those that can be had.
            Some(cpus) if cpus.intersection(&self.machine.usable).is_empty() => {
                self.cpus("host.housekeeping", self.machine.unusable(&cpus));
            }
            Some(cpus) => self.cpus("host.housekeeping", self.machine.offline(&cpus)),
            None if housekeeping(self.site, self.machine).is_empty() => self.refuse(
                "host.housekeeping",
                "the partitions claim every CPU, so none is left for the rest of the system"
                    .to_owned(),
                "leave a CPU free, or accept it with `housekeeping = []`",
            ),
            None => {}
        }
        let rest = self.machine.usable.without(&self.site.claimed_cpus());
        if !self.site.controls().is_empty() && rest.is_empty() {
            self.refuse(
                "host.controls",
                "the partitions claim every CPU, so nothing can be kept off them".to_owned(),
                "leave a CPU free, or leave `controls` out",
            );
        }
    }

    fn partition(&mut self, partition: &Partition, reserved: &mut u64) {
        let key = |rest: &str| format!("partition.{}.{rest}", partition.name);
        let obstacle = self.beyond_reach(partition);
        self.cpus(&key("vcr.cpus"), obstacle);
        self.backend(partition, &key("backend"));
        if let Some(memory) = partition.memory_most() {
            *reserved = reserved.saturating_add(memory.get());
            let available = self.machine.memory_available;
            if *reserved > available.get() {
                let sum = exact_size(ByteSize::new(*reserved));
                self.refuse(
                    &key("vcr.memory"),
                    format!(
                        "the partitions up to this one may take {sum} and {available} is there"
                    ),
                    "reserve less, or free memory",
                );
            }
        }
        self.not_realised(partition, &key);
        self.probe(partition, &key);
        self.memory(partition, &key);
        self.channels(partition, &key);
        self.spinning(partition, &key);
        self.demand(partition, &key);
    }

    /// Says which CPUs of a partition it can't be given, and how they can be had. A domain's are
    /// Xen's; containers and two controls have control groups of their own.
    fn beyond_reach(&self, partition: &Partition) -> Option<Obstacle> {
        let (machine, cpus) = (self.machine, &partition.vcr.cpus);
        let declaration = partition.declaration();
        if declaration.requires == HostRequirement::Xen {
            return machine.offline(cpus);
        }
        let campaign = self.site.controls_of_campaign();
        let moves = |control: &Control| match control {
            Control::Programs => true,
            Control::LoadBalance => machine.load_balance_moves,
            _ => false,
        };
        let is_moved = self.site.controls().iter().chain(&campaign).any(moves);
        let has_group = machine.root && (declaration.has_control_group || is_moved);
        machine.beyond(cpus, if has_group { &machine.own_group } else { &machine.usable })
    }

    fn backend(&mut self, partition: &Partition, key: &str) {
        let backend = partition.backend;
        let declaration = partition.declaration();
        let wanted = self.site.container_runtime();
        if let Err(Obstacle { what, remedy }) =
            declaration.requires.check(partition.accelerator, wanted, self.machine)
        {
            self.refuse(key, format!("backend `{backend}`: {what}"), remedy);
        }
    }

    /// A task that never sleeps leaves nothing to others, and Linux stops a real-time thread that
    /// takes more than 95 % of its CPU.
    fn spinning(&mut self, partition: &Partition, key: &impl Fn(&str) -> String) {
        if partition.program.early_wake != Wake::Spin {
            return;
        }
        if !partition.declaration().may_spin {
            let spinning = either(Backend::words_where(|it| it.may_spin));
            self.refuse(
                &key("program.early_wake"),
                format!("a partition of the backend `{}` has to sleep", partition.backend),
                format!("choose `adaptive`, or the backend {spinning}"),
            );
        } else if partition.program.tasks.len() > 1 {
            let count = partition.program.tasks.len();
            self.refuse(
                &key("program.early_wake"),
                format!("a task that never sleeps leaves nothing to the other {}", count - 1),
                "choose `adaptive`",
            );
        }
    }

    /// Refuses channels where the backend has none.
    fn channels(&mut self, partition: &Partition, key: &impl Fn(&str) -> String) {
        if partition.declaration().has_channels {
            return;
        }
        let mut channels = self.site.channels().iter();
        if let Some(channel) =
            channels.find(|it| it.from.is(&partition.name) || it.to.is(&partition.name))
        {
            let having = either(Backend::words_where(|it| it.has_channels));
            self.refuse(
                &key("backend"),
                format!(
                    "a partition of the backend `{}` has no channels, and `{}` leads to it or from \
                     it",
                    partition.backend, channel.name
                ),
                format!("choose the backend {having}"),
            );
        }
    }

    /// Refuses the probe in the place of a program where the backend doesn't run it.
    fn probe(&mut self, partition: &Partition, key: &impl Fn(&str) -> String) {
        let backend = partition.backend;
        let lacks_program = partition.program.model.is_none() && partition.is_measured();
        if lacks_program && !partition.declaration().runs_probe {
            let by_hand = match partition.declaration().is_probed_by_hand {
                true => format!(", or use `quietcore probe latency --backend {backend}`"),
                false => String::new(),
            };
            self.refuse(
                &key("program.model"),
                format!("backend `{backend}` has no probe to run in the place of a program"),
                format!("give the partition a `model`{by_hand}"),
            );
        }
    }

    /// Refuses memory that a guest can't have.
    fn memory(&mut self, partition: &Partition, key: &impl Fn(&str) -> String) {
        if let MemoryForm::Own { range, default } = &partition.declaration().memory
            && let Some(memory) = partition.vcr.memory
            && !range.contains(&memory)
        {
            let (least, most) = (exact_size(*range.start()), exact_size(*range.end()));
            self.refuse(
                &key("vcr.memory"),
                format!("a guest has {least} to {most} of its own, without its program's data"),
                format!("take it out, and it gets {}", exact_size(*default)),
            );
        }
    }

    /// Reservations that the backend doesn't realise: measured without them, a partition would not
    /// be the one in the file.
    fn not_realised(&mut self, partition: &Partition, key: &impl Fn(&str) -> String) {
        let vcr = &partition.vcr;
        if vcr.budget_percent.is_some() {
            self.budget(partition, key);
        }
        self.cache(partition, key);
        self.memory_bandwidth(partition, key);
        self.network(partition, key);
    }

    /// A budget is run time that the kernel gives in each period: only SCHED_DEADLINE does.
    fn budget(&mut self, partition: &Partition, key: &impl Fn(&str) -> String) {
        let backend = partition.backend;
        let program = &partition.program;
        let is_held = |scheduling: Scheduling| matches!(scheduling, Scheduling::Deadline { .. });
        let free = program.tasks.iter().find(|task| !is_held(task.scheduling));
        if !partition.declaration().enforces_budget {
            let others = either(Backend::words_where(|it| it.enforces_budget));
            self.refuse(
                &key("vcr.budget"),
                format!("backend `{backend}` can't enforce a budget yet"),
                format!(
                    "use the backend {others}, or take it out and give each partition CPUs of its \
                     own"
                ),
            );
        } else if let Some(task) = free {
            self.refuse(
                &key("vcr.budget"),
                format!(
                    "a budget is enforced by SCHED_DEADLINE, and task `{}` runs under {}",
                    task.name,
                    policy(task.scheduling)
                ),
                "let all tasks be cyclic without a priority, or take it out and give each \
                 partition CPUs of its own",
            );
        }
    }

    /// The frames of two segments in one cycle would need a second process image.
    fn fieldbuses(&mut self) {
        let all = self.site.fieldbuses();
        for (index, fieldbus) in all.iter().enumerate() {
            let partition = &fieldbus.partition;
            if let Some(other) = all[..index].iter().find(|one| one.partition == *partition) {
                self.refuse(
                    &format!("fieldbus.{}.partition", fieldbus.name),
                    format!("partition `{partition}` drives fieldbus `{}` already", other.name),
                    "give each partition one fieldbus",
                );
            }
        }
    }

    /// The network cards that guests are to drive themselves.
    fn cards(&mut self) {
        for card in self.site.cards() {
            let key = format!("fieldbus.{}.interface", card.fieldbus);
            let address = &card.address;
            if !self.machine.root {
                self.refuse(
                    &key,
                    "only root may give a network card to a guest".to_owned(),
                    "run it as root, or write the network interface of the card",
                );
            }
            match self.machine.cards.iter().find(|(other, _)| other == address) {
                None => {
                    let cards = self.machine.cards.iter().map(|(card, _)| format!("`{card}`"));
                    let cards: Vec<_> = cards.collect();
                    let remedy = if cards.is_empty() {
                        "this machine has none on its PCI bus".to_owned()
                    } else {
                        format!("choose from {}", cards.join(", "))
                    };
                    self.refuse(&key, format!("there is no network card at {address}"), remedy);
                }
                Some((_, Err(Obstacle { what, remedy }))) => {
                    let what = format!("the network card at {address} can't be given away: {what}");
                    self.refuse(&key, what, remedy);
                }
                Some((_, Ok(()))) => {}
            }
        }
    }

    fn probes(&mut self) {
        let given = self.site.cards();
        if self.site.campaign().probes.contains(&ProbeName::Ethercat)
            && let Some(card) = given.first()
        {
            self.refuse(
                "campaign.probes",
                format!(
                    "probe `ethercat` measures over an interface of the host, and the network \
                     card of fieldbus `{}` is its guest's",
                    card.fieldbus
                ),
                "take the probe out, or write the network interface of the card",
            );
        }
        let other = self.machine.usable.without(&self.site.claimed_cpus());
        for probe in &self.site.campaign().probes {
            if let Some(what) = probe.needs_other_cpus().filter(|_| other.is_empty()) {
                self.refuse(
                    "campaign.probes",
                    format!(
                        "{what} of probe `{probe}` need CPUs other than the partitions', and none \
                         is left"
                    ),
                    "leave a CPU free, or take the probe out",
                );
            }
            let required = probe.backend().declaration().requires;
            if let Err(Obstacle { what, .. }) =
                required.check(Accelerator::Kvm, self.site.container_runtime(), self.machine)
            {
                let remedy = "take the probe out, or see `quietcore doctor`";
                self.refuse("campaign.probes", format!("probe `{probe}`: {what}"), remedy);
            }
        }
    }

    fn profile(&mut self, profile: &Profile, reserved: u64) {
        let name = &profile.name;
        let other = self.machine.usable.without(&self.site.claimed_cpus());
        let own = profile.pinned && profile.controls.as_ref().is_some_and(|own| !own.is_empty());
        if other.is_empty() && own {
            self.refuse(
                "campaign.profiles",
                format!(
                    "profile `{name}` keeps things off the partitions' CPUs, and they claim every \
                     CPU"
                ),
                "leave a CPU free, or take the profile out",
            );
        }
        let elsewhere = |load: &Load| load.place == LoadPlace::OtherCpus;
        if other.is_empty() && profile.loads.iter().any(elsewhere) {
            self.refuse(
                "campaign.profiles",
                format!("profile `{name}` needs CPUs other than the partitions', and none is left"),
                "leave a CPU free, or take the profile out",
            );
        }
        let beside = profile.neighbours.as_ref().map_or(0, |it| it.count * (it.workers() + 1));
        let needed = profile.workers().saturating_add(beside).saturating_add(PROCESSES_BESIDE);
        if let Some(left) = self.machine.processes_left.filter(|left| needed > *left) {
            self.refuse(
                "campaign.profiles",
                format!(
                    "profile `{name}` starts {} load workers and {left} more processes are allowed",
                    profile.workers().saturating_add(beside)
                ),
                "raise the limit with `ulimit -u`, or take the profile out",
            );
        }
        let filled = profile.loads.iter().map(Load::filled).fold(0, u64::saturating_add);
        let left = self.machine.memory_available.get().saturating_sub(reserved);
        // The tenth is taken first: the product of a large size would not fit.
        let allowed = left / 10 * LOAD_MEMORY_TENTHS;
        if filled > allowed {
            let (filled, allowed) = (exact_size(ByteSize::new(filled)), ByteSize::new(allowed));
            self.refuse(
                "campaign.profiles",
                format!(
                    "the loads of profile `{name}` fill {filled} and {allowed} is left to them"
                ),
                "use smaller loads, or free memory",
            );
        }
        self.neighbours(profile, left);
    }
}
