//! The life of one process of a partition.

use std::fs::File;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use quietcore_assembly::tell;
use quietcore_backend::process::Partition as Process;
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{
    CommandProducer, Event, EventReader, FieldbusStatus, Happening, Region, RetainReader,
    TaskState, TaskStatistics, TraceRequester,
};
use quietcore_process::exchange::Exchange;
use quietcore_units::{Causes, Nanos};
use quietcore_wording::plural;

use super::builds::pending::{Answering, Pending, Swap, SwapTiming};
use super::changes::LateCommands;
use super::conduct::CutOff;
use super::forces::held_in;
use super::reservation::ReservationWatch;
use super::standstill::Standstill;
use super::{End, Kept, LOOK};
use crate::control::{
    Activity, ControlError, ErrorKind, FieldbusState, Opened, Probation, Severity,
};
use crate::keeper::request::Request;

/// The longest from the start of a process to its first cycle: a fieldbus may take 30 s to come up,
/// the program of a guest 10 s for its `initialize`, and memory, files and threads get 20 s.
const START_MAX: Duration = Duration::from_secs(30 + 10 + 20);
/// The most that counts between two looks, as with a standstill.
const START_LOOK_MAX: Duration = Duration::from_millis(500);

/// A running process with what its exchange offers.
pub(super) struct Incarnation<'a> {
    pub(super) process: Process,
    pub(super) exchange: &'a Exchange,
    pub(super) region: Region<'a>,
    pub(super) commands: CommandProducer<'a>,
    pub(super) traces: Vec<TraceRequester<'a>>,
    pub(super) pending: Option<Pending>,
    /// Commands that no cycle took in time, and may still take.
    pub(super) late: Vec<LateCommands>,
    /// Since when another build runs than is known.
    pub(super) astray: Option<Instant>,
    readers: Vec<EventReader<'a>>,
    /// Events that were overwritten before they were read, as far as that was told.
    lost_told: u64,
    retain: Option<RetainReader<'a>>,
    /// Why the program is in fault, and when it shall be restarted.
    pub(super) fault: Option<(String, Option<Instant>)>,
    /// The build that is in fault, as it was seen last.
    pub(super) faulty: Option<u32>,
    /// Why the program was in fault last, as the events say.
    pub(super) why: Option<String>,
    /// The cycle of its fault, until it runs again.
    pub(super) fault_cycle: Option<u64>,
    standstill: Standstill,
    /// The cycle that was begun last.
    cycle: Option<u64>,
    starting: Starting,
    reservation: ReservationWatch,
    /// Calls that were cut off inside of a library.
    pub(super) cut_off: CutOff,
}

/// How long a process takes to begin with its cycles.
#[derive(Debug)]
struct Starting {
    looked: Instant,
    taken: Duration,
}

impl Starting {
    fn new(now: Instant) -> Self {
        Self { looked: now, taken: Duration::ZERO }
    }

    /// Takes whether the leading task has begun. Returns how long it has not, if that is too long.
    fn look(&mut self, has_begun: bool, now: Instant) -> Option<Duration> {
        let since = now.saturating_duration_since(self.looked).min(START_LOOK_MAX);
        self.looked = now;
        self.taken = if has_begun { Duration::ZERO } else { self.taken + since };
        (self.taken >= START_MAX).then_some(self.taken)
    }
}

impl Kept {
    /// Lives with a process until it ends or is told to.
    pub(super) fn live(&mut self, process: Process) -> End {
        self.saving.new_exchange();
        let exchange = process.exchange();
        let reservation = ReservationWatch::begin(&process, &self.setup, &self.events);
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
            astray: None,
            lost_told: 0,
            readers: (0..=tasks).filter_map(|writer| region.events(writer)).collect(),
            retain: region.retain(),
            fault: None,
            faulty: None,
            why: None,
            fault_cycle: None,
            standstill: Standstill::new(Instant::now()),
            cycle: None,
            starting: Starting::new(Instant::now()),
            reservation,
            cut_off: CutOff::default(),
            process,
        };
        self.meet_monitor(&life);
        let end = loop {
            match self.requests.recv_timeout(LOOK) {
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
            break End::Failed(why);
        };
        self.end_life(life, &end);
        end
    }

    /// Ends a process, and hears and keeps what it has left.
    fn end_life(&mut self, mut life: Incarnation<'_>, end: &End) {
        // One that stands can't be told to end.
        self.leave_monitor();
        self.leave_late(&life);
        let _ = life.process.stop();
        self.hear(&mut life);
        self.hear_printed(&life.process);
        self.hear_late(&mut life);
        self.save(&life, true);
        match end {
            End::Failed(why) | End::Replaced { why, .. } => self.take_back_lost(&life, why),
            End::Down => self.end_proving(Probation::Failed { why: "the site came down".into() }),
        }
        if let Some(pending) = life.pending.take() {
            pending.refuse("the partition's process ended meanwhile");
        }
        self.published.state().pid = None;
    }

    /// Looks once at all that there is to be looked at. Returns how the process is to end, if it
    /// is.
    fn look(&mut self, life: &mut Incarnation<'_>) -> Option<End> {
        self.hear(life);
        self.hear_printed(&life.process);
        self.hear_monitor(life);
        self.note_fault(life);
        self.look_after_fault(life);
        if let Some(replaced) = self.note_cut_off(life) {
            return Some(replaced);
        }
        self.look_after_pending(life);
        self.follow_active(life);
        self.hear_late(life);
        self.look_after_probation(life);
        life.reservation.look(&life.process, &self.setup, &self.events);
        self.save(life, false);
        self.publish_life(life);
        let stands = self.note_standstill(life);
        stands.or_else(|| self.note_start(life)).map(End::Failed)
    }

    /// Saves the retained values, if it is time or `at_once`.
    pub(super) fn save(&mut self, life: &Incarnation<'_>, at_once: bool) {
        let forced = held_in(life.region.forces());
        let saved = self.saving.save(life.retain.as_ref(), &self.current, forced, at_once);
        if let Err(mut error) = saved
            && let Some(more) = self.quiet.admit("retain", None, Severity::Warning, Instant::now())
        {
            if more > 0 {
                error.push_str(&format!(" ({more} more like it before)"));
            }
            let name = &self.setup.partition.name;
            self.events.note(name, "retain", Severity::Warning, &error);
        }
    }

    /// Reads the events that have come.
    pub(super) fn hear(&mut self, life: &mut Incarnation<'_>) {
        let mut heard = Vec::new();
        for reader in &mut life.readers {
            heard.extend(reader.drain());
        }
        self.tell_lost(life);
        heard.sort_by_key(|event| (event.time, order_in_cycle(&event.what)));
        for event in heard {
            self.tell(&event);
            self.follow(life, &event);
        }
    }

    /// Tells of events that were overwritten before they were read.
    fn tell_lost(&mut self, life: &mut Incarnation<'_>) {
        const KIND: &str = "events-lost";
        let lost: u64 = life.readers.iter().map(EventReader::lost).sum();
        let more = lost.saturating_sub(life.lost_told);
        if more > 0 && self.quiet.admit(KIND, None, Severity::Warning, Instant::now()).is_some() {
            life.lost_told = lost;
            let text = format!(
                "{more} event{} came too fast to be read; what was said is not known",
                plural(more)
            );
            self.events.note(&self.setup.partition.name, KIND, Severity::Warning, &text);
        }
    }

    fn tell(&mut self, event: &Event) {
        match event.what {
            // The reason comes as a remark, and is told with it.
            Happening::StageRefused { .. } => return,
            // What becomes of them is told as `deployed` or `restarted`, and a program that is
            // started anew is no other build to anybody but the partition.
            Happening::Staged { .. } | Happening::Swapped { .. } => return,
            _ => {}
        }
        let task = self.setup.tasks.get(event.task as usize);
        let name = task.map_or("host", |task| task.name.as_str());
        let mut told = tell(&event.what, name, &self.current);
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
        match self.quiet.admit(told.kind, whose, told.severity, Instant::now()) {
            None => return,
            Some(0) => {}
            Some(more) => told.text.push_str(&format!(" ({more} more like it before)")),
        }
        let ago = Monotonic.now().saturating_sub(event.time);
        let ago = jiff::SignedDuration::from_nanos(i64::try_from(ago.get()).unwrap_or(0));
        let at = jiff::Timestamp::now() - ago;
        let partition = &self.setup.partition.name;
        self.events.add(partition, told.kind, told.severity, &told.text, Some(event.cycle), at);
    }

    /// What an event means for what is going on.
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

    /// Plans a restart for a build that has come to be in fault, and none where it is no more: it
    /// was taken back, or another one was deployed. What holds decides, as an event may be lost and
    /// a build fail in the cycle in which it was swapped in.
    fn note_fault(&mut self, life: &mut Incarnation<'_>) {
        let faulty = life.region.fault();
        if faulty == life.faulty {
            return;
        }
        life.faulty = faulty;
        // The reason was told before the fault shows here.
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
            life.fault = Some((why, wait.map(|wait| Instant::now() + wait)));
        }
    }

    /// Restarts a program in fault when its wait is over.
    fn look_after_fault(&mut self, life: &mut Incarnation<'_>) {
        let Some((why, Some(at))) = &life.fault else { return };
        let is_due = Instant::now() >= *at;
        if !is_due || life.pending.is_some() || self.shed_by().is_some() {
            return;
        }
        let why = why.clone();
        life.fault = Some((why, None));
        self.restart_as_planned(life);
    }

    /// Ends the process of a partition that stands still, and says why.
    fn note_standstill(&mut self, life: &mut Incarnation<'_>) -> Option<String> {
        let running = |task: &TaskStatistics| task.state() == TaskState::Running;
        let leading = life.region.task(0).filter(|task| running(task));
        let cycle = leading.map(|task| task.scan_cycle());
        let is_held = life.region.is_paused() || self.shed_by().is_some();
        let cycle = cycle.filter(|_| !is_held);
        self.note_cycle(life, cycle, is_held);
        let stood = life.standstill.look(cycle, self.period(), Instant::now())?;
        // It may have ended itself.
        if !matches!(life.process.has_ended(), Ok(false)) {
            return None;
        }
        let seconds = stood.as_secs_f64();
        let text = format!("it began no cycle for {seconds:.1} s, and its process is ended");
        let (name, now) = (&self.setup.partition.name, jiff::Timestamp::now());
        self.events.add(name, "hung", Severity::Fault, &text, cycle, now);
        life.process.kill();
        Some(format!("the partition stood still: it began no cycle for {seconds:.1} s"))
    }

    /// Notes whether another cycle has begun since the last look.
    fn note_cycle(&self, life: &mut Incarnation<'_>, cycle: Option<u64>, is_held: bool) {
        let mut absence = self.published.absence();
        if is_held {
            absence.rest();
        } else if cycle.is_some() && cycle != life.cycle {
            absence.cycle(life.cycle.is_none(), Instant::now());
            life.cycle = cycle;
        }
    }

    /// Ends the process of a partition that does not begin, and says why.
    fn note_start(&mut self, life: &mut Incarnation<'_>) -> Option<String> {
        let begins = |state| matches!(state, TaskState::Unused | TaskState::Starting);
        let has_begun = life.region.task(0).is_none_or(|task| !begins(task.state()));
        let taken = life.starting.look(has_begun, Instant::now())?;
        // It may have ended itself.
        if !matches!(life.process.has_ended(), Ok(false)) {
            return None;
        }
        let seconds = taken.as_secs_f64();
        let text = format!("it began no cycle within {seconds:.0} s, and its process is ended");
        let (name, now) = (&self.setup.partition.name, jiff::Timestamp::now());
        self.events.add(name, "hung", Severity::Fault, &text, None, now);
        life.process.kill();
        Some(format!("the partition did not start: it began no cycle within {seconds:.0} s"))
    }

    fn publish_life(&self, life: &Incarnation<'_>) {
        let tasks: Vec<_> = life.region.tasks().collect();
        let running = tasks.iter().any(|task| task.state() == TaskState::Running);
        let held = || match self.shed_by() {
            Some(by) => Activity::Shed { by },
            None => Activity::Paused,
        };
        let is_held = life.region.is_paused() || self.shed_by().is_some();
        let state = match &life.fault {
            Some((why, Some(at))) => {
                let left = at.saturating_duration_since(Instant::now());
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
        // One that is torn is read in the next look.
        published.overruns = overruns_of(&life.region).unwrap_or(published.overruns);
        let is_paused = life.region.is_paused();
        let fieldbus = |_| fieldbus(life.region.fieldbus(), is_paused);
        published.fieldbus = self.setup.fieldbus.as_ref().map(fieldbus);
        published.forces = self.forces.count() as u32;
    }

    /// Serves one request.
    fn serve(&mut self, life: &mut Incarnation<'_>, request: Request) {
        match request {
            Request::Open { reply } => answer(&reply, self.open(life)),
            Request::Write { commands, paths, generation, reply } => {
                answer(&reply, self.write(life, commands, paths, generation));
            }
            Request::TraceStart { trace, reply } => {
                answer(&reply, self.trace_start(life, &trace));
            }
            Request::TraceStop { reply } => {
                for trace in &mut life.traces {
                    trace.ask(&quietcore_exchange::TraceConfiguration::OFF);
                }
                answer(&reply, Ok(()));
            }
            Request::Deploy { prepared, patience, progress, reply } => {
                match self.refuse_held(life) {
                    Some(refusal) => answer(&reply, Err(refusal)),
                    None => {
                        let answering = Answering::Deploy { reply, progress, patience };
                        self.deploy(life, *prepared, answering);
                    }
                }
            }
            Request::Restart { how, reply } => self.restart(life, how, reply),
            Request::Pause { pause, reply } => {
                let done = self.pause(life, pause);
                // Whoever asks next sees it so.
                self.publish_life(life);
                answer(&reply, done);
            }
            Request::Symbols { reply } => {
                let symbols = Box::new(self.current.build.symbols.clone());
                answer(&reply, Ok((self.current.stage.generation, symbols)));
            }
        }
    }

    fn open(&self, life: &Incarnation<'_>) -> Result<(Opened, File), ControlError> {
        let file: io::Result<File> = life.exchange.read_only_file();
        let file = file.map_err(|error| {
            let place = &self.setup.partition.name;
            ControlError::new(ErrorKind::Failed, place, format!("no view of it: {error}"), "")
        })?;
        let opened = Opened {
            site: self.setup.site.name().to_owned(),
            partition: self.setup.partition.name.clone(),
            generation: self.current.stage.generation,
            incarnation: self.incarnation,
            symbols: self.current.build.symbols_file.clone(),
            tasks: self.setup.tasks.clone(),
        };
        Ok((opened, file))
    }
}

/// Jobs that were not done in time, of all tasks; `None` where one is being written.
fn overruns_of(region: &Region<'_>) -> Option<u64> {
    region.tasks().map(|task| Some(task.scan_counters().ok()?.overruns)).sum()
}

/// Answers; whoever asked may have gone meanwhile.
pub(super) fn answer<T>(
    reply: &SyncSender<Result<T, ControlError>>,
    result: Result<T, ControlError>,
) {
    let _ = reply.send(result);
}

/// The place of an event among those of one instant: forces end with the build that had their
/// variables, and a swap comes before what the new build did in the same cycle.
const fn order_in_cycle(what: &Happening) -> u8 {
    match what {
        Happening::ForceReleased { .. } => 0,
        Happening::Swapped { .. } => 1,
        Happening::Reverted { .. } => 3,
        _ => 2,
    }
}

/// The position of the SubDevice that an event is about.
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

/// The fieldbus as its last frame said. While the program is held there are no frames, so that the
/// SubDevices may have left their state since.
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
    use quietcore_exchange::{Cycle, Recorder, Shape};

    use super::*;

    /// When it was seen first that a partition does not start, with looks every 10 ms.
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
        let cycle = Cycle { due, started, wakeup_latency: none, margin: none, spin: none, cpu: 0 };
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
