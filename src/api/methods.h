/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods, for the public calls. */
#ifndef REGAL_API_METHODS_H
#define REGAL_API_METHODS_H

#include "search/search.h"

/* NULL when there is none of that name. */
const regal_method *regal_method_find(const char *name);
/* Fails with the nearest name that there is. */
regal_status regal_method_require(regal_context *context, const char *name,
                                  const regal_method **method);
/* "regal, gas and direct": those that take a policy. */
void regal_methods_with_policy(char *text, size_t room);

#endif
