/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that search over chromosomes without a policy: `brkga`, `tuned`,
 * which is BRKGA with the settings that --settings names, and `random`, which
 * draws every generation anew.
 */
#include "evolve/methods.h"

#include <string.h>

#include "evolve/brkga.h"

static void draw_all(regal_brkga *brkga) {
  for (uint32_t k = 0; k < brkga->islands; k++)
    brkga->fresh[k] = true;
}

/* `anew`: without evolution, every generation is drawn anew. */
static regal_status run(regal_search *search,
                        const regal_brkga_settings *settings,
                        const regal_proposal *proposal, bool anew) {
  regal_brkga *brkga;
  REGAL_TRY(regal_brkga_create(search, settings, proposal, &brkga));
  while (regal_brkga_step(brkga))
    if (anew)
      draw_all(brkga);
  regal_status status = regal_brkga_offer(brkga);
  if (anew)
    regal_search_account(search, "random chromosomes on decoder %s",
                         brkga->decoder->name);
  else
    regal_search_account(
        search, "BRKGA on decoder %s: %llu generation%s of %u x %u",
        brkga->decoder->name, (unsigned long long)brkga->generation,
        brkga->generation == 1 ? "" : "s", settings->islands,
        settings->population);
  regal_brkga_free(brkga);
  return status;
}

regal_status regal_brkga_run(regal_search *search,
                             const regal_brkga_settings *settings,
                             const regal_proposal *proposal) {
  regal_search_doing(search, "brkga");
  return run(search, settings, proposal, false);
}

regal_status regal_random_run(regal_search *search,
                              const regal_brkga_settings *settings,
                              const regal_proposal *proposal) {
  return run(search, settings, proposal, true);
}

regal_status regal_method_brkga(regal_search *search) {
  regal_brkga_settings settings = regal_brkga_settings_of(search->options);
  return regal_brkga_run(search, &settings, search->proposal);
}

regal_status regal_method_random(regal_search *search) {
  regal_brkga_settings settings = regal_brkga_settings_of(search->options);
  return regal_random_run(search, &settings, search->proposal);
}

regal_status regal_method_tuned(regal_search *search) {
  regal_settings settings;
  const char *name;
  char rest[sizeof search->account];
  REGAL_TRY(
      regal_settings_open(search->context, search->options, &settings, &name));
  REGAL_TRY(regal_settings_run(search, &settings));
  memcpy(rest, search->account, sizeof rest);
  regal_search_account(search, "settings %.80s: %.300s", name, rest);
  return REGAL_OK;
}
