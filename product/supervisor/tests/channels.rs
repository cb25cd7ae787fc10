//! Two partitions that talk through channels: in order, in time, and when one of them is gone.
//!
//! Method: two small C programs in the generator's style use `Com.h`; what they saw is read from
//! their variables. One test at a time: the machine is small, and file descriptors are counted.

#[path = "site/backend.rs"]
mod backend;

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
use quietcore_supervisor::monitor::Monitor;
use quietcore_supervisor::places::{Places, StartedBy};
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
    /// Dropped first: the site comes down before its folders go.
    running: Option<Running>,
    folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Site {
    fn up(text: &str) -> Self {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().expect("a folder");
        for model in ["sender", "receiver", "lone"] {
            copy_model(model, &folder.path().join(model));
        }
        let mut site = Self { folder, running: None, _alone: alone };
        site.start(text);
        site
    }

    fn start(&mut self, text: &str) {
        let text = realised(text);
        let checked = quietcore_site::read("cell.toml", text.as_bytes(), &catalogue());
        let own = std::env::current_exe().expect("a test has a path");
        let target = own.parent().and_then(Path::parent).expect("target/debug/deps/channels");
        let plan = Plan {
            site: Arc::new(checked.unwrap_or_else(|error| panic!("{error}"))),
            site_file: self.folder.path().join("cell.toml"),
            runtime: target.join("examples/supervised"),
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
            assert!(Instant::now() < end, "not after 20 s: {what}: {told:#?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Reads variables of one partition, all at one moment.
    fn values<const N: usize>(&self, partition: &str, paths: [&str; N]) -> [f64; N] {
        let end = Instant::now() + PATIENCE;
        loop {
            // Its process may just be starting.
            if let Ok(monitor) = Monitor::open(&mut self.client(), partition) {
                let paths = paths.map(str::to_owned);
                let mut selection = monitor.select(&paths).expect("variables");
                if monitor.read(&mut selection).is_ok() {
                    let value = |path: &String| {
                        let known = selection.variables().iter().find(|one| *one.path == **path);
                        selection.value(known.expect("selected")).as_f64().expect("a number")
                    };
                    return std::array::from_fn(|index| value(&paths[index]));
                }
            }
            assert!(Instant::now() < end, "`{partition}` can't be read for 20 s");
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

#[test]
fn values_arrive_as_whole_sets_and_so_do_the_answers() {
    let site = Site::up(&site("10 ms"));
    let arrived = || site.value("receiver", "receiver_DW.count") > 200.0;
    site.wait_for("200 sets were received", arrived);
    assert_eq!(site.value("receiver", "receiver_DW.torn"), 0.0);
    assert_eq!(site.value("receiver", "receiver_DW.initial"), 2.5, "read in `initialize`");
    assert_eq!(site.value("receiver", "receiver_DW.first"), 0.0, "timeouts count from the start");
    assert_eq!(site.value("sender", "sender_DW.status"), 0.0);
    let seen = site.values("receiver", ["receiver_DW.count", "receiver_DW.opposite"]);
    assert_eq!(seen[0], -seen[1]);
}

#[test]
fn a_queue_keeps_its_order_and_counts_what_has_no_room() {
    let site = Site::up(&site("10 ms"));
    site.set("sender", "sender_P.burst", "3");
    let received = || site.value("receiver", "receiver_DW.received") > 300.0;
    site.wait_for("300 messages were received", received);
    site.set("receiver", "receiver_P.drain", "0");
    let refused = || site.value("sender", "sender_DW.refused") > 30.0;
    site.wait_for("messages have no room", refused);
    site.set("receiver", "receiver_P.drain", "100");
    site.set("sender", "sender_P.burst", "0");
    let balanced = || {
        let [number, sent, refused] =
            site.values("sender", ["sender_DW.number", "sender_DW.sent", "sender_DW.refused"]);
        assert_eq!(number, sent + refused);
        site.value("receiver", "receiver_DW.received") == sent
    };
    site.wait_for("all that was sent has come", balanced);
    assert_eq!(site.value("receiver", "receiver_DW.disorder"), 0.0);
}

#[test]
fn a_sender_that_is_killed_is_missed_and_goes_on_when_it_is_back() {
    let text = site("1500 ms").replace("timeout = \"5 s\"", "timeout = \"400 ms\"");
    let site = Site::up(&text);
    let arrived = || site.value("receiver", "receiver_DW.count") > 50.0;
    site.wait_for("values were received", arrived);
    let [before, missed] = site.values("receiver", ["receiver_DW.count", "receiver_DW.timeouts"]);
    kill_process(site.pid("sender"), Signal::KILL).unwrap();
    let overdue = || site.value("receiver", "receiver_DW.status") == COM_TIMEOUT;
    site.wait_for("the timeout is flagged", overdue);
    assert!(site.value("receiver", "receiver_DW.count") >= before, "the last value stays");
    assert!(site.value("receiver", "receiver_DW.timeouts") > missed);
    site.wait_for("the sender is back", || site.state("sender").restarts == 1);
    let fresh = || {
        let paths = ["receiver_DW.status", "receiver_DW.torn", "receiver_DW.count"];
        let [status, torn, count] = site.values("receiver", paths);
        assert_eq!(torn, 0.0);
        status == 0.0 && count > 5.0
    };
    site.wait_for("its values come again", fresh);
    assert_eq!(site.state("receiver").restarts, 0);
}

#[test]
fn a_deployed_and_a_restarted_program_keep_their_channels() {
    let site = Site::up(&site("10 ms"));
    let changed = site.folder.path().join("changed");
    copy_model("receiver", &changed);
    let source = changed.join("receiver.c");
    let text = std::fs::read_to_string(&source).unwrap().replace("{100, 3}", "{100, 5}");
    std::fs::write(&source, text).unwrap();
    let deployed = site
        .client()
        .ask::<Deployed>("receiver", Verb::deploy(&changed, DeployPatience::UntilItRuns));
    assert_eq!(deployed.unwrap_or_else(|error| panic!("{error}")).generation, 2);
    assert_eq!(site.value("receiver", "receiver_P.scale"), 5.0);
    for _ in 0..2 {
        let before = site.value("receiver", "receiver_DW.count");
        // A program that was started again gets the last sent values at once.
        let more = || site.value("receiver", "receiver_DW.count") > before + 20.0;
        site.wait_for("values go on to come", more);
        assert_eq!(site.value("receiver", "receiver_DW.torn"), 0.0);
        let restarted =
            || site.client().ask::<Done>("receiver", Verb::Restart { how: Restart::Cold }).is_ok();
        site.wait_for("the build is no longer on probation", restarted);
    }
}

/// Goal: a queue that a program crashed in is free for the build that runs again.
/// Method: the queue's sending is given an address at which there is nothing.
#[test]
fn a_queue_outlives_a_build_that_crashed_in_it() {
    let site = Site::up(&site("10 ms"));
    site.set("sender", "sender_P.burst", "1");
    site.wait_for("messages are sent", || site.value("sender", "sender_DW.sent") > 3.0);
    let changed = site.folder.path().join("changed");
    copy_model("sender", &changed);
    let source = changed.join("sender.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let wild = text.replace("i < sender_P.burst", "i < 1").replace(
        "_to_receiver_number, &sender_DW.number",
        "_to_receiver_number, (const uint8_t *)1",
    );
    assert_ne!(text, wild);
    std::fs::write(&source, wild).unwrap();
    let deployed = site
        .client()
        .ask::<Deployed>("sender", Verb::deploy(&changed, DeployPatience::UntilItRuns));
    assert_eq!(deployed.unwrap_or_else(|error| panic!("{error}")).generation, 2);
    let reverted = || {
        let events = site.client().events(0).expect("the site answers");
        events.iter().any(|event| event.kind == "reverted")
    };
    site.wait_for("the build is taken back", reverted);
    let before = site.value("sender", "sender_DW.sent");
    site.wait_for("it sends again", || site.value("sender", "sender_DW.sent") > before + 3.0);
    assert_eq!(site.state("sender").restarts, 0, "in the same process");
}

/// Goal: what a sender does to the shared memory is the receiver's data, never its fault.
/// Method: the whole channel is overwritten while both run; then the receiver has to attach to it.
#[test]
fn a_channel_full_of_nonsense_harms_nobody_and_is_mended_at_the_next_start() {
    let site = Site::up(&site("10 ms"));
    site.set("sender", "sender_P.burst", "2");
    let receiver = site.pid("receiver");
    let files = channels_of(receiver);
    // Both the inherited descriptors and those behind the mappings are overwritten.
    assert!(files.len() >= 2, "{files:?}");
    for fill in [0xff, 0x00, 0xa5] {
        for file in &files {
            let bytes = usize::try_from(file.metadata().unwrap().len()).unwrap();
            file.write_all_at(&vec![fill; bytes], 0).unwrap();
        }
        let before = site.value("receiver", "receiver_DW.steps");
        let steps = || site.value("receiver", "receiver_DW.steps") > before + 40.0;
        site.wait_for("the receiver runs on", steps);
    }
    assert_eq!(site.pid("receiver"), receiver, "still the same process");
    assert_eq!(site.state("receiver").restarts, 0);
    kill_process(receiver, Signal::KILL).unwrap();
    site.wait_for("the channel is mended", || site.has_told("has overwritten the description"));
    site.wait_for("the receiver is back", || site.state("receiver").restarts == 1);
    let fresh = || site.value("receiver", "receiver_DW.count") > 20.0;
    site.wait_for("values come again", fresh);
}

#[test]
fn no_descriptor_is_left_when_the_site_is_down() {
    let mut site = Site::up(&site("10 ms"));
    site.running = None;
    // Whatever is opened once and kept, by libraries too, is open now.
    let before = descriptors();
    for _ in 0..2 {
        site.start(&self::site("10 ms"));
        assert!(descriptors() > before);
        site.running = None;
    }
    assert_eq!(descriptors(), before);
}

#[test]
fn a_program_without_channels_is_told_so() {
    let site = Site::up(LONE);
    site.wait_for("a step was run", || site.value("lone", "lone_DW.now") > 0.0);
    let paths =
        ["lone_DW.sent", "lone_DW.received", "lone_DW.group", "lone_DW.message", "lone_DW.value"];
    // Status `E_NOT_OK` of `Com.h`.
    assert_eq!(site.values("lone", paths), [1.0, 1.0, 1.0, 1.0, 5.0]);
}

#[test]
fn a_channel_that_cannot_be_is_refused_before_anything_runs() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    copy_model("lone", &folder.path().join("lone"));
    let queues: Vec<String> = (0..64)
        .map(|number| format!("{{ name = \"s{number}\", type = \"u8\", queue = 65536 }}"))
        .collect();
    let other = LONE.replace("\"lone\"\nclass", "\"other\"\nclass").replace("[0]", "[1]");
    let text = format!(
        "{LONE}{}\n[[channel]]\nname = \"wide\"\nfrom = \"lone\"\nto = \"other\"\nsignals = [{}]",
        other.split_once("[[partition]]").map(|(_, rest)| format!("[[partition]]{rest}")).unwrap(),
        queues.join(", ")
    );
    let checked = quietcore_site::read("cell.toml", text.as_bytes(), &catalogue());
    let plan = Plan {
        site: Arc::new(checked.unwrap_or_else(|error| panic!("{error}"))),
        site_file: folder.path().join("cell.toml"),
        runtime: "/nowhere".into(),
        start: Restart::Cold,
        controls: None,
        started_by: StartedBy::this_process(),
    };
    let places = Places::new(folder.path().join("run"), folder.path().join("state"));
    let error = Running::up(plan, &places, &mut |_| {}).expect_err("too large");
    assert_eq!(error.to_string(), "there is no channel `wide`");
    let cause = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(cause.contains("make its queues shorter"), "{cause}");
}

/// Goal: a program of the host is an end of a channel like a partition, with the same rules.
/// Method: the sender's place is taken by this test, by the name of the channels; it goes, comes
/// back, and finds the memory of a site that is up again to be another one.
#[test]
fn a_program_of_the_host_talks_with_a_partition() {
    let (receiver, _) = SITE.split_once("[[partition]]\nname = \"sender\"").expect("two of them");
    let (_, channels) = SITE.split_once("[[channel]]").expect("channels");
    let text = format!("{receiver}[[channel]]{}", channels.replace("\"sender\"", "\"host\""));
    let mut site = Site::up(&text);
    let open = |site: &Site, channel, usage| HostChannel::open(&mut site.client(), channel, usage);
    let mut sender = open(&site, "to-receiver", ChannelUse::End).expect("the end is free");
    let taken = open(&site, "to-receiver", ChannelUse::End).expect_err("one program at a time");
    assert!(taken.to_string().contains("another program of the host"), "{taken}");
    assert!(site.has_told("a program of the host is an end of channel `to-receiver`"));
    let mut answers = open(&site, "to-sender", ChannelUse::Read).expect("anybody reads");
    let send = |sender: &mut HostChannel, count: i64| {
        sender.set_text("count", &count.to_string()).unwrap();
        sender.set_text("opposite", &(-count).to_string()).unwrap();
        sender.send().unwrap();
    };
    let answer = |answers: &mut HostChannel| {
        answers.receive().unwrap();
        let signal = answers.signal("answer").unwrap().clone();
        answers.value(&signal).unwrap().as_f64().unwrap()
    };
    send(&mut sender, 14);
    sender.push_text("number", "9").unwrap();
    // The program multiplies by 3.
    let mut seen = || answer(&mut answers) == 42.0;
    let end = Instant::now() + PATIENCE;
    while !seen() {
        assert!(Instant::now() < end, "no answer comes");
        std::thread::sleep(Duration::from_millis(5));
    }
    let values = ["receiver_DW.count", "receiver_DW.received", "receiver_DW.last"];
    site.wait_for("the message came", || site.values("receiver", values) == [14.0, 1.0, 9.0]);
    assert_eq!(site.value("receiver", "receiver_DW.torn"), 0.0);
    drop(sender);
    let overdue = || site.value("receiver", "receiver_DW.status") == COM_TIMEOUT;
    site.wait_for("the timeout is flagged", overdue);
    let mut sender = open(&site, "to-receiver", ChannelUse::End).expect("it is free again");
    send(&mut sender, 15);
    let fresh = || site.value("receiver", "receiver_DW.status") == 0.0;
    site.wait_for("values come again", fresh);
    assert!(sender.is_up().unwrap());
    site.running = None;
    assert!(!sender.is_up().unwrap());
    site.start(&text);
    assert!(open(&site, "to-receiver", ChannelUse::End).is_ok(), "the old memory has its own lock");
}

/// Goal: the example of two programs that talk works as it says.
/// Method: it is run without real-time priority, on the CPUs there are, until the panel has seen
/// the axis leave its first station.
#[test]
fn the_panel_of_the_example_commands_the_axis() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("examples/cell.toml")).expect("the example");
    let mut patient = text.clone();
    for (strict, mild) in [
        ("priority = 90", "policy = \"other\""),
        ("priority = 50", "policy = \"other\""),
        ("watchdog = \"500 us\"", "watchdog = \"1 s\""),
        ("watchdog = \"4 ms\"", "watchdog = \"1 s\""),
        ("\"adaptive\"", "\"off\""),
        ("\"../models", &format!("\"{}/models", root.canonicalize().unwrap().display())),
        ("\"../models", &format!("\"{}/models", root.canonicalize().unwrap().display())),
    ] {
        assert!(patient.contains(strict), "{strict}");
        patient = patient.replacen(strict, mild, 1);
    }
    let site = Site::up(&patient);
    let connected = || site.value("hmi", "setpoint_Y.is_connected") == 1.0;
    site.wait_for("the axis answers", connected);
    let left = || site.values("hmi", ["setpoint_DW.station", "setpoint_B.position"])[1] > 10.0;
    site.wait_for("the axis moves to another station", left);
    assert_eq!(site.value("axis", "servo_B.command_status"), 0.0);
    assert!(site.value("axis", "servo_B.commanded_velocity") <= 250.0);
}
