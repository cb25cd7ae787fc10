//! A guest that starts from its disk, from the start of its site to the end, beside a control
//! program: its console, its processors, what is refused of it, its shutdown, its crash. QEMU
//! emulates it, so that no test needs KVM.

mod image;
#[path = "../site/runtime.rs"]
mod runtime;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use image::{System, boot_image};
use quietcore_record::class::catalogue;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{Activity, Done, PartitionState, Restart, Verb};
use quietcore_supervisor::live::{Plan, Running};
use quietcore_supervisor::places::{Places, StartedBy};
use runtime::runtime;

/// Longest wait of a test: long enough for the busiest machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A site with a guest that has these words, which ends when it is dropped.
struct Site {
    folder: tempfile::TempDir,
    running: Option<Running>,
}

impl Site {
    fn new(system: System) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        boot_image(system, &folder.path().join("desk.img"));
        Self { folder, running: None }
    }

    fn places(&self) -> Places {
        Places::new(self.folder.path().join("run"), self.folder.path().join("state"))
    }

    fn up(&mut self, words: &str, rest: &str) -> Result<(), String> {
        let text = format!(
            "[site]\nname = \"line\"\n[[partition]]\nname = \"desk\"\nclass = \"process-control\"\n\
             backend = \"qemu\"\nguest = {{ system = \"disk\", accelerator = \"tcg\", image = \
             \"desk.img\"{words} }}\n[partition.vcr]\ncpus = [0]\nmemory = \"192 MiB\"\n{rest}"
        );
        let site = quietcore_site::read("line.toml", text.as_bytes(), &catalogue());
        let plan = Plan {
            site: Arc::new(site.unwrap_or_else(|problems| panic!("{problems}"))),
            site_file: self.folder.path().join("line.toml"),
            runtime: runtime(),
            start: Restart::Warm,
            controls: None,
            started_by: StartedBy::this_process(),
        };
        let running = Running::up(plan, &self.places(), &mut |line| println!("{line}"));
        self.running = Some(running.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn client(&self) -> Client {
        Client::connect(&self.places(), None).expect("the site answers")
    }

    fn desk(&self) -> PartitionState {
        let all = self.client().list().expect("the site answers");
        all.into_iter().find(|it| it.name == "desk").expect("it is there")
    }

    fn wait(&self, what: &str, is: impl Fn(&PartitionState) -> bool) -> PartitionState {
        let end = Instant::now() + PATIENCE;
        loop {
            let desk = self.desk();
            if is(&desk) {
                return desk;
            }
            let events = self.client().events(0).expect("the site answers");
            let told: Vec<_> = events.iter().map(|event| (&event.kind, &event.text)).collect();
            assert!(Instant::now() < end, "not {what} in time: {desk:?}: {told:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn console(&self) -> String {
        let path = self.desk().console.expect("it has a console");
        fs::read_to_string(path).unwrap_or_default()
    }

    fn wait_for_console(&self, line: &str) -> PartitionState {
        let state = self.wait("running", |desk| desk.state == Activity::Running);
        self.wait(line, |_| self.console().contains(line));
        state
    }
}

/// Returns the folder in `/proc` of the QEMU that a process has started.
fn qemu_of(process: u32) -> PathBuf {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.expect("the process is there");
    let is_qemu = |pid: &&str| {
        fs::read_link(format!("/proc/{pid}/exe"))
            .is_ok_and(|it| it.to_string_lossy().contains("qemu"))
    };
    let found = children.split_whitespace().find(is_qemu).map(str::to_owned);
    PathBuf::from(format!("/proc/{}", found.unwrap_or_else(|| panic!("no QEMU in {children}"))))
}

/// Returns `true` if this process is there.
fn lives(process: &Path) -> bool {
    fs::read_to_string(process.join("stat")).is_ok_and(|stat| !stat.contains(") Z"))
}

#[test]
fn a_system_starts_from_its_disk_and_is_asked_to_shut_down() {
    let mut site = Site::new(System::Usual);
    site.up("", "").unwrap();
    let desk = site.wait_for_console("hello from the disk");
    assert!(!desk.has_program() && desk.cycles == 0, "{desk:?}");
    let qemu = qemu_of(desk.pid.expect("it runs"));
    let arguments = fs::read_to_string(qemu.join("cmdline")).unwrap();
    assert!(!arguments.contains("balloon") && !arguments.contains("netdev"), "{arguments}");
    let threads: Vec<String> = fs::read_dir(qemu.join("task"))
        .unwrap()
        .flatten()
        .filter_map(|it| fs::read_to_string(it.path().join("status")).ok())
        .collect();
    let pinned = threads.iter().filter(|it| it.contains("Cpus_allowed_list:\t0\n")).count();
    assert_eq!(pinned, 1, "only the thread of its processor is there: {threads:?}");
    let refused = site.client().ask::<Done>("desk", Verb::Pause).unwrap_err().to_string();
    assert!(refused.contains("runs no program of the site"), "{refused}");
    let console = site.desk().console.expect("it has a console");
    site.running = None;
    assert!(!lives(&qemu), "nothing is left behind");
    let text = fs::read_to_string(console).unwrap();
    assert!(text.trim_end().ends_with("goodbye"), "it was asked to shut down: {text}");
}

#[test]
fn a_system_that_does_not_shut_down_is_switched_off() {
    let mut site = Site::new(System::Deaf);
    site.up(", shutdown = \"1 s\"", "").unwrap();
    let desk = site.wait_for_console("hello from the disk");
    let qemu = qemu_of(desk.pid.expect("it runs"));
    let begun = Instant::now();
    site.running = None;
    assert!(begun.elapsed() >= Duration::from_secs(1), "it had its time");
    assert!(!lives(&qemu), "nothing is left behind");
    let events = fs::read_dir(site.folder.path().join("state")).unwrap().flatten();
    let events = events.filter_map(|it| fs::read_to_string(it.path().join("events.jsonl")).ok());
    let told: String = events.collect();
    assert!(told.contains("did not shut down within 1"), "{told}");
}

#[test]
fn a_killed_qemu_is_started_again_and_one_that_ends_by_itself_is_not() {
    let mut site = Site::new(System::Usual);
    site.up(", restart = { limit = 2, wait = \"10 ms\" }", "").unwrap();
    let desk = site.wait_for_console("hello from the disk");
    let qemu = qemu_of(desk.pid.expect("it runs"));
    let pid = qemu.file_name().unwrap().to_str().unwrap().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let again = site.wait("running again", |desk| desk.restarts == 1 && desk.pid.is_some());
    assert!(again.faults.last.is_some_and(|it| it.why.contains("signal: 9")), "it says why");
    site.wait("hello twice", |_| site.console().matches("hello").count() == 2);
    drop(site);
    let mut off = Site::new(System::Off);
    off.up("", "").unwrap();
    let stopped = off.wait("off", |desk| matches!(desk.state, Activity::Stopped { .. }));
    assert!(stopped.state.to_string().contains("shut itself down"), "{stopped:?}");
    assert_eq!(stopped.restarts, 0);
    off.client().ask::<Done>("desk", Verb::Restart { how: Restart::Cold }).unwrap();
    off.wait("hello twice", |_| off.console().matches("hello").count() == 2);
}

#[test]
fn an_image_is_used_once_and_has_to_be_one() {
    let mut site = Site::new(System::Usual);
    let twin = "[[partition]]\nname = \"twin\"\nclass = \"process-control\"\nbackend = \"qemu\"\n\
                guest = { system = \"disk\", accelerator = \"tcg\", image = \"./desk.img\" }\n\
                [partition.vcr]\ncpus = [1]\n";
    let twice = site.up("", twin).unwrap_err();
    assert!(twice.contains("the disk of partition `twin` is that of partition `desk`"), "{twice}");
    fs::write(site.folder.path().join("desk.img"), [0; 4096]).unwrap();
    let none = site.up("", "").unwrap_err();
    assert!(none.contains("line.toml:7") && none.contains("no image of a disk"), "{none}");
    boot_image(System::Usual, &site.folder.path().join("desk.img"));
    site.up("", "").unwrap();
    site.wait_for_console("hello");
    let mut other = Site::new(System::Usual);
    let image = site.folder.path().join("desk.img");
    fs::remove_file(other.folder.path().join("desk.img")).unwrap();
    std::os::unix::fs::symlink(&image, other.folder.path().join("desk.img")).unwrap();
    other.up(", restart = { limit = 0 }", "").unwrap();
    let stopped = other.wait("refused", |desk| matches!(desk.state, Activity::Stopped { .. }));
    let why = stopped.state.to_string();
    assert!(why.contains("is in use: another QEMU writes to it"), "{why}");
}

#[test]
fn a_console_that_is_flooded_fills_no_disk() {
    let mut site = Site::new(System::Flood);
    // It has no time to hear that it is to shut down.
    site.up(", shutdown = \"1 s\"", "").unwrap();
    site.wait_for_console("hello from the disk");
    std::thread::sleep(Duration::from_secs(3));
    let path = site.desk().console.expect("it has a console");
    let length = fs::metadata(&path).unwrap().len();
    assert!(length < 2 << 20, "{length} bytes");
    let desk = site.desk();
    assert!(desk.state == Activity::Running && desk.restarts == 0, "{desk:?}");
}

#[test]
fn a_system_has_the_firmware_the_devices_and_the_screen_that_it_asks_for() {
    let mut site = Site::new(System::Usual);
    site.up(", devices = \"plain\", vnc = true", "").unwrap();
    let desk = site.wait_for_console("hello from the disk");
    let socket = desk.vnc.expect("it has a screen");
    let mut screen = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    screen.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut greeting = [0; 7];
    screen.read_exact(&mut greeting).unwrap();
    assert_eq!(&greeting, b"RFB 003", "VNC answers");
    drop(site);
    assert!(!socket.exists(), "nothing is left behind");
    if !Path::new("/usr/share/OVMF/OVMF_CODE_4M.fd").exists() {
        return quietcore_skip::skip!("there is no OVMF; install `ovmf`");
    }
    let mut site = Site::new(System::Usual);
    site.up(", firmware = \"uefi\", shutdown = \"1 s\"", "").unwrap();
    site.wait_for_console("BdsDxe");
    let console = site.desk().console.expect("it has a console");
    assert!(console.with_file_name("uefi-variables.fd").exists(), "its variables are kept");
}
