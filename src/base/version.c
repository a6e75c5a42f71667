/* SPDX-License-Identifier: Apache-2.0 */
/* Which regal this is. The commit, the compiler and its flags come from
 * build_id.h, which the build writes. */
#include "build_id.h"
#include "regal.h"

#define TEXT_OF(value) #value
#define EXPANDED_TEXT_OF(value) TEXT_OF(value)
#define VERSION                                                                \
  EXPANDED_TEXT_OF(REGAL_VERSION_MAJOR)                                        \
  "." EXPANDED_TEXT_OF(REGAL_VERSION_MINOR) "." EXPANDED_TEXT_OF(              \
      REGAL_VERSION_PATCH)

const char *regal_version(void) {
  return VERSION;
}

const char *regal_build_id(void) {
  return "regal " VERSION " (" REGAL_BUILD_COMMIT ", " REGAL_BUILD_COMPILER
         ", " REGAL_BUILD_FLAGS ")";
}
