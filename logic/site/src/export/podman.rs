//! A container of Podman, as a Quadlet unit.

use std::fmt::Write as _;

use super::{ExportedFile, HostRequirements};

/// The unit that runs the site in a container, with the command that does the same by hand.
pub(super) fn unit(place: &HostRequirements<'_>) -> ExportedFile {
    let (name, site, image) = (place.name(), place.site.name(), place.image());
    let options = options(place);
    let mut text = format!(
        "# Site `{site}` in a container of Podman.\n\
         #\n\
         #     podman build -t {image} -f Containerfile .\n\
         #     cp {name}.container /etc/containers/systemd/\n\
         #     systemctl daemon-reload && systemctl start {name}\n\
         #\n\
         # That takes Podman 4.4 or newer. By hand, with any:\n\
         #\n\
         #     podman run --rm --name {name} \\\n"
    );
    for option in &options {
        let _ = writeln!(text, "#         {option} \\");
    }
    let _ = write!(
        text,
        "#         localhost/{image}\n\
         #\n\
         # `podman exec {name} quietcore ps` shows it. Real-time priority needs root's Podman, or \
         limits\n\
         # `rtprio` and `memlock` for the user. With control groups of version 1 and a kernel that \
         divides\n\
         # real-time run time (`cpu.rt_runtime_us`), add `--cpu-rt-runtime=300000`.\n\
         # Controls of the machine (`controls` in the site file) are not possible in here: run \
         those outside.\n\
         [Unit]\n\
         Description=Quietcore site {site}\n\
         After=network.target\n\
         # A site that can't stay up is not started for ever.\n\
         StartLimitIntervalSec=600\n\
         StartLimitBurst=5\n\
         \n\
         [Container]\n\
         Image=localhost/{image}\n\
         ContainerName={name}\n"
    );
    let _ = writeln!(text, "PodmanArgs={}", options.join(" "));
    text += "\n[Service]\nRestart=on-failure\nRestartSec=1\nTimeoutStopSec=20\n\n[Install]\n\
             WantedBy=multi-user.target\n";
    ExportedFile { name: format!("{name}.container"), text }
}

/// Lists the options that the container is given.
fn options(place: &HostRequirements<'_>) -> Vec<String> {
    let mut options = vec![
        format!("--network={}", if place.network { "host" } else { "none" }),
        "--cap-drop=ALL".to_owned(),
        format!("--cap-add={}", place.capabilities().join(",")),
        "--security-opt=no-new-privileges".to_owned(),
        "--ulimit=rtprio=99".to_owned(),
        "--ulimit=memlock=-1".to_owned(),
        format!("--cpuset-cpus={}", place.cpus),
        format!("--memory={}", place.memory.get()),
        "--pids-limit=1024".to_owned(),
        "--read-only".to_owned(),
        "--tmpfs=/run".to_owned(),
        "--tmpfs=/tmp".to_owned(),
        format!("--volume={}:/var/lib/quietcore", place.name()),
        "--device=/dev/cpu_dma_latency".to_owned(),
    ];
    if place.site.housekeeping().is_none() {
        // The supervisor runs on whatever CPU is left, so that all have to be there.
        options.retain(|option| !option.starts_with("--cpuset-cpus"));
    }
    options.extend(place.kvm.then(|| "--device=/dev/kvm".to_owned()));
    options
}
