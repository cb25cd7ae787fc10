//! The process of a partition for the tests of this crate: what `quietcore-runtime` is for a
//! partition in a process, a guest or a container.

fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(role) if role == "container" => quietcore_backend::container::shim(arguments),
        _ => quietcore_backend::process::serve(arguments),
    }
}
