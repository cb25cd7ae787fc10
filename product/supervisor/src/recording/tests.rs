//! Recordings of a program that runs in a thread of the test, through a real socket.

use std::path::Path;
use std::sync::Arc;

use quietcore_record::trace::{Recording, read};

use super::*;
use crate::fake::{FakeProgram, FakeSite};
use crate::places::{Claim, Places};
use crate::server::{Limits, Server};

struct Fixture {
    site: Arc<FakeSite>,
    places: Places,
    _server: Server,
    _claim: Claim,
    folder: tempfile::TempDir,
}

/// Makes a site whose program runs a cycle each `period`, or none at all.
fn ground(period: Option<Duration>) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let program = FakeProgram::start(folder.path()).unwrap();
    if let Some(period) = period {
        program.run_every(period);
    }
    let places = Places::new(folder.path().join("run"), folder.path().join("state"));
    let claim = Claim::take(&places, "line").unwrap();
    let site = Arc::new(FakeSite::with_program(program));
    let served = Arc::clone(&site) as Arc<dyn crate::Site>;
    let listener = claim.listen().unwrap();
    let server = Server::start(listener, "line", served, Limits::default()).unwrap();
    Fixture { site, places, _server: server, _claim: claim, folder }
}

const QUICK: Option<Duration> = Some(Duration::from_micros(200));

/// Makes a site whose program runs its first cycle after a trace has begun, so that each trigger
/// is still to come then.
fn ground_at_rest_until_traced() -> Fixture {
    let ground = ground(None);
    let site = Arc::clone(&ground.site);
    thread::spawn(move || {
        let is_traced = || site.state().asked.iter().any(|asked| asked.starts_with("trace-start"));
        while !is_traced() {
            thread::sleep(Duration::from_millis(1));
        }
        site.state().program.as_ref().unwrap().run_every(QUICK.unwrap());
    });
    ground
}

fn wanted(variables: &[&str], trigger: Option<&str>, length: Length) -> RecordingRequest {
    RecordingRequest {
        variables: variables.iter().map(|text| (*text).to_owned()).collect(),
        every: 1,
        task: 0,
        trigger: trigger.map(|text| text.parse().unwrap()),
        pre_percent: 0,
        length,
    }
}

fn run(
    ground: &Fixture,
    wanted: &RecordingRequest,
    output: &mut dyn Output,
) -> Result<Summary, RecordingError> {
    let mut client = Client::connect(&ground.places, None).unwrap();
    record(&mut client, "axis", wanted, output, &mut |_| {}, &AtomicBool::new(false))
}

fn table(ground: &Fixture, wanted: &RecordingRequest) -> (Summary, Vec<Vec<String>>) {
    let path = ground.folder.path().join("trace.csv");
    let mut file = TableFile::create(&path, FileFormat::of(&path).unwrap()).unwrap();
    let summary = run(ground, wanted, &mut file).unwrap();
    assert!(!path.exists(), "the file appears whole");
    file.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(read(&bytes).unwrap().samples, summary.kept);
    let text = String::from_utf8(bytes).unwrap();
    let rows = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
    (summary, rows.collect())
}

#[test]
fn every_cycle_is_recorded_until_all_is_kept() {
    let ground = ground(QUICK);
    let wanted = wanted(&["servo_Y", "servo_DW.counter"], None, Length::Samples(50));
    let (summary, rows) = table(&ground, &wanted);
    assert_eq!((summary.kept, summary.lost, summary.ended_early), (50, 0, None));
    assert_eq!(rows[0][4..], ["servo_Y.torque", "servo_Y.mode", "servo_DW.counter"]);
    let number = |row: usize, column: usize| rows[row][column].parse::<f64>().unwrap();
    for row in 1..=50 {
        assert_eq!(number(row, 0), number(1, 0) + row as f64 - 1.0, "no cycle is left out");
        // The counter of the cycle after which it was taken, and a value computed from it.
        assert_eq!((number(row, 6), number(row, 4)), (number(row, 0) + 1.0, number(row, 6)));
    }
    assert!(rows[1..].iter().all(|row| row[5] == "1"), "{rows:?}");
    assert_eq!(rows[1][2], "0.000000000");
    let asked = ground.site.state().asked.clone();
    assert_eq!(asked.last().unwrap(), "trace-stop axis");
}

#[test]
fn a_trigger_keeps_what_was_before_it() {
    let ground = ground_at_rest_until_traced();
    let mut wanted =
        wanted(&["servo_Y.torque"], Some("rising servo_DW.counter >= 300"), Length::Samples(40));
    wanted.pre_percent = 25;
    wanted.every = 2;
    let (summary, rows) = table(&ground, &wanted);
    assert_eq!((summary.kept, summary.pre), (40, 10));
    assert_eq!(rows[0][4..], ["servo_Y.torque", "servo_DW.counter"]);
    let counter = |row: usize| rows[row][5].parse::<u64>().unwrap();
    assert!(counter(10) < 300 && counter(11) >= 300, "{} {}", counter(10), counter(11));
    assert_eq!(counter(2), counter(1) + 2, "every second cycle");
    assert!(rows[10][2].starts_with('-') && rows[11][2] == "0.000000000");
    assert_eq!(summary.began_at, Some(counter(11) - 1));
}

/// Keeps, beside the rows of a recording, the windows that they belong to.
#[derive(Default)]
struct Windows {
    counters: Vec<f64>,
    cycles: Vec<u64>,
    /// Number of the first row, cycle of the trigger, and rows from before it.
    begun: Vec<(usize, u64, u64)>,
}

impl Output for Windows {
    fn begin(&mut self, _columns: &[Column]) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, moment: &Moment, values: &[Number]) -> io::Result<()> {
        self.cycles.push(moment.cycle);
        self.counters.push(values[0].as_f64());
        Ok(())
    }

    fn window(&mut self, cycle: u64, before: u64) {
        self.begun.push((self.counters.len(), cycle, before));
    }
}

/// Goal: each window has its own trigger, at the row that the output was told, and none overlap.
#[test]
fn several_windows_are_kept_each_around_its_own_trigger() {
    let ground = ground(QUICK);
    let length = Length::Around { before: 3, after: 5 };
    let wanted = wanted(&["servo_DW.counter"], Some("changing servo_DW.counter"), length);
    let mut client = Client::connect(&ground.places, None).unwrap();
    let mut windows = Windows::default();
    let prepared = Prepared::new(&mut client, "axis", &wanted).unwrap();
    assert_eq!(prepared.columns().len(), 1);
    let started = prepared.start(&mut client).unwrap();
    let stop = AtomicBool::new(false);
    let summary = started.keep(&mut client, 3, &mut windows, &mut |_| {}, &stop).unwrap();
    assert_eq!((summary.kept, summary.ended_early, summary.lost), (24, None, 0));
    // The counter is another one in each cycle: the first sample alone has none to compare with.
    let before: Vec<u64> = windows.begun.iter().map(|(_, _, before)| *before).collect();
    assert_eq!(before, [1, 0, 0]);
    for (row, cycle, before) in &windows.begun {
        assert_eq!(windows.cycles[row + *before as usize], *cycle, "{:?}", windows.begun);
    }
    let first: Vec<usize> = windows.begun.iter().map(|(row, ..)| *row).collect();
    assert_eq!(first, [0, 8, 16]);
    assert!(windows.cycles.is_sorted_by(|one, next| one < next), "{:?}", windows.cycles);
}

/// Goal: the samples from before a trigger are as many as asked for, to the sample.
#[test]
fn a_window_may_be_said_in_samples_before_and_after_its_trigger() {
    let ground = ground_at_rest_until_traced();
    let length = Length::Around { before: 7, after: 22 };
    let rising = Some("rising servo_DW.counter >= 300");
    let wanted = wanted(&["servo_DW.counter"], rising, length);
    let mut windows = Windows::default();
    let summary = run(&ground, &wanted, &mut windows).unwrap();
    assert_eq!((summary.kept, summary.pre, summary.total), (29, 7, 29));
    assert!(windows.counters[6] < 300.0 && windows.counters[7] >= 300.0, "{:?}", windows.counters);
    assert_eq!(windows.begun, [(0, windows.cycles[7], 7)]);
}

#[test]
fn a_duration_counts_in_the_tasks_period() {
    let ground = ground(QUICK);
    let mut recording = Recording::new(Vec::new());
    let mut wanted = wanted(&["servo_P.Kp"], None, Length::Duration(Nanos::from_millis(20)));
    wanted.every = 2;
    let summary = run(&ground, &wanted, &mut recording).unwrap();
    assert_eq!((summary.total, summary.kept, recording.samples), (10, 10, 10));
    wanted.length = Length::Duration(Nanos::from_millis(1));
    let refused = run(&ground, &wanted, &mut recording).unwrap_err().to_string();
    assert_eq!(refused, "no sample would be kept; one comes every 2.00 ms");
}

#[test]
fn what_cannot_be_recorded_is_refused_before_the_program_is_asked() {
    let ground = ground(None);
    let one = Length::Samples(1);
    let refusal = |wanted: &RecordingRequest| {
        run(&ground, wanted, &mut Recording::new(Vec::new())).unwrap_err().to_string()
    };
    assert!(refusal(&wanted(&["servo_P.Kq"], None, one)).contains("`Kp`"));
    assert!(refusal(&wanted(&["servo_P"], Some("servo_Q.x"), one)).contains("servo_Q"));
    let limit = refusal(&wanted(&["servo_P"], Some("servo_Y.mode == RNU"), one));
    assert_eq!(limit, "the trigger compares `servo_Y.mode` with `RNU`, which is no Mode");
    let task = refusal(&RecordingRequest { task: 3, ..wanted(&["servo_P"], None, one) });
    assert_eq!(task, "there is no task 3; this partition has 0 `main`");
    assert!(ground.site.state().asked.iter().all(|asked| asked.starts_with("open")));
    let ended = AtomicBool::new(true);
    let mut client = Client::connect(&ground.places, None).unwrap();
    let mut recording = Recording::new(Vec::new());
    let wanted = wanted(&["servo_P"], Some("servo_Y.mode == RUN"), one);
    let summary =
        record(&mut client, "axis", &wanted, &mut recording, &mut |_| {}, &ended).unwrap();
    assert_eq!((summary.kept, summary.ended_early.as_deref()), (0, Some("interrupted")));
    assert_eq!(summary.began_at, None);
}

/// Goal: a reader that is too slow says how much it lost, and where.
/// Method: an output that holds up the reader while the program runs many more cycles than the ring
/// has places.
#[test]
fn losses_are_counted_and_stand_where_they_were() {
    struct Slow<'a> {
        site: &'a FakeSite,
        recording: Recording,
        lost: Vec<u64>,
    }
    impl Output for Slow<'_> {
        fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
            self.recording.begin(columns)
        }

        fn row(&mut self, moment: &Moment, values: &[Number]) -> io::Result<()> {
            if self.lost.len() == 2 {
                self.site.state().program.as_ref().unwrap().step(100_000);
            }
            self.lost.push(moment.lost_before);
            self.recording.row(moment, values)
        }
    }
    let ground = ground(QUICK);
    let recording = Recording::new(Vec::new());
    let mut slow = Slow { site: &ground.site, recording, lost: Vec::new() };
    let wanted = wanted(&["servo_DW.counter"], None, Length::Samples(10));
    let summary = run(&ground, &wanted, &mut slow).unwrap();
    assert!(summary.lost > 50_000, "{summary:?}");
    assert_eq!(slow.lost[3], summary.lost);
    assert_eq!(slow.recording.lost, summary.lost);
    let (first, last) = slow.recording.cycles.unwrap();
    assert_eq!(last - first + 1, 10 + summary.lost, "kept and lost are all there were");
}

#[test]
fn a_deploy_ends_a_recording_and_keeps_what_there_is() {
    struct Deploys<'a>(&'a FakeSite, u64);
    impl Output for Deploys<'_> {
        fn begin(&mut self, _: &[Column]) -> io::Result<()> {
            Ok(())
        }

        fn row(&mut self, _: &Moment, _: &[Number]) -> io::Result<()> {
            self.1 += 1;
            if self.1 == 5 {
                self.0.state().program.as_ref().unwrap().swap();
            }
            Ok(())
        }
    }
    let ground = ground(QUICK);
    let mut output = Deploys(&ground.site, 0);
    let wanted = wanted(&["servo_DW.counter"], None, Length::Samples(1_000_000));
    let summary = run(&ground, &wanted, &mut output).unwrap();
    assert!(summary.kept >= 5 && summary.kept < 10_000, "{summary:?}");
    assert!(summary.ended_early.unwrap().contains("replaced"));
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let create = |path: &Path| TableFile::create(path, FileFormat::Csv);
    let error = create(&folder.path().join("none/trace.csv")).unwrap_err().to_string();
    assert!(!error.contains(".quietcore-"), "nobody asked for the temporary file: {error}");
    assert!(create(folder.path()).is_err());
    drop(create(&folder.path().join("trace.csv")).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(FileFormat::of(Path::new("a.PARQUET")), Some(FileFormat::Parquet));
    assert_eq!(FileFormat::of(Path::new("a.txt")), None);
}
