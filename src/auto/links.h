/* SPDX-License-Identifier: Apache-2.0 */
/* Another order of the transfers of a plan, at no cost of search. */
#ifndef REGAL_AUTO_LINKS_H
#define REGAL_AUTO_LINKS_H

#include "auto/account.h"

/* Overlapped transfers: sorts the links of the best plan anew, and offers the
 * result, as long as it is better. Nothing else of the plan changes. */
regal_status regal_auto_sort_links(regal_search *search,
                                   regal_account *account);

#endif
