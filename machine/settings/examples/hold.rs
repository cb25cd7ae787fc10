//! Changes settings of this machine until its standard input ends: `hold JOURNAL CPUS CONTROL..`
//!
//! Prints what became of each control, then `held`. Tests kill it at any instant.

use std::io::{self, Read as _};
use std::process::ExitCode;

use quietcore_host::Source;
use quietcore_settings::{Controls, LiveSettings, RequestedSettings, Store, Tally, requests};
use quietcore_site::Control;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hold: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("write `hold JOURNAL CPUS CONTROL..`");
    let (journal, cpus) = (next()?, next()?);
    let cpus = cpus.parse().map_err(|error| format!("`{cpus}`: {error}"))?;
    let named: Vec<String> = arguments.collect();
    let known = |name: &String| Control::ALL.into_iter().find(|control| control.name() == name);
    let chosen: Option<Vec<_>> = named.iter().map(known).collect();
    let chosen = chosen.ok_or("there is no such control")?;
    let controls = Controls::new(LiveSettings::default(), Store::new(journal));
    let name = format!("hold-{}", std::process::id());
    let wanted = RequestedSettings {
        controls: chosen.clone(),
        cpus,
        huge_pages: 4,
        ..RequestedSettings::default()
    };
    let asked = requests(&Source::live(), &name, &wanted);
    let (held, outcomes) = controls.hold(&name, asked).map_err(|error| error.to_string())?;
    for tally in Tally::of(&chosen, &outcomes) {
        println!("{tally}");
    }
    println!("held");
    io::stdin().read_to_end(&mut Vec::new()).map_err(|error| error.to_string())?;
    for left in held.release().map_err(|error| error.to_string())? {
        println!("left: {left}");
    }
    Ok(())
}
