//! The blocks of an experiment on a terminal, or as a line a round.

use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressStyle};
use quietcore_campaign::{Advance, Observer, Progress, Run};
use quietcore_record::record::Record;
use quietcore_units::Nanos;

const TEMPLATE: &str = "{prefix} [{bar:24}] {percent:>3} %  {msg}";

/// Shows how many blocks are done, and how long the others will take.
pub(super) struct Blocks {
    bar: ProgressBar,
    terminal: bool,
    /// Number of blocks that get one line if there is no terminal.
    stretch: u64,
    begun: u64,
}

impl Blocks {
    /// Shows progress for `count` blocks, of which a round has `stretch`.
    pub(super) fn new(count: u64, stretch: usize) -> Self {
        let terminal = io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(count) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template(TEMPLATE);
        bar.set_style(style.expect("the template has known keys only").progress_chars("█▉▊▋▌▍▎▏ "));
        Self { bar, terminal, stretch: (stretch as u64).max(1), begun: 0 }
    }

    /// Prints a line above the bar.
    fn say(&self, text: &str) {
        if self.terminal {
            self.bar.println(text);
        } else {
            crate::terminal::say(text);
        }
    }
}

impl Observer for Blocks {
    fn step(&mut self, _text: &str) {}

    fn tell(&mut self, text: &str) {
        self.say(text);
    }

    fn begin(&mut self, run: &Run) {
        if !self.terminal && self.begun.is_multiple_of(self.stretch) {
            let round = self.begun / self.stretch + 1;
            crate::terminal::say(format_args!("round {round} begins with {}", run.profile));
        }
        self.bar.set_position(self.begun);
        self.begun += 1;
        self.bar.set_prefix(format!("{:<28}", run.profile));
    }

    fn progress(&mut self, progress: Progress) {
        let left = self.bar.eta().as_secs();
        self.bar.set_message(format!("worst {}  left {left} s", progress.worst));
    }

    /// An experiment varies runs, and has no probe of another kind.
    fn advance(&mut self, _advance: &Advance<'_>) {}

    fn end(&mut self, _run: &Run, _records: &[Record]) {
        self.bar.set_position(self.begun);
    }

    fn fault(&mut self, run: &Run, partition: &str, because: &str) {
        self.say(&format!("{}: {partition}: the program failed: {because}", run.profile));
    }

    fn failed(&mut self, run: &Run, because: &str) {
        self.say(&format!("{}: left out: {because}", run.profile));
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Returns a time in whole seconds and minutes, for an estimate.
pub(super) fn about(duration: Nanos) -> String {
    match duration.get() / 1_000_000_000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
