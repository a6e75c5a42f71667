/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods, for the public calls. */
#ifndef REGAL_API_METHODS_H
#define REGAL_API_METHODS_H

#include "search/search.h"

/* NULL when there is none of that name. */
const regal_method *regal_method_find(const char *name);

#endif
