//! Compiles the guard, which is C because nothing else may be jumped out of.

fn main() {
    let source = "src/guard/guard.c";
    println!("cargo:rerun-if-changed={source}");
    // As gcc compiles programs: a jump out of a handler restores what the caller keeps.
    cc::Build::new().file(source).std("gnu11").warnings(true).compile("quietcore_guard");
}
