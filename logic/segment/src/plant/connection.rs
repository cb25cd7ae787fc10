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
//! `scale` by which a site file maps the entry to a variable. So it is where a connector is a
//! number of the process data.
//!
//! At each call a plant lives through the time since the last one with the actuators as they stand
//! now: what a frame brought to a device has moved the plant when the next frame asks for the
//! sensors. Nothing is allocated then.

use quietcore_units::Nanos;

use super::{Connections, PLANT_SIGNALS_MAX, Plant, PlantSignal};
use crate::application::Surroundings;
use crate::describe::{Signal, SignalDirection};
use crate::subdevice::SubDevice;

/// Counts of an analogue terminal in one volt.
const COUNTS_PER_VOLT: f64 = 32_767.0 / 10.0;
/// Unit of the connectors of analogue terminals.
const VOLT: &str = "V";
/// Unit of connectors that are numbers of the process data.
pub(crate) const COUNT: &str = "count";

/// The connectors of all SubDevices on a line, by place and number.
pub trait Connectors {
    /// The connectors of the SubDevice at this place; `None` beyond the end of the line.
    fn signals(&self, subdevice: usize) -> Option<&[Signal]>;

    /// The present value of an actuator, in its unit.
    fn actuator(&self, subdevice: usize, signal: usize) -> f64;

    /// Tells what a sensor sees, in its unit.
    fn sense(&mut self, subdevice: usize, signal: usize, value: f64);
}

impl Connectors for [SubDevice] {
    fn signals(&self, subdevice: usize) -> Option<&[Signal]> {
        self.get(subdevice).map(SubDevice::signals)
    }

    fn actuator(&self, subdevice: usize, signal: usize) -> f64 {
        self.get(subdevice).map_or(0.0, |device| device.actuator(signal))
    }

    fn sense(&mut self, subdevice: usize, signal: usize, value: f64) {
        if let Some(device) = self.get_mut(subdevice) {
            device.sense(signal, value);
        }
    }
}

/// A connection moves with the segment that it is given to by
/// [`Segment::surround`](crate::Segment::surround), whose line must be the one it was drawn on.
impl Surroundings for Connection {
    fn advance(&mut self, now: Nanos, subdevices: &mut [SubDevice]) {
        self.live_until(now, subdevices);
    }
}

/// A wire that can't be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionError {
    /// The line is shorter.
    #[error("there is no SubDevice {place}; the line has {count}")]
    NoSubDevice {
        /// The place, from 0.
        place: usize,
        /// Number of SubDevices on the line.
        count: usize,
    },
    /// The SubDevice has no such connector.
    #[error("SubDevice {place} has no connector `{connector}`; it has {}", known.join(", "))]
    NoConnector {
        /// The place, from 0.
        place: usize,
        /// The name that was asked for.
        connector: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The plant has no such signal in this direction.
    #[error("the plant has no {kind} `{signal}`; it has {}", known.join(", "))]
    NoSignal {
        /// `actuator` or `sensor`.
        kind: &'static str,
        /// The name that was asked for.
        signal: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// An actuator is moved from two sides.
    #[error("the actuator `{signal}` is already connected; connect it once")]
    Taken {
        /// The actuator that two wires lead to.
        signal: &'static str,
    },
    /// A drive and a plant that have nothing to do with each other.
    #[error("SubDevice {place} and the plant have no signal of the same name")]
    NothingInCommon {
        /// The place of the SubDevice, from 0.
        place: usize,
    },
}

/// One wire between a connector and a signal of the plant.
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
    /// The instant of the last call; `None` before the first.
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
            let known = connectors.iter().map(|one| one.name.to_string()).collect();
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
                self.draw(subdevice, number, connector, &connector.name)?;
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
    pub fn live_until<C: Connectors + ?Sized>(&mut self, now: Nanos, line: &mut C) {
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

    /// Returns the plant behind the wires.
    #[must_use]
    pub fn plant(&self) -> &dyn Plant {
        self.plant.as_ref()
    }
}

fn connectors_of<C: Connectors + ?Sized>(
    line: &C,
    subdevice: usize,
) -> Result<&[Signal], ConnectionError> {
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
        (COUNT, false) => signal.per_count,
        // A relay drives an analogue actuator between zero and its end.
        ("", false) => signal.maximum,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
