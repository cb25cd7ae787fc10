/**
 * @file rtwtypes.h
 * @brief For folders that come without this header; a folder's own wins.
 */
#ifndef RTWTYPES_H
#define RTWTYPES_H

#include "quietcore_types.h"

#endif
