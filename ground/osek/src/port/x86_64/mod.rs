//! The processor: what a bare machine and a Linux process of it have in common, and the beginnings
//! of the port to the bare machine.
//!
//! | part | state |
//! |---|---|
//! | `switch` | complete; the hosted port uses it too |
//! | `level`: interrupt levels by the task priority register | complete, never run yet |
//! | descriptor tables, interrupt entries that call `System::interrupt` | missing |
//! | tick and timer: the local APIC's, in TSC-deadline mode | missing |
//! | stacks: from the configuration, with unmapped pages below | missing |
//! | vector registers of a task that an interrupt preempts | missing |
//!
//! What is missing comes with the virtual machine monitor that runs it.

#[cfg(target_os = "none")]
pub mod level;
pub mod switch;
