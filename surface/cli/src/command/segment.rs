//! `quietcore segment`

use std::path::Path;
use std::sync::atomic::Ordering;

use quietcore_assembly::{Catalogue, NotMeant, simulated};
use quietcore_process::setting;
use quietcore_segment::device::NAMES;
use quietcore_segment::{Options, SubDevice};
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
    let file = request.subdevices.as_deref();
    let lines = lines(file)?;
    let catalogue = (!request.esi.is_empty()).then(|| {
        let names = lines.iter().map(|line| line.name.as_str());
        Catalogue::read(&request.esi, names.filter(|name| !NAMES.contains(name)))
    });
    let catalogue = catalogue.transpose().map_err(|why| Failure::new(format!("--esi {why}")))?;
    let subdevices = all(file, &lines, &|name| subdevice(name, catalogue.as_ref()))?;
    let names: Vec<_> = subdevices.iter().map(|one| one.name().to_owned()).collect();
    let segment = quietcore_segment::Segment::new(subdevices, Options::default());
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

/// Returns the names of the built-in SubDevices in a file; without a file, each kind once.
pub(super) fn names(file: Option<&Path>) -> Result<Vec<String>, Failure> {
    all(file, &lines(file)?, &|name| subdevice(name, None).map(|_| name.to_owned()))
}

/// The SubDevice of this name: a built-in one, or one of a type that the ESI files have.
fn subdevice(name: &str, catalogue: Option<&Catalogue>) -> Result<SubDevice, String> {
    let unknown = match SubDevice::by_name(name) {
        Ok(built_in) => return Ok(built_in),
        Err(unknown) => unknown,
    };
    let Some(catalogue) = catalogue else { return Err(unknown.to_string()) };
    let device = catalogue.device(name).map_err(|why| match why {
        NotMeant::Unknown(_) => format!("{why}; built in are {}", NAMES.join(", ")),
        NotMeant::Unclear(_) => why.to_string(),
    })?;
    simulated::subdevice(device)
        .map_err(|error| format!("`{}` can't be simulated: {error}", device.type_name))
}

/// Returns the CPU with this number.
fn cpu(number: u32) -> Result<CpuId, Failure> {
    CpuId::new(number).ok_or_else(|| Failure::new(format!("--cpu {number}: there is no such CPU")))
}

/// Some SubDevices of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    /// The number of the line in its file, from 1.
    number: usize,
    count: usize,
    name: String,
}

/// The lines of a file of SubDevices; without a file, one for each built-in kind.
fn lines(file: Option<&Path>) -> Result<Vec<Line>, Failure> {
    let Some(file) = file else { return Ok(parse(&NAMES.join("\n"))) };
    let bytes = files::read(file, FILE_BYTES_MAX)?;
    if bytes.len() > FILE_BYTES_MAX {
        let words = format!("{}: it has more than {FILE_BYTES_MAX} bytes", file.display());
        return Err(Failure::new(words));
    }
    Ok(parse(&String::from_utf8_lossy(&bytes)))
}

/// Returns the lines of a file of SubDevices, without remarks.
fn parse(text: &str) -> Vec<Line> {
    let line = |(number, line): (usize, &str)| {
        let line = line.split('#').next().unwrap_or_default().trim();
        // Types of ESI files may have blanks.
        let counted = line.split_once(char::is_whitespace);
        let counted = counted.and_then(|(count, name)| Some((count.parse().ok()?, name.trim())));
        let (count, name) = counted.unwrap_or((1, line));
        (!line.is_empty()).then(|| Line { number, count, name: name.to_owned() })
    };
    (1..).zip(text.lines()).filter_map(line).collect()
}

/// Makes the SubDevices of these lines; all problems become one failure.
fn all<T>(
    file: Option<&Path>,
    lines: &[Line],
    make: &dyn Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, Failure> {
    made(lines, make).map_err(|problems| {
        let place = file.map(|file| format!("{}:", file.display())).unwrap_or_default();
        let problems: Vec<_> = problems.iter().map(|it| format!("{place}{it}")).collect();
        Failure::new(problems.join("\n"))
    })
}

/// Makes the SubDevices of these lines, or returns the problems, each with its line.
fn made<T>(
    lines: &[Line],
    make: &dyn Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, Vec<String>> {
    let mut made = Vec::new();
    let mut problems = Vec::new();
    let mut room = SUBDEVICES_MAX;
    for Line { number, count, name } in lines {
        let Some(left) = room.checked_sub(*count) else {
            problems.push(format!(
                "{number}: with these there are more than {SUBDEVICES_MAX} SubDevices"
            ));
            continue;
        };
        room = left;
        // A wrong name is wrong without any, and it is told once.
        let of_line: Result<Vec<_>, _> = (0..*count.max(&1)).map(|_| make(name)).collect();
        match of_line {
            Ok(of_line) => made.extend(of_line.into_iter().take(*count)),
            Err(problem) => problems.push(format!("{number}: {problem}")),
        }
    }
    if made.is_empty() && problems.is_empty() {
        problems.push("1: there is no SubDevice; name one a line".to_owned());
    }
    if problems.is_empty() { Ok(made) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(text: &str) -> Result<Vec<String>, Vec<String>> {
        made(&parse(text), &|name| subdevice(name, None).map(|one| one.name().to_owned()))
    }

    #[test]
    fn names_counts_and_remarks_are_read() {
        let names = names_in("# a line\ncoupler\n\n2 servo-drive # two axes\n").unwrap();
        assert_eq!(names, ["coupler", "servo-drive", "servo-drive"]);
    }

    #[test]
    fn a_type_may_have_blanks_and_begin_with_a_digit() {
        let line = |number, count, name: &str| Line { number, count, name: name.to_owned() };
        let lines = parse("2 EDA7000 CoE Drive\n750-354\n1 2 axes\nFB1111 Dig. In/Out\n");
        let expected = [
            line(1, 2, "EDA7000 CoE Drive"),
            line(2, 1, "750-354"),
            line(3, 1, "2 axes"),
            line(4, 1, "FB1111 Dig. In/Out"),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn all_problems_are_told_with_their_lines() {
        let problems = names_in("couplr\nmany servo-drive\n0 tap\n201 coupler\n").unwrap_err();
        assert_eq!(problems.len(), 4);
        assert!(problems[0].starts_with("1: there is no device `couplr`; there are coupler, "));
        assert!(problems[1].starts_with("2: there is no device `many servo-drive`; there are "));
        assert!(problems[2].starts_with("3: there is no device `tap`; there are "));
        assert_eq!(problems[3], "4: with these there are more than 200 SubDevices");
        for nothing in ["", "0 coupler\n"] {
            assert_eq!(
                names_in(nothing).unwrap_err(),
                ["1: there is no SubDevice; name one a line"]
            );
        }
    }
}
