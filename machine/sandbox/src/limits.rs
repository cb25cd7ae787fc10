//! The limits of a program in a sandbox, all of them enforced by the kernel.

/// The limits of a program in a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Address space of each process, in bytes.
    pub memory_bytes: u64,
    /// Each file, and all files in `/out` and in `/tmp`, in bytes.
    pub output_bytes: u64,
    /// Processes at once: in one sandbox, and for root in all of them together.
    pub process_count: u64,
    /// Processor time of each process, in seconds.
    pub processor_s: u64,
}

impl Default for Limits {
    /// Suits a compiler of generated code.
    fn default() -> Self {
        let (memory_bytes, output_bytes) = (2 << 30, 256 << 20);
        Self { memory_bytes, output_bytes, process_count: 64, processor_s: 120 }
    }
}
