/* `auto`, the default method: the best that we have for the given budget. */
#ifndef REGAL_AUTO_AUTO_H
#define REGAL_AUTO_AUTO_H

#include "search/search.h"

regal_status regal_method_auto(regal_search *search);

#endif
