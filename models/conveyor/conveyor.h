/*
 * File: conveyor.h
 *
 * A belt that carries parcels past a light barrier to a diverter, which pushes every third one off.
 * Quantities are in m, m/s, pulses of the belt's encoder, and ms.
 */

#ifndef conveyor_h_
#define conveyor_h_

#include <stdbool.h>
#include <stdint.h>

/* From outside */
typedef struct {
  bool run;                            /* The belt shall run */
  bool light_barrier;                  /* Something is in it; see P.simulate */
} ExtU_conveyor_T;

/* To outside */
typedef struct {
  double speed;                        /* m/s, to the belt's drive */
  bool diverter;                       /* It shall be out */
  bool jammed;                         /* The belt stands although it should run */
  bool lamp;                           /* Blinks once a second while the program runs */
} ExtY_conveyor_T;

/* What can be tuned */
typedef struct {
  double speed;                        /* m/s, when it runs */
  double ramp;                         /* m/s in each ms, up and down */
  double pulses_per_metre;
  uint32_t way_pulses;                 /* From the light barrier to the diverter */
  uint32_t stroke_ms;                  /* How long the diverter stays out */
  uint32_t parcel_pulses;              /* From one simulated parcel to the next */
  uint32_t report_rounds;              /* Length of the computation in Report */
  bool simulate;                       /* Parcels come by themselves */
} P_conveyor_T;

/* What is remembered */
typedef struct {
  double position;                     /* m, way of the belt */
  double fraction;                     /* Of a pulse that is not whole yet */
  double mean_speed;                   /* m/s, since Supervise ran last */
  double supervised_position;          /* m, when that was */
  uint32_t pulses;
  uint32_t parcels;                    /* Seen */
  uint32_t diverted;                   /* Pushed off */
  uint32_t supervisions;
  uint32_t reports;                    /* Computations that were completed */
  uint32_t report_sum;
  uint32_t errors;                     /* What the kernel found wrong … */
  uint8_t last_error;                  /* … its status … */
  uint8_t last_service;                /* … and the service */
  bool was_broken;                     /* The light barrier, a millisecond ago */
} DW_conveyor_T;

extern ExtU_conveyor_T conveyor_U;
extern ExtY_conveyor_T conveyor_Y;
extern P_conveyor_T conveyor_P;
extern DW_conveyor_T conveyor_DW;

#endif                                 /* conveyor_h_ */
