//! What realises a partition: one module a backend.
