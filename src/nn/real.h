/* SPDX-License-Identifier: Apache-2.0 */
/* The number that networks compute with: float in all of regal. Tests of
 * gradients compile the same sources again with REGAL_REAL_DOUBLE, for finite
 * differences need the digits. */
#ifndef REGAL_NN_REAL_H
#define REGAL_NN_REAL_H

#ifdef REGAL_REAL_DOUBLE
typedef double regal_real;
#else
typedef float regal_real;
#endif

#endif
