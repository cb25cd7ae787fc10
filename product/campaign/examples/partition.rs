//! The process of a partition, for the tests of this crate: what `quietcore-runtime partition` is.

fn main() -> std::process::ExitCode {
    quietcore_backend::process::serve()
}
