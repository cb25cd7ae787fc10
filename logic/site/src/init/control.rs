//! The examples that run a program: what is behind the reservation in their site files.

use crate::init::{Example, Model, line};

/// Name and class of the partition, and the cycle of the class in words.
pub(super) const fn partition(example: Example) -> (&'static str, &'static str, &'static str) {
    match example {
        Example::Turbine => ("governor", "fast-control-loop", "10 ms"),
        Example::Tank => ("level", "process-control", "100 ms"),
        Example::Osek => ("conveyor", "motion-control", "1 ms"),
        Example::Minimal | Example::Quickstart | Example::Acceptance | Example::Servo => {
            ("axis", "motion-control", "1 ms")
        }
    }
}

/// The beginning of the program's table.
pub(super) fn program(model: &Model) -> String {
    let setting = format!("model = \"{}\"", model.folder);
    let oil = model.files.iter().find(|file| file.name.ends_with(".oil"));
    let comment = match oil {
        Some(oil) => format!("{} in it makes it an OSEK program", oil.name),
        None => "folder of generated C, relative to this file".to_owned(),
    };
    format!("[partition.program]\n{}", line(&setting, &comment))
}

/// All that follows up to the campaign.
pub(super) const fn rest(example: Example) -> &'static str {
    match example {
        Example::Turbine => TURBINE,
        Example::Tank => TANK,
        Example::Osek => OSEK,
        Example::Minimal | Example::Quickstart | Example::Acceptance | Example::Servo => SERVO,
    }
}

const SERVO: &str = r#"period = "1 ms"
priority = 90                 # of SCHED_FIFO
early_wake = "adaptive"       # sleep to shortly before the release, then spin
watchdog = "500 us"           # longest execution time of a cycle
sensitivity = 20              # a fault after 20 longer ones in a row
on_fault = "zero"             # a controlword of 0 takes the drive's power away
retain = ["servo_P.*", "servo_DW.offset", "servo_DW.is_referenced"]
restart = { limit = 5, wait = "100 ms" }

[fieldbus.ec0]
partition = "axis"
interface = "sim"             # the built-in segment; or a network interface
cycle = "1 ms"

[[fieldbus.ec0.subdevice]]    # in the order of the line
name = "head"
device = "coupler"

[[fieldbus.ec0.subdevice]]
name = "drive"
device = "servo-drive"
plant = "servo-axis"          # a motor with load and friction behind it

[[fieldbus.ec0.subdevice]]
name = "lamps"
device = "digital-output-8"

# What the drive measures: 1 048 576 increments a turn, torque in thousandths of
# 2.4 Nm.
[[fieldbus.ec0.map]]
variable = "servo_U.position"  # rad
entry = "drive.position_actual_value"
scale = 5.992112452678286e-6

[[fieldbus.ec0.map]]
variable = "servo_U.velocity"  # rad/s
entry = "drive.velocity_actual_value"
scale = 5.992112452678286e-6

[[fieldbus.ec0.map]]
variable = "servo_U.torque"   # Nm
entry = "drive.torque_actual_value"
scale = 0.0024

[[fieldbus.ec0.map]]
variable = "servo_U.statusword"
entry = "drive.statusword"

[[fieldbus.ec0.map]]
variable = "servo_U.mode_display"
entry = "drive.modes_of_operation_display"

# What the drive is told.
[[fieldbus.ec0.map]]
variable = "servo_Y.torque"
entry = "drive.target_torque"
scale = 0.0024

[[fieldbus.ec0.map]]
variable = "servo_Y.velocity"
entry = "drive.target_velocity"
scale = 5.992112452678286e-6

[[fieldbus.ec0.map]]
variable = "servo_Y.controlword"
entry = "drive.controlword"

[[fieldbus.ec0.map]]
variable = "servo_Y.mode"
entry = "drive.modes_of_operation"

[[fieldbus.ec0.map]]
variable = "servo_Y.in_position"
entry = "lamps.output_1"

"#;

const TURBINE: &str = r#"priority = 80                 # of SCHED_FIFO, for the fastest task
sensitivity = 5               # a fault after 5 such cycles in a row
on_fault = "substitute"       # all outputs that are not named become 0
substitute = { "turbine_Y.trip" = true }
retain = ["turbine_P.*", "turbine_DW.load_reference"]

[[partition.program.task]]
name = "governor"             # turbine_step0: speed and overspeed
period = "10 ms"
watchdog = "2 ms"             # longest execution time of a cycle

[[partition.program.task]]
name = "load"                 # turbine_step1: the load; one priority below
period = "100 ms"
watchdog = "20 ms"

[fieldbus.ec0]
partition = "governor"
interface = "sim"             # the built-in segment; or a network interface
cycle = "10 ms"

[[fieldbus.ec0.subdevice]]    # in the order of the line
name = "head"
device = "coupler"

[[fieldbus.ec0.subdevice]]
name = "valves"
device = "analog-output-4"
plant = "steam-turbine"       # the terminals are connected to the same turbine
connect = { output_1 = "valve" }

[[fieldbus.ec0.subdevice]]
name = "relays"
device = "digital-output-8"
plant = "steam-turbine"
connect = { output_1 = "trip" }

[[fieldbus.ec0.subdevice]]
name = "gauges"
device = "analog-input-4"
plant = "steam-turbine"
connect = { input_1 = "speed", input_2 = "power", input_3 = "valve_position" }

[[fieldbus.ec0.map]]
variable = "turbine_U.speed"  # 1/min
entry = "gauges.input_1"
scale = 0.2

[[fieldbus.ec0.map]]
variable = "turbine_U.power"  # MW
entry = "gauges.input_2"
scale = 6.666666666666667e-4

[[fieldbus.ec0.map]]
variable = "turbine_U.valve_position"
entry = "gauges.input_3"
scale = 3.3333333333333335e-5

[[fieldbus.ec0.map]]
variable = "turbine_Y.valve"  # 1 is open
entry = "valves.output_1"
scale = 3.3333333333333335e-5

[[fieldbus.ec0.map]]
variable = "turbine_Y.trip"
entry = "relays.output_1"

"#;

const OSEK: &str = r#"period = "1 ms"               # NANOSECONDSPERTICK in the OIL file
priority = 90                 # of SCHED_FIFO; the kernel has its own beside
early_wake = "adaptive"       # sleep to shortly before the release, then spin
sensitivity = 5               # a fault after 5 such cycles in a row
retain = ["conveyor_P.*", "conveyor_DW.parcels", "conveyor_DW.diverted"]
restart = { limit = 5, wait = "100 ms" }
deadlines = { Drive = "500 us", Sort = "2 ms", Supervise = "20 ms", Report = "100 ms" }

"#;

const TANK: &str = r#"period = "100 ms"
priority = 60                 # of SCHED_FIFO
watchdog = "10 ms"            # longest execution time of a cycle
sensitivity = 5               # a fault after 5 such cycles in a row
on_fault = "zero"             # the pump stands still
retain = ["rtP.*", "rtDW.setpoint", "rtDW.integral"]

[fieldbus.ec0]
partition = "level"
interface = "sim"             # the built-in segment; or a network interface
cycle = "100 ms"

[[fieldbus.ec0.subdevice]]    # in the order of the line
name = "head"
device = "coupler"

[[fieldbus.ec0.subdevice]]
name = "pumps"
device = "analog-output-4"
plant = "tank"                # the terminals are connected to the same tank
connect = { output_1 = "pump" }

[[fieldbus.ec0.subdevice]]
name = "gauges"
device = "analog-input-4"
plant = "tank"
connect = { input_1 = "level", input_2 = "outflow", input_3 = "pump_speed" }

[[fieldbus.ec0.subdevice]]
name = "switches"
device = "digital-input-8"
plant = "tank"
connect = { input_1 = "full" }

[[fieldbus.ec0.subdevice]]
name = "lamps"
device = "digital-output-8"

[[fieldbus.ec0.map]]
variable = "rtU.level"        # m
entry = "gauges.input_1"
scale = 3.3333333333333335e-5

[[fieldbus.ec0.map]]
variable = "rtU.outflow"      # l/s
entry = "gauges.input_2"
scale = 2e-4

[[fieldbus.ec0.map]]
variable = "rtU.pump_speed"
entry = "gauges.input_3"
scale = 3.3333333333333335e-5

[[fieldbus.ec0.map]]
variable = "rtU.full"
entry = "switches.input_1"

[[fieldbus.ec0.map]]
variable = "rtY.pump"         # 1 is full speed
entry = "pumps.output_1"
scale = 3.3333333333333335e-5

[[fieldbus.ec0.map]]
variable = "rtY.alarm"
entry = "lamps.output_1"

"#;
