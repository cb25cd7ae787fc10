//! Limits what an interface sends until its standard input ends: `limit JOURNAL INTERFACE RATE`
//!
//! Prints what was done, then `held`. Tests kill it. `limit JOURNAL` puts back what was left so.

use std::io::{self, Read as _};
use std::process::ExitCode;

use quietcore_settings::{Changed, Controls, LiveSettings, RequestedSettings, Store};
use quietcore_site::{Network, Traffic};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("limit: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("write `limit JOURNAL INTERFACE RATE`");
    let controls = Controls::new(LiveSettings::default(), Store::new(next()?));
    let Ok(interface) = next() else { return recover(&controls) };
    let rate = next()?;
    let rate = rate.parse().map_err(|error| format!("`{rate}`: {error}"))?;
    let traffic = vec![Traffic::new("limited", &interface, Network::new(rate, None))];
    let wanted = RequestedSettings { traffic, ..RequestedSettings::default() };
    let name = format!("limit-{}", std::process::id());
    let changed = Changed::begin(&wanted, &name, Some(&controls)).map_err(|it| it.to_string())?;
    println!("{}", changed.found().controls);
    println!("held");
    io::stdin().read_to_end(&mut Vec::new()).map_err(|error| error.to_string())?;
    for left in changed.end().1 {
        println!("left: {left}");
    }
    Ok(())
}

fn recover(controls: &Controls<LiveSettings>) -> Result<(), String> {
    let recovery = controls.recover().map_err(|error| error.to_string())?;
    println!("{} gone, {} left", recovery.gone.len(), recovery.left.len());
    Ok(())
}
