//! A tank that a pump fills and an outlet valve empties.
//!
//! ```text
//!            n lag           Q_f lag                    ┌───────┐ 1 m
//! pump ─────────────► pump ──────────► pipe ── Q_in ──► │ h     │
//!                                                       │  A    ├──►◄── Q_out
//!                                                       └───────┘ valve v
//! ```
//!
//! | equation | unit |
//! |---|---|
//! | τ_n dn/dt = n_set − n | 1 |
//! | Q_pump = √((H_0 n² − H_s − h) / c), 0 where the head does not suffice | l/s |
//! | τ_f dQ_in/dt = Q_pump − Q_in | l/s |
//! | Q_out = k v √(2 g h) | l/s |
//! | A dh/dt = Q_in − Q_out, 0 ≤ h ≤ 1 m | m³/s |
//! | τ_h dh_shown/dt = h − h_shown | m |
//!
//! Q_out is Torricelli's law. The pump's line is the usual parabola of head over flow, scaled by
//! the affinity laws; a non-return valve keeps water from running back. The sizes are those of a
//! process vessel of 300 mm diameter with a pump of some 4 l/s; drive and pipe lag by 0.5 s and 0.3
//! s and the level sensor is damped by 0.2 s, as frequency converters and transmitters are set in
//! such plants. What comes over the edge is lost and counted by nobody.
//!
//! The own step is 10 ms by Euler's rule.

use quietcore_units::Nanos;

use super::step_clock::StepClock;
use super::{Connections, Plant, PlantSignal, Schedule, ScheduleStep, hold, show};

const STEP: Nanos = Nanos::from_millis(10);
const STEP_S: f64 = 0.01;

/// A, in m²: 300 mm diameter.
const AREA: f64 = 0.0707;
/// Height of the edge, in m.
const HEIGHT: f64 = 1.0;
/// Time constant τ_n of the drive, in s.
const DRIVE_LAG_S: f64 = 0.5;
/// Time constant τ_f of the pipe, in s.
const PIPE_LAG_S: f64 = 0.3;
/// Time constant τ_h of the level sensor, in s.
const SENSOR_LAG_S: f64 = 0.2;
/// H_0, in m.
const SHUT_OFF_HEAD: f64 = 12.0;
/// H_s, in m: the bottom of the tank above the sump.
const STATIC_HEAD: f64 = 2.0;
/// Resistance c of the pipe, in m/(l/s)².
const PIPE_RESISTANCE: f64 = 0.6;
/// k, in l/s for an open valve and 1 m/s: an opening of 10 cm² with a contraction of 0.6.
const VALVE_FLOW: f64 = 0.6;
/// 2 g, in m/s².
const TWICE_GRAVITY: f64 = 2.0 * 9.81;

/// The consumers of the tank that a site file names: the outlet opens from 0.8 to 1 for half a
/// minute, once a minute.
pub(super) const DEMONSTRATION: Schedule = Schedule {
    start: 0.8,
    steps: &[ScheduleStep { from: Nanos::from_secs(30), value: 1.0 }],
    round: Nanos::from_secs(60),
};

const fn signal(
    name: &'static str,
    unit: &'static str,
    maximum: f64,
    per_count: f64,
    meaning: &'static str,
) -> PlantSignal {
    PlantSignal { name, unit, minimum: 0.0, maximum, rest: 0.0, per_count, meaning }
}

const FRACTION_PER_COUNT: f64 = 1.0 / 30_000.0;

const ACTUATORS: [PlantSignal; 2] = [
    signal("pump", "1", 1.0, FRACTION_PER_COUNT, "speed setpoint of the pump, 1 is full speed"),
    signal("outlet", "1", 1.0, FRACTION_PER_COUNT, "opening of the outlet valve, 1 is open"),
];

const SENSORS: [PlantSignal; 4] = [
    signal("level", "m", HEIGHT, FRACTION_PER_COUNT, "level above the bottom"),
    signal("outflow", "l/s", 6.0, 6.0 / 30_000.0, "flow through the outlet valve"),
    signal("pump_speed", "1", 1.0, FRACTION_PER_COUNT, "speed of the pump"),
    signal("full", "", 1.0, 1.0, "on while the level is above 0.95 m"),
];

const PUMP: usize = 0;
const OUTLET: usize = 1;
const FULL_LEVEL: f64 = 0.95;

/// A tank, empty at first.
#[derive(Clone, Debug)]
pub struct Tank {
    clock: StepClock,
    held: [f64; ACTUATORS.len()],
    consumers: Schedule,
    steps_made: u64,
    /// `true` if the actuator `outlet` decides; `false` if the schedule does.
    is_outlet_connected: bool,
    pump_speed: f64,
    inflow: f64,
    level: f64,
    shown_level: f64,
}

impl Tank {
    /// An empty tank with the pump at rest.
    ///
    /// `consumers` (openings of the outlet valve, 0 to 1) hold while nothing is connected to the
    /// actuator `outlet`.
    #[must_use]
    pub fn new(consumers: Schedule) -> Self {
        Self {
            clock: StepClock::new(STEP),
            held: ACTUATORS.map(|signal| signal.rest),
            consumers,
            steps_made: 0,
            is_outlet_connected: false,
            pump_speed: 0.0,
            inflow: 0.0,
            level: 0.0,
            shown_level: 0.0,
        }
    }

    fn outlet(&self) -> f64 {
        if self.is_outlet_connected {
            self.held[OUTLET]
        } else {
            self.consumers.value_at(Nanos::from_millis(10 * self.steps_made))
        }
    }

    /// Returns the outflow Q_out, in l/s.
    fn outflow(&self) -> f64 {
        VALVE_FLOW * self.outlet() * (TWICE_GRAVITY * self.level).sqrt()
    }

    fn step(&mut self) {
        self.steps_made += 1;
        self.pump_speed += (self.held[PUMP] - self.pump_speed) * (STEP_S / DRIVE_LAG_S);
        let head = SHUT_OFF_HEAD * self.pump_speed * self.pump_speed - STATIC_HEAD - self.level;
        let pump_flow = (head.max(0.0) / PIPE_RESISTANCE).sqrt();
        self.inflow += (pump_flow - self.inflow) * (STEP_S / PIPE_LAG_S);
        let change = (self.inflow - self.outflow()) * 1e-3 * (STEP_S / AREA);
        self.level = (self.level + change).clamp(0.0, HEIGHT);
        self.shown_level += (self.level - self.shown_level) * (STEP_S / SENSOR_LAG_S);
    }
}

impl Plant for Tank {
    fn connections(&self) -> Connections {
        Connections { actuators: &ACTUATORS, sensors: &SENSORS }
    }

    fn advance(&mut self, now: Nanos, actuators: &[f64], sensors: &mut [f64]) {
        for _ in 0..self.clock.steps_until(now) {
            self.step();
        }
        hold(&mut self.held, &ACTUATORS, actuators);
        self.is_outlet_connected = actuators.get(OUTLET).is_some_and(|value| value.is_finite());
        let is_full = if self.shown_level > FULL_LEVEL { 1.0 } else { 0.0 };
        let values = [self.shown_level, self.outflow(), self.pump_speed, is_full];
        show(values, &SENSORS, sensors);
    }

    fn left_out(&self) -> Nanos {
        self.clock.left_out()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the tank with constant actuators for some seconds and returns the sensors.
    fn run(tank: &mut Tank, from_s: u64, to_s: u64, actuators: &[f64]) -> [f64; 4] {
        let mut sensors = [0.0; 4];
        for at in from_s * 10..=to_s * 10 {
            tank.advance(Nanos::from_millis(100 * at), actuators, &mut sensors);
        }
        sensors
    }

    #[test]
    fn water_is_neither_made_nor_lost() {
        let mut tank = Tank::new(Schedule::constant(0.0));
        run(&mut tank, 0, 8, &[0.8]);
        let (mut flown_in, mut level) = (0.0, tank.level);
        for _ in 0..500 {
            tank.step();
            flown_in += tank.inflow * STEP_S;
        }
        level = tank.level - level;
        assert!((level * AREA * 1_000.0 - flown_in).abs() < 1e-9);
        assert!(level > 0.1);
    }

    #[test]
    fn it_empties_as_torricelli_says() {
        let mut tank = Tank::new(Schedule::constant(1.0));
        tank.level = 0.64;
        run(&mut tank, 0, 20, &[0.0]);
        // √h falls linearly: k √(2 g) t / (2 A).
        let root = 0.8 - VALVE_FLOW * 1e-3 * TWICE_GRAVITY.sqrt() * 20.0 / (2.0 * AREA);
        assert!((tank.level - root * root).abs() < 2e-3, "{} m", tank.level);
    }

    #[test]
    fn a_slow_pump_lifts_nothing_and_nothing_runs_back() {
        let mut tank = Tank::new(Schedule::constant(0.0));
        tank.level = 0.5;
        let sensors = run(&mut tank, 0, 100, &[0.4]);
        assert_eq!(tank.level, 0.5);
        assert!((sensors[2] - 0.4).abs() < 1e-6);
    }

    #[test]
    fn it_flows_over_and_says_so() {
        let mut tank = Tank::new(Schedule::constant(0.0));
        let sensors = run(&mut tank, 0, 100, &[1.0]);
        assert_eq!(tank.level, HEIGHT);
        assert_eq!(sensors[3], 1.0);
    }
}
