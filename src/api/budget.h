/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a search, from the options. */
#ifndef REGAL_API_BUDGET_H
#define REGAL_API_BUDGET_H

#include "search/search.h"

/* Sets evaluations, deadline and target of a search whose method is known. */
void regal_search_set_budget(regal_search *search);

#endif
