//! The parts of the gate as values: commands, their needs, and which of them may run side by side.

use crate::need::Need;
use crate::run::machine::Machine;

/// Steps that may run at the same time. The next group begins when all have ended.
#[derive(Debug)]
pub(crate) struct Group {
    /// Describes its steps in a word or two.
    pub(crate) name: &'static str,
    /// The number of steps that run at a time.
    pub(crate) at_once: usize,
    /// In the order in which they are started.
    pub(crate) steps: Vec<Step>,
}

/// A part of the gate that passes or fails as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Unique within the gate.
    pub(crate) name: String,
    /// Without one of these it is skipped.
    pub(crate) needs: Vec<Need>,
    /// The work that it does.
    pub(crate) action: Action,
    /// Decides which other steps it may run beside.
    pub(crate) lane: Lane,
}

/// The work of a step.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Runs a command, which passes with status 0.
    Command(CommandLine),
    /// Runs tests, each in a process of its own. Those that fail are repeated alone.
    Tests(Tests),
    /// Runs commands in a virtual test machine.
    Machine(Machine),
}

/// Tests that cargo-nextest runs.
#[derive(Clone, Debug)]
pub(crate) struct Tests {
    /// Words that say what cargo builds: packages, features and kinds of targets.
    pub(crate) built: &'static str,
    /// Which of the tests, as a filterset of cargo-nextest; all if it is empty.
    pub(crate) filter: String,
    pub(crate) variables: Vec<(String, String)>,
    /// The number of busy loops that run beside them.
    pub(crate) load: u32,
    /// Set if one of them runs at a time.
    pub(crate) is_alone: bool,
}

/// Decides which of the other steps of its group a step may run beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Runs beside all of them.
    Beside,
    /// Runs beside those that do not build into cargo's folder of the workspace, which cargo locks.
    Cargo,
    /// Runs beside none of them.
    Alone,
}

/// A program and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine {
    pub(crate) program: Program,
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
    /// The folder that it runs in, from the project's root.
    pub(crate) folder: &'static str,
}

/// A program to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// By its name or path.
    Named(String),
    /// One that cargo has built from a file of a crate's folder `tests`.
    Tests {
        /// Without `quietcore-`.
        package: &'static str,
        name: &'static str,
    },
}

impl Step {
    pub(crate) fn new(name: impl Into<String>, command: CommandLine) -> Self {
        Self::of(name, Action::Command(command))
    }

    pub(crate) fn of(name: impl Into<String>, action: Action) -> Self {
        Self { name: name.into(), needs: Vec::new(), action, lane: Lane::Beside }
    }

    pub(crate) fn needs(mut self, needs: impl IntoIterator<Item = Need>) -> Self {
        self.needs.extend(needs);
        self
    }

    pub(crate) fn lane(mut self, lane: Lane) -> Self {
        self.lane = lane;
        self
    }
}

impl Tests {
    /// All tests of what cargo builds by these words.
    pub(crate) fn of(built: &'static str) -> Self {
        Self { built, filter: String::new(), variables: Vec::new(), load: 0, is_alone: false }
    }
}

impl CommandLine {
    pub(crate) fn new(program: Program) -> Self {
        Self { program, arguments: Vec::new(), variables: Vec::new(), folder: "." }
    }

    /// A command of which no word has a blank.
    pub(crate) fn words(words: &str) -> Self {
        let mut words = words.split_whitespace();
        let program = Program::Named(words.next().unwrap_or_default().to_owned());
        Self::new(program).arguments(words)
    }

    pub(crate) fn arguments(
        mut self,
        arguments: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn folder(mut self, folder: &'static str) -> Self {
        self.folder = folder;
        self
    }
}

impl std::fmt::Display for CommandLine {
    /// As a shell takes it, with the program of tests by its name.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, value) in &self.variables {
            write!(formatter, "{name}={} ", quoted(value))?;
        }
        match &self.program {
            Program::Named(program) => formatter.write_str(&quoted(program))?,
            Program::Tests { package, name } => write!(formatter, "{package}/tests/{name}")?,
        }
        self.arguments.iter().try_for_each(|argument| write!(formatter, " {}", quoted(argument)))
    }
}

/// A word as a shell takes it; none has a NUL.
pub(crate) fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| String::from("''"), std::borrow::Cow::into_owned)
}
