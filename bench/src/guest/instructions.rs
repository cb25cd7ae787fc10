//! Instructions of a guest from its entry to the first step of its program, and where they go.
//!
//! QEMU's translator runs the guest one instruction after the other and writes the address of each
//! down. So nothing is estimated: an interrupt that comes on the way is counted too. Each turn of a
//! repeated string instruction counts as an instruction.

use std::collections::BTreeMap;
use std::fs;

use quietcore_boot::places::PROGRAM_CODE;
use quietcore_program_image::{Functions, ProgramImage};

use super::peer::{self, Peer};
use super::program::Program;
use crate::findings::{Findings, Goal};

/// The most instructions to the first cycle.
const GOAL: Goal = Goal::AtMost(200_000.0);
/// Of an emulator, which has no say in how many instructions there are.
pub(super) const COUNTER_HZ: u64 = 1_000_000_000;
/// Runs; a goal is answered by six at least.
const RUNS: usize = 6;
/// Runs of a quick comparison.
const RUNS_QUICK: usize = 1;
/// Functions that are named.
const FUNCTIONS: usize = 12;
/// Places in the program's face, in bytes: `initialize` and `step`.
const INITIALIZE: usize = 8;
pub(super) const STEP: usize = 16;

pub(super) fn measure(program: &Program, findings: &mut Findings) -> Result<(), String> {
    let folder = program.folder().join("written-down");
    let peer = Peer::lay_out(&folder, program, &program.one_cycle(), COUNTER_HZ, false)?;
    let image = quietcore_guests::PARTITION.bytes().map_err(|missing| missing.to_string())?;
    let (image, program) = (Functions::of(image), Functions::of(&peer.program_file));
    let (mut own, mut first, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let mut places = Vec::new();
    for _ in 0..if findings.is_quick() { RUNS_QUICK } else { RUNS } {
        let log = folder.join("log");
        peer::run(peer.written_down(&log))?;
        let text = fs::read_to_string(&log).map_err(|error| format!("QEMU's log: {error}"))?;
        let way = Way::of(&text, &peer)?;
        own.push(way.to_initialize as f64);
        first.push(way.to_step as f64);
        all.push(way.addresses.len() as f64);
        places = most(&image, &program, &way.addresses[..way.to_step]);
    }
    findings.figure("entry to `initialize`", "instr", &own);
    findings.goal("entry to the first step", "instr", &first, GOAL);
    findings.figure("entry to the guest's end after one cycle", "instr", &all);
    findings.remark(format!("most instructions to the first step: {}", places.join(", ")));
    Ok(())
}

/// The way of a guest.
struct Way {
    /// The addresses of all its instructions.
    addresses: Vec<u64>,
    to_initialize: usize,
    to_step: usize,
}

impl Way {
    fn of(text: &str, peer: &Peer) -> Result<Self, String> {
        // What comes before is the firmware.
        let addresses: Vec<u64> =
            text.lines().filter_map(address_of).skip_while(|it| *it != peer.entry).collect();
        let call = |place| -> Result<usize, String> {
            let function =
                function(&peer.program, place).ok_or("the program's face can't be read")?;
            let found = addresses.iter().position(|address| *address == function);
            found.ok_or_else(|| "the program was not called".to_owned())
        };
        let (to_initialize, to_step) = (call(INITIALIZE)?, call(STEP)?);
        Ok(Self { addresses, to_initialize, to_step })
    }
}

/// An entry of the program's face.
pub(super) fn function(program: &ProgramImage, place: usize) -> Option<u64> {
    let face = program.face() + place as u64;
    let part = program
        .parts()
        .iter()
        .find(|part| (part.address..part.address + part.bytes.len() as u64).contains(&face))?;
    let bytes = part.bytes.get((face - part.address) as usize..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

/// `Trace 0: 0x7f… [00000000/0000000000100000/…] …`: the second number.
pub(super) fn address_of(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once('[')?;
    u64::from_str_radix(rest.split('/').nth(1)?, 16).ok()
}

/// The functions with the most instructions, of the image and of the program, with their counts.
fn most(image: &Functions, program: &Functions, addresses: &[u64]) -> Vec<String> {
    let mut visits: BTreeMap<u64, usize> = BTreeMap::new();
    addresses.iter().for_each(|address| *visits.entry(*address).or_default() += 1);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (address, count) in visits {
        let functions = if address >= PROGRAM_CODE[0] { program } else { image };
        let name = functions.at(address).map_or_else(|| "unknown".to_owned(), |(_, name)| name);
        *counts.entry(name).or_default() += count;
    }
    let mut counts: Vec<(usize, String)> =
        counts.into_iter().map(|(name, count)| (count, name)).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    counts.iter().take(FUNCTIONS).map(|(count, name)| format!("{name} {count}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_from_a_line_of_the_log() {
        let line = "Trace 0: 0x7f6c40000100 [00000000/0000000000100200/00000011/ff020000] main";
        assert_eq!(address_of(line), Some(0x10_0200));
        assert_eq!(address_of("cpu_io_recompile: rewound execution"), None);
    }

    #[test]
    fn instructions_belong_to_the_function_before_them() {
        let image = Functions::from_iter([(0x10_0000, "entry"), (0x10_0010, "main")]);
        let program = Functions::from_iter([(PROGRAM_CODE[0], "step")]);
        let addresses = [0x10_0000, 0x10_0010, 0x10_0018, PROGRAM_CODE[0] + 4, 0x1000];
        assert_eq!(
            most(&image, &program, &addresses),
            ["main 2", "unknown 1", "step 1", "entry 1"]
        );
    }
}
