//! A machine that stands still or falls, and what is done about it.
//!
//! This emulator has faults where a machine holds guests: it may lose an interrupt, and nothing
//! happens in the machine any more, whatever ran in it; the machine's kernel finds its own stack
//! overwritten, and panics, or can't even do that and ends in a triple fault; or it delivers an
//! interrupt to a guest twice, the second time while the guest holds interrupts back, and the guest
//! says so and ends; or a guest of ours, or the kernel of a domain, falls. The machine beats for
//! that reason: its first process writes the seconds since its start into a file of the results,
//! each second. Where the beat stays away, or never comes, the machine is at fault, and is
//! started anew, as it is where a scenario failed and a guest said so. What hangs while the machine
//! beats is a failure of the scenario, and is ended by its limit.

use std::time::Duration;

use crate::emulator::Broken;

/// Time without a beat after which the machine stands still.
pub const STANDS_STILL: Duration = Duration::from_secs(60);
/// Time after which a machine that has not begun to beat stands still: a hypervisor whose first
/// system never starts. Beside a load, one that starts takes a minute.
const BEGINS_MAX: Duration = Duration::from_secs(300);
/// Number of times that a machine that stood still is started anew.
pub const ANEW_MAX: u32 = 2;

/// The beat of a machine as it was last seen. Pure: time is given to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heart {
    /// The last beat, and when it was seen first.
    last: Option<(Vec<u8>, Duration)>,
}

impl Heart {
    /// Takes what the file of beats holds at this time since the start: `None` where there is none
    /// yet. Returns whether the machine stands still.
    pub fn stands_still(&mut self, beat: Option<Vec<u8>>, now: Duration) -> bool {
        let Some(beat) = beat else { return self.last.is_none() && now > BEGINS_MAX };
        match &self.last {
            Some((last, since)) if *last == beat => now.saturating_sub(*since) > STANDS_STILL,
            _ => {
                self.last = Some((beat, now));
                false
            }
        }
    }
}

/// Runs a machine, and once more where it stood still or fell, [`ANEW_MAX`] times at most.
/// `before_anew` gets the number of the new start, from 1, and the reason.
///
/// # Errors
/// [`Broken`]; a machine that stood still or fell each time is one of them.
pub fn run_anew(
    mut run: impl FnMut() -> Result<i32, Broken>,
    mut before_anew: impl FnMut(u32, &Broken) -> Result<(), Broken>,
) -> Result<i32, Broken> {
    for anew in 1..=ANEW_MAX {
        match run() {
            Err(
                why @ (Broken::StoodStill { .. }
                | Broken::Panicked { .. }
                | Broken::TripleFault { .. }
                | Broken::HeldBack { .. }
                | Broken::HostsRegisters { .. }
                | Broken::GuestFell { .. }
                | Broken::DomainFell { .. }),
            ) => before_anew(anew, &why)?,
            ended => return ended,
        }
    }
    run()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn beat(number: u32) -> Option<Vec<u8>> {
        Some(number.to_string().into_bytes())
    }

    #[test]
    fn a_machine_that_beats_does_not_stand_still_however_long_it_runs() {
        let mut heart = Heart::default();
        assert!((0..1000).all(|second| !heart.stands_still(beat(second / 50), SECOND * second)));
    }

    #[test]
    fn a_machine_stands_still_a_minute_after_its_last_beat() {
        let mut heart = Heart::default();
        assert!(!heart.stands_still(None, BEGINS_MAX), "it has not begun to beat");
        assert!(!heart.stands_still(beat(3), SECOND * 501));
        assert!(!heart.stands_still(beat(3), SECOND * 501 + STANDS_STILL));
        // A file that is being written, or can't be read for a moment.
        assert!(!heart.stands_still(None, SECOND * 561));
        assert!(heart.stands_still(beat(3), SECOND * 502 + STANDS_STILL));
    }

    #[test]
    fn a_machine_that_never_begins_to_beat_stands_still() {
        let mut heart = Heart::default();
        assert!((0..=300).all(|second| !heart.stands_still(None, SECOND * second)));
        assert!(heart.stands_still(None, SECOND * 301));
    }

    fn stood_still() -> Result<i32, Broken> {
        Err(Broken::StoodStill { console: "console.txt".into() })
    }

    /// Runs a machine that ends so, start by start; returns the end, and the new starts.
    fn run_of(mut ends: Vec<Result<i32, Broken>>) -> (Result<i32, Broken>, Vec<u32>) {
        let mut told = Vec::new();
        let ended = run_anew(
            || ends.remove(0),
            |anew, _| {
                told.push(anew);
                Ok(())
            },
        );
        assert!(ends.is_empty(), "every start was made");
        (ended, told)
    }

    #[test]
    fn only_a_machine_that_stood_still_or_fell_is_started_anew() {
        assert!(matches!(run_of(vec![Ok(1)]), (Ok(1), told) if told.is_empty()));
        let interrupted = run_of(vec![Err(Broken::Interrupted)]);
        assert!(matches!(interrupted, (Err(Broken::Interrupted), told) if told.is_empty()));
        let once = run_of(vec![stood_still(), Ok(0)]);
        assert!(matches!(once, (Ok(0), told) if told == [1]));
        let panicked = Err(Broken::Panicked { console: "console.txt".into() });
        assert!(matches!(run_of(vec![panicked, Ok(0)]), (Ok(0), told) if told == [1]));
        let fell = Err(Broken::TripleFault { console: "console.txt".into() });
        assert!(matches!(run_of(vec![fell, Ok(0)]), (Ok(0), told) if told == [1]));
        let held_back = Err(Broken::HeldBack { console: "console.txt".into() });
        assert!(matches!(run_of(vec![held_back, Ok(1)]), (Ok(1), told) if told == [1]));
        let mixed = Err(Broken::HostsRegisters { console: "console.txt".into() });
        assert!(matches!(run_of(vec![mixed, Ok(1)]), (Ok(1), told) if told == [1]));
        let fell = Err(Broken::GuestFell { console: "console.txt".into() });
        assert!(matches!(run_of(vec![fell, Ok(0)]), (Ok(0), told) if told == [1]));
        let fell = Err(Broken::DomainFell { console: "console.txt".into() });
        assert!(matches!(run_of(vec![fell, Ok(0)]), (Ok(0), told) if told == [1]));
        let thrice = run_of(vec![stood_still(), stood_still(), stood_still()]);
        assert!(matches!(thrice, (Err(Broken::StoodStill { .. }), told) if told == [1, 2]));
    }
}
