//! The machine as the commands see it.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use quietcore_campaign::{Live, Machine, Run};
use quietcore_host::Facts;
use quietcore_settings::{Controls, DmaLatency, LiveSettings, Store};
use quietcore_site::Control;
use quietcore_supervisor::places::Places;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::files;
use crate::status::Failure;

/// Reads the facts and shows a spinner: trying a guest takes a few seconds. Ctrl-C is answered
/// afterwards, since an attempt that is cut off could leave a cgroup behind.
pub(crate) fn read_facts(stop: &AtomicBool) -> Result<Facts, Failure> {
    let spinner = ProgressBar::new_spinner();
    if io::stderr().is_terminal() {
        let style = ProgressStyle::with_template("{spinner} {msg}");
        spinner.set_style(style.expect("the template has known keys only"));
        spinner.set_message("reading the machine");
        spinner.enable_steady_tick(Duration::from_millis(100));
    }
    let facts = Facts::read();
    spinner.finish_and_clear();
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::new("quietcore: interrupted"));
    }
    Ok(facts)
}

/// Returns why this machine's time can't be trusted; `None` if it can.
pub(crate) fn emulated(facts: &Facts) -> Option<String> {
    facts.why_time_is_not_real()
}

/// Keeps all CPUs out of deep idle states while the value lives. Prints a remark if that is not
/// allowed.
pub(crate) fn hold_awake() -> Option<DmaLatency> {
    match DmaLatency::hold() {
        Ok(held) => Some(held),
        Err(error) => {
            crate::terminal::say(format_args!(
                "remark: CPUs may fall asleep between cycles: {error}"
            ));
            None
        }
    }
}

/// Returns the settings of this machine if any are to be changed; `None` if the user is not root.
pub(crate) fn controls(is_any: bool) -> Result<Option<Controls<LiveSettings>>, Failure> {
    Ok(if is_any { settings(Places::of_environment()?.journal()) } else { None })
}

/// Returns the settings of this machine if a journal says that some were changed.
pub(crate) fn changed() -> Result<Option<Controls<LiveSettings>>, Failure> {
    let journal = Places::of_environment()?.journal();
    Ok(if journal.exists() { settings(journal) } else { None })
}

fn settings(journal: Store) -> Option<Controls<LiveSettings>> {
    let is_root = rustix::process::geteuid().is_root();
    is_root.then(|| Controls::new(LiveSettings::default(), journal))
}

/// Measures with what all runs have in common, and gives it back afterwards. `controls` are the
/// settings that any of the runs may change.
pub(crate) fn with<T>(
    facts: &Facts,
    controls: &[Control],
    runs: &[Run],
    measure: impl FnOnce(&Machine<'_>) -> T,
) -> Result<T, Failure> {
    let runtime = files::runtime()?;
    let awake = hold_awake();
    let is_any = !controls.is_empty() || runs.iter().any(|run| !run.settings.is_empty());
    let controls = self::controls(is_any)?;
    let container_folder = container_folder(runs)?;
    let emulated = emulated(facts);
    let guests_interpreted = facts.virtualization.why_guests_are_not_real(facts);
    Ok(measure(&Machine {
        world: &Live,
        runtime: &runtime,
        conditions: &facts.conditions_summary(),
        platform: &facts.platform(),
        time: &facts.time_reality(),
        emulated: emulated.as_deref(),
        guests_interpreted: guests_interpreted.as_deref(),
        dma_latency_held: awake.is_some(),
        container_folder: container_folder.as_deref(),
        controls: controls.as_ref(),
        time_of_day,
    }))
}

/// Returns the folder for the containers of runs; `None` if nothing of them runs in one. Removes
/// what is left of containers, and of domains of Xen, whose owner was killed.
pub(crate) fn container_folder(runs: &[Run]) -> Result<Option<PathBuf>, Failure> {
    let settings = || runs.iter().flat_map(Run::backends);
    let contained = settings().any(|setting| setting.declaration().in_container());
    let folder = || Ok::<_, Failure>(Places::of_environment()?.container_folder()?);
    let folder = contained.then(folder).transpose()?;
    for left in quietcore_backend::rooms::sweep(folder.as_deref(), settings()) {
        crate::terminal::say(left);
    }
    Ok(folder)
}

/// Returns a flag that Ctrl-C, SIGTERM or the end of the terminal sets. The second Ctrl-C ends the
/// program at once; partitions and loads end with it.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, 2, Arc::clone(&flag))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}

/// Returns the time of day, RFC 3339, UTC.
pub(crate) fn time_of_day() -> String {
    jiff::Timestamp::now().to_string()
}
