/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that search over chromosomes: `brkga` and `random`. */
#include "evolve/brkga.h"
#include "evolve/evolve.h"

static const regal_decoder *find_decoder(const regal_search *search) {
  if (search->proposal)
    return search->proposal->decoder;
  const char *name = search->options->decoder;
  return regal_decoder_find(name[0] ? name : "paper");
}

regal_status regal_method_brkga(regal_search *search) {
  const regal_decoder *decoder = find_decoder(search);
  regal_brkga *brkga;
  REGAL_TRY(regal_brkga_create(search, decoder, &brkga));
  while (regal_brkga_step(brkga))
    ;
  regal_status status = regal_brkga_offer(brkga);
  regal_search_account(
      search, "BRKGA on decoder %s: %llu generation%s of %u x %u",
      decoder->name, (unsigned long long)brkga->generation,
      brkga->generation == 1 ? "" : "s", brkga->islands, brkga->population);
  regal_brkga_free(brkga);
  return status;
}

/* Every generation is drawn anew: BRKGA without heredity. */
regal_status regal_method_random(regal_search *search) {
  const regal_decoder *decoder = find_decoder(search);
  regal_brkga *brkga;
  REGAL_TRY(regal_brkga_create(search, decoder, &brkga));
  while (regal_brkga_step(brkga))
    for (uint32_t k = 0; k < brkga->islands; k++)
      brkga->fresh[k] = true;
  regal_status status = regal_brkga_offer(brkga);
  regal_search_account(search, "random chromosomes on decoder %s",
                       decoder->name);
  regal_brkga_free(brkga);
  return status;
}
