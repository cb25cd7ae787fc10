//! Screens of several sizes, compared with stored text.

use quietcore_exchange::{Spike, TaskSnapshot, TaskState};
use quietcore_supervisor::fake;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::command::running::top::view::{Answer, Sort};

/// Latencies around 3 µs with a long tail, as a machine without isolation has them.
fn bars(shift: usize) -> LogBars {
    let mut counts = vec![0_u64; 8 * 24];
    for (index, count) in [3, 90, 4_000, 50_000, 6_000, 900, 120, 40, 9, 3].into_iter().enumerate()
    {
        counts[24 + 6 + shift + index] = count;
    }
    counts[24 + 24 + 8 + shift] = 1;
    let total = counts.iter().sum();
    LogBars {
        counts,
        total,
        min: Nanos::new(1_800),
        max: Nanos::from_micros(187),
        median: Nanos::new(2_950),
        p99: Nanos::new(5_100),
        p99_9: Nanos::new(7_900),
        p99_99: Nanos::new(12_300),
    }
}

fn task(name: &str) -> TaskFigures {
    let mut snapshot = TaskSnapshot::default();
    snapshot.counters.cycles = 61_234;
    snapshot.scan.overruns = 2;
    for (index, latency_ns) in [187_000, 41_200, 39_000].into_iter().enumerate() {
        let release = 4711 * (index as u64 + 1);
        let due_ns = 1_000_000 * release;
        snapshot.spikes[index] = Spike { release, due_ns, latency_ns, wakeup_ns: 1, cpu: 1 };
    }
    TaskFigures {
        name: name.to_owned(),
        period: Nanos::from_millis(1),
        state: TaskState::Running,
        first_release: Nanos::from_secs(1),
        snapshot,
        release: bars(0),
        execution: bars(24),
        response: bars(30),
    }
}

fn snapshot() -> Snapshot {
    let mut partitions = fake::partitions().into_iter();
    let mut pane = |tasks| Pane { state: partitions.next().unwrap(), tasks };
    let partitions = vec![pane(vec![task("main")]), pane(Vec::new())];
    let at = "2026-11-21T20:15:03.5Z".to_owned();
    Snapshot { site: "press-line".to_owned(), at, partitions }
}

fn screen(snapshot: &Snapshot, view: &View, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, snapshot, view)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let rows = (0..height).map(|y| {
        let row: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        row.trim_end().to_owned() + "\n"
    });
    rows.collect()
}

fn press(view: &mut View, code: KeyCode, snapshot: &Snapshot) -> Answer {
    view.press(KeyEvent::new(code, KeyModifiers::NONE), snapshot)
}

#[test]
fn screens_are_as_stored() {
    let snapshot = snapshot();
    let mut view = View::new(false);
    let mut shown = screen(&snapshot, &view, 80, 24);
    press(&mut view, KeyCode::Right, &snapshot);
    shown.push_str(&screen(&snapshot, &view, 110, 30));
    press(&mut view, KeyCode::Down, &snapshot);
    shown.push_str(&screen(&snapshot, &view, 80, 24));
    shown.push_str(&text(&snapshot, 80));
    assert_eq!(shown, include_str!("stored.txt"), "{shown}");
}

/// Goal: a stall of 57 periods is one row, and what came at another time is another.
#[test]
fn a_stall_is_one_row() {
    let millis = 1_000_000;
    let spike = |release: u64, latency_ns| Spike {
        release,
        due_ns: release * millis,
        latency_ns,
        wakeup_ns: 1,
        cpu: 1,
    };
    let mut spikes: Vec<Spike> =
        (0..15).map(|more| spike(100 + more, (57 - more) * millis)).collect();
    spikes.push(spike(7000, 2 * millis));
    spikes.push(Spike::default());
    let found = stalls(&spikes);
    assert_eq!(found.len(), 2);
    let told = |stall: &Stall<Spike>| (stall.worst.release, stall.releases.len());
    assert_eq!(found.iter().map(told).collect::<Vec<_>>(), [(100, 15), (7000, 1)]);
}

/// Goal: the widest figures fit, and what gives way on the screen is told of the chosen partition.
#[test]
fn top_fits_80_100_and_120_columns() {
    let mut snapshot = snapshot();
    for pane in &mut snapshot.partitions {
        let state = &mut pane.state;
        state.name = "conveyor-of-the-second-line".to_owned();
        (state.cycles, state.missed_cycles) = (31_536_000_000, 1_234_567);
        state.overruns = 7_654_321;
        let bus = state.fieldbus.as_mut();
        bus.into_iter().for_each(|it| (it.working_counter, it.lost_frames) = (5, 98_765));
        pane.tasks = vec![task("the_task_of_the_conveyor"), task("slow")];
    }
    for columns in [80_u16, 100, 120] {
        let said = text(&snapshot, usize::from(columns));
        let fits = |line: &str| line.chars().count() <= usize::from(columns);
        assert!(said.lines().all(fits), "{said}");
        let shown = screen(&snapshot, &View::new(false), columns, 40);
        for said in [said, shown] {
            assert!(said.replace('\u{202f}', " ").contains("WKC 5/7 lost 98 765"), "{said}");
            assert!(said.contains("the_task_of_the_conveyor"), "{said}");
        }
    }
}

#[test]
fn no_size_is_too_small() {
    let mut snapshot = snapshot();
    let view = View::new(true);
    for (width, height) in [(1, 1), (5, 3), (20, 6), (40, 10), (79, 23), (300, 100)] {
        screen(&snapshot, &view, width, height);
    }
    snapshot.partitions.clear();
    assert!(screen(&snapshot, &view, 80, 24).contains("no partitions"));
}

#[test]
fn keys_choose_sort_and_end() {
    let snapshot = snapshot();
    let mut view = View::new(false);
    let names = |view: &View| -> Vec<String> {
        view.sorted(&snapshot).iter().map(|pane| pane.state.name.clone()).collect()
    };
    assert_eq!(press(&mut view, KeyCode::Down, &snapshot), Answer::Redraw);
    assert_eq!(view.chosen.as_deref(), Some("tank"));
    press(&mut view, KeyCode::Down, &snapshot);
    assert_eq!(view.chosen.as_deref(), Some("tank"));
    assert_eq!(names(&view), ["axis", "tank"]);
    press(&mut view, KeyCode::Char('s'), &snapshot);
    assert_eq!((view.sort, names(&view)), (Sort::Worst, vec!["axis".into(), "tank".into()]));
    press(&mut view, KeyCode::Char('s'), &snapshot);
    assert_eq!(view.sort, Sort::Misses);
    assert_eq!(view.place(&view.sorted(&snapshot)), 1, "sorting keeps the choice");
    for (key, shown) in [
        (KeyCode::Left, Shown::Response),
        (KeyCode::Right, Shown::Release),
        (KeyCode::Right, Shown::Execution),
    ] {
        press(&mut view, key, &snapshot);
        assert_eq!(view.shown, shown);
    }
    assert_eq!(press(&mut view, KeyCode::Char('x'), &snapshot), Answer::Nothing);
    assert_eq!(press(&mut view, KeyCode::Char('q'), &snapshot), Answer::End);
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(view.press(interrupt, &snapshot), Answer::End);
}

#[test]
fn bars_stand_on_their_axis() {
    let lines = histogram(&bars(0), 40, 5);
    assert_eq!(lines.len(), 5);
    assert!(lines.iter().all(|line| line.chars().count() <= 40), "{lines:#?}");
    assert!(lines[4].contains(" 2 µs") && lines[4].ends_with("10 µs"), "{lines:#?}");
    let widest = lines[..4].iter().map(|line| line.trim_end().chars().count()).max();
    assert_eq!(widest, Some(40), "they fill the room that they have");
    assert!(lines[0].contains('█'), "the tallest reaches the top: {lines:#?}");
    let single = LogBars { total: 1, counts: vec![1; 192], ..bars(0) };
    assert!(histogram(&single, 10, 3)[0].contains('█'));
    assert_eq!(histogram(&LogBars::default(), 10, 3), ["nothing measured yet"]);
    assert_eq!(histogram(&bars(0), 10, 1), Vec::<String>::new());
}
