//! The life of one process of a partition.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use quietcore_assembly::tell;
use quietcore_exchange::{
    CommandProducer, Event, EventReader, FieldbusStatus, Happening, Region, RetainReader,
    TaskState, TaskStatistics, TraceRequester,
};
use quietcore_process::exchange::Exchange;
use quietcore_units::{Causes, Nanos};
use quietcore_wording::plural;

use super::builds::pending::{Pending, Swap, SwapTiming};
use super::conduct::CutOff;
use super::reservation::{ReservationWatch, Reserved};
use super::standstill::Standstill;
use super::verbs::{Confirming, LateCommands};
use super::{End, Kept};
use crate::control::{Activity, FieldbusState, Probation, Severity};
use crate::world::Process;

/// Longest time from the start of a process to its first cycle: a fieldbus may take 30 s to come
/// up, the `initialize` of a guest's program 10 s, and memory, files and threads, or an operating
/// system that an emulated guest boots, get 80 s.
const START_MAX: Duration = Duration::from_secs(30 + 10 + 80);
/// Longest time between two looks that is counted, as with a standstill.
const START_LOOK_MAX: Duration = Duration::from_millis(500);

/// A running process with the parts of its exchange.
pub(super) struct Incarnation<'a> {
    pub(super) process: Box<dyn Process>,
    pub(super) exchange: &'a Exchange,
    pub(super) region: Region<'a>,
    pub(super) commands: CommandProducer<'a>,
    pub(super) traces: Vec<TraceRequester<'a>>,
    pub(super) pending: Option<Pending>,
    /// Commands that no cycle took in time, and may still take.
    pub(super) late: Vec<LateCommands>,
    /// Applied changes whose variables are looked at once more.
    pub(super) confirming: Vec<Confirming>,
    /// Instant at which another build was first seen to run than the known one.
    pub(super) astray: Option<Instant>,
    readers: Vec<EventReader<'a>>,
    /// Number of events that were overwritten before they were read, as far as it was reported.
    lost_told: u64,
    retain: Option<RetainReader<'a>>,
    /// Reason for which the program is in fault, and the instant of its restart.
    pub(super) fault: Option<(String, Option<Instant>)>,
    /// The build whose `initialize` failed last, and how.
    pub(super) not_initialized: Option<(u32, String)>,
    /// Generation that is in fault, as last seen.
    pub(super) faulty: Option<u32>,
    /// Reason of the last fault, as the events say.
    pub(super) why: Option<String>,
    /// Cycle of the fault, until the program runs again.
    pub(super) fault_cycle: Option<u64>,
    standstill: Standstill,
    /// Cycle that was begun last.
    cycle: Option<u64>,
    starting: Starting,
    reservation: ReservationWatch,
    /// Calls that were cut off inside of a library.
    pub(super) cut_off: CutOff,
}

/// The time that a process takes to begin its first cycle.
#[derive(Debug)]
struct Starting {
    looked: Instant,
    taken: Duration,
}

impl Starting {
    fn new(now: Instant) -> Self {
        Self { looked: now, taken: Duration::ZERO }
    }

    /// Takes whether the leading task has begun. Returns the time for which it has not, if that is
    /// too long.
    fn look(&mut self, has_begun: bool, now: Instant) -> Option<Duration> {
        let since = now.saturating_duration_since(self.looked).min(START_LOOK_MAX);
        self.looked = now;
        self.taken = if has_begun { Duration::ZERO } else { self.taken + since };
        (self.taken >= START_MAX).then_some(self.taken)
    }
}

impl Kept {
    /// Looks after a process until it ends or the site comes down.
    pub(super) fn live(&mut self, process: Box<dyn Process>) -> End {
        self.saving.new_exchange();
        let exchange = process.exchange();
        let reservation = ReservationWatch::begin(
            &*process,
            Reserved::of(&self.setup),
            &self.events,
            self.world.now(),
        );
        let region = exchange.region();
        let tasks = region.task_count();
        let Some(commands) = region.command_producer() else {
            return End::Failed("the exchange has no place for commands".to_owned());
        };
        let mut life = Incarnation {
            exchange: &exchange,
            region,
            commands,
            traces: (0..tasks).filter_map(|task| region.trace_requester(task)).collect(),
            pending: None,
            late: Vec::new(),
            confirming: Vec::new(),
            astray: None,
            lost_told: 0,
            readers: (0..=tasks).filter_map(|writer| region.events(writer)).collect(),
            retain: region.retain(),
            fault: None,
            not_initialized: None,
            faulty: None,
            why: None,
            fault_cycle: None,
            standstill: Standstill::new(self.world.now()),
            cycle: None,
            starting: Starting::new(self.world.now()),
            reservation,
            cut_off: CutOff::default(),
            process,
        };
        self.meet_monitor(&life);
        let end = loop {
            match self.world.wait(&self.requests, self.next_look(&life)) {
                Ok(request) => self.serve(&mut life, request),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break End::Down,
            }
            if let Some(end) = self.look(&mut life) {
                break end;
            }
            let why = match life.process.has_ended() {
                Ok(false) => continue,
                Ok(true) => "all its tasks have ended".to_owned(),
                Err(error) => Causes(&error).to_string(),
            };
            self.hear(&mut life);
            break End::Failed(self.why_not_started(&mut life).unwrap_or(why));
        };
        self.end_life(life, &end);
        end
    }

    /// Ends a process, and reads and saves what it has left.
    fn end_life(&mut self, mut life: Incarnation<'_>, end: &End) {
        // A process that is held can't be told to end, so the monitor lets it go first.
        self.leave_monitor();
        self.leave_late(&life);
        life.process.stop();
        self.hear(&mut life);
        self.hear_printed(&*life.process);
        self.hear_late(&mut life);
        Self::end_confirming(&mut life);
        self.save(&life, true);
        match end {
            End::Failed(why) | End::Replaced { why, .. } => self.take_back_lost(&life, why),
            End::Down => self.end_proving(Probation::Failed { why: "the site came down".into() }),
        }
        if let Some(pending) = life.pending.take() {
            pending.refuse("the partition's process ended meanwhile");
        }
        let mut published = self.published.state();
        published.pid = None;
        published.drift.clear();
    }

    /// Looks once at everything that needs it. Returns the end of the process, if it is to end.
    fn look(&mut self, life: &mut Incarnation<'_>) -> Option<End> {
        self.hear(life);
        self.hear_printed(&*life.process);
        self.hear_monitor(life);
        self.note_fault(life);
        self.look_after_fault(life);
        if let Some(replaced) = self.note_cut_off(life) {
            return Some(replaced);
        }
        self.look_after_pending(life);
        self.follow_active(life);
        self.hear_late(life);
        self.look_after_confirming(life);
        self.look_after_probation(life);
        life.reservation.look(&*life.process, &self.events, self.world.now());
        self.save(life, false);
        self.publish_life(life);
        let stands = self.note_standstill(life);
        stands.or_else(|| self.note_start(life)).map(End::Failed)
    }

    /// Saves the retained values, if it is time or `at_once`.
    pub(super) fn save(&mut self, life: &Incarnation<'_>, at_once: bool) {
        let now = self.world.now();
        if !at_once && !self.saving.is_due(now) {
            return;
        }
        let (forces, generation) = (&self.forces, self.current.stage.generation);
        let forced = || forces.of_retained(life, generation);
        let saved = self.saving.save(life.retain.as_ref(), &self.current, forced, now, at_once);
        self.tell_unsaved(saved);
    }

    /// Saves values, if it is time, that the files could not take while there was a process.
    pub(super) fn save_left(&mut self) {
        let now = self.world.now();
        if self.saving.is_due(now) && !self.saving.is_settled() {
            let saved = self.saving.save(None, &self.current, || None, now, false);
            self.tell_unsaved(saved);
        }
    }

    /// Reports why values are not saved.
    fn tell_unsaved(&mut self, saved: Result<(), String>) {
        if let Err(mut error) = saved
            && let Some(more) =
                self.quiet.admit("retain", None, Severity::Warning, self.world.now())
        {
            if more > 0 {
                error.push_str(&format!(" ({more} more like it before)"));
            }
            let name = &self.setup.partition.name;
            self.events.note(name, "retain", Severity::Warning, &error);
        }
    }

    /// Reads the events that have come, and acts on them.
    pub(super) fn hear(&mut self, life: &mut Incarnation<'_>) {
        let mut heard = Vec::new();
        for reader in &mut life.readers {
            heard.extend(reader.drain());
        }
        self.tell_lost(life);
        heard.sort_by_key(|event| (event.time, order_in_cycle(&event.what)));
        for event in heard {
            self.tell(life, &event);
            self.follow(life, &event);
        }
    }

    /// Reports events that were overwritten before they were read.
    fn tell_lost(&mut self, life: &mut Incarnation<'_>) {
        const KIND: &str = "events-lost";
        let lost: u64 = life.readers.iter().map(EventReader::lost).sum();
        let more = lost.saturating_sub(life.lost_told);
        if more > 0 && self.quiet.admit(KIND, None, Severity::Warning, self.world.now()).is_some() {
            life.lost_told = lost;
            let text = format!(
                "{more} event{} came too fast to be read; what was said is not known",
                plural(more)
            );
            self.events.note(&self.setup.partition.name, KIND, Severity::Warning, &text);
        }
    }

    fn tell(&mut self, life: &Incarnation<'_>, event: &Event) {
        match event.what {
            // The reason comes as a remark, and is reported together with it.
            Happening::StageRefused { .. } => return,
            // Their outcome is reported as `deployed` or `restarted`, and a program that is started
            // anew is another build to the partition only.
            Happening::Staged { .. } | Happening::Swapped { .. } => return,
            _ => {}
        }
        let task = self.setup.tasks.get(event.task as usize);
        let name = task.map_or("host", |task| task.name.as_str());
        let mut told = tell(&event.what, name, self.build_of(life, &event.what));
        let subdevice = subdevice_of(&event.what);
        if let Some(position) = subdevice
            && let Some(fieldbus) = &self.setup.fieldbus
            && let Some(subdevice) = fieldbus.bus.subdevices.get(position as usize)
        {
            let number = format!("SubDevice {position}");
            told.text = told.text.replacen(&number, &format!("{number} `{}`", subdevice.name), 1);
        }
        let of_task = match event.what {
            Happening::KernelError { .. } | Happening::Overrun { .. } => Some(event.task),
            _ => None,
        };
        let whose = subdevice.or(of_task);
        match self.quiet.admit(told.kind, whose, told.severity, self.world.now()) {
            None => return,
            Some(0) => {}
            Some(more) => told.text.push_str(&format!(" ({more} more like it before)")),
        }
        let ago = self.world.exchange_time().saturating_sub(event.time);
        let ago = jiff::SignedDuration::from_nanos(i64::try_from(ago.get()).unwrap_or(0));
        let at = self.world.time_of_day() - ago;
        let partition = &self.setup.partition.name;
        let in_initialize = matches!(
            event.what,
            Happening::InitializeCrashed { .. } | Happening::InitializeLooped { .. }
        );
        let cycle = (!in_initialize).then_some(event.cycle);
        self.events.add(partition, told.kind, told.severity, &told.text, cycle, at);
    }

    /// Acts on an event, apart from reporting it.
    fn follow(&mut self, life: &mut Incarnation<'_>, event: &Event) {
        let task = self.setup.tasks.get(event.task as usize);
        match event.what {
            Happening::Fault { .. }
            | Happening::Looped { .. }
            | Happening::ModelError { .. }
            | Happening::WatchdogExpired { .. }
            | Happening::StoppedByOverrun { .. } => {
                let name = task.map_or("host", |task| task.name.as_str());
                let why = tell(&event.what, name, &self.current).text;
                self.published.state().faults.add(&why, Some(event.cycle));
                life.why = Some(why);
                life.fault_cycle.get_or_insert(event.cycle);
            }
            Happening::InitializeCrashed { generation, .. }
            | Happening::InitializeLooped { generation, .. } => {
                let text = tell(&event.what, "host", self.build_of(life, &event.what)).text;
                life.not_initialized = Some((generation, text));
            }
            Happening::SwapWaits { generation } => {
                let name = task.map_or("host", |task| task.name.as_str());
                life.swap_waits(generation, name);
            }
            Happening::Staged { generation } => self.swap_staged(life, generation),
            Happening::StageRefused { generation } => self.stage_refused(life, generation),
            Happening::Swapped { generation, gap_cycles, release_ns } => {
                let timing = SwapTiming { gap_cycles, release: Nanos::new(release_ns) };
                self.swapped(life, generation, Swap { cycle: event.cycle, timing: Some(timing) });
            }
            Happening::Reverted { .. } => self.reverted(life),
            _ => {}
        }
    }

    /// Plans a restart for a build that has come to be in fault, and withdraws it when that build
    /// does not run any more: it was taken back, or another one was deployed. The exchange decides,
    /// since an event may be lost, and a build may fail in the cycle in which it was swapped in.
    fn note_fault(&mut self, life: &mut Incarnation<'_>) {
        let faulty = life.region.fault();
        if faulty == life.faulty {
            return;
        }
        life.faulty = faulty;
        // The reason was written before the fault shows here.
        self.hear(life);
        if let Some((_, Some(_))) = life.fault.take() {
            self.withdraw_restart();
        }
        if faulty.is_some() {
            let why = life.why.take().unwrap_or_else(|| {
                // Its event was overwritten before it was read.
                let why = "the program is in fault".to_owned();
                self.published.state().faults.add(&why, None);
                why
            });
            let wait = self.next_restart();
            life.fault = Some((why, wait.map(|wait| self.world.now() + wait)));
        }
    }

    /// Restarts a program in fault when its wait is over.
    fn look_after_fault(&mut self, life: &mut Incarnation<'_>) {
        let Some((why, Some(at))) = &life.fault else { return };
        let is_due = self.world.now() >= *at;
        if !is_due || life.pending.is_some() || self.shed_by().is_some() {
            return;
        }
        let why = why.clone();
        life.fault = Some((why, None));
        self.restart_as_planned(life);
    }

    /// Kills the process of a partition that stands still; returns the reason.
    fn note_standstill(&mut self, life: &mut Incarnation<'_>) -> Option<String> {
        let running = |task: &TaskStatistics| task.state() == TaskState::Running;
        let leading = life.region.task(0).filter(|task| running(task));
        let cycle = leading.map(|task| task.scan_cycle());
        let is_held = life.region.is_paused() || self.shed_by().is_some();
        let cycle = cycle.filter(|_| !is_held);
        self.note_cycle(life, cycle, is_held);
        let stood = life.standstill.look(cycle, self.period(), self.world.now())?;
        // The process may have ended by itself.
        if !matches!(life.process.has_ended(), Ok(false)) {
            return None;
        }
        let seconds = stood.as_secs_f64();
        let text = format!("it began no cycle for {seconds:.1} s, and its process is ended");
        let (name, now) = (&self.setup.partition.name, self.world.time_of_day());
        self.events.add(name, "hung", Severity::Fault, &text, cycle, now);
        life.process.kill();
        Some(format!("the partition stood still: it began no cycle for {seconds:.1} s"))
    }

    /// Takes note if another cycle has begun since the last look.
    fn note_cycle(&self, life: &mut Incarnation<'_>, cycle: Option<u64>, is_held: bool) {
        let mut absence = self.published.absence();
        if is_held {
            absence.rest();
        } else if cycle.is_some() && cycle != life.cycle {
            absence.cycle(life.cycle.is_none(), self.world.now());
            life.cycle = cycle;
        }
    }

    /// Kills the process of a partition that does not begin its cycles; returns the reason.
    fn note_start(&mut self, life: &mut Incarnation<'_>) -> Option<String> {
        let begins = |state| matches!(state, TaskState::Unused | TaskState::Starting);
        let has_begun = life.region.task(0).is_none_or(|task| !begins(task.state()));
        let taken = life.starting.look(has_begun, self.world.now())?;
        // The process may have ended by itself.
        if !matches!(life.process.has_ended(), Ok(false)) {
            return None;
        }
        let seconds = taken.as_secs_f64();
        let text = format!("it began no cycle within {seconds:.0} s, and its process is ended");
        let (name, now) = (&self.setup.partition.name, self.world.time_of_day());
        self.events.add(name, "hung", Severity::Fault, &text, None, now);
        life.process.kill();
        Some(format!("the partition did not start: it began no cycle within {seconds:.0} s"))
    }

    pub(super) fn publish_life(&self, life: &Incarnation<'_>) {
        let tasks: Vec<_> = life.region.tasks().collect();
        let running = tasks.iter().any(|task| task.state() == TaskState::Running);
        let held = || match self.shed_by() {
            Some(by) => Activity::Shed { by },
            None => Activity::Paused,
        };
        let is_held = life.region.is_paused() || self.shed_by().is_some();
        let state = match &life.fault {
            Some((why, Some(at))) => {
                let left = at.saturating_duration_since(self.world.now());
                let restart_in = Nanos::new(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
                Activity::Waiting { restart_in, why: why.clone() }
            }
            Some((_, None)) if life.pending.is_some() => Activity::Starting,
            Some((why, None)) => Activity::Fault { why: why.clone() },
            None if is_held => held(),
            None if running => Activity::Running,
            None => Activity::Starting,
        };
        self.publish(state);
        self.publish_watched();
        let mut published = self.published.state();
        published.pid = Some(life.process.process_id());
        if let Some(first) = tasks.first() {
            if let Ok(counters) = first.counters() {
                published.cycles = counters.cycles;
                published.missed_cycles = counters.missed_cycles;
            }
            published.release_max = Nanos::new(first.release().totals().max_ns);
        }
        // A torn value is read again in the next look.
        published.overruns = overruns_of(&life.region).unwrap_or(published.overruns);
        let is_paused = life.region.is_paused();
        let fieldbus = |_| fieldbus(life.region.fieldbus(), is_paused);
        published.fieldbus = self.setup.fieldbus.as_ref().map(fieldbus);
        published.forces = self.forces.count() as u32;
        published.drift = life.reservation.drift();
    }
}

/// Returns the jobs of all tasks that were not done in time; `None` while one of the counters is
/// being written.
fn overruns_of(region: &Region<'_>) -> Option<u64> {
    region.tasks().map(|task| Some(task.scan_counters().ok()?.overruns)).sum()
}

/// Returns the rank of an event among those of one instant: forces end with the build that had
/// their variables, and a swap comes before anything that the new build did in the same cycle.
const fn order_in_cycle(what: &Happening) -> u8 {
    match what {
        Happening::ForceReleased { .. } => 0,
        Happening::Swapped { .. } => 1,
        Happening::Reverted { .. } => 3,
        _ => 2,
    }
}

/// Returns the position of the SubDevice that an event is about.
fn subdevice_of(what: &Happening) -> Option<u32> {
    match *what {
        Happening::WorkingCounter { subdevice, .. } => subdevice,
        Happening::AlState { subdevice, .. }
        | Happening::Emergency { subdevice, .. }
        | Happening::SubDeviceAbsent { subdevice }
        | Happening::SubDeviceForeign { subdevice, .. }
        | Happening::SubDeviceRecovered { subdevice }
        | Happening::SubDeviceNotRecovered { subdevice, .. }
        | Happening::ErrorCounters { subdevice, .. } => Some(subdevice),
        _ => None,
    }
}

/// Returns the state of the fieldbus as of its last frame. While the program is held there are no
/// frames, so the SubDevices may have left their state since.
fn fieldbus(status: FieldbusStatus, is_paused: bool) -> FieldbusState {
    let state = match status.al_states {
        _ if is_paused => "no frames",
        0 => "no answer",
        0x01 => "INIT",
        0x02 => "PRE-OP",
        0x04 => "SAFE-OP",
        0x08 => "OP",
        mixed if mixed & 0x10 != 0 => "error",
        _ => "mixed",
    };
    FieldbusState {
        state: state.to_owned(),
        subdevices: u32::from(status.subdevices),
        working_counter: status.working_counter,
        working_counter_expected: status.expected,
        lost_frames: status.lost_frames,
    }
}

#[cfg(test)]
mod tests {
    use quietcore_exchange::{Recorder, Release, Shape};

    use super::*;

    /// Returns when a partition is first found not to start, with looks every 10 ms.
    fn seen(begins: impl Fn(Duration) -> bool) -> Option<Duration> {
        let start = Instant::now();
        let mut starting = Starting::new(start);
        let looks = (0..20_000).map(|look| Duration::from_millis(10 * look));
        looks.into_iter().find(|at| starting.look(begins(*at), start + *at).is_some())
    }

    /// Goal: tasks of a kernel, whose rows stand behind that of the task which drives them, count.
    #[test]
    fn overruns_are_those_of_all_tasks() {
        let exchange = Exchange::create(&Shape::of_tasks(3)).unwrap();
        let region = exchange.region();
        let (due, period) = (Nanos::from_secs(1), Nanos::from_millis(1));
        let started = due;
        let none = Nanos::ZERO;
        let cycle =
            Release { due, started, wakeup_latency: none, margin: none, spin: none, cpu: 0 };
        for (task, overruns) in [(1, 2), (2, 3)] {
            let mut recorder = Recorder::new(region.task(task).unwrap(), period, 1);
            for _ in 0..overruns {
                recorder.record_scan(&cycle, period, period * 2, true);
            }
        }
        assert_eq!(overruns_of(&region), Some(5));
    }

    #[test]
    fn a_fieldbus_without_frames_is_in_no_state_that_is_known() {
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let mut status = exchange.region().fieldbus();
        (status.al_states, status.subdevices) = (0x08, 3);
        assert_eq!(fieldbus(status, false).state, "OP");
        assert_eq!(fieldbus(status, true).state, "no frames");
    }

    #[test]
    fn a_partition_that_begins_no_cycle_in_a_minute_has_not_started() {
        assert_eq!(seen(|_| false), Some(START_MAX));
        assert_eq!(seen(|at| at > START_MAX / 2), None);
        assert_eq!(seen(|_| true), None);
        let (mut starting, now) = (Starting::new(Instant::now()), Instant::now());
        assert_eq!(starting.look(false, now + START_MAX), None, "nobody looked meanwhile");
    }
}
