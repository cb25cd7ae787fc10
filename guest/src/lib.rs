//! What runs inside of a microVM.

#![cfg_attr(target_os = "none", no_std)]

#[cfg(target_os = "none")]
mod boot;
#[cfg(target_os = "none")]
mod console;
