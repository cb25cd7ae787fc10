//! The network device, with a driver that is a function of the test, and with a guest that is none.

mod driver;
mod frames;
mod hostile;
mod setting_up;
mod threads;
