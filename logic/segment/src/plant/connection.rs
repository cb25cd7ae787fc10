//! Connects plants with the physical signals of the SubDevices on a line.
//!
//! ```text
//! SubDevice               connection                         plant
//! output_1   0…10 V ───►  × per count × 3276.7 counts/V ───► valve     0…1
//! torque         Nm ───►  as it is                      ───► torque    Nm
//! input_1    0…10 V ◄───  ÷ per count ÷ 3276.7 counts/V ◄─── speed     1/min
//! input_1    on/off ◄───  above one half                ◄─── full      on/off
//! ```
//!
//! Signals with the same unit are connected as they are. Behind a terminal of 10 V a signal is
//! scaled so that one count of the terminal is the signal's [`PlantSignal::per_count`]; that is the
//! `scale` by which a site file maps the entry to a variable.
//!
//! At each call a plant lives through the time since the last one with the actuators as they stand
//! now: what a frame brought to a device has moved the plant when the next frame asks for the
//! sensors. Nothing is allocated then.

use quietcore_units::Nanos;

use super::{Connections, PLANT_SIGNALS_MAX, Plant, PlantSignal};
use crate::describe::{Signal, SignalDirection};

/// Counts of an analogue terminal in one volt.
const COUNTS_PER_VOLT: f64 = 32_767.0 / 10.0;
/// Unit of the connectors of analogue terminals.
const VOLT: &str = "V";

/// The connectors of all SubDevices on a line, by place and number.
pub trait Connectors {
    /// The connectors of the SubDevice at this place; `None` beyond the end of the line.
    fn signals(&self, subdevice: usize) -> Option<&'static [Signal]>;

    /// The present value of an actuator, in its unit.
    fn actuator(&self, subdevice: usize, signal: usize) -> f64;

    /// Tells what a sensor sees, in its unit.
    fn sense(&mut self, subdevice: usize, signal: usize, value: f64);
}

/// A wire that can't be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionError {
    /// The line is shorter.
    #[error("there is no SubDevice {place}; the line has {count}")]
    NoSubDevice {
        /// The place, from 0.
        place: usize,
        /// How many there are.
        count: usize,
    },
    /// The SubDevice has no such connector.
    #[error("SubDevice {place} has no connector `{connector}`; it has {}", known.join(", "))]
    NoConnector {
        /// The place, from 0.
        place: usize,
        /// What was asked for.
        connector: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// The plant has no such signal in this direction.
    #[error("the plant has no {kind} `{signal}`; it has {}", known.join(", "))]
    NoSignal {
        /// `actuator` or `sensor`.
        kind: &'static str,
        /// What was asked for.
        signal: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// An actuator is moved from two sides.
    #[error("the actuator `{signal}` is already connected; connect it once")]
    Taken {
        /// The actuator.
        signal: &'static str,
    },
    /// A drive and a plant that have nothing to do with each other.
    #[error("SubDevice {place} and the plant have no signal of the same name")]
    NothingInCommon {
        /// The place of the SubDevice, from 0.
        place: usize,
    },
}

/// One wire, drawn.
#[derive(Clone, Copy, Debug)]
struct Wire {
    subdevice: usize,
    connector: usize,
    signal: usize,
    /// Value of the plant's signal a unit of the connector.
    factor: f64,
}

/// A plant and its wires.
pub struct Connection {
    plant: Box<dyn Plant>,
    actuators: Vec<Wire>,
    sensors: Vec<Wire>,
    /// The last call.
    reached: Option<Nanos>,
}

impl Connection {
    /// A plant to which nothing is connected yet.
    #[must_use]
    pub fn new(plant: Box<dyn Plant>) -> Self {
        Self { plant, actuators: Vec::new(), sensors: Vec::new(), reached: None }
    }

    /// Draws one wire from a connector of a SubDevice to a signal of the plant.
    ///
    /// Outputs go to actuators, inputs to sensors. Several inputs may show one sensor.
    ///
    /// # Errors
    ///
    /// [`ConnectionError`] where one of both does not exist, or the actuator is taken.
    pub fn connect<C: Connectors + ?Sized>(
        &mut self,
        line: &C,
        subdevice: usize,
        connector: &str,
        signal: &str,
    ) -> Result<(), ConnectionError> {
        let connectors = connectors_of(line, subdevice)?;
        let Some(number) = connectors.iter().position(|one| one.name == connector) else {
            let known = connectors.iter().map(|one| one.name).collect();
            let connector = connector.to_owned();
            return Err(ConnectionError::NoConnector { place: subdevice, connector, known });
        };
        self.draw(subdevice, number, &connectors[number], signal)
    }

    /// Draws all wires between a SubDevice and the plant whose ends have the same name and
    /// direction, as a drive and its axis have.
    ///
    /// # Errors
    ///
    /// [`ConnectionError`] where there is none, or an actuator is taken.
    pub fn connect_by_name<C: Connectors + ?Sized>(
        &mut self,
        line: &C,
        subdevice: usize,
    ) -> Result<(), ConnectionError> {
        let before = self.actuators.len() + self.sensors.len();
        for (number, connector) in connectors_of(line, subdevice)?.iter().enumerate() {
            let (_, signals) = signals_of(&self.plant.connections(), connector.direction);
            if signals.iter().any(|signal| signal.name == connector.name) {
                self.draw(subdevice, number, connector, connector.name)?;
            }
        }
        if self.actuators.len() + self.sensors.len() == before {
            return Err(ConnectionError::NothingInCommon { place: subdevice });
        }
        Ok(())
    }

    fn draw(
        &mut self,
        subdevice: usize,
        connector: usize,
        description: &Signal,
        signal: &str,
    ) -> Result<(), ConnectionError> {
        let direction = description.direction;
        let (kind, signals) = signals_of(&self.plant.connections(), direction);
        let Some(index) = signals.iter().position(|one| one.name == signal) else {
            let known = signals.iter().map(|one| one.name).collect();
            return Err(ConnectionError::NoSignal { kind, signal: signal.to_owned(), known });
        };
        let factor = factor(description, &signals[index]);
        let wire = Wire { subdevice, connector, signal: index, factor };
        match direction {
            SignalDirection::Sensor => self.sensors.push(wire),
            SignalDirection::Actuator if self.actuators.iter().any(|it| it.signal == index) => {
                return Err(ConnectionError::Taken { signal: signals[index].name });
            }
            SignalDirection::Actuator => self.actuators.push(wire),
        }
        Ok(())
    }

    /// Lets the plant live until `now` with the actuators as they stand, and shows the sensors.
    pub fn advance<C: Connectors + ?Sized>(&mut self, now: Nanos, line: &mut C) {
        let mut actuators = [f64::NAN; PLANT_SIGNALS_MAX];
        for wire in &self.actuators {
            actuators[wire.signal] = line.actuator(wire.subdevice, wire.connector) * wire.factor;
        }
        let mut sensors = [0.0; PLANT_SIGNALS_MAX];
        // What stands at the actuators was brought after the last call and acts since then.
        self.plant.advance(self.reached.unwrap_or(now), &actuators, &mut sensors);
        self.plant.advance(now, &actuators, &mut sensors);
        self.reached = Some(self.reached.map_or(now, |reached| reached.max(now)));
        for wire in &self.sensors {
            let value = sensors[wire.signal] / wire.factor;
            line.sense(wire.subdevice, wire.connector, value);
        }
    }

    /// The plant.
    #[must_use]
    pub fn plant(&self) -> &dyn Plant {
        self.plant.as_ref()
    }
}

fn connectors_of<C: Connectors + ?Sized>(
    line: &C,
    subdevice: usize,
) -> Result<&'static [Signal], ConnectionError> {
    line.signals(subdevice).ok_or_else(|| {
        let count = (0..subdevice).take_while(|place| line.signals(*place).is_some()).count();
        ConnectionError::NoSubDevice { place: subdevice, count }
    })
}

fn signals_of(
    plant: &Connections,
    direction: SignalDirection,
) -> (&'static str, &'static [PlantSignal]) {
    match direction {
        SignalDirection::Actuator => ("actuator", plant.actuators),
        SignalDirection::Sensor => ("sensor", plant.sensors),
    }
}

/// Value of the plant's signal a unit of the connector.
fn factor(connector: &Signal, signal: &PlantSignal) -> f64 {
    let is_switch = signal.unit.is_empty();
    match (connector.unit, is_switch) {
        (VOLT, true) => 1.0 / connector.maximum,
        (VOLT, false) => signal.per_count * COUNTS_PER_VOLT,
        // A relay drives an analogue actuator between zero and its end.
        ("", false) => signal.maximum,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Schedule, ServoAxis, SteamTurbine, Tank};
    use super::*;

    const fn signal(
        name: &'static str,
        direction: SignalDirection,
        unit: &'static str,
        maximum: f64,
    ) -> Signal {
        Signal { name, direction, unit, minimum: -maximum, maximum }
    }

    static DRIVE: [Signal; 3] = [
        signal("torque", SignalDirection::Actuator, "Nm", 10.0),
        signal("position", SignalDirection::Sensor, "rad", 12_867.0),
        signal("velocity", SignalDirection::Sensor, "rad/s", 700.0),
    ];
    static OUTPUTS: [Signal; 2] = [
        signal("output_1", SignalDirection::Actuator, "V", 10.0),
        signal("output_2", SignalDirection::Actuator, "V", 10.0),
    ];
    static INPUTS: [Signal; 1] = [signal("input_1", SignalDirection::Sensor, "V", 10.0)];
    static SWITCHES: [Signal; 1] = [signal("input_1", SignalDirection::Sensor, "", 1.0)];

    /// Devices that keep what they are told: a value a connector.
    #[derive(Default)]
    struct Line {
        devices: Vec<(&'static [Signal], [f64; 3])>,
    }

    impl Line {
        fn of(devices: &[&'static [Signal]]) -> Self {
            Self { devices: devices.iter().map(|signals| (*signals, [0.0; 3])).collect() }
        }
    }

    impl Connectors for Line {
        fn signals(&self, subdevice: usize) -> Option<&'static [Signal]> {
            self.devices.get(subdevice).map(|(signals, _)| *signals)
        }

        fn actuator(&self, subdevice: usize, signal: usize) -> f64 {
            self.devices[subdevice].1[signal]
        }

        fn sense(&mut self, subdevice: usize, signal: usize, value: f64) {
            self.devices[subdevice].1[signal] = value;
        }
    }

    #[test]
    fn a_drive_moves_its_axis_by_name() {
        let mut line = Line::of(&[&DRIVE]);
        let mut axis = Connection::new(Box::new(ServoAxis::new()));
        axis.connect_by_name(&line, 0).unwrap();
        axis.advance(Nanos::ZERO, &mut line);
        line.devices[0].1[0] = 2.4;
        axis.advance(Nanos::from_millis(10), &mut line);
        let [_, position, velocity] = line.devices[0].1;
        assert!(velocity > 50.0, "{velocity} rad/s");
        assert!(position > 0.2, "{position} rad");
    }

    /// Goal: a frame's outputs act before the next frame, not one frame later.
    #[test]
    fn what_stands_at_an_actuator_acts_since_the_last_call() {
        let mut line = Line::of(&[&DRIVE]);
        let mut axis = Connection::new(Box::new(ServoAxis::new()));
        axis.connect_by_name(&line, 0).unwrap();
        axis.advance(Nanos::ZERO, &mut line);
        line.devices[0].1[0] = 2.4;
        axis.advance(Nanos::from_millis(1), &mut line);
        assert!(line.devices[0].1[2] > 5.0, "{} rad/s", line.devices[0].1[2]);
    }

    #[test]
    fn a_count_of_a_terminal_is_a_count_of_the_signal() {
        let mut line = Line::of(&[&OUTPUTS, &INPUTS, &SWITCHES]);
        let mut tank = Connection::new(Box::new(Tank::new(Schedule::constant(0.0))));
        tank.connect(&line, 0, "output_1", "pump").unwrap();
        tank.connect(&line, 1, "input_1", "pump_speed").unwrap();
        tank.connect(&line, 2, "input_1", "full").unwrap();
        // 24 000 counts of 1/30 000 are a speed of 0.8.
        line.devices[0].1[0] = 10.0 * 24_000.0 / 32_767.0;
        tank.advance(Nanos::ZERO, &mut line);
        for second in 1..=60 {
            tank.advance(Nanos::from_secs(second), &mut line);
        }
        let counts = line.devices[1].1[0] / 10.0 * 32_767.0;
        assert!((counts - 24_000.0).abs() < 0.01, "{counts}");
        assert_eq!(line.devices[2].1[0], 1.0, "the tank is full by now");
    }

    #[test]
    fn a_wire_that_cannot_be_drawn_says_why() {
        let line = Line::of(&[&OUTPUTS, &INPUTS]);
        let mut turbine = Connection::new(Box::new(SteamTurbine::new(Schedule::constant(0.0))));
        turbine.connect(&line, 0, "output_1", "valve").unwrap();
        let mut refuse = |subdevice, connector, signal| {
            turbine.connect(&line, subdevice, connector, signal).unwrap_err().to_string()
        };
        assert_eq!(
            refuse(0, "output_2", "valve"),
            "the actuator `valve` is already connected; connect it once"
        );
        assert_eq!(refuse(2, "output_1", "trip"), "there is no SubDevice 2; the line has 2");
        assert_eq!(
            refuse(0, "output_9", "trip"),
            "SubDevice 0 has no connector `output_9`; it has output_1, output_2"
        );
        assert_eq!(
            refuse(0, "output_2", "speed"),
            "the plant has no actuator `speed`; it has valve, trip, load, grid"
        );
        let nothing = turbine.connect_by_name(&line, 1).unwrap_err().to_string();
        assert_eq!(nothing, "SubDevice 1 and the plant have no signal of the same name");
    }
}
