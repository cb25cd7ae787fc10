//! A neighbour: a partition that runs loads while others are measured.
//!
//! Its process is started as any partition's is, by whichever backend, starts the load workers
//! beside itself, and tells once a second on its standard output what they achieved, a line of JSON
//! each. That way is there in every backend: a container's process and one in a Linux guest have it
//! too.
//!
//! ```text
//! host                                  the neighbour's process
//!   job: loads, CPUs      ───────────▶   starts the workers, waits until each works
//!                         ◀───────────   its task runs
//!                         ◀───────────   a line for each load, once a second
//!   exchange: stop        ───────────▶   last lines, workers end, its task has stopped
//! ```
//!
//! A guest may write anything there: what is read is bounded, and no line chooses an index
//! unchecked. A neighbour that is told its pace ([`Order`]) answers in its exchange in place of
//! that.

mod paced;

use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_exchange::{Recorder, Region, Shape, TaskState};
use quietcore_linux_guest::image::Image;
use quietcore_load::{Achieved, LoadRequest, LoadSet};
use quietcore_process::setting as settings;
use quietcore_record::record::GuestImage;
use quietcore_site::{Accelerator, Load, LoadKind, NeighbourForm, Site};
use quietcore_units::{ByteSize, Causes, CpuId, CpuSet, Nanos};
use serde::{Deserialize, Serialize};

use crate::container::ContainerWish;
use crate::linux::{Hypervisor, LinuxSetting, LinuxSettingError, named};
use crate::setting::BackendSetting;
use paced::Answering;
pub use paced::Order;

/// Time that all workers may take until they work: an emulated guest's are slow.
const WORK_MAX: Nanos = Nanos::from_secs(60);
/// Longest silence of a worker: the neighbours share their CPUs, so that one waits for the workers
/// of all, and an operation of an emulated guest takes seconds.
const SILENCE_MAX: Nanos = Nanos::from_secs(10);
/// Time between two reports.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// Time between two looks at the exchange.
const LOOK: Duration = Duration::from_millis(20);
/// The most characters of a problem that are told: a line that is printed is cut at 240 bytes.
const PROBLEM_CHARS_MAX: usize = 120;
/// The longest interval of a report that is believed.
const INTERVAL_MAX: Nanos = Nanos::from_secs(3600);
/// The highest rate that is believed.
const RATE_MAX: f64 = 1e15;

/// The job of a neighbour's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeighbourJob {
    /// The loads that it starts, in the order of its reports.
    pub loads: Vec<NeighbourLoad>,
    /// CPUs that its workers are bound to; `None` where they have all that the process sees, as in
    /// a guest.
    pub cpus: Option<CpuSet>,
}

/// Some workers of one kind in a neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeighbourLoad {
    /// Work of the workers.
    pub kind: LoadKind,
    /// Number of workers, each a process of its own.
    pub workers: u32,
    /// Bytes that each works on; `None` leaves it to the kind.
    pub size: Option<ByteSize>,
}

impl From<&Load> for NeighbourLoad {
    fn from(load: &Load) -> Self {
        Self { kind: load.kind, workers: load.workers, size: load.size }
    }
}

/// A line that a neighbour's process writes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Report {
    /// Work of one load since its last report.
    Work(WorkReport),
    /// Something is wrong with a worker.
    Problem {
        /// Place of the load in the job.
        load: usize,
        what: String,
    },
}

/// The work of one load in an interval.
#[derive(Debug, Serialize, Deserialize)]
struct WorkReport {
    /// Place of the load in the job.
    load: usize,
    /// Workers whose process lives.
    alive: u32,
    /// Those of them that make no progress.
    stalled: u32,
    interval: Nanos,
    operations_per_second: f64,
    bytes_per_second: Option<f64>,
    cpu_share: f64,
}

/// The work that a neighbour has told of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NeighbourWork {
    /// Work of its loads, each with its place in the job, in the order of the reports.
    pub achieved: Vec<(usize, Achieved)>,
    /// Problems of its workers, and lines that are no reports.
    pub problems: Vec<String>,
}

impl NeighbourJob {
    /// Returns the shape of the exchange of its process.
    pub fn shape() -> Shape {
        Shape::of_tasks(1)
    }

    /// Reads lines of its process. `cpus` are those on which the host lets it run.
    pub fn read(&self, lines: &[String], cpus: CpuSet) -> NeighbourWork {
        let mut work = NeighbourWork::default();
        for line in lines {
            match serde_json::from_str(line) {
                Ok(report) => self.note(report, cpus, &mut work),
                Err(_) => work.problems.push("it wrote something that is no report".to_owned()),
            }
        }
        work
    }

    fn note(&self, report: Report, cpus: CpuSet, work: &mut NeighbourWork) {
        match report {
            Report::Problem { load, what } => {
                let kind = self.loads.get(load).map_or("unknown", |load| load.kind.name());
                let what: String = what.chars().take(PROBLEM_CHARS_MAX).collect();
                work.problems.push(format!("`{kind}`: {what}"));
            }
            Report::Work(report) => match self.achieved(&report, cpus) {
                Some(achieved) => work.achieved.push((report.load, achieved)),
                None => work.problems.push("it reported what can't be".to_owned()),
            },
        }
    }

    /// Returns the work of a report; `None` where it can't be.
    fn achieved(&self, report: &WorkReport, cpus: CpuSet) -> Option<Achieved> {
        let load = self.loads.get(report.load)?;
        let is_possible = report.alive <= load.workers
            && report.stalled <= report.alive
            && report.interval <= INTERVAL_MAX;
        let believed = |rate: f64| rate.clamp(0.0, RATE_MAX);
        is_possible.then(|| Achieved {
            kind: load.kind,
            workers: load.workers,
            workers_alive: report.alive,
            workers_stalled: report.stalled,
            size: load.size,
            cpus,
            interval: report.interval,
            operations_per_second: believed(report.operations_per_second),
            unit: load.kind.unit().into(),
            bytes_per_second: report.bytes_per_second.map(believed),
            cpu_share: believed(report.cpu_share),
            faults: Vec::new(),
        })
    }

    fn requests(&self) -> Vec<LoadRequest> {
        let request = |load: &NeighbourLoad| LoadRequest {
            size: load.size,
            cpus: self.cpus,
            ..LoadRequest::new(load.kind, load.workers)
        };
        self.loads.iter().map(request).collect()
    }
}

/// The kind of a site's neighbours, with all that their start takes.
#[derive(Clone, Debug)]
pub struct NeighbourKind {
    form: NeighbourForm,
    accelerator: Accelerator,
    /// The image of guests, and how records name it.
    image: Option<(Image, GuestImage)>,
}

impl NeighbourKind {
    /// Returns the kind of a site's neighbours, whose image is named from `site_folder` on.
    ///
    /// # Errors
    /// [`LinuxSettingError`] when they start from an image that can't be used.
    pub fn of(site: &Site, site_folder: &Path) -> Result<Self, LinuxSettingError> {
        let image = site.neighbour_image().map(|image| site_folder.join(image));
        Self::new(site.neighbour_form(), site.neighbour_accelerator(), image.as_deref())
    }

    /// Returns a kind of this form; guests start from the image in the folder `image` and run by
    /// `accelerator`.
    ///
    /// # Errors
    /// [`LinuxSettingError`] when guests would start from an image that can't be used.
    pub fn new(
        form: NeighbourForm,
        accelerator: Accelerator,
        image: Option<&Path>,
    ) -> Result<Self, LinuxSettingError> {
        let open = |folder: &Path| {
            let opened = Image::open(folder).map(|image| {
                let name = named(folder, &image);
                (image, name)
            });
            opened.map_err(|source| LinuxSettingError { partition: "neighbour".to_owned(), source })
        };
        let image = image.filter(|_| form == NeighbourForm::LinuxGuest).map(open).transpose()?;
        Ok(Self { form, accelerator, image })
    }

    /// Returns the kind of processes.
    pub const fn process() -> Self {
        Self { form: NeighbourForm::Process, accelerator: Accelerator::Kvm, image: None }
    }

    /// Returns the form: that which the site's first partition asks for, or a chosen one.
    pub const fn form(&self) -> NeighbourForm {
        self.form
    }

    /// Returns the setting of a neighbour that may run on `cpus`; one that is a guest has so many
    /// processors and so much memory.
    pub fn setting(&self, cpus: CpuSet, processors: usize, memory: ByteSize) -> BackendSetting {
        match (self.form, &self.image) {
            (NeighbourForm::Container, _) => {
                BackendSetting::new(ContainerWish { cpus: Some(cpus), ..ContainerWish::default() })
            }
            (NeighbourForm::LinuxGuest, Some((image, name))) => BackendSetting::new(LinuxSetting {
                image: name.clone(),
                kernel: image.kernel.clone(),
                initramfs: image.initramfs.clone(),
                memory,
                hypervisor: Hypervisor::Qemu { accelerator: self.accelerator },
                cpus: cpus.iter().map(CpuId::get).take(processors).collect(),
            }),
            (NeighbourForm::Process | NeighbourForm::LinuxGuest, _) => BackendSetting::default(),
        }
    }
}

/// Runs the inside of a neighbour's process until the exchange asks it to stop.
pub(crate) fn serve(job: &NeighbourJob, region: Region<'_>) -> Result<(), String> {
    let task = region.task(0).ok_or("the exchange has no task")?;
    let mut recorder = Recorder::new(task, Nanos::from_secs(1), 1);
    recorder.set_state(TaskState::Starting);
    // What this process does is no load, and must not hold up one.
    let _ = job.cpus.map(settings::allow);
    let program = std::env::current_exe().map_err(|error| format!("no program: {error}"))?;
    let in_words = |error| Causes(&error).to_string();
    let set = LoadSet::start(&program, &job.requests()).map_err(in_words)?;
    let mut set = set.bearing_silence(SILENCE_MAX);
    set.wait_until_running(WORK_MAX).map_err(in_words)?;
    recorder.set_state(TaskState::Running);
    match Answering::of(region) {
        Some(mut answering) => {
            while !region.stop_requested() {
                answering.serve(&mut set);
            }
        }
        None => report_until_stopped(&mut set, region),
    }
    let ended = set.stop().map_err(in_words);
    recorder.set_state(TaskState::Stopped);
    ended
}

/// Reports the work of all loads once a second, until the exchange asks to stop, and then.
fn report_until_stopped(set: &mut LoadSet, region: Region<'_>) {
    let mut reported = Instant::now();
    let report = |set: &mut LoadSet| reports(&set.measure()).iter().for_each(write);
    while !region.stop_requested() {
        thread::sleep(LOOK);
        if reported.elapsed() >= REPORT_EVERY {
            reported = Instant::now();
            report(set);
        }
    }
    report(set);
}

/// Returns the reports of the work of all loads.
fn reports(all: &[Achieved]) -> Vec<Report> {
    let mut reports = Vec::new();
    for (load, achieved) in all.iter().enumerate() {
        reports.push(Report::Work(WorkReport {
            load,
            alive: achieved.workers_alive,
            stalled: achieved.workers_stalled,
            interval: achieved.interval,
            operations_per_second: rounded(achieved.operations_per_second),
            bytes_per_second: achieved.bytes_per_second.map(rounded),
            cpu_share: rounded(achieved.cpu_share),
        }));
        // The workers of one kind often share one.
        reports.extend(achieved.faults.first().map(|fault| {
            let what = fault.problem.to_string();
            let what = what.chars().take(PROBLEM_CHARS_MAX).collect();
            Report::Problem { load, what }
        }));
    }
    reports
}

/// Rounds to thousandths, so that a line stays short.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// Writes a report as a line. One for which there is no room is lost, as what a program prints is.
fn write(report: &Report) {
    let Ok(mut line) = serde_json::to_vec(report) else { return };
    line.push(b'\n');
    let mut output = std::io::stdout().lock();
    let _ = output.write_all(&line).and_then(|()| output.flush());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn job() -> NeighbourJob {
        let load = |kind, workers, size| NeighbourLoad { kind, workers, size };
        let loads = vec![
            load(LoadKind::Sqrt, 10, None),
            load(LoadKind::Malloc, 10, Some(ByteSize::new(64_000_000))),
        ];
        NeighbourJob { loads, cpus: None }
    }

    fn work(load: usize, alive: u32, operations_per_second: f64) -> String {
        let report = Report::Work(WorkReport {
            load,
            alive,
            stalled: 0,
            interval: Nanos::from_millis(1_000),
            operations_per_second,
            bytes_per_second: None,
            cpu_share: 0.5,
        });
        serde_json::to_string(&report).unwrap()
    }

    #[test]
    fn reports_are_read_as_the_work_of_their_load() {
        let cpus: CpuSet = "2,3".parse().unwrap();
        let problem = Report::Problem { load: 0, what: "a worker ended".to_owned() };
        let lines = [work(1, 9, 12.5), serde_json::to_string(&problem).unwrap()];
        let read = job().read(&lines, cpus);
        let [(1, achieved)] = &read.achieved[..] else { panic!("{read:?}") };
        assert_eq!((achieved.kind, achieved.workers_alive), (LoadKind::Malloc, 9));
        assert_eq!((achieved.operations_per_second, achieved.cpus), (12.5, cpus));
        assert!(!achieved.is_complete(), "one is gone");
        assert_eq!(read.problems, ["`sqrt`: a worker ended"]);
    }

    #[test]
    fn what_cannot_be_is_a_problem_and_no_work() {
        let lines = [work(2, 1, 1.0), work(0, 11, 1.0), "nonsense".to_owned()];
        let read = job().read(&lines, CpuSet::EMPTY);
        assert_eq!((read.achieved.len(), read.problems.len()), (0, 3), "{read:?}");
        let endless = job().read(&[work(0, 10, 1e300)], CpuSet::EMPTY);
        assert_eq!(endless.achieved[0].1.operations_per_second, RATE_MAX);
    }

    #[test]
    fn the_longest_line_is_not_cut() {
        let report = Report::Work(WorkReport {
            load: 31,
            alive: 100,
            stalled: 100,
            interval: INTERVAL_MAX,
            operations_per_second: rounded(999_999_999_999.123),
            bytes_per_second: Some(rounded(999_999_999_999.123)),
            cpu_share: rounded(1_023.123_4),
        });
        let problem = Report::Problem { load: 31, what: "x".repeat(PROBLEM_CHARS_MAX) };
        for report in [report, problem] {
            let line = serde_json::to_string(&report).unwrap();
            assert!(line.len() < 240, "{} bytes: {line}", line.len());
        }
    }

    proptest! {
        #[test]
        fn whatever_a_guest_writes_is_read(lines in prop::collection::vec(".{0,80}", 0..4)) {
            prop_assert_eq!(job().read(&lines, CpuSet::EMPTY).problems.len(), lines.len());
        }
    }
}
