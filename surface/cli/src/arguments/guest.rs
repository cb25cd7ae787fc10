//! Arguments of `quietcore guest`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quietcore guest build --out guest-rt                  a guest with PREEMPT_RT\n  \
    quietcore guest build --kernel stock --out guest      a guest for comparison\n\n\
    A partition starts from such an image by `backend = \"qemu\"` or `\"xen\"` and\n\
    `guest = { system = \"linux\", image = \"guest-rt\" }`; the same program and the same probe \
    run in it as in a process on the host.")]
pub(crate) struct GuestVerb {
    #[command(subcommand)]
    pub(crate) guest: GuestKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuestKind {
    /// Build the image of a Linux guest from one of Debian's kernels
    #[command(after_help = BUILD)]
    Build(GuestBuild),
}

const BUILD: &str = "The image is a folder: the kernel, a compressed archive with \
                     quietcore-runtime, the libraries of programs and a few modules, a description \
                     with the SHA-256 of each file, and a bill of materials (CycloneDX). The same \
                     inputs give the same bytes. Debian's kernels are fetched with `apt-get \
                     download` once, without installing them, and kept below ~/.cache/quietcore.";

/// The kernels of Debian's that a guest can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GuestKernel {
    /// With PREEMPT_RT: `linux-image-rt-amd64`
    Rt,
    /// As Debian installs it: `linux-image-amd64`
    Stock,
}

#[derive(Debug, Args)]
pub(crate) struct GuestBuild {
    /// The folder that becomes the image; one that is an image already is replaced
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// The kernel, the newest of its kind that Debian has
    #[arg(long, value_enum, default_value_t = GuestKernel::Rt)]
    pub(crate) kernel: GuestKernel,
    /// Your own kernel in place of Debian's, as the file that is booted (bzImage)
    #[arg(long, value_name = "FILE", requires = "own_modules", conflicts_with = "kernel")]
    pub(crate) own_kernel: Option<PathBuf>,
    /// The folder of your kernel's modules, as /lib/modules/VERSION
    #[arg(long, value_name = "FOLDER", requires = "own_kernel")]
    pub(crate) own_modules: Option<PathBuf>,
    /// Print the description of the image as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl GuestKernel {
    /// Returns Debian's package that depends on the newest one.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::Rt => "linux-image-rt-amd64",
            Self::Stock => "linux-image-amd64",
        }
    }
}
