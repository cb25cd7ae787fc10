//! Libraries that a program needs from the host, as the dynamic loader finds them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// File names of the C library and of the mathematics library beside it; generated programs are
/// linked with both.
const C_LIBRARY: &str = "libc.so.6";
const MATHEMATICS: &str = "libm.so.6";

/// Returns the files that a program and the modules that it loads need to run, under the paths by
/// which the loader opens them; empty for a statically linked program.
///
/// # Errors
/// When the program can't be started to be asked.
pub(super) fn libraries(program: &Path) -> io::Result<BTreeSet<PathBuf>> {
    // With this variable set the loader lists the libraries instead of running the program.
    let output =
        Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1").stdin(Stdio::null()).output()?;
    let mut libraries = named(&String::from_utf8_lossy(&output.stdout));
    let beside = libraries.iter().find(|path| path.ends_with(C_LIBRARY));
    let mathematics = beside.map(|path| path.with_file_name(MATHEMATICS));
    libraries.extend(mathematics.filter(|path| path.exists()));
    Ok(libraries)
}

/// Parses the loader's answer: `NAME => FILE (ADDRESS)` a line, or `FILE (ADDRESS)` for the loader
/// itself. The kernel's own library has no path and is left out.
fn named(answer: &str) -> BTreeSet<PathBuf> {
    let file = |line: &str| {
        let (_, file) = line.split_once(" => ").unwrap_or(("", line));
        let file = file.trim().rsplit_once(" (")?.0;
        file.starts_with('/').then(|| PathBuf::from(file))
    };
    answer.lines().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_with_a_path() {
        let answer = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                      \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f85)\n\
                      \tlibgone.so => not found\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x00007f85)\n";
        let expected = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"];
        assert_eq!(named(answer), expected.map(PathBuf::from).into());
        assert!(named("quietcore-runtime is started by quietcore\n").is_empty());
    }

    #[test]
    fn a_program_of_this_machine_is_traced() {
        let own = std::env::current_exe().expect("it runs");
        let libraries = libraries(&own).expect("it can be asked");
        assert!(libraries.iter().all(|path| path.exists()), "{libraries:?}");
        assert!(libraries.iter().any(|path| path.ends_with(C_LIBRARY)), "{libraries:?}");
    }
}
