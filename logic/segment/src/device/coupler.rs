//! A coupler: passes frames on, has a clock, does nothing else.

use crate::application::{Application, Situation};
use crate::blueprint::{Blueprint, Controller, Timing};
use crate::describe::Identity;

struct Coupler;

impl Application for Coupler {
    fn consume(&mut self, _: Situation, _: &[u8]) {}

    fn produce(&mut self, _: Situation, _: &mut [u8]) {}
}

/// Its making and its application.
pub(super) fn parts(identity: Identity) -> (Blueprint, Box<dyn Application>) {
    let blueprint = Blueprint {
        name: "coupler".into(),
        order: "QC-COUPLER".into(),
        identity,
        // Nothing is connected to its PDI, so there is no watchdog either.
        controller: Controller { dl_status: 0x01, ..Controller::like_et1100() },
        device_emulation: true,
        mailbox: None,
        sync_managers: Vec::new(),
        fmmu_usage: Vec::new(),
        pdos: Vec::new(),
        objects: Vec::new(),
        timing: Timing::default(),
        sii: None,
    };
    (blueprint, Box::new(Coupler))
}
