//! Obstacles to the neighbours of a profile: too few CPUs, too little memory, no guests.

use quietcore_units::ByteSize;

use super::{LOAD_MEMORY_TENTHS, Refusals};
use crate::backend::HostRequirement;
use crate::machine::Obstacle;
use crate::plan::step::cpu_words;
use crate::site::{NeighbourForm, Neighbours, Profile};
use crate::words::exact_size;

/// The key that asks for a profile.
const KEY: &str = "campaign.profiles";

impl Refusals<'_> {
    /// Refuses neighbours that this machine can't have; `left` bytes of memory are there for them.
    pub(super) fn neighbours(&mut self, profile: &Profile, left: u64) {
        let Some(neighbours) = &profile.neighbours else { return };
        self.too_few_cpus(profile, neighbours);
        let form = self.site.neighbour_form();
        let name = &profile.name;
        let count = u64::from(neighbours.count);
        let (each, allowed) = match form {
            NeighbourForm::Process | NeighbourForm::Container => {
                (neighbours.filled().get(), left / 10 * LOAD_MEMORY_TENTHS)
            }
            NeighbourForm::LinuxGuest => (neighbours.guest_memory().get(), left),
        };
        let needed = each.saturating_mul(count);
        if needed > allowed {
            let (needed, allowed) = (exact_size(ByteSize::new(needed)), ByteSize::new(allowed));
            self.refuse(
                KEY,
                format!(
                    "the neighbours of profile `{name}` take {needed} of memory and {allowed} is \
                     left to them"
                ),
                "free memory, or take the profile out",
            );
        }
        if form == NeighbourForm::LinuxGuest {
            self.no_guests(name);
        }
    }

    fn too_few_cpus(&mut self, profile: &Profile, neighbours: &Neighbours) {
        let name = &profile.name;
        let others = self.machine.usable.without(&self.site.claimed_cpus());
        if neighbours.places(others).is_some() {
            return;
        }
        let partitions = cpu_words(&self.site.claimed_cpus());
        let left = match others.len() {
            0 => "none is left".to_owned(),
            1 => format!("{} alone is left", cpu_words(&others)),
            _ => format!("{} are left", cpu_words(&others)),
        };
        let count = neighbours.count;
        let (asked, remedy) = if others.is_empty() {
            let asked = format!("needs a CPU for its {count} neighbours");
            (asked, "leave a CPU free, or take the profile out")
        } else {
            let asked = format!("gives each of its {count} neighbours a CPU of its own");
            (asked, "let them float with `own_cpus = false`, or leave more CPUs free")
        };
        let reason =
            format!("profile `{name}` {asked}; the partitions have {partitions}, and {left}");
        self.refuse(KEY, reason, remedy);
    }

    /// Refuses Linux guests beside partitions whose own backend needs other things.
    fn no_guests(&mut self, profile: &str) {
        let first = self.site.measured().next();
        let accelerator = first.map(|it| it.accelerator).unwrap_or_default();
        if let Err(Obstacle { what, remedy }) =
            HostRequirement::Qemu.check(accelerator, None, self.machine)
        {
            let reason = format!("profile `{profile}` has Linux guests as neighbours: {what}");
            self.refuse(KEY, reason, format!("{remedy}, or take the profile out"));
        }
        if self.site.neighbour_image().is_none() {
            self.refuse(
                KEY,
                format!(
                    "profile `{profile}` has Linux guests as neighbours, and no image for them is \
                     named"
                ),
                "write `neighbour_image = \"FOLDER\"` in `[campaign]`; `quietcore guest build \
                 --out FOLDER` makes one",
            );
        }
    }
}
