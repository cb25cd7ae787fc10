//! A partition as each backend realises it.

use quietcore_record::record::Variant;
use quietcore_site::Backend;

use super::Variation;
use crate::run::{PartitionRun, Run};

/// Returns the variant of a backend: the run of a site in which it realises the partition, with
/// that partition alone. `seed` is that of the order in which the variants are measured.
pub fn realised(run: &Run, partition: &str, backend: Backend, seed: u64) -> Variation {
    let own = run.partitions.iter().filter(|it| it.name == partition);
    let partitions: Vec<PartitionRun> = own.cloned().collect();
    Variation {
        variant: Variant::Realised {
            backend: backend.name().to_owned(),
            is_reference: backend == Backend::BARE,
            seed,
        },
        run: Run { profile: backend.name().to_owned(), partitions, ..run.clone() },
    }
}
