//! Loads by hand: starts them, shows what they achieve, stops them. It is its own helper program.
//!
//! ```text
//! load [--seconds N] [--cpus LIST] [--folder DIR] [KIND=WORKERS[:SIZE] …]
//! ```
//!
//! Without a kind it starts the published load and one worker of each other kind.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use quietcore_load::{Achieved, LoadRequest, LoadSet, presets, worker};
use quietcore_site::LoadKind;
use quietcore_units::{ByteSize, Causes, CpuSet, Nanos};

const START_WITHIN: Nanos = Nanos::from_secs(20);

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1).peekable();
    if arguments.next_if(|first| first == "load").is_some() {
        return worker::main(arguments);
    }
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", Causes(&*error));
            ExitCode::from(2)
        }
    }
}

fn run(mut arguments: impl Iterator<Item = OsString>) -> Result<(), Box<dyn Error>> {
    let mut seconds = 3;
    let mut cpus: Option<CpuSet> = None;
    let mut folder = None;
    let mut requests = Vec::new();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or("an option has no value");
        match argument.to_str().ok_or("not UTF-8")? {
            "--seconds" => seconds = value()?.to_str().ok_or("not UTF-8")?.parse()?,
            "--cpus" => cpus = Some(value()?.to_str().ok_or("not UTF-8")?.parse()?),
            "--folder" => folder = Some(value()?.into()),
            text => requests.push(request(text)?),
        }
    }
    if requests.is_empty() {
        requests = presets::papers_load();
        requests.extend(presets::other_loads());
    }
    for request in &mut requests {
        request.cpus = cpus;
        if request.kind == LoadKind::Disk {
            request.folder.clone_from(&folder);
        }
    }
    let mut set = LoadSet::start(&env::current_exe()?, &requests)?;
    set.wait_until_running(START_WITHIN)?;
    for remark in set.remarks() {
        eprintln!("{remark}");
    }
    let processes: Vec<_> = set.process_ids().iter().map(u32::to_string).collect();
    println!("processes {}", processes.join(" "));
    for _ in 0..seconds {
        thread::sleep(Duration::from_secs(1));
        set.measure().iter().for_each(show);
        println!();
    }
    set.stop()?;
    Ok(())
}

fn request(text: &str) -> Result<LoadRequest, Box<dyn Error>> {
    let (kind, rest) = text.split_once('=').unwrap_or((text, "1"));
    let (workers, size) = rest
        .split_once(':')
        .map_or((rest, None), |(workers, size)| (workers, Some(size.parse::<ByteSize>())));
    let mut request = LoadRequest::new(kind.parse()?, workers.parse()?);
    request.size = size.transpose().map_err(|error| format!("{text}: {error}"))?;
    Ok(request)
}

fn show(achieved: &Achieved) {
    let bytes = achieved
        .bytes_per_second
        .map_or_else(String::new, |bytes| format!("{:.1} MB/s", bytes / 1e6));
    println!(
        "{:<16} {:>2}/{:<2} {:>14.1} {:<13} {:>14} {:>5.2} CPUs of {} {:?}",
        achieved.kind,
        achieved.workers_alive - achieved.workers_stalled,
        achieved.workers,
        achieved.operations_per_second,
        achieved.unit,
        bytes,
        achieved.cpu_share,
        achieved.cpus,
        achieved.faults,
    );
}
