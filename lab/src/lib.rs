//! Virtual test machines under QEMU.
//!
//! Some needs of a partition (PREEMPT_RT, KVM, Xen, the kernel's tracers) are not met by every
//! machine that builds Quietcore. The lab meets them: QEMU, which emulates the processor, starts a
//! kernel of Debian's with an initramfs made here, or Xen with that kernel as its first domain. The
//! machine sees this machine's file system, read-only, so that it has the same programs, and runs
//! one *scenario*: a shell script that leaves its results in `$OUT`, which is a folder here.
//!
//! ```text
//! scenario, kind ─► kernel (a Debian package, kept in a cache) ─► initramfs (init, its libraries,
//!   modules, job) ─► QEMU: init mounts, loads modules, runs the script ─► $OUT, status
//! ```
//!
//! Emulated time is not time: what is measured here says what a kernel does, and never how long it
//! takes on hardware. `quietcore doctor` says so of such a machine, and no record passes in it.

#![forbid(unsafe_code)]

pub mod emulator;
pub mod initramfs;
pub mod job;
pub mod kernel;
pub mod kind;
pub mod record;
pub mod scenario;
pub mod standstill;
