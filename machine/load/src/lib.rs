//! Loads for the machine: started, verified, measured and always stopped.
