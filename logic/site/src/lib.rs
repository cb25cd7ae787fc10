//! The site file: parsed, checked with all errors at once, and turned into a plan.
