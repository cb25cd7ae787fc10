/**
 * @file solver_zc.h
 * @brief Crossings of zero as bits, for the functions that generated code finds them with.
 */
#ifndef SOLVER_ZC_H
#define SOLVER_ZC_H

#include <rtwtypes.h>

typedef uint8_T slZcSignalSignType;
#define SL_ZCS_SIGN_ZERO 0x00u
#define SL_ZCS_SIGN_POS 0x01u
#define SL_ZCS_SIGN_NEG 0x02u
#define SL_ZCS_SIGN_UNK 0x03u

/* N, Z and P stand for below, at and above zero. Two more bits must fit: the sign is stored below. */
typedef uint8_T slZcEventType;
#define SL_ZCS_EVENT_NUL 0x00u
#define SL_ZCS_EVENT_N2P 0x01u
#define SL_ZCS_EVENT_N2Z 0x02u
#define SL_ZCS_EVENT_Z2P 0x04u
#define SL_ZCS_EVENT_P2N 0x08u
#define SL_ZCS_EVENT_P2Z 0x10u
#define SL_ZCS_EVENT_Z2N 0x20u
#define SL_ZCS_EVENT_ALL_UP (SL_ZCS_EVENT_N2P | SL_ZCS_EVENT_N2Z | SL_ZCS_EVENT_Z2P)
#define SL_ZCS_EVENT_ALL_DN (SL_ZCS_EVENT_P2N | SL_ZCS_EVENT_P2Z | SL_ZCS_EVENT_Z2N)
#define SL_ZCS_EVENT_ALL (SL_ZCS_EVENT_ALL_UP | SL_ZCS_EVENT_ALL_DN)

#endif
