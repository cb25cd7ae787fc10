//! Limits what Open vSwitch takes from one of its ports: `ingress_policing_rate` and `_burst`.
//!
//! A queueing discipline limits who sends through it; a program that may open raw sockets can send
//! past it. Where the other end of a partition's interface is a port of a switch, the switch drops
//! what is beyond the share.
//!
//! A value is `rate 1000 burst 100`, in kbit/s and kbit; rate 0 is no limit. It is kept in the
//! switch's database, on disk. The switch accepts it where it does nothing, too, and that is part
//! of the value:
//!
//! ```text
//! rate 1000 burst 100
//! rate 1000 burst 100 (not in force)
//! ```
//!
//! It does nothing where the kernel has no such filter, and where the datapath is a process, which
//! reads frames from a raw socket before the filter meets them: of 56 MB sent in 3 s, of which the
//! filter dropped all but 0.4, 18 MB came out of the switch (Open vSwitch 3.1, in the lab).

use quietcore_site::Network;
use serde::Deserialize;

use super::SettingError;
use super::qdisc::TC;
use super::tool::Tool;
use quietcore_host::Source;

const VSCTL: Tool = Tool { name: "ovs-vsctl", package: "openvswitch-switch" };
const IP: Tool = Tool { name: "ip", package: "iproute2" };

/// The socket of the switch's database. Without it there is no switch.
const SOCKET: &str = "/var/run/openvswitch/db.sock";
/// The columns of an interface that hold rate and burst.
const COLUMNS: [&str; 2] = ["ingress_policing_rate", "ingress_policing_burst"];
/// The longest that the switch may take to do what it was told, in seconds.
const TIMEOUT: &str = "--timeout=4";
/// The least burst: a frame of 1514 bytes.
const FRAME_KBIT: u64 = 13;
/// Handle at which the kernel keeps filters of received frames.
const RECEIVED: &str = "ffff:";

/// The value that limits a port to a share.
pub(crate) fn value(share: &Network) -> String {
    let rate = (share.rate.get() / 1000).max(1);
    let burst = share.burst.map_or(0, |burst| burst.get().div_ceil(1000));
    // What the switch's manual advises at least: a tenth of what the rate carries in a second.
    format!("rate {rate} burst {}", burst.max(rate / 10).max(FRAME_KBIT))
}

/// The port of a switch on this machine that is the other end of an interface.
pub(crate) fn port_behind(source: &Source, interface: &str) -> Option<String> {
    if !source.place(SOCKET).exists() || super::check_interface(interface).is_err() {
        return None;
    }
    let told = IP.run(&["-json", "-details", "link", "show", "dev", interface]).ok()?;
    let port = other_end(&told)?;
    read(source, &port).is_ok().then_some(port)
}

/// A link as `ip -json -details` tells it.
#[derive(Debug, Deserialize)]
struct Link {
    link: Option<String>,
    linkinfo: Option<LinkKind>,
}

#[derive(Debug, Deserialize)]
struct LinkKind {
    info_kind: Option<String>,
}

/// The other end of a pair of virtual interfaces.
fn other_end(told: &str) -> Option<String> {
    let links: Vec<Link> = serde_json::from_str(told).ok()?;
    let link = links.into_iter().next()?;
    let kind = link.linkinfo?.info_kind?;
    link.link.filter(|_| kind == "veth")
}

/// Rate and burst of a port.
pub(super) fn read(source: &Source, interface: &str) -> Result<String, SettingError> {
    let (rate, burst) = given(source, interface)?;
    let is_in_force =
        rate == 0 || !is_in_process(source, interface)? && filters(interface)?.contains("police");
    let doubt = if is_in_force { "" } else { " (not in force)" };
    Ok(format!("rate {rate} burst {burst}{doubt}"))
}

fn given(source: &Source, interface: &str) -> Result<(u64, u64), SettingError> {
    super::check_interface(interface)?;
    let socket = socket(source)?;
    let mut order = vec![TIMEOUT, &socket, "--if-exists", "get", "Interface", interface];
    order.extend(COLUMNS);
    let told = VSCTL.run(&order)?;
    let mut numbers = told.lines().map(|line| line.trim().parse::<u64>());
    match (numbers.next(), numbers.next(), numbers.next()) {
        (None, ..) => Err(SettingError::Gone),
        (Some(Ok(rate)), Some(Ok(burst)), None) => Ok((rate, burst)),
        _ => Err(SettingError::Refused(format!("`ovs-vsctl` says `{}`", told.escape_debug()))),
    }
}

/// Returns `true` if the datapath of a port's switch is a process.
fn is_in_process(source: &Source, interface: &str) -> Result<bool, SettingError> {
    let socket = socket(source)?;
    let bridge = VSCTL.run(&[TIMEOUT, &socket, "iface-to-br", interface])?;
    let kind = VSCTL.run(&[TIMEOUT, &socket, "get", "Bridge", &bridge, "datapath_type"])?;
    Ok(kind.trim_matches('"') == "netdev")
}

fn filters(interface: &str) -> Result<String, SettingError> {
    Ok(TC.run(&["-json", "filter", "show", "dev", interface, "parent", RECEIVED])?)
}

/// Gives a port another rate and burst, and waits until the switch has them.
pub(super) fn write(source: &Source, interface: &str, value: &str) -> Result<(), SettingError> {
    super::check_interface(interface)?;
    let words: Vec<&str> = value.split(' ').collect();
    let numbers = match words[..] {
        ["rate", rate, "burst", burst] => [rate, burst].map(str::parse::<u32>),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_whole_kilobits_and_never_less_than_a_frame() {
        let share = |rate: &str, burst: Option<&str>| {
            let burst = burst.map(|burst| burst.parse().unwrap());
            value(&Network::new(rate.parse().unwrap(), burst))
        };
        assert_eq!(share("1 Mbit/s", None), "rate 1000 burst 100");
        assert_eq!(share("1 Mbit/s", Some("1 Mbit")), "rate 1000 burst 1000");
        assert_eq!(share("1 kbit/s", Some("1 bit")), "rate 1 burst 13");
    }

    #[test]
    fn only_a_pair_has_another_end() {
        let veth = r#"[{"ifname":"a","link":"b","linkinfo":{"info_kind":"veth"}}]"#;
        assert_eq!(other_end(veth).as_deref(), Some("b"));
        let elsewhere = r#"[{"ifname":"a","link_index":3,"linkinfo":{"info_kind":"veth"}}]"#;
        assert_eq!(other_end(elsewhere), None);
        let vlan = r#"[{"ifname":"a.5","link":"a","linkinfo":{"info_kind":"vlan"}}]"#;
        assert_eq!(other_end(vlan), None);
        assert_eq!(other_end(r#"[{"ifname":"eth0"}]"#), None);
        assert_eq!(other_end("eth0"), None);
    }

    #[test]
    fn nothing_but_two_numbers_reaches_the_switch() {
        let folder = tempfile::tempdir().unwrap();
        let source = Source::below(folder.path());
        for odd in
            ["rate 1", "rate x burst 1", "rate 1 burst 1 (not in force)", "", "rate -1 burst 1"]
        {
            let refused = write(&source, "left", odd).unwrap_err().to_string();
            assert!(refused.contains("is no rate with a burst"), "{refused}");
        }
        assert_eq!(write(&source, "left", "rate 1 burst 1"), Err(SettingError::Gone));
        assert_eq!(read(&source, "left"), Err(SettingError::Gone));
        let name = read(&source, "--help").unwrap_err().to_string();
        assert!(name.contains("is no name of an interface"), "{name}");
    }
}
