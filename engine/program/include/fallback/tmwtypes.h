/**
 * @file tmwtypes.h
 * @brief Numbers, for a `rtwtypes.h` that leaves them to the generator's installation.
 */
#ifndef TMWTYPES_H
#define TMWTYPES_H

#include "quietcore_types.h"

#endif
