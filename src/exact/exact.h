/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that prove what they find. */
#ifndef REGAL_EXACT_EXACT_H
#define REGAL_EXACT_EXACT_H

#include "search/search.h"

/* CP-SAT, the constraint solver of OR-tools (docs/cp-sat.md). */
regal_status regal_method_cp_sat(regal_search *search);

#endif
