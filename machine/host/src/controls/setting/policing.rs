//! What Open vSwitch takes from one of its ports: `ingress_policing_rate` and `_burst`.
//!
//! The switch gives its ports queueing disciplines of its own and takes away others, so a port is
//! limited there. A value is `rate 1000 burst 100`, in kbit/s and kbit; rate 0 is no limit. It is
//! kept in the switch's database, on disk.

use quietcore_site::Network;

use super::SettingError;
use super::tool::Tool;
use crate::source::Source;

const VSCTL: Tool = Tool { name: "ovs-vsctl", package: "openvswitch-switch" };

/// Where the database listens. Without it there is no switch.
const SOCKET: &str = "/var/run/openvswitch/db.sock";
/// The columns of an interface that hold rate and burst.
const COLUMNS: [&str; 2] = ["ingress_policing_rate", "ingress_policing_burst"];
/// The longest that the switch may take to do what it was told, in seconds.
const TIMEOUT: &str = "--timeout=4";
/// The least burst: a frame of 1514 bytes.
const FRAME_KBIT: u64 = 13;

/// The value that limits a port to a share.
pub(in crate::controls) fn value(share: &Network) -> String {
    let rate = (share.rate.get() / 1000).max(1);
    // What the switch's manual advises: a tenth of what the rate carries in a second.
    let burst = share.burst.map_or(rate / 10, |burst| burst.get().div_ceil(1000));
    format!("rate {rate} burst {}", burst.max(FRAME_KBIT))
}

/// Whether an interface is a port of a switch on this machine.
pub(in crate::controls) fn is_port(source: &Source, interface: &str) -> bool {
    read(source, interface).is_ok()
}

/// Rate and burst of a port.
pub(super) fn read(source: &Source, interface: &str) -> Result<String, SettingError> {
    super::check_interface(interface)?;
    let socket = socket(source)?;
    let mut order = vec![TIMEOUT, &socket, "--if-exists", "get", "Interface", interface];
    order.extend(COLUMNS);
    let told = VSCTL.run(&order)?;
    let mut numbers = told.lines().map(|line| line.trim().parse::<u64>());
    match (numbers.next(), numbers.next(), numbers.next()) {
        (None, ..) => Err(SettingError::Gone),
        (Some(Ok(rate)), Some(Ok(burst)), None) => Ok(format!("rate {rate} burst {burst}")),
        _ => Err(SettingError::Refused(format!("`ovs-vsctl` says `{}`", told.escape_debug()))),
    }
}

/// Gives a port another rate and burst, and waits until the switch has them.
pub(super) fn write(source: &Source, interface: &str, value: &str) -> Result<(), SettingError> {
    super::check_interface(interface)?;
    let words: Vec<&str> = value.split(' ').collect();
    let numbers = match words[..] {
        ["rate", rate, "burst", burst] => [rate, burst].map(|number| number.parse::<u32>()),
        _ => return Err(not_understood(value)),
    };
    let [Ok(rate), Ok(burst)] = numbers else { return Err(not_understood(value)) };
    let socket = socket(source)?;
    let given = [format!("{}={rate}", COLUMNS[0]), format!("{}={burst}", COLUMNS[1])];
    let mut order = vec![TIMEOUT, &socket, "set", "Interface", interface];
    order.extend(given.iter().map(String::as_str));
    VSCTL.run(&order)?;
    Ok(())
}

fn not_understood(value: &str) -> SettingError {
    SettingError::Refused(format!("`{}` is no rate with a burst", value.escape_debug()))
}

/// The option that names the database.
fn socket(source: &Source) -> Result<String, SettingError> {
    let place = source.place(SOCKET);
    if !place.exists() {
        return Err(SettingError::Gone);
    }
    Ok(format!("--db=unix:{}", place.display()))
}
