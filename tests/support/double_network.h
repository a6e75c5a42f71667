/* SPDX-License-Identifier: Apache-2.0 */
/* The networks once more, in double precision, for finite differences. The
 * program's own definitions come before those of the library, so that no part
 * of the float version is linked. Include in one file of a program only. */
#ifndef REGAL_TESTS_DOUBLE_NETWORK_H
#define REGAL_TESTS_DOUBLE_NETWORK_H

#define REGAL_REAL_DOUBLE

#include "nn/adam.c"
#include "nn/categorical.c"
#include "nn/dense.c"
#include "nn/matrix.c"
#include "nn/recurrent.c"
#include "nn/segment.c"
#include "policy/network.c"
#include "policy/network_backward.c"
#include "policy/network_forward.c"
#include "policy/network_gnn.c"
#include "policy/network_heads.c"
#include "policy/network_plan.c"
#include "policy/network_variants.c"

#endif
