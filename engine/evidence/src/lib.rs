//! The evidence folder: written whole or not at all, hashed, and read back.
