//! The fieldbus's image and the variables behind it.

use quietcore_exchange::WritableData;
use quietcore_units::FaultReaction;

use super::Mapping;
use crate::stage::Stage;

/// Gives the inputs to the program's variables.
#[inline]
pub(crate) fn take_inputs(mappings: &[Mapping], image: &[u8], data: &WritableData<'_>) {
    for mapping in mappings {
        let value = mapping.input(image);
        // The place was checked with the stage; a refusal has no other cause.
        let _ = data.write_value(mapping.offset, mapping.bytes, u64::MAX, value);
    }
}

/// Gives the program's variables to the outputs.
#[inline]
pub(crate) fn give_outputs(mappings: &[Mapping], data: &WritableData<'_>, image: &mut [u8]) {
    for mapping in mappings {
        if let Ok(value) = data.read_value(mapping.offset, mapping.bytes) {
            mapping.output(value, image);
        }
    }
}

/// Puts the outputs of a partition in fault into the image.
pub(crate) fn make_safe(on_fault: FaultReaction, stage: &Stage, image: &mut [u8]) {
    if on_fault == FaultReaction::Hold {
        return;
    }
    for mapping in &stage.outputs {
        mapping.clear(image);
    }
    if on_fault == FaultReaction::Substitute {
        for (output, value) in &stage.substitutes {
            if let Some(mapping) = stage.outputs.get(*output as usize) {
                mapping.substitute(*value, image);
            }
        }
    }
}
