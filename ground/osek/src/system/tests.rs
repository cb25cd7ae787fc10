//! A system on a machine without contexts.
//!
//! The machine notes the switches that it is asked for and goes on where it is, so a story tells
//! what all tasks do, one after the other, as straight-line code. Everything that the machine and
//! the program's hooks notice is a line of one log.

mod dispatch;
mod errors;
mod interrupts;
mod levels;
mod machine;
mod masks;
mod messages;
mod protection;
mod time;
