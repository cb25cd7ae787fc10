//! Brings a site up for some seconds and prints what it does: a trial without the command line tool.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quietcore_supervisor::control::Restart;
use quietcore_supervisor::live::{Plan, Running};
use quietcore_supervisor::places::Places;

fn main() {
    let file = PathBuf::from(std::env::args().nth(1).expect("a site file"));
    let seconds: u64 = std::env::args().nth(2).and_then(|text| text.parse().ok()).unwrap_or(5);
    let bytes = std::fs::read(&file).expect("readable");
    let site = quietcore_site::read("site.toml", &bytes, &quietcore_record::class::catalogue());
    let own = std::env::current_exe().expect("a path");
    let plan = Plan {
        site: Arc::new(site.unwrap_or_else(|problems| panic!("{problems}"))),
        site_file: file,
        runtime: own.with_file_name("partition"),
        start: Restart::Cold,
    };
    let places = Places::new("/tmp/try/run", "/tmp/try/state");
    let running = Running::up(plan, &places, &mut |line| println!("{line}"));
    let running = running.unwrap_or_else(|error| panic!("{error}"));
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut seen = 0;
    while Instant::now() < end {
        for event in running.site().events(seen) {
            println!("{:>8} {:?} {}", event.cycle.unwrap_or(0), event.severity, event.text);
            seen = event.sequence + 1;
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    for state in running.site().list() {
        println!("{state:#?}");
    }
}
