//! The plan of the gate, for a reader.

use crate::durations::Durations;
use crate::progress::clock;
use crate::steps::step::{Action, Group, Lane};

/// Columns of a command.
const COLUMNS_MAX: usize = 108;

/// All steps, group by group; paths are shown from the root.
pub(crate) fn text(groups: &[Group], last: &Durations, root: &str) -> String {
    let below_root = format!("{root}/");
    let mut lines = Vec::new();
    for group in groups {
        let at_once = match group.at_once {
            1 => String::from("one at a time"),
            count => format!("at most {count} at a time"),
        };
        lines.push(format!("{}: {at_once}", group.name));
        for step in &group.steps {
            let last = last.of(&step.name);
            let last = last.map_or_else(|| "-".to_owned(), |last| format!("{} s", last.seconds));
            let lane = match step.lane {
                Lane::Alone => "; alone",
                Lane::Beside | Lane::Cargo => "",
            };
            let needs: Vec<String> = step.needs.iter().map(|need| format!("{need:?}")).collect();
            let needs = match needs.len() {
                0 => String::new(),
                _ => format!("; needs {}", needs.join(", ")),
            };
            lines.push(format!("  {last:>6}  {}{lane}{needs}", step.name));
            let commands = commands(&step.action).into_iter();
            let commands = commands.map(|command| command.replace(&below_root, ""));
            lines.extend(commands.map(|command| format!("          {}", shortened(&command))));
        }
    }
    lines.push(announcement(groups.iter().map(|group| group.steps.len()).sum(), last));
    lines.join("\n")
}

/// Cuts a command to the columns of a line.
fn shortened(command: &str) -> String {
    match command.char_indices().nth(COLUMNS_MAX) {
        Some((end, _)) => format!("{} …", &command[..end]),
        None => command.to_owned(),
    }
}

fn commands(action: &Action) -> Vec<String> {
    match action {
        Action::Command(command) => vec![command.to_string()],
        Action::Tests(tests) => {
            let filter = match tests.filter.as_str() {
                "" => String::new(),
                filter => format!(" --filterset '{filter}'"),
            };
            vec![format!("cargo nextest run {}{filter}", tests.built)]
        }
        Action::Machine(machine) => {
            machine.commands().iter().map(|command| command.command.to_string()).collect()
        }
    }
}

/// Says how many steps there are, and how long they took before.
pub(crate) fn announcement(steps: usize, last: &Durations) -> String {
    let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
    match last.whole() {
        None => format!("{steps}; no whole run is known here"),
        Some(whole) => {
            let took = clock(std::time::Duration::from_secs(whole.seconds));
            format!("{steps}; the last whole run here took {took} min")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::need::Need;
    use crate::steps::step::{CommandLine, Step};

    #[test]
    fn the_plan_says_what_runs_beside_what_and_what_it_needs() {
        let command = CommandLine::words("cargo test").variable("A", "/q/b c");
        let long = "x".repeat(COLUMNS_MAX + 1);
        assert_eq!(shortened(&long), format!("{} …", &long[1..]));
        let step = Step::new("tests", command).needs([Need::Miri]).lane(Lane::Alone);
        let groups = [Group { name: "all", at_once: 2, steps: vec![step] }];
        assert_eq!(
            text(&groups, &Durations::default(), "/q"),
            "all: at most 2 at a time\n       -  tests; alone; needs Miri\n          \
             A='b c' cargo test\n1 step; no whole run is known here"
        );
    }
}
