//! Checks of the sources alone, and the live page, which the daemon has built in.

use super::style;
use crate::need::Need;
use crate::places::Places;
use crate::steps::step::{CommandLine, Group, Program, Step};

pub(super) fn group(places: &Places) -> Group {
    let deny = || CommandLine::new(Program::Named(places.own("cargo-deny/bin/cargo-deny")));
    // Licences are a house rule, which needs nothing installed.
    let sources = deny().arguments(["--locked", "check", "bans", "sources"]);
    let advisories = deny().arguments(["--locked", "check", "advisories"]);
    let page = CommandLine::words("npm run --prefix web --silent build");
    let mut steps = style().to_vec();
    steps.extend([
        Step::new("sources of dependencies", sources).needs([Need::CargoDeny]),
        Step::new("dependencies with known faults", advisories)
            .needs([Need::CargoDeny, Need::Advisories]),
        Step::new("the live page, built", page).needs([Need::NodePackages]),
    ]);
    Group { name: "sources", at_once: 1, steps }
}
