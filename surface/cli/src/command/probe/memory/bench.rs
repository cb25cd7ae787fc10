//! A block of the partition, with neighbours or without; and how far all of it is.

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use quietcore_backend::memory::Victim;
use quietcore_load::{Achieved, Pace};
use quietcore_probe::memory::{AccessPattern, Answer, Command};
use quietcore_probe::thread::Standing;
use quietcore_process::field::FieldState;
use quietcore_record::reason::RunProblem;
use quietcore_record::record::MemoryBlock;
use quietcore_units::ByteSize;

use super::Ended;
use super::neighbours::Neighbours;
use crate::status::Failure;

/// Where there is no terminal, progress is told so often.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// The partition and its neighbours.
pub(super) struct Bench<'a> {
    victim: Victim,
    neighbours: &'a mut Neighbours,
    standing: Standing,
}

impl<'a> Bench<'a> {
    pub(super) fn new(victim: Victim, neighbours: &'a mut Neighbours) -> Self {
        let state = victim.read_back().ok();
        let standing = Standing { state, degraded: victim.degraded().to_vec(), drift: None };
        Self { victim, neighbours, standing }
    }

    /// The thread that measures.
    pub(super) fn thread(&self) -> u32 {
        self.victim.thread()
    }

    pub(super) fn neighbours(&mut self) -> &mut Neighbours {
        self.neighbours
    }

    /// Begins a new random cycle while the neighbours rest.
    pub(super) fn cycle(&mut self, round: u32) -> Result<(), Failure> {
        self.neighbours.turn(Pace::Rest)?;
        // Each round has a cycle of its own, and each run the same ones.
        self.victim.tell(Command::Cycle { seed: u64::from(round) })?;
        Ok(())
    }

    pub(super) fn working_set(&mut self, bytes: u64) -> Result<(), Failure> {
        self.victim.tell(Command::WorkingSet { bytes })?;
        Ok(())
    }

    /// Measures a block beside neighbours of this pace.
    pub(super) fn block(
        &mut self,
        pattern: AccessPattern,
        round: u32,
        pace: Pace,
    ) -> Result<MemoryBlock, Failure> {
        self.neighbours.turn(pace)?;
        self.neighbours.begin();
        let answer = self.victim.tell(Command::Measure { pattern })?;
        let load_bytes_per_second = self.neighbours.end();
        let Answer::Block { accesses, time_ns, .. } = answer else {
            return Err(Failure::new("quietcore: the partition measured nothing"));
        };
        Ok(MemoryBlock { round, accesses, time_ns, load_bytes_per_second })
    }

    /// What held for the part that has ended.
    pub(super) fn ended(&mut self) -> (Ended, Vec<Achieved>, Option<RunProblem>) {
        let now = self.victim.read_back().ok();
        let mut standing = self.standing.clone();
        standing.drift = now.filter(|now| {
            self.standing
                .state
                .as_ref()
                .is_some_and(|first| (first.policy, first.affinity) != (now.policy, now.affinity))
        });
        let (achieved, wrong) = self.neighbours.take_achieved();
        (Ended { standing, pages: pages(self.victim.field()) }, achieved, wrong)
    }
}

/// The kind of page in words, as read back.
fn pages(field: Option<FieldState>) -> String {
    match field {
        None => "pages not read back".to_owned(),
        Some(FieldState { large_bytes: 0, locked_bytes }) => {
            format!("pages of 4 KiB, {} locked", ByteSize::new(locked_bytes))
        }
        Some(FieldState { large_bytes, locked_bytes }) => format!(
            "pages of 2 MiB for {}, else of 4 KiB, {} locked",
            ByteSize::new(large_bytes),
            ByteSize::new(locked_bytes)
        ),
    }
}

/// How far a part is, on a terminal or as a line now and then; and whether it shall end.
pub(super) struct Progress<'a> {
    stop: &'a Arc<AtomicBool>,
    bar: ProgressBar,
    begin: Cell<Instant>,
    told: Cell<Instant>,
    blocks: Cell<[u64; 2]>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(stop: &'a Arc<AtomicBool>) -> Self {
        let terminal = io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(1) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{prefix} [{bar:24}] {percent:>3} %  {msg}");
        bar.set_style(style.expect("the template has known keys only").progress_chars("█▉▊▋▌▍▎▏ "));
        let now = Instant::now();
        let (begin, told) = (Cell::new(now), Cell::new(now));
        Self { stop, bar, begin, told, blocks: Cell::new([0, 1]) }
    }

    pub(super) fn stop_flag(&self) -> &Arc<AtomicBool> {
        self.stop
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Begins a part of so many steps.
    pub(super) fn begin(&self, part: &'static str, steps: u64) {
        self.begin.set(Instant::now());
        self.blocks.set([0, steps.max(1)]);
        self.bar.set_prefix(part);
        self.bar.set_length(steps.max(1));
        self.bar.set_position(0);
    }

    /// One step more; `what` is under way. Returns whether to go on.
    pub(super) fn step(&self, what: &str) -> bool {
        let [done, all] = self.blocks.get();
        self.blocks.set([done + 1, all]);
        self.bar.set_position(done);
        let elapsed = self.begin.get().elapsed().as_secs_f64();
        let left =
            if done > 0 { elapsed * (all - done.min(all)) as f64 / done as f64 } else { 0.0 };
        let words = format!("{what}, left {} s", left.ceil() as u64);
        if self.bar.is_hidden() && self.told.get().elapsed() >= TELL_EVERY {
            self.told.set(Instant::now());
            crate::terminal::say(format_args!("{} of {all}: {words}", done + 1));
        }
        self.bar.set_message(words);
        !self.is_stopped()
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
