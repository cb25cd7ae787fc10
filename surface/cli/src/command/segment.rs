//! `quietcore segment`

use std::path::Path;
use std::sync::atomic::Ordering;

use quietcore_probe::ethercat::process::simulated;
use quietcore_process::setting;
use quietcore_segment::SubDevice;
use quietcore_segment::device::NAMES;
use quietcore_units::CpuId;
use quietcore_wire::{PacketWire, Server};

use crate::arguments::Segment;
use crate::files;
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal::say;

/// The largest file of SubDevices.
const FILE_BYTES_MAX: usize = 1 << 20;
/// Number of the server's calls of the stop function between two looks at the interface.
const LOOK_EVERY: u32 = 20;
/// The largest number of SubDevices of a segment.
const SUBDEVICES_MAX: usize = 200;

pub(super) fn run(request: &Segment) -> Result<Status, Failure> {
    let names = names(request.subdevices.as_deref())?;
    let segment = simulated(&names)?;
    let wire = PacketWire::open(&request.interface)?.with_spin(request.spin);
    if let Some(cpu) = request.cpu.map(cpu).transpose()? {
        setting::pin(cpu).map_err(|error| Failure::new(format!("--cpu {cpu}: {error}")))?;
    }
    let stop = machine::stop_flag()?;
    say(format_args!(
        "answering on {} with {} SubDevices: {}",
        request.interface,
        names.len(),
        names.join(", ")
    ));
    let interface = wire.look()?;
    let mut asked: u32 = 0;
    let mut is_gone = false;
    let served = Server::new(wire, segment).serve(|_| {
        asked = asked.wrapping_add(1);
        is_gone = is_gone || asked.is_multiple_of(LOOK_EVERY) && !interface.is_there();
        is_gone || stop.load(Ordering::Relaxed)
    })?;
    super::print(&format!("{} frames received, {} sent back\n", served.received, served.answered))?;
    if is_gone {
        let name = &request.interface;
        return Err(Failure::new(format!("quietcore: the network interface `{name}` is gone")));
    }
    Ok(Status::Done)
}

/// Returns the names of the SubDevices in a file; without a file, each kind once.
pub(super) fn names(file: Option<&Path>) -> Result<Vec<String>, Failure> {
    match file {
        Some(file) => read(file),
        None => Ok(NAMES.iter().map(|name| (*name).to_owned()).collect()),
    }
}

/// Returns the CPU with this number.
fn cpu(number: u32) -> Result<CpuId, Failure> {
    CpuId::new(number).ok_or_else(|| Failure::new(format!("--cpu {number}: there is no such CPU")))
}

/// Reads a file of SubDevices; all of its problems become one failure.
fn read(file: &Path) -> Result<Vec<String>, Failure> {
    let bytes = files::read(file, FILE_BYTES_MAX)?;
    if bytes.len() > FILE_BYTES_MAX {
        let words = format!("{}: it has more than {FILE_BYTES_MAX} bytes", file.display());
        return Err(Failure::new(words));
    }
    parse(&String::from_utf8_lossy(&bytes)).map_err(|problems| {
        let lines: Vec<_> =
            problems.iter().map(|problem| format!("{}:{problem}", file.display())).collect();
        Failure::new(lines.join("\n"))
    })
}

/// Returns the names in a file of SubDevices, or its problems, each with its line.
fn parse(text: &str) -> Result<Vec<String>, Vec<String>> {
    let mut names = Vec::new();
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let (count, name) = match line.split_once(char::is_whitespace) {
            _ if line.is_empty() => continue,
            Some((count, name)) => (count.parse().ok(), name.trim()),
            None => (Some(1), line),
        };
        let number = index + 1;
        let room = SUBDEVICES_MAX - names.len();
        match count {
            None => {
                problems.push(format!("{number}: `{line}` is no name, nor a number and a name"));
            }
            Some(count) if count > room => problems.push(format!(
                "{number}: with these there are more than {SUBDEVICES_MAX} SubDevices"
            )),
            Some(count) => match SubDevice::by_name(name) {
                Ok(_) => names.extend(std::iter::repeat_n(name.to_owned(), count)),
                Err(error) => problems.push(format!("{number}: {error}")),
            },
        }
    }
    if names.is_empty() && problems.is_empty() {
        problems.push("1: there is no SubDevice; name one a line".to_owned());
    }
    if problems.is_empty() { Ok(names) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_counts_and_remarks_are_read() {
        let names = parse("# a line\ncoupler\n\n2 servo-drive # two axes\n").unwrap();
        assert_eq!(names, ["coupler", "servo-drive", "servo-drive"]);
    }

    #[test]
    fn all_problems_are_told_with_their_lines() {
        let problems = parse("couplr\nmany servo-drive\n201 coupler\n").unwrap_err();
        assert_eq!(problems.len(), 3);
        assert!(problems[0].starts_with("1: there is no device `couplr`; there are coupler, "));
        assert_eq!(problems[1], "2: `many servo-drive` is no name, nor a number and a name");
        assert_eq!(problems[2], "3: with these there are more than 200 SubDevices");
        assert_eq!(parse("").unwrap_err(), ["1: there is no SubDevice; name one a line"]);
    }
}
