//! Boots an image, shows its console, and counts its exits.
use quietcore_microvm::{
    bus::{After, Bus},
    exits::{Exits, REASONS},
    image,
    machine::Machine,
    memory::Memory,
};
use std::io::Write as _;
struct Ports;
impl Bus for Ports {
    fn write_port(&self, port: u16, data: &[u8]) -> After {
        match port {
            0x3f8 => {
                let _ = std::io::stdout().write_all(data);
                After::GoOn
            }
            0x501 => After::End(u32::from(data[0])),
            _ => After::GoOn,
        }
    }
    fn read_port(&self, _: u16, _: &mut [u8]) {}
    fn write_address(&self, _: u64, _: &[u8]) -> After {
        After::GoOn
    }
    fn read_address(&self, _: u64, _: &mut [u8]) {}
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("an image")?;
    let memory = Memory::new("16 MiB".parse()?, true)?;
    let entry = image::load(&memory, &mut std::fs::File::open(path)?)?;
    let machine = Machine::new(memory)?;
    let mut processor = machine.processor(0, entry)?;
    let exits = Exits::default();
    let started = std::time::Instant::now();
    let stopped = processor.run(&Ports, &exits)?;
    println!("{stopped:?} after {:?}", started.elapsed());
    for reason in REASONS {
        println!("{:<14} {:?}", reason.name(), exits.of(reason));
    }
    Ok(())
}
