//! The unit of a variable that is mapped to a simulated fieldbus, where the site file says enough.
//!
//! A map gives a number its scale and never its unit. Where the scale is the one by which a plant's
//! signal is counted, the variable is in that signal's unit; where nothing is scaled, it counts
//! what the SubDevice counts. Any other scale is the user's own, and no unit is known.

use quietcore_segment::plant::{self, PlantSignal};

use super::{Device, Entry, Fieldbus, Mapping, Wire};

/// The parts of 1 by which a scale may differ: it was written as a decimal number.
const ROUNDING: f64 = 1e-4;

impl Fieldbus {
    /// The unit of a variable of this name; `None` where it is not known.
    pub fn unit_of(&self, variable: &str) -> Option<String> {
        let mapping = self.map.iter().find(|mapping| mapping.variable == variable)?;
        if mapping.offset != 0.0 {
            return None;
        }
        let of_plant = self.signal_behind(mapping).filter(|signal| {
            (mapping.scale / signal.per_count - 1.0).abs() < ROUNDING && is_unit(signal.unit)
        });
        let unit = of_plant.map(|signal| signal.unit.to_owned());
        unit.or_else(|| self.count_of(mapping))
    }

    /// The signal of a plant that an entry shows or moves.
    fn signal_behind(&self, mapping: &Mapping) -> Option<PlantSignal> {
        let subdevice = self.subdevices.get(mapping.subdevice)?;
        let plant = plant::by_name(subdevice.plant?.name())?;
        let name = match (subdevice.device, &mapping.entry) {
            // A drive is connected to its axis by itself.
            (Some(Device::ServoDrive), Entry::Named(entry)) => drive_signal(entry)?,
            _ => {
                let is_meant = |wire: &&Wire| wire.channel == mapping.entry;
                subdevice.connect.iter().find(is_meant)?.signal.as_str()
            }
        };
        let connections = plant.connections();
        let mut signals = connections.actuators.iter().chain(connections.sensors);
        signals.find(|signal| signal.name == name).copied()
    }

    /// Returns the unit of one count of an entry, if a map takes it as it comes.
    fn count_of(&self, mapping: &Mapping) -> Option<String> {
        let Entry::Named(name) = &mapping.entry else { return None };
        let device = self.subdevices.get(mapping.subdevice)?.device?;
        let description = quietcore_segment::describe(device.name()).ok()?;
        let mut entries = description.inputs.iter().chain(&description.outputs);
        let entry = entries.find(|entry| entry.name == *name)?;
        (mapping.scale == 1.0 && is_unit(&entry.unit)).then(|| entry.unit.to_string())
    }
}

/// The signal of an axis that an entry of its drive is about.
fn drive_signal(entry: &str) -> Option<&'static str> {
    ["position", "velocity", "torque"].into_iter().find(|signal| entry.contains(signal))
}

fn is_unit(unit: &str) -> bool {
    !matches!(unit, "" | "1")
}

#[cfg(test)]
mod tests {
    use quietcore_record::class::catalogue;

    const SERVO: &str = include_str!("../../../../examples/servo.toml");
    const TANK: &str = include_str!("../../../../examples/tank.toml");

    fn unit_of(text: &str, variable: &str) -> Option<String> {
        let site = crate::read("site.toml", text.as_bytes(), &catalogue()).unwrap();
        site.fieldbuses().iter().find_map(|bus| bus.unit_of(variable))
    }

    #[test]
    fn a_scale_of_the_plant_says_the_unit_and_any_other_says_none() {
        for (variable, unit) in [
            ("servo_U.position", Some("rad")),
            ("servo_U.velocity", Some("rad/s")),
            ("servo_Y.torque", Some("Nm")),
            ("servo_U.statusword", None),
            ("servo_Y.in_position", None),
            ("servo_P.Kp", None),
        ] {
            assert_eq!(unit_of(SERVO, variable).as_deref(), unit, "{variable}");
        }
        let own = SERVO.replace("scale = 0.0024", "scale = 0.1");
        assert_eq!(unit_of(&own, "servo_Y.torque"), None, "thousandths of something");
        let counts = SERVO.replace("scale = 5.992112452678286e-6", "");
        assert_eq!(unit_of(&counts, "servo_U.position").as_deref(), Some("1/1048576 revolution"));
    }

    #[test]
    fn a_terminal_has_the_unit_of_what_is_connected_to_it() {
        let site = crate::read("site.toml", TANK.as_bytes(), &catalogue()).unwrap();
        let bus = &site.fieldbuses()[0];
        let units: Vec<_> = bus.map.iter().filter_map(|it| bus.unit_of(&it.variable)).collect();
        assert!(units.contains(&"m".to_owned()), "{units:?}");
        let of_file = "identity = { vendor = 1, product = 2 }";
        let others = TANK.replace("device = \"analog-input-4\"", of_file);
        let others = others.replace("interface = \"sim\"", "esi = [\"esi\"]\ninterface = \"sim\"");
        assert_eq!(unit_of(&others, "rtU.level").as_deref(), Some("m"));
    }
}
