//! The compiled models behind a safe face.
//!
//! Generated C keeps its data in global variables, so there is one instance of each model in a
//! process. [`Controller`] is the right to use it: the second who asks waits until the first is
//! done. Numbers of all types cross the border as `f64`, which the files in `faces/` convert.

// UNSAFETY: C functions are called; Rust can't know what they do with their pointers.
#![expect(unsafe_code, reason = "the controllers are written in C")]

use std::ffi::{CStr, c_char};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Values that go in or out in one cycle, at most.
pub const VALUES: usize = 8;

// SAFETY: the signatures are those of the files in `faces/`.
unsafe extern "C" {
    fn servo_face_start();
    fn servo_face_tune(parameter: u32, value: f64);
    fn servo_face_cycle(inputs: *const f64, outputs: *mut f64) -> *const c_char;
    fn turbine_face_start();
    fn turbine_face_tune(parameter: u32, value: f64);
    fn turbine_face_cycle(inputs: *const f64, outputs: *mut f64) -> *const c_char;
    fn tank_face_start();
    fn tank_face_tune(parameter: u32, value: f64);
    fn tank_face_cycle(inputs: *const f64, outputs: *mut f64) -> *const c_char;
}

/// The functions of one model, and the lock of its global variables.
struct Face {
    start: unsafe extern "C" fn(),
    tune: unsafe extern "C" fn(u32, f64),
    cycle: unsafe extern "C" fn(*const f64, *mut f64) -> *const c_char,
    lock: Mutex<()>,
}

static SERVO: Face = Face {
    start: servo_face_start,
    tune: servo_face_tune,
    cycle: servo_face_cycle,
    lock: Mutex::new(()),
};
static TURBINE: Face = Face {
    start: turbine_face_start,
    tune: turbine_face_tune,
    cycle: turbine_face_cycle,
    lock: Mutex::new(()),
};
static TANK: Face = Face {
    start: tank_face_start,
    tune: tank_face_tune,
    cycle: tank_face_cycle,
    lock: Mutex::new(()),
};

/// A model of the example programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// `models/servo`, a step each 1 ms.
    Servo,
    /// `models/turbine`, a step each 10 ms and another each 100 ms.
    Turbine,
    /// `models/tank`, a step each 100 ms.
    Tank,
}

/// The one instance of a model, with its initial parameters and states.
pub struct Controller {
    face: &'static Face,
    _turn: MutexGuard<'static, ()>,
}

impl Controller {
    /// Waits until nobody uses the model, then initialises it.
    #[must_use]
    pub fn start(model: Model) -> Self {
        let face = match model {
            Model::Servo => &SERVO,
            Model::Turbine => &TURBINE,
            Model::Tank => &TANK,
        };
        // A test that failed with the model in hand leaves nothing behind: everything is
        // initialised.
        let turn = face.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: it writes the model's globals only, and the lock makes this their only user.
        unsafe { (face.start)() };
        Self { face, _turn: turn }
    }

    /// Sets a parameter; the numbers stand in the model's face.
    pub fn tune(&mut self, parameter: u32, value: f64) {
        // SAFETY: it writes the model's globals only, and the lock makes this their only user.
        unsafe { (self.face.tune)(parameter, value) };
    }

    /// One cycle of the model's fastest rate; `Err` holds what the model complains about.
    ///
    /// # Errors
    ///
    /// The error status of the model, in its words.
    pub fn cycle(&mut self, inputs: &[f64; VALUES]) -> Result<[f64; VALUES], String> {
        let mut outputs = [0.0; VALUES];
        // SAFETY: both arrays live through the call and have `VALUES` places, and no face uses
        // more; the globals have no other user because of the lock.
        let status = unsafe { (self.face.cycle)(inputs.as_ptr(), outputs.as_mut_ptr()) };
        if status.is_null() {
            return Ok(outputs);
        }
        // SAFETY: an error status is a string constant of the model, so it ends and stays.
        let status = unsafe { CStr::from_ptr(status) };
        Err(status.to_string_lossy().into_owned())
    }
}
