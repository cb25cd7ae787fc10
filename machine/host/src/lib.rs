//! What this machine is and how it is set: facts, what they mean for real-time work, and controls.
