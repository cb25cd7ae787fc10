//! A window of time and the events of its CPU, made shares that add up to the window.
//!
//! The window is cut at each event. A piece belongs to what was on top then: an NMI before an
//! interrupt before a softirq before the thread that ran. Where a thread ran, it depends on the
//! task: one that slept waits for its timer, one that was woken is blocked or delayed, and one that
//! ran is on its own way to its start. What is told by its length alone (NMIs, and all noise that
//! `osnoise` tells) takes its time from what it interrupted.

use std::collections::BTreeMap;

use super::course::{Piece, course};
use super::event::{Event, Frame, Happening, Thread};
use super::{Cause, Counted, Ledger, PIECES_MAX, Share};

/// The deepest nesting that is followed: thread, softirq, interrupt, NMI, and a reserve for what a
/// torn trace may claim.
const DEPTH_MAX: usize = 16;
/// The lowest priority of the kernel that is no real-time priority.
const PRIORITY_ORDINARY: i64 = 100;

/// A late release that is to be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of the release, from 0.
    pub release: u64,
    /// Due instant of the release, on the clock of the trace, in ns.
    pub due_ns: u64,
    /// Start of the task, in ns; not before `due_ns`.
    pub started_ns: u64,
    /// Due instant of the first release of the run, in ns.
    pub first_release_ns: u64,
    /// Number of the CPU.
    pub cpu: u32,
    /// The kernel's number of the task's thread.
    pub thread: u32,
    /// Instant from which on the trace holds all that happened, in ns; `None` where that isn't
    /// known.
    pub traced_from_ns: Option<u64>,
}

/// Makes the ledger of a window from the events of the trace; those of other CPUs are passed over.
/// The shares add up to the window, whatever the events are.
pub fn attribute(window: &Window, events: &[Event]) -> Ledger {
    let end = window.started_ns.max(window.due_ns);
    let own = || events.iter().filter(|event| event.cpu == window.cpu);
    let mut sweep = Sweep::new(window, end);
    sweep.priorities = own().filter_map(|event| event.happening.priority_of_left()).collect();
    if window.traced_from_ns.is_some_and(|from| from <= window.due_ns) {
        // Nothing has happened before the first event, so what ran then ran already.
        sweep.begin_with(own().next().and_then(|event| event.running.as_ref()));
    }
    for event in own() {
        if event.at_ns > end {
            break;
        }
        sweep.step(event);
    }
    sweep.finish()
}

/// The state of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits for its timer.
    Asleep,
    /// It was woken, and has not run since.
    Woken,
    /// It has a processor.
    Running,
}

/// A piece of the window and where it belongs.
#[derive(Clone, Debug)]
struct WindowPart {
    begin: u64,
    end: u64,
    cause: Cause,
    what: String,
    /// `true` if it belongs to an interrupt. Causes that are told by their length take nothing from
    /// it.
    interrupts: bool,
    /// `true` if it goes on from the piece before, across an interruption.
    continues: bool,
}

struct Sweep<'a> {
    window: &'a Window,
    end: u64,
    now: u64,
    frames: Vec<Frame>,
    running: Option<(Thread, Option<i64>)>,
    /// The priorities of threads, as they were when they stopped to run.
    priorities: BTreeMap<u32, i64>,
    task: State,
    timer_came: bool,
    in_fault: bool,
    /// The reason why its processor has left the guest whose task this is, until it enters it
    /// again.
    left: Option<String>,
    began: bool,
    pieces: Vec<WindowPart>,
    ledger: Ledger,
    waking_seen: bool,
    task_seen: bool,
    faults: u64,
    frequency_changes: u64,
}

impl<'a> Sweep<'a> {
    fn new(window: &'a Window, end: u64) -> Self {
        Self {
            window,
            end,
            now: window.due_ns,
            frames: Vec::new(),
            running: None,
            priorities: BTreeMap::new(),
            task: State::Asleep,
            timer_came: false,
            in_fault: false,
            left: None,
            began: false,
            pieces: Vec::new(),
            ledger: Ledger {
                release: window.release,
                at_ns: window.due_ns.saturating_sub(window.first_release_ns),
                latency_ns: end - window.due_ns,
                cpu: window.cpu,
                shares: Vec::new(),
                course: Vec::new(),
                counted: Vec::new(),
                stack: Vec::new(),
                remarks: Vec::new(),
            },
            waking_seen: false,
            task_seen: false,
            faults: 0,
            frequency_changes: 0,
        }
    }

    fn begin_with(&mut self, running: Option<&Thread>) {
        if let Some(thread) = running {
            self.note_running(thread.clone(), None);
            self.began = true;
        }
    }

    /// Takes the time until an event, and what changes with it.
    fn step(&mut self, event: &Event) {
        let inside = event.at_ns >= self.window.due_ns;
        if let Some(running) = &event.running {
            // By its number: the name in front may be one that the kernel has forgotten.
            let known = self.running.as_ref().map(|(known, _)| known.number);
            let changed = known != Some(running.number);
            if changed {
                self.note_running(running.clone(), None);
            }
        }
        match &event.happening {
            Happening::Lost => {
                self.began = false;
                self.frames.clear();
                self.running = None;
                if inside || self.now == self.window.due_ns {
                    self.remark("events were lost; what they told is unexplained");
                }
                return;
            }
            Happening::Exit(frame) if !self.is_inside(frame) => {
                // Its begin is not in the trace: it reaches back to the event before.
                let (cause, what) = of_frame(frame);
                self.close(event.at_ns, cause, what, true);
                self.began = true;
                return;
            }
            _ => {}
        }
        self.close_by_state(event.at_ns);
        self.began = true;
        self.apply(&event.happening, inside);
    }

    fn apply(&mut self, happening: &Happening, inside: bool) {
        match happening {
            Happening::Entry(frame) => {
                self.timer_came |= inside && *frame == Frame::Timer;
                if self.frames.len() < DEPTH_MAX {
                    self.frames.push(frame.clone());
                }
            }
            Happening::Exit(frame) => {
                let depth = self.frames.iter().rposition(|other| matches(other, frame));
                self.frames.truncate(depth.unwrap_or(self.frames.len()));
            }
            Happening::Lasted(frame, ns) => self.carve(frame, *ns),
            Happening::Switch { from, still_runnable, to, priority, .. } => {
                if *from == self.window.thread {
                    self.task_seen = true;
                    self.task = if *still_runnable { State::Woken } else { State::Asleep };
                }
                // What runs interrupts nothing: a frame that is still open lost its end.
                self.frames.clear();
                self.in_fault = false;
                self.note_running(to.clone(), Some(*priority));
            }
            Happening::Waking(number) if *number == self.window.thread => {
                if self.task == State::Asleep {
                    self.task = State::Woken;
                }
                self.waking_seen = true;
                self.task_seen = true;
                self.ledger.stack.clear();
            }
            Happening::PageFault => {
                if self.task == State::Running {
                    self.in_fault = true;
                    self.faults += u64::from(inside);
                }
            }
            Happening::Left(reason) => {
                if self.task == State::Running {
                    self.left = Some(reason.clone());
                }
            }
            Happening::Entered => {
                if self.task == State::Running {
                    self.left = None;
                }
            }
            Happening::Frequency(_) => self.frequency_changes += u64::from(inside),
            Happening::Stack(stack) => {
                if self.waking_seen && self.ledger.stack.is_empty() && inside {
                    self.ledger.stack.clone_from(stack);
                }
            }
            Happening::Waking(_) | Happening::Lost | Happening::Other => {}
        }
        if !matches!(happening, Happening::Waking(_)) {
            self.waking_seen = false;
        }
    }

    fn note_running(&mut self, thread: Thread, priority: Option<i64>) {
        if thread.number == self.window.thread {
            self.task = State::Running;
        } else if self.task == State::Running {
            self.task = State::Woken;
        }
        let priority = priority.or_else(|| self.priorities.get(&thread.number).copied());
        self.running = Some((thread, priority));
    }

    fn is_inside(&self, frame: &Frame) -> bool {
        self.frames.iter().any(|other| matches(other, frame))
    }

    /// Gives the time until `at` to what the state says.
    fn close_by_state(&mut self, at: u64) {
        let (cause, what) = self.belongs();
        let interrupts = !self.frames.is_empty();
        self.close(at, cause, what, interrupts);
        if self.in_fault && self.frames.is_empty() {
            self.in_fault = false;
        }
    }

    fn close(&mut self, at: u64, cause: Cause, what: String, interrupts: bool) {
        let at = at.min(self.end);
        if at <= self.now {
            return;
        }
        let continues = self.pieces.iter().any(|piece| piece.cause == cause && piece.what == what)
            && matches!(
                cause,
                Cause::Thread | Cause::TimerLate | Cause::RunDelay | Cause::Exit | Cause::Own
            );
        let piece = WindowPart { begin: self.now, end: at, cause, what, interrupts, continues };
        self.pieces.push(piece);
        self.now = at;
    }

    /// Returns the cause to which time belongs now, and its name.
    fn belongs(&self) -> (Cause, String) {
        if !self.began {
            return (Cause::Unexplained, String::new());
        }
        if let Some(frame) = self.frames.last() {
            return of_frame(frame);
        }
        let Some((thread, priority)) = &self.running else {
            return (Cause::Unexplained, String::new());
        };
        match self.task {
            State::Running if self.in_fault => (Cause::PageFault, String::new()),
            State::Running => match &self.left {
                Some(reason) => (Cause::Exit, reason.clone()),
                None => (Cause::Own, String::new()),
            },
            State::Asleep if thread.is_idle() => (Cause::TimerLate, "the CPU was idle".to_owned()),
            State::Asleep if !self.timer_came => {
                (Cause::TimerLate, format!("{} ran", name_of(thread, *priority)))
            }
            State::Woken if thread.is_idle() => (Cause::RunDelay, String::new()),
            State::Asleep | State::Woken => (Cause::Thread, name_of(thread, *priority)),
        }
    }

    /// Gives the last `ns` before now to a frame, as far as they were no interrupt's.
    fn carve(&mut self, frame: &Frame, ns: u64) {
        let begin = self.now.saturating_sub(ns);
        let (cause, what) = of_frame(frame);
        let mut pieces = Vec::with_capacity(self.pieces.len() + 2);
        for piece in self.pieces.drain(..) {
            if piece.interrupts || piece.end <= begin {
                pieces.push(piece);
                continue;
            }
            let cut = piece.begin.max(begin);
            if cut > piece.begin {
                pieces.push(WindowPart { end: cut, ..piece.clone() });
            }
            pieces.push(WindowPart {
                begin: cut,
                end: piece.end,
                cause,
                what: what.clone(),
                interrupts: true,
                continues: false,
            });
        }
        self.pieces = pieces;
    }

    fn remark(&mut self, words: &str) {
        if !self.ledger.remarks.iter().any(|remark| remark == words) {
            self.ledger.remarks.push(words.to_owned());
        }
    }

    fn finish(mut self) -> Ledger {
        let task_started = self.task == State::Running;
        if task_started || !self.began {
            self.close_by_state(self.end);
        } else {
            // It did start, so what the last event says was not so until then.
            self.close(self.end, Cause::Unexplained, String::new(), false);
        }
        let first = self.pieces.first();
        if first.is_some_and(|piece| piece.cause == Cause::Unexplained) && self.began {
            self.remark("the trace begins after the release was due");
        }
        if !self.began {
            self.remark("the trace holds nothing of this CPU before the start");
        } else if !task_started && self.task_seen {
            self.remark(
                "the trace ends before the task starts; the kernel dropped its last events",
            );
        } else if !task_started {
            self.remark("the trace does not hold the task; is this a PID namespace?");
        }
        self.note_course();
        for piece in std::mem::take(&mut self.pieces) {
            let (ns, times) = (piece.end - piece.begin, u64::from(!piece.continues));
            let shares = &mut self.ledger.shares;
            match shares.iter_mut().find(|it| it.cause == piece.cause && it.what == piece.what) {
                Some(share) => {
                    share.ns += ns;
                    share.times += times;
                }
                None => {
                    shares.push(Share { cause: piece.cause, what: piece.what, ns, times });
                }
            }
        }
        self.ledger.shares.sort_by_key(|share| std::cmp::Reverse(share.ns));
        let within_ns = self.ledger.latency_ns;
        for (what, count) in
            [("page faults", self.faults), ("changes of the frequency", self.frequency_changes)]
        {
            if count > 0 {
                self.ledger.counted.push(Counted { what: what.to_owned(), count, within_ns });
            }
        }
        self.ledger
    }

    fn note_course(&mut self) {
        let due = self.window.due_ns;
        let pieces = self.pieces.iter().map(|WindowPart { begin, end, cause, what, .. }| Piece {
            cause: *cause,
            what: what.clone(),
            at_ns: begin - due,
            ns: end - begin,
        });
        let (course, left_out) = course(pieces);
        self.ledger.course = course;
        if left_out > 0 {
            self.remark(&format!(
                "of its pieces, the {PIECES_MAX} longest have their place in time"
            ));
        }
    }
}

/// Returns `true` if an end belongs to a begin. The end of a device's interrupt has its number
/// only.
fn matches(begin: &Frame, end: &Frame) -> bool {
    match (begin, end) {
        (Frame::Interrupt(begin), Frame::Interrupt(end)) => {
            begin == end || begin.split(' ').next() == Some(end)
        }
        _ => begin == end,
    }
}

fn of_frame(frame: &Frame) -> (Cause, String) {
    match frame {
        Frame::Timer => (Cause::TimerInterrupt, String::new()),
        Frame::Interrupt(name) => (Cause::Interrupt, name.clone()),
        Frame::Softirq(name) => (Cause::Softirq, name.clone()),
        Frame::Nmi(name) => (Cause::Nmi, name.clone()),
    }
}

/// Returns the name of a thread with its number, and its real-time priority where it is known to
/// have one.
fn name_of(thread: &Thread, priority: Option<i64>) -> String {
    let Thread { name, number } = thread;
    match priority {
        Some(priority @ 0..PRIORITY_ORDINARY) => {
            let real_time = PRIORITY_ORDINARY - 1 - priority;
            format!("{name} ({number}, real-time priority {real_time})")
        }
        // Deadline threads, and those that stop a CPU.
        Some(..0) => format!("{name} ({number}, before all priorities)"),
        _ => format!("{name} ({number})"),
    }
}

#[cfg(test)]
mod tests;
