//! Every order in which signals can arrive: at each step of the controller, one of those that are
//! left arrives or none does. The code under test is the controller itself; its seams are the
//! steps.
//!
//! A signal handler runs to its end inside of what it interrupts, so that an arrival is a call from
//! the seam. Which way is taken at each seam is a list of choices; the next run changes the last
//! choice that has another way left, until there is none.

use core::cell::{Cell, RefCell};
use std::vec::Vec;

use super::*;

extern "C" fn nothing() {}

/// Three ISRs, in no order of their levels.
const LEVELS: [u8; 3] = [10, 50, 30];
const KERNEL_LEVEL: u8 = 30;

fn isrs(levels: [u8; 3]) -> [Isr; 3] {
    levels.map(|level| Isr { entry: nothing, source: 0, level, category: 2 })
}

/// A way in which interrupts are raised, and what they do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Play {
    /// By a signal; the ISR does nothing.
    Signal,
    /// By a signal; the ISR activates a task, which runs at level zero and preempts.
    Preempting,
    /// By another thread: a bit, and some time later the doorbell.
    Thread,
}

/// A world of one run after the other: what arrives where, and what came of it.
struct World {
    play: Play,
    left: [Cell<u8>; 3],
    /// Arrivals of each source; several before it is taken are one.
    arrived: [Cell<u32>; 3],
    taken: [Cell<u32>; 3],
    /// `true` while the doorbell is under way.
    rung: Cell<bool>,
    /// The levels of the interrupts that are being taken, and whether the program preempted them.
    nested: RefCell<Vec<u8>>,
    deepest: Cell<usize>,
    /// The ways taken at the seams of this run, each with the number of ways.
    choices: RefCell<Vec<(usize, usize)>>,
    at: Cell<usize>,
}

impl Seam for World {
    fn between(&self, controller: &Controller<Self>) {
        let ready: Vec<usize> = (0..3).filter(|source| self.left[*source].get() > 0).collect();
        let way = self.choose(1 + ready.len() + usize::from(self.rung.get()));
        if way == 0 {
            return;
        }
        match ready.get(way - 1) {
            Some(source) => arrive(controller, *source),
            None => answer_doorbell(controller),
        }
    }
}

impl World {
    fn new(play: Play, left: [u8; 3]) -> Self {
        Self {
            play,
            left: left.map(Cell::new),
            arrived: Default::default(),
            taken: Default::default(),
            rung: Cell::new(false),
            nested: RefCell::new(Vec::new()),
            deepest: Cell::new(0),
            choices: RefCell::new(Vec::new()),
            at: Cell::new(0),
        }
    }

    fn choose(&self, ways: usize) -> usize {
        if ways == 1 {
            return 0;
        }
        let at = self.at.replace(self.at.get() + 1);
        let mut choices = self.choices.borrow_mut();
        if at == choices.len() {
            choices.push((0, ways));
        }
        assert_eq!(choices[at].1, ways, "a run repeats exactly");
        choices[at].0
    }

    /// Goes to the next run. `false` where all have been.
    fn next_run(&self, left: [u8; 3]) -> bool {
        self.at.set(0);
        for (cell, left) in self.left.iter().zip(left) {
            cell.set(left);
        }
        for count in self.arrived.iter().chain(&self.taken) {
            count.set(0);
        }
        let mut choices = self.choices.borrow_mut();
        while let Some((way, ways)) = choices.pop() {
            if way + 1 < ways {
                choices.push((way + 1, ways));
                return true;
            }
        }
        false
    }
}

fn arrive(controller: &Controller<World>, source: usize) {
    let world = &controller.seam;
    world.left[source].set(world.left[source].get() - 1);
    let interrupt = Interrupt::Isr(source as u8);
    if !controller.is_pending(interrupt) {
        world.arrived[source].set(world.arrived[source].get() + 1);
    }
    if world.play == Play::Thread {
        let line = controller.line(interrupt).unwrap();
        controller.pending.fetch_or(1 << line, Release);
        world.rung.set(true);
    } else {
        assert!(controller.pend(interrupt));
        take(controller);
    }
}

fn answer_doorbell(controller: &Controller<World>) {
    controller.seam.rung.set(false);
    take(controller);
}

/// Acts as a signal handler does, and takes what follows when the level falls.
fn take(controller: &Controller<World>) {
    let before = controller.level();
    while let Some(taken) = controller.begin() {
        assert_eq!(taken.before, before, "it goes back to the level that it interrupted");
        dispatch(controller, taken.interrupt, before);
        controller.end(taken);
    }
    assert_eq!(controller.level(), before, "the level is back");
}

fn dispatch(controller: &Controller<World>, interrupt: Interrupt, before: u8) {
    let world = &controller.seam;
    let Interrupt::Isr(isr) = interrupt else { panic!("{interrupt:?} was not raised") };
    let source = usize::from(isr);
    let level = isrs(LEVELS)[source].level;
    assert!(level > before, "taken at its level or above");
    assert_eq!(controller.level(), level, "it runs at its level");
    let overtaken = (0..3).find(|other| {
        LEVELS[*other] > level && world.arrived[*other].get() > world.taken[*other].get()
    });
    // What another thread raises is late until its signal comes.
    assert!(world.play == Play::Thread || overtaken.is_none(), "before the more urgent");
    world.taken[source].set(world.taken[source].get() + 1);
    assert!(world.taken[source].get() <= world.arrived[source].get(), "taken twice");
    world.nested.borrow_mut().push(level);
    world.deepest.set(world.deepest.get().max(world.nested.borrow().len()));
    controller.step();
    if world.play == Play::Preempting && before == 0 {
        // Its end dispatches: the task begins at level zero, ends, and the interrupted one goes on.
        set_level(controller, KERNEL_LEVEL);
        set_level(controller, 0);
        set_level(controller, KERNEL_LEVEL);
    }
    world.nested.borrow_mut().pop();
}

fn set_level(controller: &Controller<World>, level: u8) {
    if controller.set_level(level) {
        take(controller);
    }
}

/// A task that calls a service, and another one in which it holds back all interrupts.
fn run(controller: &Controller<World>) {
    set_level(controller, 0);
    set_level(controller, KERNEL_LEVEL);
    set_level(controller, ALL_HELD);
    set_level(controller, KERNEL_LEVEL);
    set_level(controller, 0);
    // A doorbell may take a while; it is not lost.
    while controller.seam.rung.get() {
        answer_doorbell(controller);
    }
}

/// Plays all runs. Returns how many there were, and how deep interrupts nested.
fn explore(play: Play, left: [u8; 3]) -> (u64, usize) {
    let controller = Controller::new(World::new(play, left));
    let mut runs = 0;
    loop {
        controller.connect(&isrs(LEVELS), 0, 0);
        run(&controller);
        let world = &controller.seam;
        for source in 0..3 {
            let (arrived, taken) = (world.arrived[source].get(), world.taken[source].get());
            assert_eq!(arrived, taken, "source {source}: {:?}", world.choices.borrow());
        }
        runs += 1;
        if !world.next_run(left) {
            return (runs, world.deepest.get());
        }
    }
}

/// One arrival of each source. Under Miri, which is a thousand times slower, of one source.
const ONE_EACH: [u8; 3] = if cfg!(miri) { [0, 0, 1] } else { [1, 1, 1] };
/// Fewest runs that there must have been, or the explorer has not explored.
const RUNS_MIN: u64 = if cfg!(miri) { 10 } else { 1000 };

#[test]
fn signals_at_every_step_are_taken_once_each_by_level() {
    let (runs, deepest) = explore(Play::Signal, ONE_EACH);
    assert!(runs > RUNS_MIN, "{runs} runs");
    assert_eq!(deepest, ONE_EACH.iter().map(|left| usize::from(*left)).sum::<usize>());
}

#[test]
fn one_source_that_arrives_again_and_again_is_never_taken_inside_of_itself() {
    let (runs, deepest) = explore(Play::Signal, [0, 0, if cfg!(miri) { 1 } else { 3 }]);
    assert!(runs > RUNS_MIN, "{runs} runs");
    assert_eq!(deepest, 1);
}

#[test]
fn signals_at_every_step_of_a_preemption_are_taken_once_each() {
    let (runs, _) = explore(Play::Preempting, ONE_EACH);
    assert!(runs > RUNS_MIN, "{runs} runs");
}

#[test]
fn what_another_thread_raises_is_taken_though_its_signal_comes_late() {
    // With all three it would be tens of millions of runs.
    let pairs: &[[u8; 3]] =
        if cfg!(miri) { &[ONE_EACH] } else { &[[1, 1, 0], [1, 0, 1], [0, 1, 1]] };
    for left in pairs.iter().copied() {
        let (runs, _) = explore(Play::Thread, left);
        assert!(runs > RUNS_MIN, "{runs} runs");
    }
}

#[test]
fn the_more_urgent_of_two_that_wait_is_taken_first() {
    let controller = Controller::new(Seamless);
    controller.connect(&isrs(LEVELS), 1, 30);
    for interrupt in [0, 1, 2].map(Interrupt::Isr).into_iter().chain([Interrupt::Tick]) {
        assert!(controller.pend(interrupt));
    }
    assert!(controller.pend(Interrupt::Timer));
    assert!(!controller.set_level(50), "nothing is above it");
    assert!(controller.set_level(0));
    let order = core::iter::from_fn(|| {
        let taken = controller.begin()?;
        controller.end(taken);
        Some(taken.interrupt)
    });
    let expected = [
        Interrupt::Isr(1),
        Interrupt::Timer,
        Interrupt::Isr(2),
        Interrupt::Isr(0),
        Interrupt::Tick,
    ];
    assert_eq!(order.collect::<Vec<_>>(), expected);
}

#[test]
fn what_has_no_line_can_not_be_raised() {
    let controller = Controller::new(Seamless);
    controller.connect(&isrs(LEVELS), 1, 0);
    for interrupt in [Interrupt::Isr(3), Interrupt::Isr(62), Interrupt::Isr(255), Interrupt::Timer]
    {
        assert!(!controller.pend(interrupt), "{interrupt:?}");
    }
    assert!(!controller.set_level(0));
}
