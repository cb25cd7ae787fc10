//! The static library, and programs linked with it.
// UNSAFETY: ends a program that hangs.
#![expect(unsafe_code, reason = "a child is ended by its number")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// The folder of this crate.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder in which all of these tests put their files.
pub(crate) fn scratch() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("osek-c");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns `true` if a program is installed.
pub(crate) fn has(program: &str) -> bool {
    !cfg!(miri) && Command::new(program).arg("--version").output().is_ok()
}

/// The static library, built once.
pub(crate) fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let target = scratch().join("library");
        let output = Command::new(env!("CARGO"))
            .current_dir(root())
            .args(["rustc", "--package=quietcore-osek", "--release", "--lib", "--locked"])
            .args(["--crate-type=staticlib", "--features=c", "--target-dir"])
            .arg(&target)
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .env("CARGO_PROFILE_RELEASE_LTO", "fat")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        target.join("release/libquietcore_osek.a")
    })
}

pub(crate) const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wconversion"];

/// Compiles one of the test programs and links it, unless another test has done so: it may run.
pub(crate) fn link(name: &str, compiler: &[&str], defines: &[&str]) -> PathBuf {
    let folder = root().join("tests/c/programs");
    let source = folder.join(format!("{name}.c"));
    let language = compiler.get(1).map_or("c", |it| if it.contains("++") { "c++" } else { "c" });
    let program = scratch().join(format!("{name}-{language}"));
    static LINKED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut linked = LINKED.lock().unwrap();
    if linked.contains(&program) {
        return program;
    }
    let tables = scratch().join(format!("{name}-{language}-tables.o"));
    let mut command = Command::new("gcc");
    command.args(["-std=gnu99", "-O1", "-g", "-c"]).args(WARNINGS).args(defines);
    command.arg("-I").arg(root().join("include")).arg("-I").arg(&folder);
    succeed(command.arg(folder.join("os_cfg.c")).arg("-o").arg(&tables));

    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).args(["-O1", "-g", "-x", language]).args(&WARNINGS[..4]);
    command.arg("-I").arg(root().join("include")).arg("-I").arg(&folder);
    command.arg("-I").arg(root().join("../exchange/include"));
    command.arg(source).args(["-x", "none"]).arg(tables);
    succeed(command.arg(library()).args(["-pthread", "-Wl,--gc-sections", "-o"]).arg(&program));
    linked.push(program.clone());
    program
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{command:?}:\n{said}");
}

/// Runs a program to its end, which it has to come to in a minute.
pub(crate) fn run(command: &mut Command) -> (Output, String, String) {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let (ended, has_ended) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let late = has_ended.recv_timeout(Duration::from_secs(60)).is_err();
        if late {
            // SAFETY: the number of a child that has not been waited for.
            unsafe { libc::kill(id.cast_signed(), libc::SIGKILL) };
        }
        late
    });
    let output = child.wait_with_output().unwrap();
    let _ = ended.send(());
    assert!(!watch.join().unwrap(), "it hangs: {command:?}\n{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, said, complained)
}
