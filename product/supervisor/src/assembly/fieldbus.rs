//! The fieldbus of a partition, from the site file's words to the process's.

use quietcore_backend::fieldbus::FieldbusJob;
use quietcore_site::Fieldbus;

use super::BusImage;

pub(crate) fn job(fieldbus: &Fieldbus, _bus: &BusImage) -> FieldbusJob {
    FieldbusJob { cycle: fieldbus.cycle }
}
