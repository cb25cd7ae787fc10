//! Commands in a virtual test machine of the lab, which notes down those that have passed.
//!
//! Such a machine has faults of its own. The lab starts one anew that falls, and commands that have
//! not passed in the end run once more in a fresh one. A command passes that has passed in one of
//! them, and does not run again.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::process::Status;
use super::programs::{self, crate_of};
use super::{Runner, skips, slug};
use crate::need::Need;
use crate::outcome::report::{CHOSEN_BY_CHANCE, Report, failures_in};
use crate::outcome::{Attempt, Outcome};
use crate::steps::images;
use crate::steps::step::{CommandLine, Program, quoted};

/// Seconds that a command in a machine may take. None takes nearly as long, not on a machine three
/// times slower either.
const COMMAND_LIMIT_SECONDS: u32 = 1200;
/// The same of a machine.
const MACHINE_LIMIT: &str = "30 min";

/// Consoles of machines that were started anew, which the lab keeps in the folder of results.
const EARLIER_CONSOLES: &str = "console-stood-still-";
/// Begins the lines around the output of a command that has passed.
const COMMAND: &str = "quietcore-gate: command ";

/// Runs all commands of the file beside the results, and notes down the numbers of those that pass.
/// Leaves out those that have passed before this machine was started anew.
const SCRIPT: &str = r#"
status=0 number=0
while IFS= read -r -u 3 command; do
    number=$((number + 1))
    if grep -qx "$number" /run/out/passed; then
        continue
    fi
    echo "quietcore-gate: command $number"
    if eval "$command" 3<&-; then
        echo "$number" >>/run/out/passed
        echo "quietcore-gate: command $number passed"
    else
        status=$?
        echo "status $status of $command"
    fi
done 3</run/out/commands
exit $status
"#;

/// A machine and its commands.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// The kind, in the lab's words.
    kind: &'static str,
    /// Its processors run in one thread of the emulator.
    take_turns: bool,
    /// Run in a shell of the machine before the commands.
    first: &'static str,
    commands: Vec<MachineCommand>,
}

/// A command of a machine.
#[derive(Clone, Debug)]
pub(crate) struct MachineCommand {
    /// Without one of these it is left out.
    pub(crate) needs: Vec<Need>,
    pub(crate) command: CommandLine,
}

impl Machine {
    pub(crate) fn of_kind(kind: &'static str) -> Self {
        Self { kind, take_turns: false, first: "", commands: Vec::new() }
    }

    pub(crate) fn take_turns(mut self) -> Self {
        self.take_turns = true;
        self
    }

    pub(crate) fn first(mut self, command: &'static str) -> Self {
        self.first = command;
        self
    }

    pub(crate) fn run(self, command: CommandLine) -> Self {
        self.run_with(Vec::new(), command)
    }

    pub(crate) fn run_with(mut self, needs: Vec<Need>, command: CommandLine) -> Self {
        self.commands.push(MachineCommand { needs, command });
        self
    }

    pub(crate) fn commands(&self) -> &[MachineCommand] {
        &self.commands
    }

    /// The arguments of the lab that start it, with its results in this folder.
    pub(crate) fn arguments(&self, folder: &str, images: &str, kernel: &str) -> Vec<String> {
        let mut arguments = vec!["run", "--limit", MACHINE_LIMIT, "--out", folder];
        arguments.extend(["--kind", self.kind]);
        arguments.extend(self.take_turns.then_some("--take-turns"));
        let images = format!("QUIETCORE_IMAGES={images}");
        let kernel = format!("QUIETCORE_KERNEL={kernel}");
        let script = format!("{}\n{SCRIPT}", self.first);
        arguments.extend(["--", "env", &images, &kernel, "QUIETCORE_SKIP_FILE=/run/out/skips"]);
        arguments.extend(["bash", "-c", &script]);
        arguments.into_iter().map(str::to_owned).collect()
    }
}

/// A line for the shell in a machine, which runs this program with the command's arguments.
pub(crate) fn line(command: &CommandLine, program: &str) -> String {
    let mut line = format!("timeout {COMMAND_LIMIT_SECONDS} env");
    for (name, value) in &command.variables {
        line.push_str(&format!(" {name}={}", quoted(value)));
    }
    for word in [program].into_iter().chain(command.arguments.iter().map(String::as_str)) {
        line.push(' ');
        line.push_str(&quoted(word));
    }
    line
}

/// The folder in which a machine leaves its results.
#[derive(Debug)]
pub(crate) struct Results {
    folder: PathBuf,
    commands: Vec<String>,
}

impl Results {
    /// Makes the folder, with the commands in it that the machine will run.
    ///
    /// # Errors
    /// It can't be written.
    pub(crate) fn begin(folder: &str, commands: Vec<String>) -> io::Result<Self> {
        // Results of an earlier run are not of this one.
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let text: String = commands.iter().map(|command| format!("{command}\n")).collect();
        fs::create_dir_all(folder)?;
        // When the lab starts a machine anew, it keeps what was there before the first one.
        for (name, text) in [("commands", text.as_str()), ("passed", ""), ("skips", "")] {
            fs::write(Path::new(folder).join(name), text)?;
        }
        Ok(Self { folder: folder.into(), commands })
    }

    /// The commands that have not passed.
    pub(crate) fn left(&self) -> Vec<String> {
        let passed = self.text("passed");
        let passed: Vec<usize> = passed.lines().filter_map(|line| line.parse().ok()).collect();
        let numbered = self.commands.iter().zip(1..);
        let left = numbered.filter(|(_, number)| !passed.contains(number));
        left.map(|(command, _)| command.clone()).collect()
    }

    /// Returns `true` if there were commands, and all of them have passed.
    pub(crate) fn are_whole(&self) -> bool {
        !self.commands.is_empty() && self.left().is_empty()
    }

    /// The output of the commands that passed before the machine was started anew.
    ///
    /// # Errors
    /// The folder can't be read.
    fn passed_earlier(&self) -> io::Result<String> {
        let mut consoles = BTreeSet::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(EARLIER_CONSOLES) {
                consoles.insert(path);
            }
        }
        let mut output = String::new();
        for console in consoles {
            let console = fs::read(console)?;
            output.push_str(&output_of_passed(&String::from_utf8_lossy(&console)));
        }
        Ok(output)
    }

    /// The skips of its tests, a line each.
    pub(crate) fn skips(&self) -> String {
        self.text("skips")
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }
}

/// The output of the commands in a console that have passed.
fn output_of_passed(console: &str) -> String {
    let (mut output, mut of_command) = (String::new(), String::new());
    for line in console.lines() {
        match line.strip_prefix(COMMAND) {
            Some(rest) if rest.ends_with(" passed") => output.push_str(&of_command),
            Some(_) => of_command.clear(),
            None => of_command.extend([line, "\n"]),
        }
    }
    output
}

/// The tests that a machine runs.
#[derive(Debug, Default)]
struct Ran {
    /// Programs of which all tests run, by the names of their crates.
    whole: Vec<String>,
    /// Programs of which some run, and the names of these.
    some: Vec<(String, Vec<String>)>,
}

impl Ran {
    fn add(&mut self, program: &str, arguments: &[String]) {
        let names = arguments.iter().filter(|argument| !argument.starts_with("--"));
        let names: Vec<String> = names.cloned().collect();
        match names.is_empty() {
            true => self.whole.push(program.to_owned()),
            false => self.some.push((program.to_owned(), names)),
        }
    }

    /// Returns `true` if the test of this path ran. Some skips have a name alone.
    fn has(&self, path: &str, report: &Report) -> bool {
        let (program, name) = (skips::program(path), skips::last(path));
        let in_report = report.verdicts.iter().any(|(test, _)| skips::last(test) == name);
        let is_some = |(of, names): &(String, Vec<String>)| {
            of == program && (in_report || names.iter().any(|test| skips::last(test) == name))
        };
        self.whole.iter().any(|whole| whole == program)
            || self.some.iter().any(is_some)
            || program == path && in_report
    }
}

impl Runner {
    /// Runs the commands of a machine, and those that did not pass once more in a fresh one.
    pub(super) fn machine(&self, name: &str, machine: &Machine) -> Result<Outcome, String> {
        let (commands, ran) = self.commands_in(machine)?;
        let (mut attempt, results) = self.machine_once(name, machine, commands)?;
        let first = Report::read(&attempt.log);
        self.skips.take(&results.skips(), |test| ran.has(test, &first));
        let first_skips = results.skips();
        if attempt.status.is_pass() || attempt.log.contains(CHOSEN_BY_CHANCE) {
            let mut outcome = Outcome::of_command(name, attempt);
            outcome.leave_out_skipped(&first_skips);
            return Ok(outcome);
        }
        let failures = failures_in(&attempt.log);
        let again = format!("{name}, the second time");
        let (repeated, results) = self.machine_once(&again, machine, results.left())?;
        // Tests that skipped in the first machine are not run again.
        self.skips.take(&results.skips(), |_| false);
        attempt.status = repeated.status;
        attempt.took += repeated.took;
        attempt.processor += repeated.processor;
        let skipped = first.reported.iter().find(|test| skips::names(&results.skips(), test));
        attempt.log = repeated.log;
        if let Some(test) = skipped {
            attempt.log.push_str(&format!("{test} failed before, and was skipped now\n"));
            attempt.status = Status::Exited(1);
        }
        let mut outcome = Outcome::of_command(name, attempt);
        outcome.passed += first.passed_whole;
        outcome.leave_out_skipped(&(first_skips + &results.skips()));
        if outcome.status.is_pass() {
            outcome.flaky = first.reported.len().max(1);
            outcome.flaky_report = failures;
        }
        Ok(outcome)
    }

    /// The commands of a machine as its shell takes them, and the tests that these run. What can't
    /// be run is skipped.
    fn commands_in(&self, machine: &Machine) -> Result<(Vec<String>, Ran), String> {
        let built = programs::parse(&self.needs.get(Need::TestPrograms)?);
        let (mut lines, mut ran) = (Vec::new(), Ran::default());
        for command in machine.commands() {
            let missing = command.needs.iter().find_map(|need| {
                self.needs.get(*need).err().map(|reason| self.skips.add(need.name(), &reason))
            });
            if missing.is_some() {
                continue;
            }
            for (command, program) in programs::resolve(&command.command, &built)? {
                if matches!(command.program, Program::Tests { .. }) {
                    ran.add(crate_of(&program), &command.arguments);
                }
                lines.push(line(&command, &program));
            }
        }
        Ok((lines, ran))
    }

    fn machine_once(
        &self,
        name: &str,
        machine: &Machine,
        commands: Vec<String>,
    ) -> Result<(Attempt, Results), String> {
        let folder = self.places.own(&format!("lab/{}", slug(name)));
        let kernel = self.needs.get(Need::LabKernel)?;
        let arguments = machine.arguments(&folder, &images(&self.places), &kernel);
        let results = Results::begin(&folder, commands);
        let results = results.map_err(|error| format!("{folder}: {error}"))?;
        let lab = CommandLine::new(Program::Named(self.places.built("quietcore-lab")));
        let mut attempt = self.command(name, &lab.arguments(arguments))?;
        let earlier = results.passed_earlier().map_err(|error| format!("{folder}: {error}"))?;
        attempt.log.insert_str(0, &earlier);
        // One with nothing to do fails, too: its command failed after all of them had passed.
        if attempt.status.is_pass() && !results.are_whole() {
            attempt.log.push_str("not all of its commands ran\n");
            attempt.status = Status::Exited(1);
        }
        Ok((attempt, results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_runs_whole_programs_and_some_tests_of_others() {
        let mut ran = Ran::default();
        ran.add("guests", &["--test-threads=1".to_owned()]);
        ran.add("running", &["--test-threads=1".to_owned(), "a_set".to_owned()]);
        let report = Report::read("test module::a_stop_ends_it ... ok\n");
        for test in ["guests::anything", "running::a_set", "a_stop_ends_it"] {
            assert!(ran.has(test, &report), "{test}");
        }
        for test in ["running::a_force", "rates::a_stop_ends_it", "a_force"] {
            assert!(!ran.has(test, &report), "{test}");
        }
    }

    #[test]
    fn commands_that_did_not_pass_are_left() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().to_str().expect("UTF-8");
        let commands = ["a", "b", "c"].map(str::to_owned).to_vec();
        let results = Results::begin(path, commands).expect("the folder is ours");
        assert_eq!(results.left(), ["a", "b", "c"]);
        fs::write(folder.path().join("passed"), "1\n3\n").expect("the folder is ours");
        assert_eq!(results.left(), ["b"]);
    }

    #[test]
    fn the_machine_s_shell_notes_down_what_passed_and_goes_on_after_what_did_not() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().to_str().expect("UTF-8");
        let shell = |script: &str| CommandLine::words("sh -c").arguments([script.to_owned()]);
        let commands = [shell("exit 0"), shell("exit 7"), shell("test \"$A\" = 'b c'")];
        let with_variable = |command: &CommandLine| command.clone().variable("A", "b c");
        let lines = commands.iter().map(|command| line(&with_variable(command), "sh")).collect();
        let results = Results::begin(path, lines).expect("the folder is ours");
        let script = SCRIPT.replace("/run/out", path);
        let status = std::process::Command::new("bash").args(["-c", &script]).status();
        assert_eq!(status.expect("there is bash").code(), Some(7));
        assert_eq!(results.left(), [line(&with_variable(&commands[1]), "sh")]);
    }

    #[test]
    fn a_command_that_passed_before_its_machine_fell_counts_and_does_not_run_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().to_str().expect("UTF-8");
        let commands = ["echo first", "echo second"].map(str::to_owned).to_vec();
        let results = Results::begin(path, commands).expect("the folder is ours");
        let script = SCRIPT.replace("/run/out", path);
        let run = || {
            let output = std::process::Command::new("bash").args(["-c", &script]).output();
            String::from_utf8(output.expect("there is bash").stdout).expect("UTF-8")
        };
        let mut console = run();
        assert_eq!(output_of_passed(&console), "first\nsecond\n");
        fs::write(folder.path().join("passed"), "1\n").expect("the folder is ours");
        console.truncate(console.find("second").expect("it ran"));
        let earlier = folder.path().join("console-stood-still-1.txt");
        fs::write(earlier, console).expect("the folder is ours");
        assert_eq!(results.passed_earlier().expect("the folder is ours"), "first\n");
        assert_eq!(output_of_passed(&run()), "second\n");
        assert!(results.are_whole());
    }
}
