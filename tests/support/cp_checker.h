/* SPDX-License-Identifier: Apache-2.0 */
/* Says whether values satisfy a packed model of CP-SAT, constraint by
 * constraint and straight from its bytes: an independent reading of what the
 * solver is told. */
#ifndef REGAL_TESTS_CP_CHECKER_H
#define REGAL_TESTS_CP_CHECKER_H

#include "regal.h"

/* -1 when all hold; else the number of the first constraint that does not, or
 * -2 when a variable is out of its domain, -3 when the bytes are no model. */
long regal_test_cp_check(const uint8_t *bytes, size_t size,
                         const int64_t *values, size_t count);

#endif
