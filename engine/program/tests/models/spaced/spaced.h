// A model as a class in a namespace, in the manner of releases from 2021 on. Written for the tests.
#ifndef spaced_h_
#define spaced_h_
#include <cmath>
#include "rtwtypes.h"

extern "C"
{
  static inline real_T rt_limited(real_T value)
  {
    return value < 50.0 ? value : 50.0;
  }
}

namespace plant
{
  class spaced final
  {
   public:
    enum class Phase : int32_T { Idle = 0, Moving = 4 };

    struct DW_spaced_T {
      real_T Integrator_DSTATE;
      Phase phase;
    };

    struct ExtU_spaced_T {
      real_T speed;
      bool enable;
    };

    struct ExtY_spaced_T {
      real_T position;
    };

    struct P_spaced_T {
      real_T Ts;
    };

    class RT_MODEL_spaced_T
    {
     public:
      const char_T* getErrorStatus() const;
      void setErrorStatus(const char_T* const volatile aErrorStatus);

     private:
      const char_T *errorStatus;
    };

    spaced(spaced const&) = delete;
    spaced& operator= (spaced const&) & = delete;
    spaced(spaced &&) = delete;
    spaced& operator= (spaced &&) = delete;
    plant::spaced::RT_MODEL_spaced_T * getRTM();

    void setExternalInputs(const ExtU_spaced_T *pExtU_spaced_T)
    {
      spaced_U = *pExtU_spaced_T;
    }

    const ExtY_spaced_T &getExternalOutputs() const
    {
      return spaced_Y;
    }

    void initialize();
    void step0();
    void step1();
    static void terminate();
    spaced();
    ~spaced();

   private:
    ExtU_spaced_T spaced_U;
    ExtY_spaced_T spaced_Y;
    DW_spaced_T spaced_DW;
    static P_spaced_T spaced_P;
    RT_MODEL_spaced_T spaced_M;
  };
}

#endif
