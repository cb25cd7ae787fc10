//! A monitor of a program that runs in a thread of the test.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::fake::FakeProgram;
use quietcore_units::Nanos;

struct Fixture {
    program: FakeProgram,
    monitor: Monitor,
    _folder: tempfile::TempDir,
}

fn ground() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let program = FakeProgram::start(folder.path()).unwrap();
    let (opened, file) = program.opened("line", "axis").unwrap();
    Fixture { program, monitor: Monitor::new(opened, file).unwrap(), _folder: folder }
}

fn patterns(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn read(monitor: &Monitor, texts: &[&str]) -> (Reading, Vec<String>) {
    let mut selection = monitor.select(&patterns(texts)).unwrap();
    let reading = monitor.read(&mut selection).unwrap();
    let value = |variable: &Variable| format!("{} {}", variable.path, selection.value(variable));
    (reading, selection.variables().iter().map(value).collect())
}

#[test]
fn variables_are_read_by_name_and_pattern_in_the_order_asked_for() {
    let Fixture { program, monitor, .. } = &ground();
    program.step(10);
    let (reading, rows) = read(monitor, &["servo_Y.torque", "servo_DW", "servo_Y.*"]);
    assert_eq!(reading, Reading { cycle: 9, consistent: true });
    assert_eq!(
        rows,
        [
            "servo_Y.torque 10.0",
            "servo_DW.counter 10",
            "servo_DW.ready 0",
            "servo_DW.level 0",
            "servo_Y.mode RUN",
        ]
    );
    program.give("servo_DW.level", "5");
    program.give("servo_P.limits[1]", "-0.5");
    let (_, rows) = read(monitor, &["servo_DW.level", "servo_P.limits[*]"]);
    assert_eq!(rows[0], "servo_DW.level 5");
    assert_eq!(rows[2], "servo_P.limits[1] -0.5");
}

#[test]
fn what_is_not_there_is_refused_with_what_is_near() {
    let Fixture { monitor, .. } = &ground();
    let refusal = |text: &str| monitor.select(&patterns(&[text])).unwrap_err().to_string();
    assert_eq!(refusal("servo_P.Kq"), "there is no `Kq` in `servo_P`; perhaps `Kp`, `Ki`");
    assert!(refusal("Kp").contains("servo_P.Kp"), "{}", refusal("Kp"));
    assert!(refusal("servo_Q.*").contains("no variable is called so"));
    assert!(refusal("servo_P.limits[7]").contains("3 elements"));
    assert!(refusal("servo_P..x").contains("no pattern"));
}

#[test]
fn forced_variables_are_marked_to_the_bit() {
    let Fixture { program, monitor, .. } = &ground();
    program.force("servo_DW.ready", "1");
    program.force("servo_U.position", "7.5");
    let forces = monitor.forces().unwrap();
    assert_eq!(forces.count(), 2);
    let held = |path: &str| forces.holds(&monitor.symbols().resolve(path).unwrap());
    assert!(held("servo_DW.ready") && held("servo_U.position"));
    assert!(!held("servo_DW.level") && !held("servo_U.enable"));
    program.step(1);
    assert_eq!(read(monitor, &["servo_Y.torque"]).1, ["servo_Y.torque 15.0"]);
    program.unforce("servo_DW.ready");
    assert_eq!(monitor.forces().unwrap().count(), 1);
}

struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Goal: what is read together belongs together.
/// Method: the program computes without pause, with a relation that holds between any two cycles
/// and never within one; many readings must all show it.
#[test]
fn all_values_of_a_reading_are_of_one_cycle() {
    let Fixture { program, monitor, .. } = &ground();
    let stop = AtomicBool::new(false);
    let mut selection =
        monitor.select(&patterns(&["servo_DW.counter", "servo_U.position", "servo_Y"])).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                program.step(200);
            }
        });
        // A failed assertion must end the program, too.
        let _end = StopAtEnd(&stop);
        let mut consistent = 0;
        let end = Instant::now() + Duration::from_secs(10);
        while consistent < 200 && Instant::now() < end {
            let reading = monitor.read(&mut selection).unwrap();
            let number =
                |index: usize| selection.value(&selection.variables()[index]).as_f64().unwrap();
            if reading.consistent && reading.cycle > 0 {
                consistent += 1;
                assert_eq!(number(0), reading.cycle as f64 + 1.0);
                assert_eq!((number(1), number(2)), (number(0) / 2.0, number(0)));
            }
        }
        assert!(consistent > 0, "no reading was consistent");
    });
}

#[test]
fn after_a_deploy_the_old_names_are_not_used() {
    let Fixture { program, monitor, .. } = &ground();
    let mut selection = monitor.select(&patterns(&["servo_P"])).unwrap();
    monitor.read(&mut selection).unwrap();
    program.swap();
    let refused = monitor.read(&mut selection).unwrap_err();
    assert!(matches!(refused, MonitorError::Replaced { found: 2, own: 1 }), "{refused}");
}

#[test]
fn symbols_of_another_program_are_refused_and_read_nothing_outside() {
    let folder = tempfile::tempdir().unwrap();
    let program = FakeProgram::start(folder.path()).unwrap();
    let (opened, file) = program.opened("line", "axis").unwrap();
    let text = std::fs::read_to_string(&opened.symbols).unwrap();
    let beyond = text.replace("\"bytes\":4096", "\"bytes\":8192").replace("1056", "8000");
    assert_ne!(beyond, text);
    std::fs::write(&opened.symbols, beyond).unwrap();
    let monitor = Monitor::new(opened.clone(), file.try_clone().unwrap()).unwrap();
    let mut selection = monitor.select(&patterns(&["servo_DW"])).unwrap();
    let refused = monitor.read(&mut selection).unwrap_err();
    assert!(matches!(refused, MonitorError::Data(_)), "{refused}");
    std::fs::write(&opened.symbols, "{}").unwrap();
    let refused = Monitor::new(opened, file).unwrap_err().to_string();
    assert!(refused.contains("symbols.json` can't be read"), "{refused}");
}

#[test]
fn figures_are_those_of_the_task() {
    let Fixture { program, monitor, .. } = &ground();
    program.step(1000);
    let figures = monitor.figures(&mut FigureBuffers::default());
    let [Some(task)] = &figures[..] else { panic!("one task: {figures:?}") };
    assert_eq!((task.name.as_str(), task.period), ("main", Nanos::from_millis(1)));
    assert_eq!((task.release.total, task.snapshot.counters.cycles), (1000, 1000));
    assert_eq!(task.release.median, Nanos::from_micros(2));
    assert_eq!(task.release.p99_99, Nanos::from_micros(40));
    assert_eq!(task.release.counts.iter().sum::<u64>(), 1000);
    assert_eq!(task.execution.max, Nanos::from_micros(110));
    assert_eq!(task.response.max, Nanos::from_micros(150));
}
