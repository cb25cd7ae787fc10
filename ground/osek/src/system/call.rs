//! The call in which an error was found, for `OSErrorGetServiceId` and the `OSError_…` macros.

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::status::Service;

/// A call of a service, as the error hook may ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The service that is called.
    pub service: Service,
    /// Its parameters in their order; those that it has not are zero.
    pub parameters: [u64; 3],
}

impl Call {
    pub(super) const fn new(service: Service, parameters: [u64; 3]) -> Self {
        Self { service, parameters }
    }

    pub(super) fn of_one(service: Service, parameter: u8) -> Self {
        Self::new(service, [u64::from(parameter), 0, 0])
    }
}

/// The last call in which an error was found.
#[derive(Debug)]
pub(super) struct LastCall {
    service: AtomicU8,
    parameters: [AtomicU64; 3],
}

impl LastCall {
    pub(super) const fn new() -> Self {
        Self { service: AtomicU8::new(0), parameters: [const { AtomicU64::new(0) }; 3] }
    }

    pub(super) fn set(&self, call: &Call) {
        self.service.store(call.service as u8, Relaxed);
        for (place, parameter) in self.parameters.iter().zip(call.parameters) {
            place.store(parameter, Relaxed);
        }
    }

    /// The number of the service.
    pub(super) fn service(&self) -> u8 {
        self.service.load(Relaxed)
    }

    /// A parameter; zero where there is none of this index.
    pub(super) fn parameter(&self, index: usize) -> u64 {
        self.parameters.get(index).map_or(0, |parameter| parameter.load(Relaxed))
    }
}
