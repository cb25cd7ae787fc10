//! The processor: its tables, what is entered at exceptions and interrupts, its local controller.

pub mod apic;
pub(crate) mod descriptors;
pub(crate) mod exceptions;
pub mod interrupts;
