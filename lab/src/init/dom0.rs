//! Services of dom0, the first domain of Xen, with which `xl` starts others.
//!
//! ```text
//! /proc/xen (xenfs) ─► xenstored (the store) ─► xen-init-dom0 (dom0's own entries) ─► xenconsoled
//! ```
//!
//! They belong to the machine, and end with it.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::mounts;

/// Socket of the store, which is there when it answers.
const STORE: &str = "/run/xenstored/socket";
/// The most pages that programs of dom0 may grant, as a setting of the module that makes them, and
/// the limit: its default is 4 MiB, less than a partition has.
const GRANTED_PAGES_MAX: &str = "/sys/module/xen_gntalloc/parameters/limit";
const GRANTED_PAGES: &str = "65536";
/// Time within which the store must answer.
const STORE_LIMIT: Duration = Duration::from_secs(60);
/// Time between two looks for the store.
const LOOK: Duration = Duration::from_millis(50);

/// Starts the services, whose programs are in `programs`, one after the other.
pub(crate) fn start(programs: &Path) -> Result<(), Box<dyn Error>> {
    mounts::attach_xen()?;
    fs::write(GRANTED_PAGES_MAX, GRANTED_PAGES)?;
    for folder in ["/run/xen", "/run/xenstored", "/var/lib/xen", "/var/log/xen/console"] {
        fs::create_dir_all(folder)?;
    }
    // The store in C; with the one in OCaml, `oxenstored`, this machine comes up, too.
    run(programs, "xenstored", &["--pid-file", "/run/xenstored.pid"])?;
    let begun = Instant::now();
    while !Path::new(STORE).exists() {
        if begun.elapsed() > STORE_LIMIT {
            return Err(format!("xenstored does not answer: there is no {STORE}").into());
        }
        thread::sleep(LOOK);
    }
    run(programs, "xen-init-dom0", &[])?;
    // What a domain writes to its console is kept in /var/log/xen/console.
    run(programs, "xenconsoled", &["--log=guest", "--pid-file=/run/xenconsoled.pid"])
}

/// Runs a program that ends, or goes on in the background by itself. It says on the console what is
/// wrong: a pipe would be held open in the background, and never end.
fn run(programs: &Path, name: &str, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let status = Command::new(programs.join(name)).args(arguments).status();
    let status = status.map_err(|error| format!("{name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} ended with {status}").into()) }
}
