//! A Linux kernel as a guest: bzImage, initramfs, command line.
//!
//! It is entered by the 32-bit boot protocol (`Documentation/arch/x86/boot.rst`): protected mode,
//! no paging, ESI holds the address of the *zero page*. There is no firmware behind it: no ACPI
//! tables, no PCI, no clock of the day. A command line that fits: [`COMMAND_LINE`].
//!
//! | address | what |
//! |---|---|
//! | 0x7000 | the zero page |
//! | 0x20000 | the command line |
//! | 1 MiB and up | the kernel |
//! | the end of the memory, or where the kernel wants it | the initramfs |

use std::io::{Read, Seek};

use linux_loader::configurator::linux::LinuxBootConfigurator;
use linux_loader::configurator::{BootConfigurator as _, BootParams};
use linux_loader::loader::bootparam::{boot_e820_entry, boot_params, setup_header};
use linux_loader::loader::{BzImage, KernelLoader as _};
use vm_memory::{Bytes as _, GuestAddress, ReadVolatile};

use crate::image::IMAGE_START;
use crate::memory::{Memory, PAGE_BYTES};

/// A command line for a guest without firmware whose console is its serial line. It ends itself
/// by a triple fault when it restarts.
pub const COMMAND_LINE: &str = "console=ttyS0 acpi=off pci=off reboot=t panic=-1 quiet";

const ZERO_PAGE: GuestAddress = GuestAddress(0x7000);
const TEXT: GuestAddress = GuestAddress(0x2_0000);
/// The longest command line, with its end, if the kernel takes as much.
const TEXT_BYTES: usize = 2048;

/// End of conventional memory: the places of old PCs follow it.
const CONVENTIONAL_END: u64 = 0x9_FC00;
/// Memory, in the map of the zero page.
const MEMORY: u32 = 1;
/// A loader without a number of its own.
const UNKNOWN_LOADER: u8 = 0xFF;

/// Why a kernel can't be started.
#[derive(Debug, thiserror::Error)]
pub enum LinuxError {
    /// It is none. The loader's errors repeat their cause, so the text has them, and the chain
    /// does not.
    #[error("the kernel can't be loaded: {0}; it is to be a bzImage for x86-64")]
    Load(linux_loader::loader::Error),
    /// The kernel needs more memory than there is.
    #[error("the guest has {has} bytes of memory; this kernel with its files needs {needs}")]
    Memory {
        /// Size of the guest's memory in bytes.
        has: u64,
        /// Size that is needed at least, in bytes.
        needs: u64,
    },
    /// The command line is too long, or holds a zero.
    #[error("the command line has {0} bytes, or a zero in it; {1} bytes are possible")]
    Text(usize, usize),
    /// Something does not fit.
    #[error("the zero page can't be written")]
    ZeroPage(#[from] linux_loader::configurator::Error),
}

/// A kernel in memory, ready to be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linux {
    /// Address of the first instruction.
    pub(crate) entry: GuestAddress,
    /// The value of ESI at the entry.
    pub(crate) zero_page: GuestAddress,
}

/// Copies a kernel, its initramfs and its command line into memory.
///
/// # Errors
/// [`LinuxError`].
pub fn load<F: Read + ReadVolatile + Seek>(
    memory: &Memory,
    kernel: &mut F,
    initramfs: &[u8],
    command_line: &str,
) -> Result<Linux, LinuxError> {
    let loaded = BzImage::load(memory.mapping(), None, kernel, Some(IMAGE_START))
        .map_err(LinuxError::Load)?;
    // The loader takes no image without one.
    let mut header = loaded.setup_header.unwrap_or_default();
    let has = memory.size().get();
    let kernel_end = kernel_end(&header, loaded.kernel_end);
    let place = initramfs_place(&header, has, kernel_end, initramfs.len() as u64)?;
    let text = text(&header, command_line)?;
    let inside = "it was checked to be within the memory";
    memory.mapping().write_slice(&text, TEXT).expect(inside);
    memory.mapping().write_slice(initramfs, GuestAddress(place)).expect(inside);

    header.type_of_loader = UNKNOWN_LOADER;
    header.cmd_line_ptr = TEXT.0 as u32;
    header.ramdisk_image = if initramfs.is_empty() { 0 } else { place as u32 };
    header.ramdisk_size = initramfs.len() as u32;
    let mut page = boot_params { hdr: header, ..boot_params::default() };
    let regions = [(0, CONVENTIONAL_END), (IMAGE_START.0, has - IMAGE_START.0)];
    page.e820_entries = regions.len() as u8;
    for (entry, (addr, size)) in page.e820_table.iter_mut().zip(regions) {
        *entry = boot_e820_entry { addr, size, r#type: MEMORY };
    }
    let parameters = BootParams::new(&page, ZERO_PAGE);
    LinuxBootConfigurator::write_bootparams(&parameters, memory.mapping())?;
    Ok(Linux { entry: loaded.kernel_load, zero_page: ZERO_PAGE })
}

/// The address behind what the kernel takes while it unpacks itself.
fn kernel_end(header: &setup_header, loaded: u64) -> u64 {
    let unpacked = header.pref_address.saturating_add(u64::from(header.init_size));
    loaded.max(unpacked)
}

/// Returns the address of the initramfs: as high as it may be.
fn initramfs_place(
    header: &setup_header,
    has: u64,
    kernel_end: u64,
    bytes: u64,
) -> Result<u64, LinuxError> {
    let needs = kernel_end.saturating_add(bytes).saturating_add(PAGE_BYTES);
    // The last address that it may take; 0 in kernels before 2.03 of the protocol.
    let last = match header.initrd_addr_max {
        0 => 0x37FF_FFFF,
        last => u64::from(last),
    };
    let end = has.min(last + 1);
    match end.checked_sub(bytes).map(|start| start / PAGE_BYTES * PAGE_BYTES) {
        Some(start) if start >= kernel_end => Ok(start),
        _ => Err(LinuxError::Memory { has, needs }),
    }
}

/// The command line with its end.
fn text(header: &setup_header, command_line: &str) -> Result<Vec<u8>, LinuxError> {
    let most = match header.cmdline_size as usize {
        0 => 255,
        most => most.min(TEXT_BYTES - 1),
    };
    let bytes = command_line.as_bytes();
    if bytes.len() > most || bytes.contains(&0) {
        return Err(LinuxError::Text(bytes.len(), most));
    }
    Ok([bytes, &[0]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn an_initramfs_is_as_high_as_it_may_be_and_behind_the_kernel() {
        let header = setup_header { initrd_addr_max: 0x7FFF_FFFF, ..setup_header::default() };
        let place = |has, end, bytes| initramfs_place(&header, has, end, bytes);
        assert_eq!(place(64 * MIB, 40 * MIB, 5000).unwrap(), 64 * MIB - 8192);
        assert_eq!(place(64 * MIB, 40 * MIB, 0).unwrap(), 64 * MIB);
        let refused = place(64 * MIB, 63 * MIB, 2 * MIB).unwrap_err().to_string();
        assert!(refused.contains("67108864 bytes of memory; this kernel"), "{refused}");
        assert!(place(MIB, 40 * MIB, 2 * MIB).is_err());
        let old = setup_header::default();
        assert_eq!(initramfs_place(&old, 2048 * MIB, MIB, 4096).unwrap(), 0x3800_0000 - 4096);
    }

    #[test]
    fn a_command_line_has_an_end_and_a_longest_length() {
        let header = setup_header { cmdline_size: 10, ..setup_header::default() };
        assert_eq!(text(&header, "quiet").unwrap(), b"quiet\0");
        for wrong in ["a longer one", "a\0b"] {
            assert!(matches!(text(&header, wrong), Err(LinuxError::Text(..))));
        }
    }

    #[test]
    fn what_is_no_kernel_is_refused() {
        let memory = Memory::new("2 MiB".parse().unwrap(), false).unwrap();
        for bytes in [vec![], vec![0; 100], vec![0xFF; 4096]] {
            let refused = load(&memory, &mut std::io::Cursor::new(bytes), &[], "");
            assert!(refused.unwrap_err().to_string().contains("is to be a bzImage"));
        }
    }
}
