//! Arguments of `quietcore export`.

use std::path::PathBuf;

use clap::Args;
use quietcore_site::ExportKind;

use super::choice::{Choice, one_of};

/// Programs that can run a site from exported files.
const EXPORT_KINDS: &[Choice<ExportKind>] = &[
    ("systemd", ExportKind::Systemd, "A unit: the site as a service of this machine"),
    ("podman", ExportKind::Podman, "A Quadlet unit and a Containerfile: the site in a container"),
    ("kubernetes", ExportKind::Kubernetes, "A pod of class Guaranteed, and a Containerfile"),
    ("libvirt", ExportKind::Libvirt, "A domain for each guest of QEMU, with its pinning"),
];

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  quietcore export systemd site.toml > quietcore-press.service\n  \
                        quietcore export podman site.toml --out deploy\n  \
                        quietcore export libvirt site.toml --partition desk > desk.xml\n\nThe \
                        settings that the machine needs are in the comments of the files. A domain \
                        of libvirt has the CPUs, the priority, the memory and the share of cache \
                        and bandwidth of its partition; `virsh define desk.xml` takes it. Of a \
                        Linux guest it is the system alone, whose program runs under `quietcore \
                        up` only."
)]
pub(crate) struct Export {
    /// The program that will run the site
    #[arg(value_name = "FOR", value_parser = one_of(EXPORT_KINDS))]
    pub(crate) kind: ExportKind,
    /// Path of the site file
    pub(crate) site: PathBuf,
    /// The partition to write a domain of libvirt for; by default all that can be one
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// A folder for all the files; without it the first of them is written to standard output
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
