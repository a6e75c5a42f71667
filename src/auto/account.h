/* SPDX-License-Identifier: Apache-2.0 */
/* The account of a search: what was done, and how the gap fell. */
#ifndef REGAL_AUTO_ACCOUNT_H
#define REGAL_AUTO_ACCOUNT_H

#include "search/search.h"

typedef struct regal_account {
  char text[sizeof((regal_search *)0)->account];
  size_t length;
} regal_account;

/* "heft: 12.30% after 0.004 s; " */
void regal_account_add(regal_account *account, regal_search *search,
                       const char *what);

#endif
