/*
 * File: conveyor.c
 *
 * A sorting conveyor under an OSEK kernel. When what runs is in conveyor.oil.
 */

#include "conveyor.h"
#include "os.h"

/* One parcel in so many is pushed off */
#define conveyor_EVERY                 (3u)

/* Most pulses that are counted in one millisecond */
#define conveyor_PULSES_MAX            (16u)

/* Length of a simulated parcel, in pulses */
#define conveyor_PARCEL_PULSES         (50u)

/* Reports are made with each fifth supervision */
#define conveyor_REPORT_EVERY          (5u)

/* Slower than this it stands, in m/s */
#define conveyor_STANDS                (0.01)

ExtU_conveyor_T conveyor_U = { true, false };

ExtY_conveyor_T conveyor_Y;
P_conveyor_T conveyor_P = {
  0.5,                                 /* speed */
  0.001,                               /* ramp */
  2000.0,                              /* pulses_per_metre */
  300u,                                /* way_pulses */
  150u,                                /* stroke_ms */
  400u,                                /* parcel_pulses */
  2000000u,                            /* report_rounds: some 3 ms */
  true                                 /* simulate */
};

DW_conveyor_T conveyor_DW;

/* Whether something is in the light barrier. */
static bool isBroken(void)
{
  if (!conveyor_P.simulate || (conveyor_P.parcel_pulses == 0u)) {
    return conveyor_U.light_barrier;
  }

  return (conveyor_DW.pulses % conveyor_P.parcel_pulses) < conveyor_PARCEL_PULSES;
}

/* Moves the belt by a millisecond. */
static void moveBelt(void)
{
  const double wanted = conveyor_U.run ? conveyor_P.speed : 0.0;

  if (conveyor_Y.speed + conveyor_P.ramp < wanted) {
    conveyor_Y.speed += conveyor_P.ramp;
  } else if (conveyor_Y.speed - conveyor_P.ramp > wanted) {
    conveyor_Y.speed -= conveyor_P.ramp;
  } else {
    conveyor_Y.speed = wanted;
  }

  conveyor_DW.position += conveyor_Y.speed * 0.001;
}

/* Tells the counter of the belt's way what came together. */
static void countPulses(void)
{
  uint32_t counted = 0u;

  conveyor_DW.fraction += conveyor_Y.speed * 0.001 * conveyor_P.pulses_per_metre;
  while ((conveyor_DW.fraction >= 1.0) && (counted < conveyor_PULSES_MAX)) {
    conveyor_DW.fraction -= 1.0;
    conveyor_DW.pulses++;
    counted++;
    (void) IncrementCounter(BeltPulses);
  }
}

/* Every millisecond: the belt. */
TASK(Drive)
{
  bool broken;

  (void) GetResource(Belt);
  moveBelt();
  (void) ReleaseResource(Belt);
  countPulses();
  broken = isBroken();
  if (broken && !conveyor_DW.was_broken) {
    (void) SetEvent(Sort, ParcelSeen);
  }

  conveyor_DW.was_broken = broken;
  (void) TerminateTask();
}

/* Waits for what happens to parcels; never ends. */
TASK(Sort)
{
  for (;;) {
    EventMaskType events = 0u;

    (void) WaitEvent(ParcelSeen | AtDiverter | DiverterOut);
    (void) GetEvent(Sort, &events);
    (void) ClearEvent(events);
    if ((events & ParcelSeen) != 0u) {
      conveyor_DW.parcels++;
      if (conveyor_DW.parcels % conveyor_EVERY == 0u) {
        (void) SetRelAlarm(WayToDiverter, conveyor_P.way_pulses, 0u);
      }
    }

    if ((events & AtDiverter) != 0u) {
      conveyor_DW.diverted++;
      conveyor_Y.diverter = true;
      (void) SetRelAlarm(DiverterStroke, conveyor_P.stroke_ms, 0u);
    }

    if ((events & DiverterOut) != 0u) {
      conveyor_Y.diverter = false;
    }
  }
}

/* Every 20 ms: what the belt does. */
TASK(Supervise)
{
  double position;

  (void) GetResource(Belt);
  position = conveyor_DW.position;
  (void) ReleaseResource(Belt);
  conveyor_DW.mean_speed = (position - conveyor_DW.supervised_position) / 0.020;
  conveyor_DW.supervised_position = position;
  conveyor_Y.jammed = conveyor_U.run && (conveyor_Y.speed > conveyor_STANDS) &&
    (conveyor_DW.mean_speed < conveyor_STANDS);
  conveyor_DW.supervisions++;
  if (conveyor_DW.supervisions % conveyor_REPORT_EVERY == 0u) {
    /* Where the report before is not done yet, this is an error: E_OS_LIMIT. */
    (void) ActivateTask(Report);
  }

  (void) TerminateTask();
}

/* A long computation, which all others preempt. */
TASK(Report)
{
  uint32_t sum = conveyor_DW.report_sum;
  uint32_t round;

  for (round = 0u; round < conveyor_P.report_rounds; round++) {
    sum = sum * 1664525u + 1013904223u + round;
  }

  conveyor_DW.report_sum = sum;
  conveyor_DW.reports++;
  (void) TerminateTask();
}

/* Every 500 ms. */
ALARMCALLBACK(Heartbeat)
{
  conveyor_Y.lamp = !conveyor_Y.lamp;
}

void StartupHook(void)
{
  conveyor_Y.speed = 0.0;
  conveyor_Y.diverter = false;
}

void ErrorHook(StatusType Error)
{
  conveyor_DW.errors++;
  conveyor_DW.last_error = (uint8_t) Error;
  conveyor_DW.last_service = (uint8_t) OSErrorGetServiceId();
}
