//! The processor of 64-bit Arm, as far as the hosted port needs it.

pub mod switch;
