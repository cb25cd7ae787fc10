//! Requests of a real-time process to the kernel for itself, and their results.
//!
//! | module | what |
//! |--------|------|
//! | [`bound`] | a process that ends with the thread that started it |
//! | [`channel`] | the memory of a channel between partitions |
//! | [`descriptors`] | open files out of a program's reach, and the streams that it finds |
//! | [`exchange`] | the memory of an exchange: made, passed on as a file, mapped |
//! | [`field`] | memory to be measured, in pages of a kind |
//! | [`guard`] | calls into a control program that may crash or never return |
//! | [`heap`] | a process's heap: present beforehand, and limited |
//! | [`in_guest`] | the first process of a Linux guest: its clock, and words that it shares with the host |
//! | [`locks`] | the locks that a call which was cut off may hold for ever |
//! | [`memory`] | memory that processes share: a sealed file and its mapping |
//! | [`module`] | a built control program: loaded, its data moved into shared memory |
//! | [`remark`] | what a process says to people, without allocation or lock |
//! | [`setting`] | a thread's CPU, policy, priority and timer slack; the process's locked memory |
//! | [`snare`] | what a late cycle springs, so that a trace stops within it |
//! | [`thread`] | a thread made what it is asked to be, and what held for it |
//! | [`timer`] | a timer that interrupts the running program of its thread |
//! | [`readback`] | the same settings as the kernel reports them, seen from outside |
//!
//! It is a crate of its own, apart from `host`, so that the process of a partition carries only
//! what it needs: everything in it is locked into memory.

mod apart;
pub mod channel;
pub mod exchange;
pub mod field;
pub mod guard;
pub mod heap;
pub mod in_guest;
pub mod memory;
pub mod module;
pub mod snare;
pub mod thread;
pub mod timer;

pub use apart::{bound, descriptors, locks, remark};
pub use thread::{readback, setting};
