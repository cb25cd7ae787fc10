//! Two partitions that talk through channels: in order, in time, and when one of them is gone.
//!
//! Method: two small C programs in the generator's style use `Com.h`; what they saw is read from
//! their variables. One test at a time: the machine is small, and file descriptors are counted.

#[path = "../site/backend.rs"]
mod backend;
#[path = "../site/builds.rs"]
mod builds;
mod host;
mod nonsense;
mod notified;
mod refused;
#[path = "../site/runtime.rs"]
mod runtime;
mod values;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backend::{PATIENCE, realised};
use quietcore_record::class::catalogue;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{
    Activity, Applied, Change, ChangeKind, ChannelUse, DeployPatience, Deployed, Done,
    PartitionState, Restart, Verb,
};
use quietcore_supervisor::host_channel::HostChannel;
use quietcore_supervisor::live::{Plan, Running};
use quietcore_supervisor::monitor::{Monitor, Reading};
use quietcore_supervisor::places::{Places, StartedBy};
use runtime::runtime;
use rustix::process::{Pid, Signal, kill_process};

/// A site file in which the receiver's partition comes first, so that it starts before there is a
/// sender.
///
/// Its watchdogs strike after a second, and values are missed after five: these tests count
/// restarts and timeouts, and must not count one that comes because the machine stood still for a
/// moment.
const SITE: &str = r#"
[site]
name = "cell"

[[partition]]
name = "receiver"
class = "fast-control-loop"
[partition.vcr]
cpus = [0]
[partition.program]
model = "receiver"
period = "5 ms"
policy = "other"
watchdog = "1 s"
restart = { limit = 3, wait = "10 ms" }

[[partition]]
name = "sender"
class = "fast-control-loop"
[partition.vcr]
cpus = [1]
[partition.program]
model = "sender"
period = "5 ms"
policy = "other"
watchdog = "1 s"
restart = { limit = 3, wait = "WAIT" }

[[channel]]
name = "to-receiver"
from = "sender"
to = "receiver"
signals = [
    { name = "count", type = "i64", timeout = "5 s" },
    { name = "number", type = "u32", queue = 16 },
    { name = "opposite", type = "i64", timeout = "1 s" },
    { name = "gain", type = "f64", initial = 2.5 },
]

[[channel]]
name = "to-sender"
from = "receiver"
to = "sender"
signals = [{ name = "answer", type = "i64" }]
"#;

const LONE: &str = r#"
[site]
name = "cell"

[[partition]]
name = "lone"
class = "fast-control-loop"
[partition.vcr]
cpus = [0]
[partition.program]
model = "lone"
period = "5 ms"
policy = "other"
watchdog = "1 s"
"#;

/// Status `COM_TIMEOUT` of `Com.h`.
const COM_TIMEOUT: f64 = 144.0;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Site {
    running: Option<Running>,
    folder: tempfile::TempDir,
    builds: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

/// Keeps its builds for other tests, once it is down.
impl Drop for Site {
    fn drop(&mut self) {
        self.running = None;
        builds::keep("cell", &self.builds);
    }
}

impl Site {
    fn up(text: &str) -> Self {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().expect("a folder");
        for model in ["sender", "receiver", "lone", "notified"] {
            copy_model(model, &folder.path().join(model));
        }
        let mut site = Self { folder, running: None, builds: PathBuf::new(), _alone: alone };
        site.start(text);
        site
    }

    fn start(&mut self, text: &str) {
        let site_file = self.folder.path().join("cell.toml");
        let state = self.places().state_folder("cell", &site_file).expect("a folder");
        self.builds = state.join("builds");
        builds::lend("cell", &self.builds);
        let text = realised(text);
        let checked = quietcore_site::read("cell.toml", text.as_bytes(), &catalogue());
        let plan = Plan {
            site: Arc::new(checked.unwrap_or_else(|error| panic!("{error}"))),
            site_file,
            runtime: runtime(),
            start: Restart::Cold,
            controls: None,
            started_by: StartedBy::this_process(),
        };
        let running = Running::up(plan, &self.places(), &mut |line| println!("{line}"));
        self.running = Some(running.unwrap_or_else(|error| panic!("{error}")));
        let all_run = || self.list().iter().all(|one| one.state == Activity::Running);
        self.wait_for("all partitions run", all_run);
    }

    fn places(&self) -> Places {
        Places::new(self.folder.path().join("run"), self.folder.path().join("state"))
    }

    fn client(&self) -> Client {
        Client::connect(&self.places(), None).expect("the site answers")
    }

    fn list(&self) -> Vec<PartitionState> {
        self.client().list().expect("the site answers")
    }

    fn state(&self, partition: &str) -> PartitionState {
        let all = self.list();
        all.into_iter().find(|one| one.name == partition).expect("a partition of the site")
    }

    fn wait_for(&self, what: &str, is: impl Fn() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is() {
            let events = self.client().events(0).expect("the site answers");
            let told: Vec<_> = events.iter().map(|event| (&event.kind, &event.text)).collect();
            assert!(Instant::now() < end, "not after {PATIENCE:?}: {what}: {told:#?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Reads variables of one partition, all at one moment, unless this thread is kept from it.
    fn values<const N: usize>(&self, partition: &str, paths: [&str; N]) -> [f64; N] {
        self.read(partition, paths, |_| true)
    }

    /// Reads variables of one partition as they are between two of its cycles.
    fn whole_values<const N: usize>(&self, partition: &str, paths: [&str; N]) -> [f64; N] {
        self.read(partition, paths, |reading| reading.consistent)
    }

    fn read<const N: usize>(
        &self,
        partition: &str,
        paths: [&str; N],
        is_good: impl Fn(Reading) -> bool,
    ) -> [f64; N] {
        let end = Instant::now() + PATIENCE;
        loop {
            // Its process may just be starting.
            if let Ok(monitor) = Monitor::open(&mut self.client(), partition) {
                let paths = paths.map(str::to_owned);
                let mut selection = monitor.select(&paths).expect("variables");
                if monitor.read(&mut selection).is_ok_and(&is_good) {
                    let value = |path: &String| {
                        let known = selection.variables().iter().find(|one| *one.path == **path);
                        selection.value(known.expect("selected")).as_f64().expect("a number")
                    };
                    return std::array::from_fn(|index| value(&paths[index]));
                }
            }
            assert!(Instant::now() < end, "`{partition}` can't be read for {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn value(&self, partition: &str, path: &str) -> f64 {
        self.values(partition, [path])[0]
    }

    fn set(&self, partition: &str, variable: &str, value: &str) {
        let change = Change {
            kind: ChangeKind::Set,
            variable: variable.to_owned(),
            value: Some(value.to_owned()),
            allow_nan: false,
        };
        self.client()
            .ask::<Applied>(partition, Verb::write([change]))
            .unwrap_or_else(|error| panic!("{error}"));
    }

    fn pid(&self, partition: &str) -> Pid {
        let pid = self.state(partition).pid.expect("a process");
        Pid::from_raw(pid.cast_signed()).expect("a number")
    }

    fn has_told(&self, text: &str) -> bool {
        let events = self.client().events(0).expect("the site answers");
        events.iter().any(|event| event.text.contains(text))
    }
}

/// A site whose receiver has a kernel, and runs when it is notified.
fn notified() -> String {
    site("10 ms").replace("model = \"receiver\"", "model = \"notified\"")
}

fn site(sender_restart: &str) -> String {
    SITE.replace("WAIT", sender_restart)
}

fn copy_model(model: &str, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pair").join(model);
    for entry in std::fs::read_dir(from).expect("the model").flatten() {
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
    }
}

/// Returns the memory files of the channels that a process has, as another handle of each.
fn channels_of(pid: Pid) -> Vec<File> {
    let folder = PathBuf::from(format!("/proc/{}/fd", pid.as_raw_nonzero()));
    let is_channel = |path: &PathBuf| {
        let target = std::fs::read_link(path).unwrap_or_default();
        target.to_string_lossy().contains("quietcore-channel")
    };
    let entries = std::fs::read_dir(folder).expect("a living process").flatten();
    let paths = entries.map(|entry| entry.path()).filter(is_channel);
    let open = |path: PathBuf| OpenOptions::new().write(true).open(path).expect("our own memory");
    paths.map(open).collect()
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("a list").count()
}
