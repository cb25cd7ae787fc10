//! What partitions may send, by the interfaces that they drive.

use quietcore_site::Traffic;

use crate::controls::setting::{Setting, policing, qdisc};
use crate::controls::want::Want;
use crate::source::Source;

/// The setting that limits an interface: its root, or where Open vSwitch has it as a port and keeps
/// the root for itself, what the switch takes from it.
pub(in crate::controls) fn limit(source: &Source, traffic: &Traffic) -> (Setting, Want) {
    let interface = traffic.interface.clone();
    if policing::is_port(source, &interface) {
        let value = policing::value(&traffic.share);
        return (Setting::Policing { interface }, Want::Exactly(value));
    }
    (Setting::Qdisc { interface }, Want::Exactly(qdisc::value(&traffic.share)))
}
