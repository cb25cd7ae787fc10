//! What partitions may send, by the interfaces that they drive.

use quietcore_site::Traffic;

use crate::controls::setting::{Setting, namespace, policing, qdisc};
use crate::controls::want::Want;
use crate::source::Source;

/// The setting that limits what an interface sends.
pub(in crate::controls) fn limit(source: &Source, traffic: &Traffic) -> (Setting, Want) {
    let interface = traffic.interface.clone();
    let namespace = namespace::own(source);
    (Setting::Qdisc { interface, namespace }, Want::Exactly(qdisc::value(&traffic.share)))
}

/// The setting by which Open vSwitch limits what it takes from the interface, where it is behind.
pub(in crate::controls) fn limit_behind(
    source: &Source,
    traffic: &Traffic,
) -> Option<(Setting, Want)> {
    let interface = policing::port_behind(source, &traffic.interface)?;
    Some((Setting::Policing { interface }, Want::Exactly(policing::value(&traffic.share))))
}
