//! The OCI bundle of a partition: a root folder that holds nothing but a link to the exchange, and
//! `config.json`, which describes the mounts and what the process may do.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use oci_spec::OciSpecError;
use oci_spec::runtime::{
    Capability, Linux, LinuxBuilder, LinuxCapabilities, LinuxCapabilitiesBuilder, LinuxCpuBuilder,
    LinuxIdMappingBuilder, LinuxMemoryBuilder, LinuxNamespaceBuilder, LinuxNamespaceType,
    LinuxPidsBuilder, LinuxResources, LinuxResourcesBuilder, Mount, MountBuilder, Process,
    ProcessBuilder, RootBuilder, Spec, SpecBuilder, UserBuilder,
};
use quietcore_process::descriptors;
use rustix::process::{getegid, geteuid};

use super::runtime::Place;
use super::{ContainerError, ContainerSetting, files, make_folder};

/// Path of `quietcore-runtime` inside the container.
const PROGRAM: &str = "/usr/bin/quietcore-runtime";
/// Name of the link in the container's root that leads to the exchange; the first process moves
/// that to `descriptors::FIRST`.
const EXCHANGE: &str = "exchange";
/// Limit of processes and threads (`pids.max`): more than a partition has, and a bound for one that
/// keeps forking.
const PROCESSES_MAX: i64 = 256;
/// Period of a group's real-time run time: one second, in microseconds.
const REAL_TIME_PERIOD_US: u64 = 1_000_000;

/// Writes the bundle into the container's folder. The container's process gets the exchange's file
/// as descriptor `exchange`; `real_time_us` is the real-time run time of its group in each second.
pub(super) fn write(
    setting: &ContainerSetting,
    (program, exchange, owner): (&Path, i32, &[String]),
    real_time_us: Option<i64>,
    folder: &Path,
) -> Result<(), ContainerError> {
    let bundle = Place { folder, name: &setting.name }.bundle();
    let root = bundle.join("rootfs");
    make_folder(&root)?;
    let link = root.join(EXCHANGE);
    symlink(format!("/proc/1/fd/{}", descriptors::FIRST), &link)
        .map_err(ContainerError::folder(&link, "made"))?;
    let found = files::libraries(program);
    let libraries = found
        .map_err(|source| ContainerError::Libraries { program: program.to_owned(), source })?;
    let mut spec = describe(setting, (program, exchange, owner), &libraries, geteuid().is_root())?;
    if let Some(linux) = spec.linux_mut() {
        linux.set_resources(Some(resources(setting, real_time_us)?));
    }
    let path = bundle.join("config.json");
    let text = serde_json::to_vec_pretty(&spec).map_err(std::io::Error::from);
    text.and_then(|text| fs::write(&path, text)).map_err(ContainerError::folder(&path, "written"))
}

fn describe(
    setting: &ContainerSetting,
    (program, exchange, owner): (&Path, i32, &[String]),
    libraries: &BTreeSet<PathBuf>,
    is_root: bool,
) -> Result<Spec, OciSpecError> {
    SpecBuilder::default()
        .version("1.0.2")
        .hostname(setting.name.clone())
        .root(RootBuilder::default().path("rootfs").readonly(true).build()?)
        .mounts(mounts(setting, program, libraries, is_root)?)
        .process(process(setting, (exchange, owner), libraries, is_root)?)
        .linux(linux(setting, is_root)?)
        .build()
}

fn process(
    setting: &ContainerSetting,
    (exchange, owner): (i32, &[String]),
    libraries: &BTreeSet<PathBuf>,
    is_root: bool,
) -> Result<Process, OciSpecError> {
    let folders: BTreeSet<_> = libraries.iter().filter_map(|path| path.parent()).collect();
    let folders: Vec<_> = folders.iter().map(|folder| folder.to_string_lossy()).collect();
    let first = [PROGRAM, "partition", &exchange.to_string()].map(str::to_owned);
    let arguments: Vec<String> = first.into_iter().chain(owner.iter().cloned()).collect();
    ProcessBuilder::default()
        .terminal(false)
        .user(UserBuilder::default().uid(0u32).gid(0u32).build()?)
        .args(arguments)
        // One arena for all threads: a further one reserves 64 MiB, which locking makes resident.
        .env(["MALLOC_ARENA_MAX=1".to_owned(), format!("LD_LIBRARY_PATH={}", folders.join(":"))])
        .cwd("/")
        .capabilities(capabilities(setting, is_root)?)
        .rlimits([])
        .no_new_privileges(true)
        .build()
}

/// Returns the capabilities of the process: as root, those for real-time priority, locked memory
/// and, on the host's network, the frames of a fieldbus. Without root there are none, and resource
/// limits decide.
fn capabilities(
    setting: &ContainerSetting,
    is_root: bool,
) -> Result<LinuxCapabilities, OciSpecError> {
    let mut all = Vec::new();
    if is_root {
        all.extend([Capability::SysNice, Capability::IpcLock]);
        all.extend(setting.wish.host_network.then_some(Capability::NetRaw));
    }
    let all: std::collections::HashSet<_> = all.into_iter().collect();
    LinuxCapabilitiesBuilder::default()
        .bounding(all.clone())
        .effective(all.clone())
        .permitted(all)
        .inheritable([])
        .ambient([])
        .build()
}

fn mounts(
    setting: &ContainerSetting,
    program: &Path,
    libraries: &BTreeSet<PathBuf>,
    is_root: bool,
) -> Result<Vec<Mount>, OciSpecError> {
    let with = |kind: &str, to: &str, options: &[&str]| {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        let mount = MountBuilder::default().typ(kind).source(kind).destination(to);
        mount.options(options).build()
    };
    let mut mounts = vec![
        with("proc", "/proc", &["nosuid", "noexec", "nodev"])?,
        with("tmpfs", "/dev", &["nosuid", "strictatime", "mode=755", "size=64k"])?,
    ];
    let mut show = |here: &Path, there: &Path| -> Result<(), OciSpecError> {
        // A user namespace locks the mounts that it inherits; with these options they may still be
        // bound.
        let options = if is_root { "bind,ro,nosuid,nodev" } else { "rbind,ro" };
        let mount = MountBuilder::default().typ("bind").source(here).destination(there);
        mounts.push(
            mount.options(options.split(',').map(str::to_owned).collect::<Vec<_>>()).build()?,
        );
        Ok(())
    };
    show(program, Path::new(PROGRAM))?;
    for path in libraries.iter().chain(&setting.wish.reads) {
        show(path, path)?;
    }
    Ok(mounts)
}

fn linux(setting: &ContainerSetting, is_root: bool) -> Result<Linux, OciSpecError> {
    use LinuxNamespaceType::{Ipc, Mount, Network, Pid, User, Uts};
    let mut kinds = vec![Mount, Pid, Ipc, Uts];
    if !setting.wish.host_network {
        kinds.push(Network);
    }
    let mut linux = LinuxBuilder::default();
    if !is_root {
        kinds.push(User);
        let same = |id: u32| LinuxIdMappingBuilder::default().host_id(id).size(1u32).build();
        linux = linux.uid_mappings([same(geteuid().as_raw())?]);
        linux = linux.gid_mappings([same(getegid().as_raw())?]);
    }
    let namespace = |kind| LinuxNamespaceBuilder::default().typ(kind).build();
    let namespaces: Result<Vec<_>, _> = kinds.into_iter().map(namespace).collect();
    linux = linux.namespaces(namespaces?);
    if let Some(group) = &setting.common.group {
        linux = linux.cgroups_path(group.join(&setting.name));
    }
    linux.build()
}

/// Returns the reservation as far as control groups enforce it; empty where this user may make
/// none.
fn resources(
    setting: &ContainerSetting,
    real_time_us: Option<i64>,
) -> Result<LinuxResources, OciSpecError> {
    let mut resources = LinuxResourcesBuilder::default();
    if setting.common.group.is_none() {
        return resources.build();
    }
    let mut cpu = LinuxCpuBuilder::default();
    if let Some(cpus) = setting.wish.cpus {
        cpu = cpu.cpus(cpus.to_string());
    }
    if let Some(run_time) = real_time_us {
        cpu = cpu.realtime_runtime(run_time).realtime_period(REAL_TIME_PERIOD_US);
    }
    resources = resources.cpu(cpu.build()?);
    resources = resources.pids(LinuxPidsBuilder::default().limit(PROCESSES_MAX).build()?);
    if let Some(limit) = setting.wish.memory.and_then(|memory| i64::try_from(memory.get()).ok()) {
        resources = resources.memory(LinuxMemoryBuilder::default().limit(limit).build()?);
    }
    resources.build()
}
