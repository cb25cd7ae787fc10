//! Controller and plant together, cycle by cycle.
//!
//! A frame goes out at each release: it brings the outputs of the cycle before to the actuators and
//! takes the sensors back, then the controller computes. That is the order of the partition's scan
//! cycle, so the dead time of a punctual loop is exactly one period.

use std::collections::VecDeque;

use quietcore_segment::plant::{PLANT_SIGNALS_MAX, Plant};
use quietcore_units::Nanos;

use crate::controller::{Controller, VALUES};
use crate::timing::{Releases, Timing};

/// Values of all actuators or sensors of a plant.
pub type Signals = [f64; PLANT_SIGNALS_MAX];

/// The wiring between a controller and its plant.
pub trait Wiring {
    /// The controller's inputs from the plant's sensors.
    fn inputs(&mut self, now: Nanos, sensors: &Signals) -> [f64; VALUES];

    /// The plant's actuators from the controller's outputs. Those that stay `NaN` are not
    /// connected.
    fn actuators(&mut self, outputs: &[f64; VALUES], actuators: &mut Signals);

    /// Disturbs the plant as its surroundings do; by default not at all.
    fn disturb(&self, now: Nanos, actuators: &mut Signals) {
        let _ = (now, actuators);
    }
}

/// The view of a loop in one cycle.
#[derive(Clone, Copy, Debug)]
pub struct Sight {
    /// Instant of the release.
    pub now: Nanos,
    /// The plant's sensors at this instant.
    pub sensors: Signals,
    /// Values that the controller computed from them.
    pub outputs: [f64; VALUES],
}

/// One controller in one plant.
pub struct ClosedLoop<W> {
    controller: Controller,
    plant: Box<dyn Plant>,
    wiring: W,
    period: Nanos,
}

impl<W: Wiring> ClosedLoop<W> {
    /// A loop whose controller is due each `period`.
    pub fn new(controller: Controller, plant: Box<dyn Plant>, wiring: W, period: Nanos) -> Self {
        Self { controller, plant, wiring, period }
    }

    /// The controller, to tune it.
    pub fn controller_mut(&mut self) -> &mut Controller {
        &mut self.controller
    }

    /// Runs the loop from its start for `duration` and shows each cycle to `watch`.
    ///
    /// # Errors
    ///
    /// The controller's complaint, in its words, which ends the run.
    pub fn run(
        &mut self,
        timing: Timing,
        duration: Nanos,
        mut watch: impl FnMut(&Sight),
    ) -> Result<(), String> {
        let mut sensors = [0.0; PLANT_SIGNALS_MAX];
        let mut acting = [f64::NAN; PLANT_SIGNALS_MAX];
        // What is on its way to the actuators, the oldest first.
        let mut travelling: VecDeque<(Nanos, Signals)> = VecDeque::new();
        let mut computed: Option<[f64; VALUES]> = None;
        for now in Releases::new(self.period, timing).take_while(|now| *now <= duration) {
            if let Some(outputs) = computed {
                let mut actuators = [f64::NAN; PLANT_SIGNALS_MAX];
                self.wiring.actuators(&outputs, &mut actuators);
                travelling.push_back((later(now, timing.dead_time), actuators));
            }
            while let Some(&(arrival, actuators)) = travelling.front()
                && arrival <= now
            {
                travelling.pop_front();
                acting = actuators;
                self.advance(arrival, acting, &mut sensors);
            }
            self.advance(now, acting, &mut sensors);
            let inputs = self.wiring.inputs(now, &sensors);
            let outputs = self.controller.cycle(&inputs)?;
            computed = Some(outputs);
            watch(&Sight { now, sensors, outputs });
        }
        Ok(())
    }

    fn advance(&mut self, now: Nanos, mut actuators: Signals, sensors: &mut Signals) {
        self.wiring.disturb(now, &mut actuators);
        self.plant.advance(now, &actuators, sensors);
    }
}

fn later(now: Nanos, delay: Nanos) -> Nanos {
    now.checked_add(delay).expect("a run ends within centuries")
}

/// One figure of a loop beside its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name of the figure.
    pub name: &'static str,
    /// Unit of the figure, such as `mrad`.
    pub unit: &'static str,
    /// The value that was seen; infinite if it never came to an end.
    pub value: f64,
    /// The specification: at most this.
    pub limit: f64,
}

/// The result of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The figures of the specification.
    pub figures: Vec<Figure>,
    /// `true` if the loop had calmed down at the end.
    pub is_stable: bool,
}

impl Outcome {
    /// Returns `true` if every figure is within its limit.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.is_stable && self.figures.iter().all(|figure| figure.value <= figure.limit)
    }

    /// The loop did not even run: the controller gave up.
    #[must_use]
    pub fn gave_up() -> Self {
        Self { figures: Vec::new(), is_stable: false }
    }
}

/// Smallest and largest value over a stretch of time.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The smallest value; infinite before the first one.
    pub least: f64,
    /// The largest value; minus infinite before the first one.
    pub most: f64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { least: f64::INFINITY, most: f64::NEG_INFINITY }
    }
}

impl Extent {
    /// Takes a value in.
    pub fn add(&mut self, value: f64) {
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// Largest less smallest value; infinite where there was none, so that silence is no calm.
    #[must_use]
    pub fn width(&self) -> f64 {
        if self.least > self.most { f64::INFINITY } else { self.most - self.least }
    }
}
