/**
 * @file multiword_types.h
 * @brief Integers longer than a word, as arrays of words; the least significant comes first.
 */
#ifndef MULTIWORD_TYPES_H
#define MULTIWORD_TYPES_H

#include <rtwtypes.h>

typedef struct { uint32_T chunks[2]; } int64m_T, uint64m_T;
typedef struct { uint32_T chunks[3]; } int96m_T, uint96m_T;
typedef struct { uint32_T chunks[4]; } int128m_T, uint128m_T;
typedef struct { uint32_T chunks[5]; } int160m_T, uint160m_T;
typedef struct { uint32_T chunks[6]; } int192m_T, uint192m_T;
typedef struct { uint32_T chunks[7]; } int224m_T, uint224m_T;
typedef struct { uint32_T chunks[8]; } int256m_T, uint256m_T;

#endif
