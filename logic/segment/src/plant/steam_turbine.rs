//! A steam turbine of 10 MW with its governor valve, and the consumers on its generator.
//!
//! ```text
//! boiler ─p─► stop valve ─► governor valve ─► steam chest ─► turbine ─► rotor ─► consumers
//!                 s           x, with servo        m                      ω     P_e
//! ```
//!
//! In shares of the rated values, with ω = 1 at 3000 1/min and P = 1 at 10 MW:
//!
//! | equation | |
//! |---|---|
//! | dx/dt = (x_set − x)/τ_v, between −1/t_close and +1/t_open | valve servo |
//! | ds/dt = +1/t_reset, or −1/t_trip after a trip | stop valve |
//! | f(x) = x (1.6 − 0.6 x) | flow through the valve |
//! | τ_p dp/dt = 1 − 0.05 (m − 0.6) − p | pressure before the valve |
//! | τ_m dm/dt = p s f(x) − m | steam chest |
//! | T_m = m (2 − ω) | torque; power m ω (2 − ω) is greatest at ω = 1 |
//! | T_loss = 0.005 sign ω + 0.015 ω | bearings and ventilation |
//! | P_e = L (1 + 1.5 (ω − 1)) + g K (ω − 1) | consumers, and the grid that g connects |
//! | T_a dω/dt = T_m − T_loss − P_e/ω | rotor |
//!
//! The structure is that of the reports of the IEEE on models of steam turbines and their governors
//! (1973, 1991): lag and rate limit of the valve, lag of the steam chest; there is no reheater, as
//! in an industrial set. The time constants lie inside the ranges given there: τ_v 0.1 s, τ_m 0.2
//! s, T_a 8 s; closing in 0.3 s and tripping in 0.15 s are what the valves of such sets reach. The
//! grid is a large one: K = 200, so that the rated power moves its frequency by 0.5 %.
//!
//! The breaker closes when the speed has first reached 98 % and opens below 90 %. The own step is 1
//! ms by Euler's rule; the fastest part, the speed pick-up, has 10 ms.

use quietcore_units::Nanos;

use super::step_clock::StepClock;
use super::{Connections, Plant, PlantSignal, Schedule, ScheduleStep, hold, show, smooth_sign};

const STEP: Nanos = Nanos::from_millis(1);
const STEP_S: f64 = 1e-3;

/// ω = 1, in 1/min.
const RATED_SPEED: f64 = 3_000.0;
/// P = 1, in MW.
const RATED_POWER: f64 = 10.0;
/// p = 1, in bar.
const RATED_PRESSURE: f64 = 64.0;
/// Time constant τ_v of the valve, in s.
const VALVE_LAG_S: f64 = 0.1;
/// Time t_open in which the valve opens, in s.
const OPENING_S: f64 = 1.5;
/// Time t_close in which the valve closes, in s.
const CLOSING_S: f64 = 0.3;
/// Time t_trip in which the trip valve closes, in s.
const TRIP_S: f64 = 0.15;
/// Time t_reset in which the trip valve opens, in s.
const RESET_S: f64 = 2.0;
/// Time constant τ_p of the pressure, in s.
const PRESSURE_LAG_S: f64 = 20.0;
/// Time constant τ_m of the steam chest, in s.
const CHEST_LAG_S: f64 = 0.2;
/// T_a, in s: from standstill to rated speed with rated torque.
const ACCELERATION_S: f64 = 8.0;
/// Time constant of the speed pick-up, in s.
const PICK_UP_S: f64 = 0.01;
/// Share of its power by which a load changes for each share of speed.
const LOAD_SELF_REGULATION: f64 = 1.5;
/// Stiffness K of the grid, without a unit.
const GRID_STIFFNESS: f64 = 200.0;
/// Speed at which the breaker closes.
const BREAKER_CLOSES: f64 = 0.98;
/// Speed below which the breaker opens.
const BREAKER_OPENS: f64 = 0.9;
/// Width of the friction's sign, as a share of the rated speed.
const SIGN_WIDTH: f64 = 1e-3;

/// The consumers of the turbine that a site file names: between 5 and 8 MW, in rounds of 80 s.
pub(super) const DEMONSTRATION: Schedule = Schedule {
    start: 5.0,
    steps: &[
        ScheduleStep { from: Nanos::from_secs(40), value: 8.0 },
        ScheduleStep { from: Nanos::from_secs(60), value: 6.5 },
    ],
    round: Nanos::from_secs(80),
};

const fn signal(
    name: &'static str,
    unit: &'static str,
    range: (f64, f64),
    per_count: f64,
    meaning: &'static str,
) -> PlantSignal {
    let (minimum, maximum) = range;
    PlantSignal { name, unit, minimum, maximum, rest: 0.0, per_count, meaning }
}

const SWITCH: (f64, f64) = (0.0, 1.0);
const FRACTION: (f64, f64) = (0.0, 1.0);
const FRACTION_PER_COUNT: f64 = 1.0 / 30_000.0;
const POWER_PER_COUNT: f64 = RATED_POWER / 15_000.0;

const ACTUATORS: [PlantSignal; 4] = [
    signal("valve", "1", FRACTION, FRACTION_PER_COUNT, "opening of the governor valve, 1 is open"),
    signal("trip", "", SWITCH, 1.0, "closes the stop valve"),
    signal("load", "MW", (0.0, 12.0), POWER_PER_COUNT, "power of the consumers at rated speed"),
    signal("grid", "", SWITCH, 1.0, "connects the consumers to the grid"),
];

const SENSORS: [PlantSignal; 5] = [
    signal("speed", "1/min", (-1.0, 4_200.0), 0.2, "speed of the rotor"),
    signal(
        "power",
        "MW",
        (-20.0, 20.0),
        POWER_PER_COUNT,
        "electrical power, negative from the grid",
    ),
    signal("valve_position", "1", FRACTION, FRACTION_PER_COUNT, "opening of the governor valve"),
    signal("pressure", "bar", (0.0, 80.0), 0.0025, "live steam before the valves"),
    signal("breaker", "", SWITCH, 1.0, "the generator's breaker is closed"),
];

const VALVE: usize = 0;
const TRIP: usize = 1;
const LOAD: usize = 2;
const GRID: usize = 3;

/// A steam turbine with its generator at a grid.
#[derive(Clone, Debug)]
pub struct SteamTurbine {
    clock: StepClock,
    held: [f64; ACTUATORS.len()],
    consumers: Schedule,
    steps_made: u64,
    /// `true` if the actuator `load` decides; `false` if the schedule does.
    is_load_connected: bool,
    valve: f64,
    stop_valve: f64,
    pressure: f64,
    steam: f64,
    speed: f64,
    shown_speed: f64,
    electrical_power: f64,
    is_breaker_closed: bool,
}

impl SteamTurbine {
    /// A turbine at standstill, with closed valves and full pressure.
    ///
    /// `consumers` (in MW at rated speed) hold while nothing is connected to the actuator `load`.
    #[must_use]
    pub fn new(consumers: Schedule) -> Self {
        Self {
            clock: StepClock::new(STEP),
            held: ACTUATORS.map(|signal| signal.rest),
            consumers,
            steps_made: 0,
            is_load_connected: false,
            valve: 0.0,
            stop_valve: 1.0,
            pressure: 1.03,
            steam: 0.0,
            speed: 0.0,
            shown_speed: 0.0,
            electrical_power: 0.0,
            is_breaker_closed: false,
        }
    }

    fn load(&self) -> f64 {
        let load = if self.is_load_connected {
            self.held[LOAD]
        } else {
            self.consumers.value_at(Nanos::from_millis(self.steps_made))
        };
        load / RATED_POWER
    }

    fn step(&mut self) {
        self.steps_made += 1;
        self.step_valves();
        let flow = self.pressure * self.stop_valve * self.valve * (1.6 - 0.6 * self.valve);
        self.steam += (flow - self.steam) * (STEP_S / CHEST_LAG_S);
        let pressure = 1.0 - 0.05 * (self.steam - 0.6);
        self.pressure += (pressure - self.pressure) * (STEP_S / PRESSURE_LAG_S);
        self.step_rotor();
    }

    fn step_valves(&mut self) {
        let wanted = (self.held[VALVE] - self.valve) / VALVE_LAG_S;
        let rate = wanted.clamp(-1.0 / CLOSING_S, 1.0 / OPENING_S);
        self.valve = (self.valve + rate * STEP_S).clamp(0.0, 1.0);
        let stop_rate = if self.held[TRIP] < 0.5 { 1.0 / RESET_S } else { -1.0 / TRIP_S };
        self.stop_valve = (self.stop_valve + stop_rate * STEP_S).clamp(0.0, 1.0);
    }

    fn step_rotor(&mut self) {
        if self.speed >= BREAKER_CLOSES {
            self.is_breaker_closed = true;
        } else if self.speed < BREAKER_OPENS {
            self.is_breaker_closed = false;
        }
        let excess = self.speed - 1.0;
        self.electrical_power = if self.is_breaker_closed {
            let grid = if self.held[GRID] < 0.5 { 0.0 } else { GRID_STIFFNESS * excess };
            self.load() * (1.0 + LOAD_SELF_REGULATION * excess) + grid
        } else {
            0.0
        };
        let driving = self.steam * (2.0 - self.speed);
        let loss = 0.005 * smooth_sign(self.speed, SIGN_WIDTH) + 0.015 * self.speed;
        // The breaker is closed above `BREAKER_OPENS` only, so this divides by nothing near zero.
        let braking = if self.is_breaker_closed { self.electrical_power / self.speed } else { 0.0 };
        self.speed += (driving - loss - braking) * (STEP_S / ACCELERATION_S);
        self.shown_speed += (self.speed - self.shown_speed) * (STEP_S / PICK_UP_S);
    }
}

impl Plant for SteamTurbine {
    fn connections(&self) -> Connections {
        Connections { actuators: &ACTUATORS, sensors: &SENSORS }
    }

    fn advance(&mut self, now: Nanos, actuators: &[f64], sensors: &mut [f64]) {
        for _ in 0..self.clock.steps_until(now) {
            self.step();
        }
        hold(&mut self.held, &ACTUATORS, actuators);
        self.is_load_connected = actuators.get(LOAD).is_some_and(|value| value.is_finite());
        let values = [
            self.shown_speed * RATED_SPEED,
            self.electrical_power * RATED_POWER,
            self.valve,
            self.pressure * RATED_PRESSURE,
            if self.is_breaker_closed { 1.0 } else { 0.0 },
        ];
        show(values, &SENSORS, sensors);
    }

    fn left_out(&self) -> Nanos {
        self.clock.left_out()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the turbine with constant actuators for some seconds and returns the sensors.
    fn run(turbine: &mut SteamTurbine, from_s: u64, to_s: u64, actuators: &[f64]) -> [f64; 5] {
        let mut sensors = [0.0; 5];
        for at in from_s * 100..=to_s * 100 {
            turbine.advance(Nanos::from_millis(10 * at), actuators, &mut sensors);
        }
        sensors
    }

    #[test]
    fn it_stands_still_without_steam() {
        let mut turbine = SteamTurbine::new(Schedule::constant(0.0));
        let sensors = run(&mut turbine, 0, 10, &[0.0]);
        assert_eq!(sensors[0], 0.0);
        assert_eq!(sensors[4], 0.0);
    }

    #[test]
    fn steam_and_load_balance_on_the_grid() {
        let mut turbine = SteamTurbine::new(Schedule::constant(0.0));
        run(&mut turbine, 0, 60, &[0.1, 0.0, 0.0, 1.0]);
        let sensors = run(&mut turbine, 61, 160, &[0.5, 0.0, 0.0, 1.0]);
        // Flow 0.65 × pressure, less 2 % of losses; the grid holds the speed.
        let steam = 0.65 * sensors[3] / RATED_PRESSURE;
        assert!((sensors[1] - RATED_POWER * (steam - 0.02)).abs() < 0.02, "{} MW", sensors[1]);
        assert!((sensors[0] / RATED_SPEED - 1.0).abs() < 0.03, "{} 1/min", sensors[0]);
        assert_eq!(sensors[4], 1.0);
    }

    #[test]
    fn a_trip_stops_the_steam_at_once() {
        let mut turbine = SteamTurbine::new(Schedule::constant(5.0));
        run(&mut turbine, 0, 60, &[0.1, 0.0, 0.0, 1.0]);
        let before = run(&mut turbine, 61, 100, &[0.6, 0.0, 0.0, 1.0]);
        let after = run(&mut turbine, 101, 103, &[0.6, 1.0, 0.0, 1.0]);
        assert!(before[1] > 6.0, "{} MW", before[1]);
        assert!(after[1] < 0.0, "{} MW", after[1]);
    }

    #[test]
    fn lost_consumers_let_the_rotor_accelerate_as_its_inertia_says() {
        let mut turbine = SteamTurbine::new(Schedule::constant(0.0));
        turbine.speed = 1.0;
        turbine.shown_speed = 1.0;
        turbine.valve = 1.0;
        turbine.steam = 1.0;
        turbine.pressure = 1.0;
        let sensors = run(&mut turbine, 0, 1, &[1.0]);
        // Full torque for 1 s on an acceleration time of 8 s, falling by 1 share a share of speed.
        let rise = sensors[0] / RATED_SPEED - 1.0;
        assert!((0.105..0.123).contains(&rise), "{rise}");
    }

    #[test]
    fn consumers_follow_their_schedule_unless_something_is_connected() {
        let mut turbine = SteamTurbine::new(DEMONSTRATION);
        turbine.speed = 1.0;
        run(&mut turbine, 0, 41, &[0.7, 0.0, f64::NAN, 1.0]);
        assert_eq!(turbine.load(), 0.8);
        run(&mut turbine, 42, 42, &[0.7, 0.0, 2.5, 1.0]);
        assert_eq!(turbine.load(), 0.25);
    }
}
