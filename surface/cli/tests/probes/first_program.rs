//! `docs/first-program.md`, run line by line, and `init --model`.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::command::{Said, said};

const PAGE: &str = include_str!("../../../../docs/first-program.md");

/// A block of the page between its fences: the words after the first fence, and its lines.
struct Block {
    info: &'static str,
    text: String,
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push(Block { info, text: inside.join("\n") + "\n" });
    }
    blocks
}

/// Runs a line of the page in a shell.
fn shell(folder: &Path, line: &str) -> Said {
    let program = Path::new(env!("CARGO_BIN_EXE_quietcore"));
    let path = format!("{}:{}", program.parent().unwrap().display(), env!("PATH"));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", path);
    command.env("QUIETCORE_RUN_DIR", folder.join(".run"));
    command.env("QUIETCORE_STATE_DIR", folder.join(".state"));
    said(&command.output().unwrap())
}

fn has_two_cpus() -> bool {
    std::thread::available_parallelism().is_ok_and(|count| count.get() > 1)
}

/// Gives the program of a site file a second for each step, and ordinary priority: the page must
/// hold even if the machine stands still for a moment, or somebody else has a site up on it.
fn be_patient(site: &Path) {
    let text = fs::read_to_string(site).unwrap();
    let patient = text.replacen("\nperiod = ", "\nwatchdog = \"1 s\"\nperiod = ", 1);
    assert_ne!(patient, text);
    let ordinary = patient.replacen("priority = 80", "policy = \"other\"", 1);
    assert_ne!(ordinary, patient);
    fs::write(site, ordinary).unwrap();
}

/// Runs a command of the page, and repeats it if the machine stood still, for as long as the
/// outputs' watchdog of a SubDevice allows, 100 ms, or beyond a deadline: that is rightly told, but
/// the page is not at fault.
fn on_a_machine_that_goes_on(folder: &Path, line: &str) -> Said {
    let mut said = shell(folder, line);
    for _ in 0..4 {
        let stood_still = said.out.contains("the fieldbus was not whole")
            || said.err.contains("beyond its deadline");
        if said.status == Some(0) || !stood_still {
            break;
        }
        let run = folder.join("run");
        if run.exists() {
            fs::remove_dir_all(run).unwrap();
        }
        said = shell(folder, line);
    }
    said
}

/// Goal: whoever does what the page says has a running program.
/// Method: write its files, and run each of its commands in their order.
#[test]
fn the_page_of_the_first_program_holds_line_by_line() {
    if !has_two_cpus() {
        return quietcore_skip::skip!("needs two CPUs; this machine has one");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for block in blocks() {
        match block.info.split_once(' ') {
            Some((_, file)) => {
                let path = folder.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                let mut file = fs::File::options().append(true).create(true).open(path).unwrap();
                file.write_all(format!("\n{}", block.text).as_bytes()).unwrap();
            }
            None => {
                for line in block.text.lines().filter(|line| line.starts_with("quietcore ")) {
                    let said = on_a_machine_that_goes_on(folder.path(), line);
                    if said.status != Some(0) {
                        shell(folder.path(), "quietcore down");
                    }
                    assert_eq!(said.status, Some(0), "{line}: {}\n{}", said.out, said.err);
                    if commands == 0 {
                        be_patient(&folder.path().join("pid.toml"));
                    }
                    commands += 1;
                }
            }
        }
    }
    assert_eq!(commands, 13, "every command of the page was run");
    let svg = fs::read_to_string(folder.path().join("tank.svg")).unwrap();
    assert!(svg.contains("pid_U.level"));
    let site = fs::read_to_string(folder.path().join("pid.toml")).unwrap();
    assert!(site.starts_with("#:schema ") && site.contains("period = \"10 ms\""), "{site}");
    assert!(site.contains("quietcore up pid.toml") && site.contains("retain = [\"pid_P.*\"]"));
    assert!(site.contains("# variable = \"pid_U.level\""), "a stub for each input: {site}");
}

/// Goal: the comments of a site file name the file that was written.
#[test]
fn init_calls_the_file_by_the_name_that_it_gets() {
    let folder = tempfile::tempdir().unwrap();
    let said = shell(folder.path(), "quietcore init > press.toml");
    assert_eq!(said.status, Some(0), "{}", said.err);
    let text = fs::read_to_string(folder.path().join("press.toml")).unwrap();
    assert!(text.starts_with("#:schema ./site-file.schema.json\n"), "{text}");
    assert!(text.contains("quietcore plan press.toml") && !text.contains("quickstart.toml"));
    let piped = shell(folder.path(), "quietcore init | cat").out;
    assert!(piped.contains("quietcore plan quickstart.toml"), "{piped}");
}

#[test]
fn a_folder_without_a_program_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for name in ["empty", "absent"] {
        let said = shell(folder.path(), &format!("quietcore init --model {name}"));
        assert_eq!(said.status, Some(2), "{}", said.out);
        assert!(said.err.contains(name) && said.out.is_empty(), "{}", said.err);
    }
}

/// Goal: no page of the manual refers to one that is not written.
#[test]
fn the_manual_refers_to_its_own_pages_only() {
    let folder = tempfile::tempdir().unwrap();
    let said = shell(folder.path(), "quietcore man --out man");
    assert_eq!(said.status, Some(0), "{}", said.err);
    let mut references = 0;
    for entry in fs::read_dir(folder.path().join("man")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap().replace("\\-", "-");
        for word in text.split_whitespace().filter(|word| word.ends_with("(1)")) {
            let name = word.trim_end_matches("(1)");
            assert!(folder.path().join(format!("man/{name}.1")).exists(), "{name}");
            references += 1;
        }
    }
    assert!(references > 30, "{references}");
    let shown = shell(folder.path(), "quietcore man probe latency");
    assert!(shown.out.contains("--inject"), "{}", shown.out);
    let unknown = shell(folder.path(), "quietcore man prob");
    assert!(unknown.status == Some(2) && unknown.err.contains("there is no such command"));
}
