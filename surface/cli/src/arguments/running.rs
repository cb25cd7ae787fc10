//! Arguments of the commands for running sites: `up`, `down`, `ps`, `top`, `events`, `watch`,
//! `channel`, `console`, `set`, `force`, `unforce`, `trace`, `deploy`, `restart`, `pause` and
//! `resume`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use quietcore_supervisor::client::Address;
use quietcore_supervisor::control::Restart;
use quietcore_supervisor::trigger::Trigger;
use quietcore_units::Nanos;

use super::channel::ChannelRequest;
use super::choice::{Choice, one_of};
use crate::completion;

/// Commands that run a site, and those that act on one that runs.
#[derive(Debug, Subcommand)]
pub(crate) enum RunningCommand {
    /// Run a site: its control programs on their fieldbuses
    Up(Up),
    /// Bring a running site down
    Down(Down),
    /// List the sites and partitions that run
    Ps(Ps),
    /// Watch partitions, cycle histograms and worst cases live
    Top(Top),
    /// Print what has happened to the partitions of a running site
    Events(Events),
    /// Print what a guest with a system of its own writes to its console
    Console(ConsoleRequest),
    /// Show variables of a running program
    Watch(Watch),
    /// Give variables of a running program a value, once
    Set(Set),
    /// Hold variables of a running program at a value
    Force(Force),
    /// Release forced variables of a running program
    Unforce(Unforce),
    /// Read a channel of a running site, or send on one
    Channel(ChannelRequest),
    /// Record variables of a running program
    Trace(TraceRequest),
    /// Swap a changed program into a running partition
    Deploy(Deploy),
    /// Restart the program of a partition
    Restart(RestartRequest),
    /// Pause the program of a partition between two cycles
    Pause(PauseRequest),
    /// Resume a paused program
    Resume(ResumeRequest),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quietcore up examples/servo.toml              run it here until Ctrl-C\n  \
    quietcore up examples/servo.toml --for 10s    run it for ten seconds and show its timing\n  \
    quietcore up examples/servo.toml --detach     run it in the background; see `quietcore ps`\n  \
    quietcore up examples/servo.toml --cold       without retained values of the last run")]
pub(crate) struct Up {
    /// Path of the site file
    pub(crate) site: PathBuf,
    /// Go on in the background and return as soon as it runs
    #[arg(long, conflicts_with = "duration")]
    pub(crate) detach: bool,
    /// Replace the site of this name that runs; if this one does not come up, that one comes back
    #[arg(long, requires = "detach")]
    pub(crate) replace: bool,
    /// Bring it down after this long, such as `10 s` or `8h`
    #[arg(long = "for", value_name = "D")]
    pub(crate) duration: Option<Nanos>,
    /// Bring it down, with exit status 1, once each program has stopped or is in a fault that
    /// nothing ends, for a service manager; without it the site stays up, for `quietcore restart`
    #[arg(long)]
    pub(crate) until_stopped: bool,
    /// Start with initial values instead of retained ones
    #[arg(long, conflicts_with = "origin")]
    pub(crate) cold: bool,
    /// Start as for the very first time: everything that earlier runs kept is removed
    #[arg(long)]
    pub(crate) origin: bool,
    /// This is the process in the background
    #[arg(long, hide = true, conflicts_with_all = ["detach", "duration"])]
    pub(crate) detached: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without SITE, the only site that runs is brought down if it was started from \
    here: by this user, in this folder or terminal. For a site from elsewhere the terminal is \
    asked first; without a terminal the command is refused.\n\nExamples:\n  \
    quietcore down\n  \
    quietcore down press-line"
)]
pub(crate) struct Down {
    #[command(flatten)]
    pub(crate) site: SiteName,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Counters are those of a partition's fastest task since the statistics were \
    last reset; `over` counts the jobs of all its tasks. Exit status 1 when a partition does not \
    run, also while it is starting.\n\nExamples:\n  \
    quietcore ps\n  \
    quietcore ps press-line --json | jq '.sites[].partitions[].release_ns_max'"
)]
pub(crate) struct Ps {
    #[command(flatten)]
    pub(crate) site: SiteName,
    /// Print the state as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Keys: ↑ ↓ choose a partition, ← → choose what the histogram shows, `s` sort, \
    `q` end.\n\nEverything is read from outside: it costs the control programs nothing."
)]
pub(crate) struct Top {
    #[command(flatten)]
    pub(crate) site: SiteName,
    /// Rate at which it is drawn, in Hz, 0.1 to 100
    #[arg(long, value_name = "HZ", default_value_t = 2.0, value_parser = rate)]
    pub(crate) rate: f64,
    /// Print it once as text
    #[arg(long)]
    pub(crate) once: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Crashes, overruns, watchdogs, lost SubDevices, set and forced variables, deploys \
    and restarts, the oldest first, with their time in UTC; `!` marks a warning, `✗` a fault. The \
    last 2000 of each partition are kept as long as its site runs, and the last of a site that is \
    down in a file of its state (1 MiB, and an older one); a warning that repeats is kept once a \
    second, with the number of the others, and so are values that are set.\n\nExamples:\n  \
    quietcore events                     of all partitions of the site that runs\n  \
    quietcore events axis --last 20      the last of one partition\n  \
    quietcore events press-line          of all partitions of this site\n  \
    quietcore events axis --follow       the last ten, then each as it comes\n  \
    quietcore events --json | jq 'select(.severity == \"fault\")'"
)]
pub(crate) struct Events {
    /// The partition, as `PARTITION` or `SITE/PARTITION`; or a site, as in `ps SITE`; by default
    /// all partitions of the site that runs
    #[arg(add = ArgValueCompleter::new(completion::partitions_and_sites))]
    pub(crate) partition: Option<Address>,
    /// The site, by its name or its file, where several run
    #[arg(long, value_name = "SITE", add = ArgValueCompleter::new(completion::sites))]
    pub(crate) site: Option<String>,
    /// Continue as long as the site runs
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Print only the last N past events; by default all, or ten with `--follow`
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) last: Option<usize>,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A pattern is a path whose names may hold `*` and `?`, and an index may be `*`; \
    it chooses what it matches and everything inside. All values of a line are of one cycle; a \
    line that mixes cycles is marked.\n\nExamples:\n  \
    quietcore watch axis servo_P                       all parameters\n  \
    quietcore watch axis 'servo_DW.filter[*]' servo_Y  a list of patterns\n  \
    quietcore watch axis servo_Y.torque --changes --deadband 0.1\n  \
    quietcore watch axis '*' --once                    everything, with type and class\n  \
    quietcore watch press-line/axis servo_Y --json     a site among several; an object a line"
)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) of: Of,
    /// Paths or patterns of variables, such as `servo_P.Kp` or `servo_P.*`
    #[arg(required = true, value_name = "VARIABLE",
        add = ArgValueCompleter::new(completion::variables))]
    pub(crate) variables: Vec<String>,
    /// Rate at which they are read, in Hz, 0.1 to 100
    #[arg(long, value_name = "HZ", default_value_t = 10.0, value_parser = rate)]
    pub(crate) rate: f64,
    /// Read once and end
    #[arg(long)]
    pub(crate) once: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only what has changed since it was last printed
    #[arg(long)]
    pub(crate) changes: bool,
    /// Treat a number as changed when it differs by more than this
    #[arg(long, value_name = "X", default_value_t = 0.0, requires = "changes",
        value_parser = deadband)]
    pub(crate) deadband: f64,
    /// End after this long, such as `10 s`
    #[arg(long = "for", value_name = "D", conflicts_with = "once")]
    pub(crate) duration: Option<Nanos>,
}

/// The site that a command is about.
#[derive(Debug, Args)]
pub(crate) struct SiteName {
    /// Name of the site, or its file; by default the only one that runs, or for `ps` all of them
    #[arg(value_name = "SITE", add = ArgValueCompleter::new(completion::sites))]
    first: Option<String>,
    /// The same, as the commands about partitions take it
    #[arg(long = "site", value_name = "SITE", conflicts_with = "first",
        add = ArgValueCompleter::new(completion::sites))]
    named: Option<String>,
}

impl SiteName {
    /// Returns the name or file of the site, if one is given.
    pub(crate) fn name(&self) -> Option<&str> {
        self.first.as_deref().or(self.named.as_deref())
    }
}

/// The partition that a command is about, and its site where several run.
#[derive(Debug, Args)]
pub(crate) struct Of {
    /// The partition, as `PARTITION` or `SITE/PARTITION`
    #[arg(add = ArgValueCompleter::new(completion::partitions))]
    pub(crate) partition: Address,
    /// The site, where several run
    #[arg(long, value_name = "SITE", add = ArgValueCompleter::new(completion::sites))]
    pub(crate) site: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A guest that starts from its disk (`guest = { system = \"disk\", .. }`) writes \
    to a serial line, which is kept with the time of each line: the last 1 MiB, and an older file \
    of that size. Lines are cut at 240 bytes, and what colours a terminal is left out. Where the \
    guest has a screen (`vnc = true`), it is told on which socket VNC shows it.\n\nExamples:\n  \
    quietcore console desk               all that is kept\n  \
    quietcore console desk --last 20     the last lines of it\n  \
    quietcore console desk --follow      the last ten, then each as it comes"
)]
pub(crate) struct ConsoleRequest {
    #[command(flatten)]
    pub(crate) of: Of,
    /// Continue as long as the site runs
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Print only the last N lines; by default all, or ten with `--follow`
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) last: Option<usize>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "All of them change within one cycle, or none. The program may overwrite a \
    variable in the same cycle; `quietcore force` holds it. Exit status 1 where a value did not \
    stay.\n\nExamples:\n  \
    quietcore set axis servo_P.Kp=3.5\n  \
    quietcore set axis servo_P.Kp=3.5 servo_P.Ki=0.2     both in the same cycle\n  \
    quietcore set axis servo_U.enable=true servo_U.mode=RUN"
)]
pub(crate) struct Set {
    #[command(flatten)]
    pub(crate) of: Of,
    /// Variables with their values
    #[arg(required = true, value_name = "NAME=VALUE", value_parser = assignment,
        add = ArgValueCompleter::new(completion::writable))]
    pub(crate) assignments: Vec<Assignment>,
    /// Accept NaN and infinite values as well; the program goes on with them
    #[arg(long)]
    pub(crate) allow_nan: bool,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A forced variable is written before and after each step until it is released. \
    It stays forced when its client has gone, and through crash, restart and deploy; `restart \
    origin` and the end of the site release it. `quietcore ps` counts them, `quietcore watch` \
    marks them. A released variable has the value from before the force.\n\nExamples:\n  \
    quietcore force axis servo_U.enable=false\n  \
    quietcore unforce axis servo_U.enable"
)]
pub(crate) struct Force {
    #[command(flatten)]
    pub(crate) of: Of,
    /// Variables, each with the value to hold it at
    #[arg(required = true, value_name = "NAME=VALUE", value_parser = assignment,
        add = ArgValueCompleter::new(completion::writable))]
    pub(crate) assignments: Vec<Assignment>,
    /// Accept NaN and infinite values as well; the program goes on with them
    #[arg(long)]
    pub(crate) allow_nan: bool,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("let go").args(["variables", "all"]).required(true)),
    override_usage = "quietcore unforce [OPTIONS] <PARTITION> <NAME...|--all>",
    after_help = "Examples:\n  \
    quietcore unforce axis servo_U.enable\n  \
    quietcore unforce axis --all"
)]
pub(crate) struct Unforce {
    #[command(flatten)]
    pub(crate) of: Of,
    /// The variables to release
    #[arg(value_name = "NAME",
        add = ArgValueCompleter::new(completion::forced))]
    pub(crate) variables: Vec<String>,
    /// Release all forced variables
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("kept in").args(["out", "plot", "evidence"]).required(true).multiple(true)),
    override_usage = "quietcore trace [OPTIONS] <PARTITION> <VARIABLE>... <--out FILE|--plot FILE|\
        --evidence DIR>",
    after_help = "The recording is read from a ring beside the program and costs it next to \
    nothing; samples that are lost because this side is too slow are counted and \
    reported.\n\nTriggers: \
    `VARIABLE`, `VARIABLE > 0.5` (also >= < <= == !=) as soon as it holds; `rising …` when it \
    begins to hold, `falling …` when it ends.\n\nExamples:\n  \
    quietcore trace axis servo_Y --duration 10s --out run.csv\n  \
    quietcore trace axis servo_Y.torque --trigger 'rising servo_U.enable' --pre 20% \\\n      \
    --samples 5000 --out start.parquet --plot start.svg\n  \
    quietcore trace axis servo_Y --trigger servo_U.fault --timeout '1 min' --plot fault.svg\n  \
    quietcore trace axis servo_U servo_Y --every 10 --evidence runs/2026-11-21-press-line"
)]
pub(crate) struct TraceRequest {
    #[command(flatten)]
    pub(crate) of: Of,
    /// Paths or patterns of variables, 64 in all
    #[arg(required = true, value_name = "VARIABLE",
        add = ArgValueCompleter::new(completion::variables))]
    pub(crate) variables: Vec<String>,
    /// Record only each K-th cycle
    #[arg(long, value_name = "K", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) every: u32,
    /// The task whose cycles are recorded, by name or number; by default the fastest
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Begin when this condition is met
    #[arg(long, value_name = "CONDITION")]
    pub(crate) trigger: Option<Trigger>,
    /// Give up if the condition is not met within this time, such as `1 min`
    #[arg(long, value_name = "D", requires = "trigger")]
    pub(crate) timeout: Option<Nanos>,
    /// Part of the recording that lies before the trigger, in per cent
    #[arg(long, value_name = "P%", default_value = "0%", requires = "trigger",
        value_parser = percentage)]
    pub(crate) pre: u8,
    /// Record this many samples
    #[arg(long, value_name = "N", conflicts_with = "duration",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) samples: Option<u64>,
    /// Record this long, such as `10 s`
    #[arg(long, value_name = "D", default_value = "10 s")]
    pub(crate) duration: Nanos,
    /// Write the samples to this file, as text (.csv) or Apache Parquet (.parquet)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Draw them into this file, .svg or .html, with marks where one of them was set or forced
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Keep them in this evidence folder; its report then shows them
    #[arg(long, value_name = "DIR")]
    pub(crate) evidence: Option<PathBuf>,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The new program is built and staged beside the running one; state, signals \
    and values tuned by hand are carried over by name and type; then it takes over between two \
    cycles. For its first second it is on probation: if it faults or its watchdog fires, the old \
    one takes over again. The command waits for the end of the probation. Forced variables stay \
    forced.\n\nExit \
    status 1 where the changed program was taken back.\n\nExamples:\n  \
    quietcore deploy axis models/servo\n  \
    quietcore deploy axis models/servo --no-wait"
)]
pub(crate) struct Deploy {
    #[command(flatten)]
    pub(crate) of: Of,
    /// The folder of generated C
    pub(crate) folder: PathBuf,
    /// Return without waiting for the end of its probation
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parts of its past that a restarted program keeps.
const RESTARTS: &[Choice<Restart>] = &[
    ("warm", Restart::Warm, "Retained variables keep their values"),
    ("cold", Restart::Cold, "Retained variables get their initial values"),
    (
        "origin",
        Restart::Origin,
        "Retained variables get their initial values, and forced variables are released",
    ),
];

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quietcore restart axis           after a fault, too\n  \
    quietcore restart axis cold")]
pub(crate) struct RestartRequest {
    #[command(flatten)]
    pub(crate) of: Of,
    /// The part of its past that the program keeps
    #[arg(value_parser = one_of(RESTARTS), default_value = "warm")]
    pub(crate) how: Restart,
    /// Accepted as `up` accepts it, so that the refusal can name the right spelling.
    #[arg(long, hide = true)]
    pub(crate) cold: bool,
    #[arg(long, hide = true)]
    pub(crate) origin: bool,
}

#[derive(Debug, Args)]
#[command(
    long_about = "Holds the program of a partition between two cycles: no step is run and no frame \
    is sent until `quietcore resume`, so that the watchdogs of SubDevices take their outputs away. \
    Releases meanwhile count as neither run nor missed. `watch` shows the variables as they stand; \
    `set` and `force` act at once, and hold in the first step; what needs a cycle (`trace`, \
    `deploy`, `restart`) is refused.",
    after_help = "Example:\n  \
    quietcore pause axis && quietcore watch axis servo_X"
)]
pub(crate) struct PauseRequest {
    #[command(flatten)]
    pub(crate) of: Of,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    quietcore resume axis")]
pub(crate) struct ResumeRequest {
    #[command(flatten)]
    pub(crate) of: Of,
}

/// A variable and its value, as written on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) variable: String,
    pub(crate) value: String,
}

pub(super) fn assignment(text: &str) -> Result<Assignment, String> {
    let (variable, value) = text
        .split_once('=')
        .map(|(variable, value)| (variable.trim(), value.trim()))
        .filter(|(variable, value)| !variable.is_empty() && !value.is_empty())
        .ok_or("write it as `NAME=VALUE`, such as `servo_P.Kp=3.5`")?;
    Ok(Assignment { variable: variable.to_owned(), value: value.to_owned() })
}

pub(super) fn rate(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches("Hz").trim_end().parse::<f64>();
    number
        .ok()
        .filter(|rate| (0.1..=100.0).contains(rate))
        .ok_or_else(|| "use 0.1 to 100 Hz".to_owned())
}

fn deadband(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>();
    let good = number.ok().filter(|number| number.is_finite() && *number >= 0.0);
    good.ok_or_else(|| "use a number from 0 on".to_owned())
}

fn percentage(text: &str) -> Result<u8, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<u8>();
    number.ok().filter(|it| *it <= 100).ok_or_else(|| "use 0% to 100%".to_owned())
}
