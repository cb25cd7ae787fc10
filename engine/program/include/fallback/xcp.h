/**
 * @file xcp.h
 * @brief The protocol of external mode in newer releases: a program calls nothing of it itself.
 */
#ifndef XCP_H
#define XCP_H

#include <rtwtypes.h>

#endif
