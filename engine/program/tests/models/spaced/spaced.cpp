#include "spaced.h"

namespace plant
{
  void spaced::step0()                 // Sample time: [0.001s, 0.0s]
  {
    if (spaced_U.enable) {
      spaced_DW.Integrator_DSTATE += spaced_P.Ts * std::abs(spaced_U.speed);
      spaced_DW.phase = Phase::Moving;
    }

    spaced_Y.position = rt_limited(spaced_DW.Integrator_DSTATE);
  }

  void spaced::step1()                 // Sample time: [0.01s, 0.0s]
  {
    if (spaced_Y.position >= 50.0) {
      spaced_M.setErrorStatus("at its end");
    }
  }

  void spaced::initialize()
  {
    spaced_DW.Integrator_DSTATE = 1.0;
  }

  void spaced::terminate()
  {
  }

  const char_T* spaced::RT_MODEL_spaced_T::getErrorStatus() const
  {
    return (errorStatus);
  }

  void spaced::RT_MODEL_spaced_T::setErrorStatus(const char_T* const volatile aErrorStatus)
  {
    (errorStatus = aErrorStatus);
  }

  spaced::spaced() :
    spaced_U(),
    spaced_Y(),
    spaced_DW(),
    spaced_M()
  {
  }

  spaced::~spaced() = default;

  spaced::RT_MODEL_spaced_T * spaced::getRTM()
  {
    return (&spaced_M);
  }
}
