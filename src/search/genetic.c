/* The methods that search over chromosomes: `brkga` and `random`. */
#include "search/brkga.h"

static regal_status find_decoder(regal_search *search,
                                 const regal_decoder **decoder) {
  const char *name = search->options->decoder;
  if (search->proposal)
    name = search->proposal->decoder->name;
  else if (!name[0])
    name = "paper";
  *decoder = regal_decoder_find(name);
  if (!*decoder)
    return regal_fail(search->context, REGAL_BAD_INPUT,
                      "--decoder: there is no decoder \"%s\"; 'regal methods' "
                      "lists them",
                      name);
  return REGAL_OK;
}

regal_status regal_method_brkga(regal_search *search) {
  const regal_decoder *decoder;
  regal_brkga *brkga;
  REGAL_TRY(find_decoder(search, &decoder));
  REGAL_TRY(regal_brkga_create(search, decoder, &brkga));
  while (regal_brkga_step(brkga))
    ;
  regal_status status = regal_brkga_offer(brkga);
  regal_search_account(
      search, "BRKGA on decoder %s: %llu generations of %u x %u%s",
      decoder->name, (unsigned long long)brkga->generation, brkga->islands,
      brkga->population, search->start ? ", from the given plan" : "");
  regal_brkga_free(brkga);
  return status;
}

/* Every generation is drawn anew: BRKGA without heredity. */
regal_status regal_method_random(regal_search *search) {
  const regal_decoder *decoder;
  regal_brkga *brkga;
  REGAL_TRY(find_decoder(search, &decoder));
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
