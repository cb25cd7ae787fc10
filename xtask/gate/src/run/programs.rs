//! The programs of tests that cargo has built, by package and name.

use serde::Deserialize;

use crate::steps::step::{CommandLine, Program};

/// The arguments of cargo that list them. Asked for one package alone, it would build what that
/// uses anew, since fewer features are asked for then.
pub(crate) const LISTING: &str =
    "test --locked --workspace --lib --bins --tests --no-run --message-format=json";

/// A program built from a file of a crate's folder `tests`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestProgram {
    /// Without `quietcore-`.
    pub(crate) package: String,
    pub(crate) name: String,
    pub(crate) path: String,
}

#[derive(Deserialize)]
struct Message {
    package_id: Option<String>,
    target: Option<Target>,
    executable: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

/// The programs in cargo's messages, a JSON object a line.
pub(crate) fn parse(messages: &str) -> Vec<TestProgram> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    messages.filter_map(program).collect()
}

fn program(message: Message) -> Option<TestProgram> {
    let (target, path) = (message.target?, message.executable?);
    let package = message.package_id?;
    // `path+file:///folder#name@version`
    let (package, _) = package.rsplit_once('#')?.1.split_once('@')?;
    let package = package.strip_prefix("quietcore-").unwrap_or(package).to_owned();
    let is_test = target.kind.iter().any(|kind| kind == "test");
    is_test.then_some(TestProgram { package, name: target.name, path })
}

/// The commands that a command stands for, each with the path of its program: one for each program
/// of the package with `*`, and otherwise one.
///
/// # Errors
/// No such program was built.
pub(crate) fn resolve(
    command: &CommandLine,
    built: &[TestProgram],
) -> Result<Vec<(CommandLine, String)>, String> {
    let (package, name) = match &command.program {
        Program::Named(path) => return Ok(vec![(command.clone(), path.clone())]),
        Program::Tests { package, name } => (*package, *name),
    };
    let is_it = |program: &&TestProgram| {
        program.package == package && (name == ALL || program.name == name)
    };
    let found: Vec<_> =
        built.iter().filter(is_it).map(|program| (command.clone(), program.path.clone())).collect();
    if found.is_empty() {
        return Err(format!("the program of tests {package}/tests/{name} was not built"));
    }
    Ok(found)
}

/// Stands for all programs of a package.
pub(crate) const ALL: &str = "*";

/// The name of the crate that a program was built from: the file's without its hash.
pub(crate) fn crate_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('-').map_or(name, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str, kind: &str, executable: &str) -> String {
        let package = "path+file:///q/product/supervisor#quietcore-supervisor@0.1.0";
        format!(r#"{{"package_id":"{package}","target":{{"kind":["{kind}"],"name":"{name}"}},"#)
            + &format!(r#""executable":"/q/target/debug/deps/{executable}"}}"#)
    }

    #[test]
    fn programs_of_the_folder_tests_are_found_by_package_and_name() {
        let messages = [
            r#"{"reason":"build-script-executed","package_id":"x#a@1"}"#.to_owned(),
            message("running", "test", "running-0a1b"),
            message("quietcore_supervisor", "lib", "x-1"),
            message("osek", "test", "osek-2"),
            "no JSON".to_owned(),
        ];
        let built = parse(&messages.join("\n"));
        assert_eq!(built.len(), 2, "{built:?}");
        let of = |name| CommandLine::new(Program::Tests { package: "supervisor", name });
        let paths = |name| -> Result<Vec<String>, String> {
            Ok(resolve(&of(name), &built)?.into_iter().map(|(_, path)| path).collect())
        };
        assert_eq!(paths("running"), Ok(vec!["/q/target/debug/deps/running-0a1b".to_owned()]));
        assert_eq!(paths(ALL).map(|paths| paths.len()), Ok(2));
        assert!(paths("runnin").is_err_and(|error| error.contains("supervisor/tests/runnin")));
        assert_eq!(crate_of("/q/target/debug/deps/running-0a1b"), "running");
    }
}
