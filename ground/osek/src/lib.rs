//! A real-time kernel after OSEK/VDX OS 2.2.3 (ISO 17356-3).
#![cfg_attr(not(test), no_std)]
pub mod port;

pub mod configuration;
pub mod status;
