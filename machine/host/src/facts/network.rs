//! Network interfaces: driver, speed, time stamps, interrupts.

mod cards;

use serde::{Deserialize, Serialize};

use crate::attempts::{Attempts, Timestamping};
use crate::reading::Reading;
use crate::source::Source;

pub use cards::Card;

const INTERFACES: &str = "/sys/class/net";

/// The network interfaces, `lo` left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// Those with a device behind them, and bridges and the like without one.
    pub interfaces: Vec<Interface>,
    /// Clocks of interfaces and hypervisors, `/dev/ptpN`, with their names.
    pub clocks: Vec<String>,
    /// Network cards on the PCI bus.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<Card>,
    /// `true` if the driver is loaded by which devices are given to guests.
    #[serde(default)]
    pub passes_devices: bool,
}

/// A network interface with its driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// Name, such as `eth0`.
    pub name: String,
    /// `true` if a device is behind it.
    pub physical: bool,
    /// Name of its driver.
    pub driver: Reading<String>,
    /// `up`, `down` or `unknown`.
    pub state: Reading<String>,
    /// Its speed in Mbit/s; absent where the link has none to tell.
    pub speed_mbit: Reading<u64>,
    /// The memory node that is near; −1 is none.
    pub node: Reading<i32>,
    /// Time stamps that it can take.
    pub timestamping: Reading<Timestamping>,
    /// Its interrupts, where the device has messages of its own.
    pub interrupts: Vec<u32>,
}

pub(super) fn read(source: &Source, attempts: &impl Attempts) -> Network {
    let names = source.entries(INTERFACES);
    let clocks = source.numbered("/sys/class/ptp", "ptp");
    let (cards, passes_devices) = cards::read(source);
    Network {
        cards,
        passes_devices,
        interfaces: names
            .get()
            .into_iter()
            .flatten()
            .filter(|name| *name != "lo")
            .map(|name| interface(source, attempts, name))
            .collect(),
        clocks: clocks
            .into_iter()
            .map(|number| {
                let name = source.text(&format!("/sys/class/ptp/ptp{number}/clock_name"));
                format!("ptp{number} {}", name.text().unwrap_or("unnamed"))
            })
            .collect(),
    }
}

fn interface(source: &Source, attempts: &impl Attempts, name: &str) -> Interface {
    let at = |file: &str| format!("{INTERFACES}/{name}/{file}");
    let physical = source.exists(&at("device")) == Reading::Read(true);
    let speed: Reading<i64> = source.value(&at("speed"));
    Interface {
        name: name.to_owned(),
        physical,
        driver: source.link_name(&at("device/driver")),
        state: source.text(&at("operstate")),
        // −1 and an error both mean that the link is down or has no speed, as in a virtual one.
        speed_mbit: match speed {
            Reading::Read(speed) => u64::try_from(speed).map_or(Reading::Absent, Reading::Read),
            Reading::Absent | Reading::Unreadable(_) => Reading::Absent,
        },
        node: source.value(&at("device/numa_node")),
        timestamping: attempts.timestamping(name),
        interrupts: interrupts(source, &at("device")),
    }
}

/// The messages of the device; a virtio device's belong to the PCI device that carries it.
fn interrupts(source: &Source, device: &str) -> Vec<u32> {
    let own = source.numbered(&format!("{device}/msi_irqs"), "");
    let is_virtio = source.link_name(device).text().is_some_and(|name| name.starts_with("virtio"));
    if own.is_empty() && is_virtio {
        source.numbered(&format!("{device}/../msi_irqs"), "")
    } else {
        own
    }
}
