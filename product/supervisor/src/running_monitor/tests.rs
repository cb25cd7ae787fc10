//! The monitor with exchanges that a test writes, a clock that it sets, and means that it counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use quietcore_backend::process::hold::{Holder, Means};
use quietcore_clock::FakeClock;
use quietcore_exchange::{EventWriter, Happening, Recorder, Release, Shape, TaskState};
use quietcore_process::exchange::Exchange;
use quietcore_record::class::catalogue;

use super::post::MonitorNotice;
use super::*;

const PERIOD: Nanos = Nanos::from_millis(1);

/// Counts the stops minus the continuations of one partition.
#[derive(Debug)]
struct Counted(Arc<AtomicI32>);

impl Means for Counted {
    fn stop(&mut self) -> io::Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn go_on(&mut self) -> io::Result<()> {
        self.0.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
}

struct Plant {
    exchange: Arc<Exchange>,
    post: Arc<Post>,
    stops: Arc<AtomicI32>,
}

impl Plant {
    fn new(post: &Arc<Post>) -> Self {
        let shape = Shape { event_slots: 64, ..Shape::of_tasks(1) };
        let exchange = Arc::new(Exchange::create(&shape).unwrap());
        let plant = Self { exchange, post: Arc::clone(post), stops: Arc::default() };
        plant.recorder().set_state(TaskState::Running);
        plant.put();
        plant
    }

    fn put(&self) {
        let means = Box::new(Counted(Arc::clone(&self.stops)));
        self.post.put(Holder::new(Arc::clone(&self.exchange), Some(means)));
    }

    fn recorder(&self) -> Recorder<'_> {
        Recorder::new(self.exchange.region().task(0).unwrap(), PERIOD, 1)
    }

    fn is_held(&self) -> (bool, bool) {
        let stopped = self.stops.load(Ordering::Relaxed);
        assert!((0..=1).contains(&stopped), "stopped once at most: {stopped}");
        (self.exchange.region().pause_requested(), stopped == 1)
    }

    fn told(&self) -> Vec<MonitorNotice> {
        std::iter::from_fn(|| self.post.hear()).collect()
    }
}

/// Returns the site file's text for a partition.
fn partition(name: &str, criticality: &str, monitor: &str) -> String {
    format!(
        "[[partition]]\nname = \"{name}\"\nclass = \"motion-control\"\ncriticality = \
         \"{criticality}\"\n[partition.vcr]\ncpus = [1]\nbudget = 10\n[partition.program]\nmodel = \
         \"m\"\nperiod = \"1 ms\"\n[partition.monitor]\n{monitor}\n"
    )
}

struct Site {
    rounds: Rounds,
    clock: FakeClock,
    plants: Vec<Plant>,
}

impl Site {
    fn new(partitions: &[String]) -> Self {
        let text = format!("[site]\nname = \"s\"\n{}", partitions.concat());
        let site = quietcore_site::read("s", text.as_bytes(), &catalogue());
        let site = site.unwrap_or_else(|problems| panic!("{problems}"));
        let posts = post::all(site.partitions());
        let plants = posts.iter().map(Plant::new).collect();
        let clock = FakeClock::new(Nanos::from_secs(1), Nanos::new(50), []);
        let mut site = Self { rounds: Rounds::new(site.partitions(), posts), clock, plants };
        site.look();
        site
    }

    fn look(&mut self) {
        self.rounds.look(&self.clock);
    }

    fn wait(&self, time: Nanos) {
        self.clock.sleep_until(self.clock.now() + time);
    }

    /// Records a job of a partition that is done just now, beyond its deadline.
    fn overrun(&mut self, recorder: &mut Recorder<'_>, plant: usize) {
        let now = self.clock.now();
        let cycle = Release {
            due: now,
            started: now,
            wakeup_latency: Nanos::ZERO,
            margin: Nanos::ZERO,
            spin: Nanos::ZERO,
            cpu: 0,
        };
        recorder.record_scan(&cycle, PERIOD, PERIOD, true);
        let what = Happening::Overrun { response_ns: 1_000_001, in_a_row: 1 };
        let mut events: EventWriter<'_> =
            self.plants[plant].exchange.region().event_writer(0).unwrap();
        events.tell(1, now, 0, what);
    }
}

/// Returns a recorder of the cycles of a running task.
fn running(exchange: &Exchange) -> Recorder<'_> {
    let mut recorder = Recorder::new(exchange.region().task(0).unwrap(), PERIOD, 1);
    recorder.set_state(TaskState::Running);
    recorder
}

fn exchange_of(site: &Site, plant: usize) -> Arc<Exchange> {
    Arc::clone(&site.plants[plant].exchange)
}

const SHEDS: &str = "on_overrun = \"shed\"\ncalm = \"10 ms\"";

#[test]
fn the_less_critical_stand_at_the_first_look_and_are_given_back_after_calm() {
    let mut site = Site::new(&[
        partition("axis", "high", SHEDS),
        partition("twin", "high", ""),
        partition("recipe", "medium", ""),
        partition("vision", "low", ""),
        partition("log", "low", "when_shed = \"never\""),
    ]);
    let exchange = exchange_of(&site, 0);
    let mut recorder = running(&exchange);
    site.look();
    site.overrun(&mut recorder, 0);
    site.wait(Nanos::from_micros(300));
    site.look();
    let held: Vec<_> = site.plants.iter().map(Plant::is_held).collect();
    let (free, stopped) = ((false, false), (true, true));
    assert_eq!(held, [free, free, stopped, stopped, free]);
    assert_eq!(site.plants[3].post.shed_by(), Some("axis"));
    let told = site.plants[0].told();
    let [MonitorNotice::Sheds { victims: 2, reaction, .. }] = told[..] else { panic!("{told:?}") };
    let micros = Nanos::from_micros;
    assert!((micros(300)..micros(302)).contains(&reaction), "from the end of the job: {reaction}");
    // It is late again, so that the calm begins anew.
    site.wait(Nanos::from_millis(9));
    site.overrun(&mut recorder, 0);
    site.look();
    site.wait(Nanos::from_millis(9));
    site.look();
    assert_eq!(site.plants[2].is_held(), stopped);
    site.wait(Nanos::from_millis(1));
    site.look();
    assert_eq!(site.plants[2].is_held(), (true, false), "it goes on to where it pauses");
    site.look();
    assert_eq!(site.plants[2].is_held(), (true, false));
    for plant in &site.plants {
        plant.exchange.region().set_paused(true);
    }
    site.look();
    assert!(site.plants.iter().all(|plant| plant.is_held() == free));
    assert_eq!(site.plants[3].post.shed_by(), None);
    let told = site.plants[3].told();
    assert!(
        matches!(told[..], [MonitorNotice::Shed { by: 0, .. }, MonitorNotice::Back { .. }]),
        "{told:?}"
    );
    assert!(site.plants[1].told().is_empty() && site.plants[4].told().is_empty());
}

#[test]
fn what_is_throttled_runs_its_share_and_is_never_stopped_within_a_step() {
    let vision = partition("vision", "low", "when_shed = \"throttle\"\nshare = 30");
    let axis = partition("axis", "high", "on_overrun = \"shed\"\ncalm = \"1 s\"");
    let mut site = Site::new(&[axis, vision]);
    let exchange = exchange_of(&site, 0);
    let mut recorder = running(&exchange);
    site.look();
    site.overrun(&mut recorder, 0);
    let mut runs = 0;
    for _ in 0..1000 {
        site.look();
        let (held, stopped) = site.plants[1].is_held();
        assert!(!stopped);
        runs += u32::from(!held);
        site.wait(Nanos::from_micros(999));
    }
    assert!((270..=320).contains(&runs), "{runs} of 1000");
    for _ in 0..3000 {
        site.look();
        site.wait(Nanos::from_micros(999));
    }
    assert_eq!(site.plants[1].is_held(), (false, false));
}

#[test]
fn who_starts_anew_while_shed_stands_from_its_first_release() {
    let mut site = Site::new(&[partition("axis", "high", SHEDS), partition("vision", "low", "")]);
    let exchange = exchange_of(&site, 0);
    let mut recorder = running(&exchange);
    site.look();
    site.overrun(&mut recorder, 0);
    site.look();
    assert_eq!(site.plants[1].is_held(), (true, true));
    site.plants[1].post.take();
    assert_eq!(site.plants[1].is_held(), (false, false), "it can be told to end");
    site.plants[1].recorder().set_state(TaskState::Starting);
    site.plants[1].put();
    site.look();
    assert_eq!(site.plants[1].is_held(), (true, false), "it comes up undisturbed");
}

#[test]
fn nothing_stays_held_when_the_monitor_ends() {
    let mut site = Site::new(&[partition("axis", "high", SHEDS), partition("vision", "low", "")]);
    let exchange = exchange_of(&site, 0);
    let mut recorder = running(&exchange);
    site.look();
    site.overrun(&mut recorder, 0);
    site.look();
    assert_eq!(site.plants[1].is_held(), (true, true));
    let Site { rounds, plants, .. } = site;
    drop(rounds);
    assert_eq!(plants[1].is_held(), (false, false));
    assert_eq!(plants[1].post.shed_by(), None);
}

#[test]
fn a_post_that_its_keeper_is_at_is_looked_at_the_next_time() {
    let mut site = Site::new(&[partition("axis", "high", SHEDS), partition("vision", "low", "")]);
    let exchange = exchange_of(&site, 0);
    let mut recorder = running(&exchange);
    site.look();
    let post = Arc::clone(&site.plants[1].post);
    let keeper = post.try_look().unwrap();
    site.overrun(&mut recorder, 0);
    site.look();
    assert_eq!(site.plants[1].is_held(), (false, false));
    drop(keeper);
    site.look();
    assert_eq!(site.plants[1].is_held(), (true, true));
}

#[test]
fn restart_and_report_are_the_keepers_matter() {
    let axis = partition("axis", "high", "on_overrun = \"restart\"");
    let mut site = Site::new(&[axis, partition("vision", "low", "")]);
    let recorders: Vec<_> = (0..2).map(|plant| exchange_of(&site, plant)).collect();
    for (plant, exchange) in recorders.iter().enumerate() {
        let mut recorder = running(exchange);
        site.look();
        site.overrun(&mut recorder, plant);
    }
    site.look();
    assert!(matches!(site.plants[0].told()[..], [MonitorNotice::Restart(_)]));
    assert!(matches!(site.plants[1].told()[..], [MonitorNotice::Late(_)]));
    assert!(site.plants.iter().all(|plant| plant.is_held() == (false, false)));
}
