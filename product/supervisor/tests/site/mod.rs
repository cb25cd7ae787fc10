//! A running site for tests: a small program in a real partition, and a client beside it.

mod backend;
mod builds;
mod runtime;

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use backend::PATIENCE;
use backend::realised;
use quietcore_record::class::catalogue;
use quietcore_settings::{Controls, LiveSettings, Store};
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{Activity, Applied, Change, ChangeKind, Restart, Verb};
use quietcore_supervisor::live::{Plan, Running};
use quietcore_supervisor::monitor::{Monitor, MonitorError};
use quietcore_supervisor::places::{Places, StartedBy};
use runtime::runtime;

/// A site file with one partition, whose program `counter` may crash, loop and fail.
///
/// Its watchdog strikes after a second: a shared machine may stand still for a tenth of one, and a
/// partition that is started again for that spoils what these tests look at. The supervisor itself
/// waits for 2 s before it ends a process that stands still.
pub(crate) const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "fast-control-loop"

[partition.vcr]
cpus = [0]

[partition.program]
model = "counter"
period = "5 ms"
policy = "other"
watchdog = "1 s"
retain = ["counter_DW.total"]
restart = { limit = 3, wait = "10 ms" }
"#;

pub(crate) struct Site {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) running: Option<Running>,
    text: String,
    /// Name of the folder of its first model, by which its builds are kept for other tests.
    model: String,
    /// Folder of its builds.
    pub(crate) builds: PathBuf,
}

/// Shows what the site reported if the test fails, and brings the site down before its folders go.
impl Drop for Site {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let events = Client::connect(&self.places(), None).and_then(|mut it| it.events(0));
            for event in events.into_iter().flatten() {
                println!("{}: {}", event.kind, event.text);
            }
        }
        self.running = None;
        builds::keep(&self.model, &self.builds);
    }
}

impl Site {
    /// Brings up a site file with a copy of a model, a folder of this one, beside it.
    pub(crate) fn up(text: &str, model: &str) -> Self {
        let name = Path::new(model).file_name().expect("the name of a folder");
        let folder = tempfile::tempdir().expect("a folder");
        copy_model(model, &folder.path().join(name), &[]);
        let model = name.to_string_lossy().into_owned();
        let mut site =
            Self { folder, running: None, text: realised(text), model, builds: PathBuf::new() };
        site.start(Restart::Warm).unwrap_or_else(|error| panic!("{error}"));
        site
    }

    pub(crate) fn places(&self) -> Places {
        Places::new(self.folder.path().join("run"), self.folder.path().join("state"))
    }

    pub(crate) fn start(&mut self, start: Restart) -> Result<(), String> {
        let site = quietcore_site::read("press.toml", self.text.as_bytes(), &catalogue());
        let site = site.expect("a good site file");
        let site_file = self.folder.path().join("press.toml");
        let state = self.places().state_folder(site.name(), &site_file).expect("a folder");
        self.builds = state.join("builds");
        builds::lend(&self.model, &self.builds);
        let store = || Store::new(self.folder.path().join("journal"));
        let changes =
            !site.traffic().is_empty() || !site.cards().is_empty() || !site.pools().is_empty();
        let controls = changes.then(|| Controls::new(LiveSettings::default(), store()));
        let plan = Plan {
            site: Arc::new(site),
            site_file,
            runtime: runtime(),
            start,
            controls,
            started_by: StartedBy::this_process(),
        };
        let running = Running::up(plan, &self.places(), &mut |line| println!("{line}"));
        self.running = Some(running.map_err(|error| {
            let mut said = error.to_string();
            let mut cause = error.source();
            while let Some(because) = cause {
                said += &format!(": {because}");
                cause = because.source();
            }
            said
        })?);
        let has_started =
            |state: &Activity| matches!(state, Activity::Running | Activity::Stopped { .. });
        match self.wait_for("running", has_started) {
            Activity::Stopped { why } => Err(why),
            _ => Ok(()),
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.places(), None).expect("the site answers")
    }

    pub(crate) fn wait_for(&self, what: &str, is: impl Fn(&Activity) -> bool) -> Activity {
        let end = Instant::now() + PATIENCE;
        loop {
            let state = self.client().list().expect("the site answers").remove(0).state;
            if is(&state) {
                return state;
            }
            let events = self.client().events(0).expect("the site answers");
            let told: Vec<_> = events.iter().map(|event| (&event.kind, &event.text)).collect();
            assert!(Instant::now() < end, "not {what} in time: {state}: {told:#?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn value(&self, path: &str) -> f64 {
        loop {
            let monitor = Monitor::open(&mut self.client(), "axis").expect("an exchange");
            let mut selection = monitor.select(&[path.to_owned()]).expect("a variable");
            match monitor.read(&mut selection) {
                // Another build has begun to run meanwhile.
                Err(MonitorError::Replaced { .. }) => {}
                read => {
                    read.expect("a reading");
                    let value = selection.value(&selection.variables()[0]);
                    return value.as_f64().expect("a number");
                }
            }
        }
    }

    pub(crate) fn wait_for_value(&self, path: &str, is: impl Fn(f64) -> bool) -> f64 {
        let end = Instant::now() + PATIENCE;
        loop {
            let value = self.value(path);
            if is(value) {
                return value;
            }
            if Instant::now() >= end {
                let state = self.client().list().expect("the site answers").remove(0).state;
                panic!("`{path}` is {value} in time; its program is {state}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn change(&self, kind: ChangeKind, variable: &str, value: Option<&str>) -> u64 {
        let change = Change {
            kind,
            variable: variable.to_owned(),
            value: value.map(str::to_owned),
            allow_nan: false,
        };
        self.client()
            .ask::<Applied>("axis", Verb::write([change]))
            .unwrap_or_else(|error| panic!("{error}"))
            .cycle
    }

    pub(crate) fn told(&self, kind: &str) -> Option<String> {
        let events = self.client().events(0).expect("the site answers");
        events.into_iter().find(|event| event.kind == kind).map(|event| event.text)
    }

    pub(crate) fn wait_for_event(&self, kind: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(text) = self.told(kind) {
                return text;
            }
            let events = self.client().events(0).expect("the site answers");
            assert!(Instant::now() < end, "no event `{kind}` in {events:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Copies a model, with parts of its text replaced.
pub(crate) fn copy_model(model: &str, to: &Path, replacements: &[(&str, &str)]) {
    std::fs::create_dir_all(to).expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(model);
    for entry in std::fs::read_dir(from).expect("the model").flatten() {
        let mut text = std::fs::read_to_string(entry.path()).expect("a source");
        for (old, new) in replacements {
            text = text.replace(old, new);
        }
        std::fs::write(to.join(entry.file_name()), text).expect("a copy");
    }
}
