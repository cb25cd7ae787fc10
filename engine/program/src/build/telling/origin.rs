//! Origins of headers and functions that generated code asks for and its folder does not hold.
//!
//! A compiler's `MW_PWM.h: No such file or directory` is true and helps nobody who did not write
//! the generator. But each kind of block and of target has names of its own, the same in all
//! releases, so that a name tells the origin.

use std::fmt;

use crate::symbols::matches_name;

/// The product or library that something missing belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Driver blocks for a board.
    Board,
    /// Blocks of a physical network.
    Simscape,
    /// An interface of Windows.
    Windows,
    /// The robot operating system.
    Ros,
    /// The generator's own real-time machine.
    RealTimeTarget,
    /// Code that runs inside of a simulation.
    SimulationTarget,
    /// The face of S-functions that the generator has not written out.
    SFunction,
    /// Functions on matrices and signals that the generator's installation has as a library.
    Library,
    /// Networks that were trained, and processors of graphics.
    DeepLearning,
    /// The line over which external mode or a test on a processor talks.
    Line,
    /// The application's interface for variables.
    Interface,
    /// Functions that several models share.
    SharedUtilities,
    /// The library of C++.
    CppLibrary,
    /// Another operating system for small processors.
    SmallSystem,
}

/// Names of headers, with wildcards, and where they belong. The first that fits decides.
const HEADERS: [(&str, Origin); 93] = [
    ("MW_*", Origin::Board),
    ("mw_*", Origin::Board),
    ("c2000*", Origin::Board),
    ("F28*", Origin::Board),
    ("f28*", Origin::Board),
    ("DSP28*", Origin::Board),
    ("IQmathLib.h", Origin::Board),
    ("Piccolo*", Origin::Board),
    ("Arduino*", Origin::Board),
    ("arduino*", Origin::Board),
    ("*_arduino.h", Origin::Board),
    ("*_lct.h", Origin::Board),
    ("avr/*", Origin::Board),
    ("wiringPi*", Origin::Board),
    ("pigpio*", Origin::Board),
    ("bcm2835.h", Origin::Board),
    ("bcm_host.h", Origin::Board),
    ("softPwm.h", Origin::Board),
    ("stm32*", Origin::Board),
    ("STM32*", Origin::Board),
    ("stm_*", Origin::Board),
    ("core_cm*", Origin::Board),
    ("mbed*", Origin::Board),
    ("driver_*", Origin::Board),
    ("ev3*", Origin::Board),
    ("io_wrappers.h", Origin::Board),
    ("parrot*", Origin::Board),
    ("rsedu*", Origin::Board),
    ("px4*", Origin::Board),
    ("nuttx/*", Origin::Board),
    ("PX4*", Origin::Board),
    ("uORB/*", Origin::Board),
    ("p33*", Origin::Board),
    ("p32*", Origin::Board),
    ("xc.h", Origin::Board),
    ("hil.h", Origin::Board),
    ("quanser*", Origin::Board),
    ("brtenv.h", Origin::Board),
    ("beagleboneblue*", Origin::Board),
    ("rc_*", Origin::Board),
    ("ne_*", Origin::Simscape),
    ("nesl_*", Origin::Simscape),
    ("pm_*", Origin::Simscape),
    ("ssc_*", Origin::Simscape),
    ("sm_*", Origin::Simscape),
    ("physmod/*", Origin::Simscape),
    ("*_gateway.h", Origin::Simscape),
    ("windows.h", Origin::Windows),
    ("Windows.h", Origin::Windows),
    ("winsock*.h", Origin::Windows),
    ("WinSock*.h", Origin::Windows),
    ("conio.h", Origin::Windows),
    ("tchar.h", Origin::Windows),
    ("stdafx.h", Origin::Windows),
    ("slros*", Origin::Ros),
    ("ros/*", Origin::Ros),
    ("rclcpp/*", Origin::Ros),
    ("ros2nodeinterface.h", Origin::Ros),
    ("xpc*", Origin::RealTimeTarget),
    ("slrt*", Origin::RealTimeTarget),
    ("slrealtime*", Origin::RealTimeTarget),
    ("SLRTSTF*", Origin::RealTimeTarget),
    ("simstruc.h", Origin::SFunction),
    ("simstruc_compat.h", Origin::SFunction),
    ("raccel*", Origin::SimulationTarget),
    ("rsim.h", Origin::SimulationTarget),
    ("mex.h", Origin::SimulationTarget),
    ("matrix.h", Origin::SimulationTarget),
    ("sfc_*", Origin::SimulationTarget),
    ("slexec*", Origin::SimulationTarget),
    ("sigstream_rtw.h", Origin::SimulationTarget),
    ("fixedpoint.h", Origin::SimulationTarget),
    ("rt_matrixlib.h", Origin::Library),
    ("rtlibsrc.h", Origin::Library),
    ("rt_look*.h", Origin::Library),
    ("rt_mat*.h", Origin::Library),
    ("dsp*_rt.h", Origin::Library),
    ("vip*_rt.h", Origin::Library),
    ("HostLib_*", Origin::Library),
    ("mwmathutil.h", Origin::Library),
    ("coder_posix_time.h", Origin::Library),
    ("MWCNN*", Origin::DeepLearning),
    ("cudnn.h", Origin::DeepLearning),
    ("cublas*", Origin::DeepLearning),
    ("rtiostream*.h", Origin::Line),
    ("rtw_capi.h", Origin::Interface),
    ("rtw_modelmap*.h", Origin::Interface),
    ("model_reference_types.h", Origin::Interface),
    ("updown*.h", Origin::Line),
    ("FreeRTOS*", Origin::SmallSystem),
    ("vxWorks.h", Origin::SmallSystem),
    ("cmsis_os*", Origin::SmallSystem),
    ("ee.h", Origin::SmallSystem),
];

/// Headers of functions that models share.
const SHARED: [&str; 24] = [
    "rt_nonfinite.h",
    "rtGet*.h",
    "rt_*_snf.h",
    "rt_defines.h",
    "rt_*d.h",
    "rt_*f.h",
    "look1*.h",
    "look2*.h",
    "lookn*.h",
    "plook*.h",
    "intrp*.h",
    "linsearch*.h",
    "binsearch*.h",
    "evenly*.h",
    "mul_*.h",
    "div_*.h",
    "asr_*.h",
    "sMultiWord*.h",
    "uMultiWord*.h",
    "sLong2*.h",
    "uLong2*.h",
    "MultiWord*.h",
    "const_params*.h",
    "*_sharedutils*",
];

/// Names of functions, with wildcards, and where they belong.
const FUNCTIONS: [(&str, Origin); 38] = [
    ("MW_*", Origin::Board),
    ("mw_*", Origin::Board),
    ("c2000_*", Origin::Board),
    ("config_*", Origin::Board),
    ("pinMode", Origin::Board),
    ("digitalWrite", Origin::Board),
    ("digitalRead", Origin::Board),
    ("analogWrite", Origin::Board),
    ("analogRead", Origin::Board),
    ("pwmWrite", Origin::Board),
    ("wiringPi*", Origin::Board),
    ("softPwm*", Origin::Board),
    ("HAL_*", Origin::Board),
    ("LL_*", Origin::Board),
    ("EXT_*", Origin::Board),
    ("hil_*", Origin::Board),
    ("ev3_*", Origin::Board),
    ("arduino*", Origin::Board),
    ("enc_*", Origin::Board),
    ("nesl_*", Origin::Simscape),
    ("ne_*", Origin::Simscape),
    ("neu_*", Origin::Simscape),
    ("pm_*", Origin::Simscape),
    ("sm_*", Origin::Simscape),
    ("Sub_*", Origin::Ros),
    ("Pub_*", Origin::Ros),
    ("rt_MatMult*", Origin::Library),
    ("rt_MatDiv*", Origin::Library),
    ("rt_lu_*", Origin::Library),
    ("rt_Lookup*", Origin::Library),
    ("rt_*Substitution*", Origin::Library),
    ("LibOutputs_*", Origin::Library),
    ("coderTime*", Origin::Library),
    ("coderLocalTime*", Origin::Library),
    ("coderInitTime*", Origin::Library),
    ("rtIOStream*", Origin::Line),
    ("QueryPerformance*", Origin::Windows),
    ("std::*", Origin::CppLibrary),
];

impl Origin {
    /// Returns the origin of a header; `None` where its name does not tell.
    pub(super) fn of_header(name: &str) -> Option<Self> {
        let named = |(pattern, _): &&(&str, Self)| matches_name(pattern, name);
        let shared = || SHARED.iter().any(|pattern| matches_name(pattern, name));
        let known = HEADERS.iter().find(named).map(|(_, origin)| *origin);
        known.or_else(|| shared().then_some(Self::SharedUtilities))
    }

    /// Returns the origin of a function; `None` where its name does not tell.
    pub(super) fn of_function(name: &str) -> Option<Self> {
        let named = |(pattern, _): &&(&str, Self)| matches_name(pattern, name);
        FUNCTIONS.iter().find(named).map(|(_, origin)| *origin)
    }

    /// Says how the model is generated without it.
    pub(super) const fn without(self) -> &'static str {
        match self {
            Self::Board => {
                "generate the model without these blocks: put inports and outports in their place, \
                 and choose no hardware board"
            }
            Self::Simscape => {
                "generate the controller alone, and leave the physical network to a simulation \
                 beside it"
            }
            Self::Windows => {
                "generate the model for Linux on x86-64, without blocks for Windows devices"
            }
            Self::Ros => {
                "generate the model without these blocks: put inports and outports in their place, \
                 which channels can be connected to"
            }
            Self::RealTimeTarget | Self::SimulationTarget => {
                "generate the model for the target `ert.tlc` or `grt.tlc`"
            }
            Self::SFunction => {
                "put it beside the code (packNGo does), or generate the model for the target \
                 `ert.tlc` or `grt.tlc`, with S-functions that are inlined"
            }
            Self::Library => {
                "put it and its sources beside the code (packNGo does), or generate with a newer \
                 release or Embedded Coder, which write such functions out"
            }
            Self::DeepLearning => "generate it with the target library `none`",
            Self::Line => "generate the model without external mode, and not for such a test",
            Self::Interface => {
                "generate the model without its C API, or have packNGo put it beside the code"
            }
            Self::SharedUtilities => {
                "they lie in `slprj/…/_sharedutils`: put that folder beside the code (packNGo does)"
            }
            Self::CppLibrary => {
                "choose arrays of fixed size, and no streams, strings or exceptions"
            }
            Self::SmallSystem => "generate the model without a main program for that system",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Board => "driver blocks for a board (a hardware support package)",
            Self::Simscape => "Simscape, whose solver is a library of the generator's installation",
            Self::Windows => "Windows",
            Self::Ros => "blocks for ROS",
            Self::RealTimeTarget => "the generator's own real-time target",
            Self::SimulationTarget => "code that runs inside of a simulation",
            Self::SFunction => "S-functions that are not inlined, or a simulation",
            Self::Library => "a library of the generator's installation",
            Self::DeepLearning => "a library for trained networks",
            Self::Line => "the line of external mode, or of a test on the target processor",
            Self::Interface => "the generator's interface for variables (its C API)",
            Self::SharedUtilities => "the utilities that models share",
            Self::CppLibrary => "the standard library of C++, which a program is built without",
            Self::SmallSystem => "another operating system",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_known_by_its_name() {
        for (name, origin) in [
            ("MW_PWM.h", Origin::Board),
            ("c2000BoardSupport.h", Origin::Board),
            ("F2802x_Device.h", Origin::Board),
            ("DSP2833x_Device.h", Origin::Board),
            ("wiringPi.h", Origin::Board),
            ("arduino_digitaloutput_lct.h", Origin::Board),
            ("Arduino.h", Origin::Board),
            ("ne_std.h", Origin::Simscape),
            ("nesl_rtw.h", Origin::Simscape),
            ("arm_836bb176_1_gateway.h", Origin::Simscape),
            ("windows.h", Origin::Windows),
            ("simstruc.h", Origin::SFunction),
            ("rt_matrixlib.h", Origin::Library),
            ("coder_posix_time.h", Origin::Library),
            ("rtiostream.h", Origin::Line),
            ("rt_nonfinite.h", Origin::SharedUtilities),
            ("look1_binlxpw.h", Origin::SharedUtilities),
        ] {
            assert_eq!(Origin::of_header(name), Some(origin), "{name}");
        }
        assert_eq!(Origin::of_header("servo_types.h"), None);
        assert_eq!(Origin::of_function("MW_PWM_SetDutyCycle"), Some(Origin::Board));
        assert_eq!(Origin::of_function("sin"), None);
    }
}
