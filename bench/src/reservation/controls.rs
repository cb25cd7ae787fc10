//! Changing and putting back what eight partitions want of the machine, beside bare writes.
//!
//! | side | what |
//! |------|------|
//! | ours | eight sites of a partition each hold all controls, one after the other, and let them go: journal, write, read back |
//! | peer | each setting that they changed is written once by itself, and written back; no journal, no look whether it worked |

use std::path::Path;
use std::time::Instant;

use quietcore_host::Source;
use quietcore_settings::{
    Changed, Controls, Effect, LiveSettings, RequestedSettings, Setting, Settings as _, Store,
    requests,
};
use quietcore_site::Control;
use quietcore_units::{Causes, CpuId, CpuSet};

use crate::findings::{Common, Findings, Goal};

/// Number of partitions that hold controls.
const PARTITIONS: usize = 8;
/// Time in seconds that applying and undoing may take, each.
const GOAL_SECONDS: f64 = 1.0;

/// Changing and putting back what eight partitions want of the machine, beside bare writes
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Leave these controls out, by their words in the site file
    #[arg(long, value_delimiter = ',', value_name = "WORD,..")]
    without: Vec<String>,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("settings are changed by root alone; run it as root".to_owned());
    }
    let common = &request.common;
    let rounds = common.rounds_or(12);
    let online = quietcore_host::Facts::read().machine().online;
    let is_left = |control: &Control| !request.without.iter().any(|word| word == control.name());
    let all: Vec<Control> = Control::ALL.into_iter().filter(is_left).collect();
    let cpus = last_of(&online)?;
    let method = format!(
        "{PARTITIONS} sites of a partition each, one after the other, hold {} controls of CPU \
         {cpus} and let them go; {rounds} rounds a side, alternating",
        all.len()
    );
    let mut findings = Findings::begin("controls", method, common, rounds);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let wanted = RequestedSettings { controls: all, cpus, ..RequestedSettings::default() };
    let changes = changes(&wanted, folder.path())?;
    findings.remark(format!("{} settings of this machine are changed", changes.len()));
    let (mut applied, mut undone, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        if round.is_multiple_of(2) {
            bare.push(written(&changes)?);
        }
        let (apply, undo) = held(&wanted, folder.path())?;
        applied.push(apply);
        undone.push(undo);
        if !round.is_multiple_of(2) {
            bare.push(written(&changes)?);
        }
    }
    let seconds = |values: &[f64]| values.iter().map(|ns| ns / 1e9).collect::<Vec<_>>();
    let goal = Goal::AtMost(GOAL_SECONDS);
    findings.goal("ours, applied", "s", &seconds(&applied), goal);
    findings.goal("ours, undone", "s", &seconds(&undone), goal);
    findings.figure("bare writes, there and back", "s", &seconds(&bare));
    let both: Vec<f64> = applied.iter().zip(&undone).map(|(apply, undo)| apply + undo).collect();
    findings.ratio("ours / bare writes", &both, &bare, None);
    findings.print(common)
}

fn last_of(online: &CpuSet) -> Result<CpuSet, String> {
    let last = online.iter().last().filter(|cpu| cpu.get() > 0);
    let only = |cpu: CpuId| std::iter::once(cpu).collect();
    last.map(only).ok_or_else(|| "one CPU only; nothing can be kept off it".to_owned())
}

fn controls(folder: &Path) -> Controls<LiveSettings> {
    Controls::new(LiveSettings::default(), Store::new(folder))
}

/// Measures the time until all hold what they want, and until all is put back, in ns.
fn held(wanted: &RequestedSettings, folder: &Path) -> Result<(f64, f64), String> {
    let controls = controls(folder);
    let begin = Instant::now();
    let mut sites = Vec::with_capacity(PARTITIONS);
    for number in 0..PARTITIONS {
        let changed = Changed::begin(wanted, &format!("bench-{number}"), Some(&controls));
        sites.push(changed.map_err(|error| Causes(&error).to_string())?);
    }
    let applied = begin.elapsed();
    let begin = Instant::now();
    for site in sites {
        let (_, left) = site.end();
        if let Some(left) = left.first() {
            return Err(format!("not put back: {left}"));
        }
    }
    let undone = begin.elapsed();
    Ok((applied.as_nanos() as f64, undone.as_nanos() as f64))
}

/// The settings that are changed by this, with the value that they had and the one that they get. A
/// group that would have to be made is none of them.
fn changes(
    wanted: &RequestedSettings,
    folder: &Path,
) -> Result<Vec<(Setting, String, String)>, String> {
    let asked = requests(&Source::live(), "bench", wanted);
    let (held, outcomes) =
        controls(folder).hold("bench", asked).map_err(|error| Causes(&error).to_string())?;
    held.release().map_err(|error| Causes(&error).to_string())?;
    let changed = outcomes.into_iter().filter(|outcome| {
        outcome.effect == Effect::Effective && !matches!(outcome.setting, Setting::Cpuset { .. })
    });
    Ok(changed.map(|outcome| (outcome.setting, outcome.before, outcome.wanted)).collect())
}

/// Measures the time to write each of them and to write it back, in ns.
fn written(changes: &[(Setting, String, String)]) -> Result<f64, String> {
    let settings = LiveSettings::default();
    let begin = Instant::now();
    for (setting, _, value) in changes {
        // A thread may have ended.
        let _ = settings.write(setting, value);
    }
    for (setting, before, _) in changes.iter().rev() {
        let _ = settings.write(setting, before);
    }
    Ok(begin.elapsed().as_nanos() as f64)
}
