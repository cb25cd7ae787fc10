//! Files by which others run a site: systemd, Podman, Kubernetes; and domains of libvirt, which
//! runs guests of it.
//!
//! Each of the first three runs `quietcore up SITE`, which does the rest; what they add is the
//! place that it runs in: rights, CPUs, memory, devices, folders that stay. Comments say what the
//! files can't: what has to be set on the machine.

mod inside;
mod kubernetes;
mod libvirt;
mod names;
mod podman;
mod systemd;

use quietcore_units::{ByteSize, CpuSet};

use crate::backend::ProgramForm;
use crate::plan::cpu_words;
use crate::site::{Interface, Partition, Site};

pub(crate) use inside::tables;
pub use libvirt::{ExportMachine, NoDomain};

/// Memory of the supervisor and of a compiler, beside the partitions.
const SUPERVISOR_MEMORY: ByteSize = ByteSize::new(256 << 20);
/// Memory of a partition that names none.
const PARTITION_MEMORY: ByteSize = ByteSize::new(64 << 20);

/// For whom files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// A unit of systemd.
    Systemd,
    /// A container of Podman, as a Quadlet unit with the file its image is built from.
    Podman,
    /// A pod of Kubernetes, with the file its image is built from.
    Kubernetes,
    /// A domain of libvirt for each guest of QEMU.
    Libvirt,
}

/// A file that was written for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    /// The name of the file, without a folder.
    pub name: String,
    /// The content of the file.
    pub text: String,
}

/// Paths on the machine that the files are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportPaths {
    /// The program `quietcore`.
    pub program: String,
    /// The site file, absolute.
    pub site_file: String,
    /// Variables that say where running sites and their states are, with absolute folders; none
    /// where these are in their usual places.
    pub variables: Vec<(String, String)>,
    /// The machine itself, for domains of libvirt.
    pub machine: ExportMachine,
}

impl ExportPaths {
    /// Refuses paths with a line end or another control character: a unit would have a line more.
    fn check(&self) -> Result<(), ExportError> {
        let folders = self.variables.iter().map(|(_, folder)| folder);
        let mut all = [&self.program, &self.site_file].into_iter().chain(folders);
        match all.find(|path| path.contains(char::is_control)) {
            Some(path) => Err(ExportError::ControlCharacter { path: path.clone() }),
            None => Ok(()),
        }
    }

    /// Returns the absolute path of a file that the site file names.
    fn beside(&self, file: &str) -> String {
        match self.site_file.rsplit_once('/') {
            Some((folder, _)) if !file.starts_with('/') => format!("{folder}/{file}"),
            _ => file.to_owned(),
        }
    }
}

/// Writes the files for a site, the one that matters most first.
///
/// A partition whose backend is a container is a process of the container that Podman or Kubernetes
/// starts: none is started inside of another, and the image has a site file of its own, made of
/// `text`, that says so. Domains of libvirt are written for all guests, or for the one of
/// `partition`.
///
/// # Errors
/// [`ExportError`] where `text` is not the text of a site file, a path has control characters, or
/// nothing can be a domain.
pub fn export(
    site: &Site,
    text: &str,
    kind: ExportKind,
    partition: Option<&str>,
    paths: &ExportPaths,
) -> Result<Vec<ExportedFile>, ExportError> {
    paths.check()?;
    // All of these but domains, which are chosen one by one, run the whole site.
    if let Some((partition, cpus)) = site.in_turns(site.partitions()).first()
        && kind != ExportKind::Libvirt
    {
        let (partition, cpus) = (partition.name.clone(), cpu_words(cpus));
        return Err(ExportError::InTurns { partition, cpus });
    }
    let place = HostRequirements::of(site, paths);
    let first = match kind {
        ExportKind::Systemd => return Ok(vec![systemd::unit(&place)?]),
        ExportKind::Podman => podman::unit(&place),
        ExportKind::Kubernetes => kubernetes::pod(&place),
        ExportKind::Libvirt => return Ok(libvirt::domains(site, partition, paths)?),
    };
    let mut files = vec![first, place.container_file()];
    if !place.inside().is_empty() {
        let text = inside::site_file(text)?;
        files.push(ExportedFile { name: place.inside_name(), text });
    }
    Ok(files)
}

/// The error of files that can't be written for a site.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The site file can't be written anew.
    #[error("the site file can't be written for the image")]
    SiteFile(#[from] toml_edit::TomlError),
    /// A unit can't name the program `quietcore`.
    #[error("`{path}`: systemd starts no program with a quote or a backslash in its path; move it")]
    Program {
        /// The path of the program.
        path: String,
    },
    /// No file can name this path.
    #[error(
        "`{}` has a line end or another control character in it, which no exported file can hold; \
         rename it",
        path.escape_debug()
    )]
    ControlCharacter {
        /// The path, with the character as it is.
        path: String,
    },
    /// Nothing of the site can be a domain of libvirt.
    #[error(transparent)]
    Domain(#[from] NoDomain),
    /// Partitions have the same CPUs because a campaign measures each alone.
    #[error(
        "the partitions of this site can't run at the same time: {cpus} of `{partition}` belongs \
         to another partition too, as `campaign.alone` allows where each is measured alone; write \
         a site file of those that shall run together"
    )]
    InTurns {
        /// Name of the partition that has CPUs of an earlier one.
        partition: String,
        /// These CPUs, in words.
        cpus: String,
    },
}

/// The requirements of a site on the host or container that it runs in.
struct HostRequirements<'a> {
    site: &'a Site,
    paths: &'a ExportPaths,
    /// The CPUs of partitions and of everything else of the site.
    cpus: CpuSet,
    /// Number of those CPUs; one more than the partitions' if the site names no others.
    cpu_count: usize,
    memory: ByteSize,
    /// `true` if it needs the host's network interfaces.
    network: bool,
    /// `true` if it needs `/dev/kvm`.
    kvm: bool,
}

impl<'a> HostRequirements<'a> {
    fn of(site: &'a Site, paths: &'a ExportPaths) -> Self {
        let claimed = site.claimed_cpus();
        let house = site.housekeeping().unwrap_or_default();
        let partitions = site.partitions().iter();
        let memory = partitions.map(|it| it.vcr.memory_max().unwrap_or(PARTITION_MEMORY));
        let memory = memory.fold(SUPERVISOR_MEMORY.get(), |sum, it| sum.saturating_add(it.get()));
        let is_network = |interface: &Interface| matches!(interface, Interface::Network(_));
        Self {
            site,
            paths,
            cpus: claimed.iter().chain(house.iter()).collect(),
            cpu_count: claimed.len() + house.len().max(1),
            memory: ByteSize::new(memory),
            network: site.fieldbuses().iter().any(|bus| is_network(&bus.interface)),
            kvm: site.has_guests_under_kvm(),
        }
    }

    /// The name of what is made: a word that all three take.
    fn name(&self) -> String {
        format!("quietcore-{}", self.site.name())
    }

    /// The name of the image that the site is in.
    fn image(&self) -> String {
        names::image(&self.name())
    }

    /// The capabilities that a site needs, without `CAP_`.
    fn capabilities(&self) -> Vec<&'static str> {
        let mut all = vec!["SYS_NICE", "IPC_LOCK"];
        all.extend(self.network.then_some("NET_RAW"));
        all
    }

    /// The last part of the site file's path.
    fn site_name(&self) -> &str {
        self.paths.site_file.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the file that an image with the site in it is built from.
    fn container_file(&self) -> ExportedFile {
        let site = format!("/site/{}", self.site_name());
        let command = json_array(&["/usr/bin/quietcore", "up", "--until-stopped", &site]);
        let is_image = |it: &Partition| it.declaration().program == ProgramForm::GuestImage;
        let musl = if self.site.partitions().iter().any(is_image) { " musl-dev" } else { "" };
        let text = format!(
            "# The image of site `{name}`: Quietcore, a C compiler, the site file and its models.\n\
             #\n\
             # Build it in the folder of the site file, with {beside}:\n\
             #     podman build -t {image} -f Containerfile .\n\
             FROM docker.io/library/debian:12-slim\n\
             RUN apt-get update \\\n\
             \x20&& apt-get install -y --no-install-recommends gcc libc6-dev{musl} \\\n\
             \x20&& rm -rf /var/lib/apt/lists/*\n\
             COPY quietcore quietcore-runtime /usr/bin/\n\
             COPY . /site/\n\
             {own_container}\
             ENTRYPOINT {command}\n",
            name = self.site.name(),
            image = self.image(),
            own_container = self.own_container(),
            beside = match self.inside()[..] {
                [] => "`quietcore` and `quietcore-runtime`".to_owned(),
                _ => format!("`quietcore`, `quietcore-runtime` and `{}`", self.inside_name()),
            },
        );
        ExportedFile { name: "Containerfile".to_owned(), text }
    }

    /// The partitions that are something else inside of a container.
    fn inside(&self) -> Vec<&'a str> {
        let partitions = self.site.partitions().iter();
        let inside = partitions.filter(|it| it.declaration().within_container != it.backend);
        inside.map(|it| it.name.as_str()).collect()
    }

    /// The name of the image's own site file.
    fn inside_name(&self) -> String {
        format!("{}.site.toml", self.name())
    }

    /// The step by which partitions that are containers become processes of the one that is built.
    fn own_container(&self) -> String {
        let inside = self.inside();
        let shared = match inside.len() {
            0 => return String::new(),
            1 => "",
            _ => " They share it;\n# what keeps them apart is their CPUs, as for processes.",
        };
        format!(
            "# `backend = \"container\"` ({names}): the container is the one that this\n# image \
             runs in, and in it the partition is a process: so says the site file of its \
             own.{shared}\nCOPY {copy}\n",
            names = inside.join(", "),
            copy = json_array(&[&self.inside_name(), &format!("/site/{}", self.site_name())]),
        )
    }
}

/// Words as a Containerfile takes them whatever is in them.
fn json_array(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| serde_json::json!(word).to_string()).collect();
    format!("[{}]", words.join(", "))
}
