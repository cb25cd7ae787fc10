//! The programs of the examples, as they stand in `models/` of this project.

/// A folder of C.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Model {
    /// Folder in which the site file expects it, relative to the site file: `models/servo`.
    pub folder: &'static str,
    /// Its files, in the order of the names.
    pub files: &'static [ModelFile],
}

/// A file of a [`Model`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ModelFile {
    /// The name in the folder.
    pub name: &'static str,
    /// The content of the file.
    pub text: &'static str,
}

macro_rules! model {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        Model {
            folder: $folder,
            files: &[$(ModelFile {
                name: $name,
                text: include_str!(concat!("../../../../", $folder, "/", $name)),
            }),+],
        }
    };
}

pub(super) const SERVO: Model = model!("models/servo":
    "ert_main.c",
    "rtwtypes.h",
    "servo.c",
    "servo.h",
    "servo_data.c",
    "servo_private.h",
    "servo_types.h",
);

pub(super) const TURBINE: Model = model!("models/turbine":
    "ert_main.c",
    "rtwtypes.h",
    "turbine.c",
    "turbine.h",
    "turbine_data.c",
    "turbine_private.h",
    "turbine_types.h",
);

/// An OSEK program: the OIL file makes it one.
pub(super) const CONVEYOR: Model = model!("models/conveyor":
    "conveyor.c",
    "conveyor.h",
    "conveyor.oil",
    "conveyor_main.c",
);

pub(super) const TANK: Model = model!("models/tank":
    "ert_main.c",
    "rtwtypes.h",
    "tank.c",
    "tank.h",
);
