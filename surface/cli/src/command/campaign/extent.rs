//! The time that a command takes as it is written, and the same command of another length.

use std::path::Path;

use quietcore_site::{Length, Site};
use quietcore_units::Nanos;

use crate::arguments::{Command, Irq, ProbeKind, Qualify, RunningCommand};
use crate::files;
use crate::status::Failure;

/// Time for what surrounds a measurement: reading the machine, building, settling, the page.
const AROUND: Nanos = Nanos::from_secs(5);
/// Time for a command that measures nothing.
const AT_ONCE: Nanos = Nanos::from_secs(1);
/// Time of the probe of OSEK routines and of the EtherCAT round trip with the papers' counts.
const COUNTED: Nanos = Nanos::from_secs(10);
/// Time for the image of a guest, once its kernel's package is there.
const IMAGE: Nanos = Nanos::from_secs(30);
/// Time of a part of the memory probe with its usual number of rounds.
const MEMORY_PART: Nanos = Nanos::from_secs(120);

/// Options by which the length of a measurement is given; all of them give way to `--duration`.
const LENGTHS: [&str; 3] = ["--duration", "--cycles", "--interrupts"];

/// Time that a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// About this long, whatever is asked for.
    Fixed(Nanos),
    /// As long as is asked for.
    Asked {
        /// Number of measurements, one after the other; at least 1.
        runs: u64,
        /// Length of each as the command is written.
        whole: Nanos,
    },
}

impl Extent {
    /// Reads the extent of a command. The site file that it names may be below `folder`.
    /// A campaign that measures each partition alone makes as many measurements as `possible`
    /// returns of its site.
    pub(super) fn of(
        command: &Command,
        folder: &Path,
        possible: &dyn Fn(&Site) -> u64,
    ) -> Result<Self, Failure> {
        Ok(match command {
            Command::Guest(_) => Self::Fixed(IMAGE),
            Command::Qualify(request) => of_qualify(request, folder, possible)?,
            Command::Running(RunningCommand::Up(request)) => {
                Self::Fixed(plus_around(request.duration.unwrap_or(Nanos::ZERO)))
            }
            Command::Probe(request) => match &request.probe {
                ProbeKind::Latency(latency) => Self::once(latency.duration),
                ProbeKind::Exec(exec) => Self::once(exec.duration),
                ProbeKind::Irq(irq) => of_irq(irq),
                ProbeKind::Memory(memory) => {
                    Self::Fixed(times(MEMORY_PART, memory.parts.len() as u64))
                }
                ProbeKind::Osek(_) | ProbeKind::Ethercat(_) => Self::Fixed(COUNTED),
            },
            _ => Self::Fixed(AT_ONCE),
        })
    }

    const fn once(whole: Nanos) -> Self {
        Self::Asked { runs: 1, whole }
    }

    /// Returns the time that it takes where each measurement is this long; `None` for as long as it
    /// is written.
    pub(super) fn time(self, each: Option<Nanos>) -> Nanos {
        match self {
            Self::Fixed(time) => time,
            Self::Asked { runs, whole } => times(plus_around(each.unwrap_or(whole)), runs),
        }
    }
}

fn times(time: Nanos, count: u64) -> Nanos {
    Nanos::new(time.get().saturating_mul(count))
}

fn plus_around(time: Nanos) -> Nanos {
    Nanos::new(time.get().saturating_add(AROUND.get()))
}

/// Returns the number of measurements of a campaign whose partitions are all possible.
pub(super) fn all_runs(site: &Site) -> u64 {
    let of = |turn: &Site| turn.campaign().profiles.len() as u64;
    site.turns().iter().map(of).sum()
}

fn of_qualify(
    request: &Qualify,
    folder: &Path,
    possible: &dyn Fn(&Site) -> u64,
) -> Result<Extent, Failure> {
    let Some(site) = &request.site else { return Ok(Extent::Fixed(AT_ONCE)) };
    let mut site = files::read_site_with(&folder.join(site), request.accelerator)?.site;
    if !request.profile.is_empty() {
        site.select_profiles(&request.profile)?;
    }
    let campaign = site.campaign();
    let whole = request.duration.unwrap_or_else(|| match campaign.length {
        Length::Duration(duration) => duration,
        Length::Cycles(cycles) => {
            let period = site.partitions().iter().map(|partition| partition.program.period).max();
            times(period.unwrap_or_default(), cycles)
        }
    });
    Ok(Extent::Asked { runs: possible(&site).max(1), whole })
}

fn of_irq(request: &Irq) -> Extent {
    let longest = request.period.iter().copied().max().unwrap_or_default();
    let whole = request.duration.unwrap_or(times(longest, request.interrupts));
    Extent::Asked { runs: request.period.len() as u64, whole }
}

/// Returns the words of the same command whose measurements are each this long.
pub(super) fn with_length(words: &[String], each: Nanos) -> Vec<String> {
    let mut result = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if LENGTHS.contains(&word.as_str()) {
            words.next();
        } else {
            result.push(word.clone());
        }
    }
    result.extend(["--duration".to_owned(), format!("{}s", each.get() / 1_000_000_000)]);
    result
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use quietcore_record::published::reproduction;

    use super::*;
    use crate::arguments::Arguments;

    fn parsed(words: &[String]) -> Command {
        let words = std::iter::once("quietcore").chain(words.iter().map(String::as_str));
        Arguments::try_parse_from(words).expect("a command").command
    }

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// Goal: every command of the papers that takes a length can be given another one.
    #[test]
    fn the_commands_of_the_papers_can_be_made_shorter() {
        let mut asked = 0;
        for step in reproduction::keys().flat_map(reproduction::steps) {
            let words: Vec<String> = step.words().into_iter().map(str::to_owned).collect();
            let Extent::Asked { runs, whole } =
                Extent::of(&parsed(&words), &root(), &all_runs).unwrap()
            else {
                continue;
            };
            let shorter = with_length(&words, Nanos::from_secs(7));
            let found = Extent::of(&parsed(&shorter), &root(), &all_runs).unwrap();
            assert_eq!(found, Extent::Asked { runs, whole: Nanos::from_secs(7) }, "{shorter:?}");
            assert!(whole >= Nanos::from_secs(1), "{}", step.command);
            asked += 1;
        }
        assert!(asked >= 8, "only {asked} commands take a length");
    }

    #[test]
    fn the_time_of_a_campaign_is_that_of_its_profiles() {
        let words = ["qualify", "examples/papers/mahmud2014.toml", "--profile", "tp1,tp2"];
        let words = words.map(str::to_owned);
        let extent = Extent::of(&parsed(&words), &root(), &all_runs).unwrap();
        assert_eq!(extent, Extent::Asked { runs: 2, whole: Nanos::from_secs(3600) });
        assert_eq!(extent.time(Some(Nanos::from_secs(10))), Nanos::from_secs(30));
        // Where each partition is measured alone, each has its own measurements.
        let words = ["qualify", "examples/papers/queiroz2023.toml"].map(str::to_owned);
        let of = |possible: &dyn Fn(&Site) -> u64| Extent::of(&parsed(&words), &root(), possible);
        let whole = Nanos::from_secs(8 * 3600);
        assert_eq!(of(&all_runs).unwrap(), Extent::Asked { runs: 9 * 6, whole });
        assert_eq!(of(&|_| 12).unwrap(), Extent::Asked { runs: 12, whole });
        let up = ["up", "examples/servo.toml", "--for", "10s"].map(str::to_owned);
        assert_eq!(
            Extent::of(&parsed(&up), &root(), &all_runs).unwrap().time(None),
            Nanos::from_secs(15)
        );
    }
}
