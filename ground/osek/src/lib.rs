//! A real-time kernel after OSEK/VDX OS 2.2.3 (ISO 17356-3).
#![no_std]

#[cfg(test)]
extern crate std;

pub mod check;
pub mod configuration;
pub mod kernel;
pub mod port;
pub mod status;
pub mod system;
