//! Limits of what partitions send, by the interfaces that they drive.

use quietcore_site::Traffic;

use crate::setting::{Setting, namespace, policing, qdisc};
use crate::want::Want;
use quietcore_host::Source;

/// The setting that limits what an interface sends.
pub(crate) fn limit(source: &Source, traffic: &Traffic) -> (Setting, Want) {
    let interface = traffic.interface.clone();
    let namespace = namespace::own(source);
    (Setting::Qdisc { interface, namespace }, Want::Exactly(qdisc::value(&traffic.share)))
}

/// The setting by which Open vSwitch limits what it takes from the interface, where it is behind.
pub(crate) fn limit_behind(source: &Source, traffic: &Traffic) -> Option<(Setting, Want)> {
    let interface = policing::port_behind(source, &traffic.interface)?;
    Some((Setting::Policing { interface }, Want::Exactly(policing::value(&traffic.share))))
}
