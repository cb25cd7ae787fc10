//! The contract as the build script makes it of `proto/quietcore/v1`.

/// Messages, clients and servers of `quietcore.v1`, documented in `proto/quietcore/v1`.
#[expect(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    reason = "made by a program from files that are documented themselves"
)]
pub mod v1 {
    tonic::include_proto!("quietcore.v1");
}

/// The contract as descriptors of protocol buffers, which the daemon's reflection hands out.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
