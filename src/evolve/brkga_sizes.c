/* SPDX-License-Identifier: Apache-2.0 */
/* How many chromosomes a run of BRKGA keeps, and the memory that they need.
 *
 * Population, islands and genes are multiplied: settings that look harmless one
 * by one can need terabytes. So memory is computed before anything is
 * allocated, and compared with two limits: --max-memory, and what the budget
 * can use. An evaluation makes one chromosome, so a budget of evaluations
 * smaller than the first generation leaves the rest of it unmade. Then only
 * what will be made is kept. A user who asks for so much more that it matters
 * gets an error instead, since it would be another run than the one that was
 * asked for. */
#include <math.h>
#include <stdio.h>

#include "base/memory/limit.h"
#include "base/text.h"
#include "evolve/brkga.h"

/* Less than either is not worth an error. */
#define STANDARD_POPULATION 100
#define EXCESS_BYTES (UINT64_C(64) << 20)

static uint32_t share_of(double share, uint32_t population, uint32_t least) {
  uint32_t count = (uint32_t)lround(share * population);
  return count < least ? least : count;
}

static regal_status set_shares(regal_brkga *brkga,
                               const regal_brkga_settings *settings) {
  uint32_t p = settings->population;
  brkga->population = p;
  brkga->islands = settings->islands;
  brkga->elites = share_of(settings->elites, p, 1);
  brkga->mutants = share_of(settings->mutants, p, 0);
  if (brkga->elites >= p || brkga->elites + brkga->mutants > p)
    return regal_fail(brkga->search->context, REGAL_BAD_INPUT,
                      "%u elites and %u mutants do not fit a population of %u",
                      brkga->elites, brkga->mutants, p);
  return REGAL_OK;
}

/* Of all islands: chromosomes, and what is kept of each. */
static uint64_t needed_bytes(uint64_t islands, uint64_t population,
                             uint64_t slots, uint64_t genes) {
  uint64_t slot = genes * sizeof(regal_gene) + sizeof(regal_fitness);
  uint64_t bytes;
  if (__builtin_mul_overflow(islands * slots, slot, &bytes))
    return UINT64_MAX;
  return bytes + islands * population * 12;
}

static regal_status check_memory(const regal_brkga *brkga) {
  char what[80];
  snprintf(what, sizeof what, "--population %u and --islands %u",
           brkga->population, brkga->islands);
  return regal_memory_check(brkga->search->context, what,
                            needed_bytes(brkga->islands, brkga->population,
                                         regal_brkga_slots(brkga),
                                         brkga->genes));
}

/* A user who asks for far more chromosomes than the budget can make expects
 * another run than the one that comes. */
static regal_status refuse_excess(const regal_brkga *brkga) {
  uint64_t p = brkga->population, slots = regal_brkga_slots(brkga);
  uint64_t left = regal_budget_left(&brkga->search->budget);
  uint64_t bytes = needed_bytes(brkga->islands, p, slots, brkga->genes);
  if (!brkga->search->options || p * brkga->islands <= left ||
      p * brkga->islands <= STANDARD_POPULATION || bytes <= EXCESS_BYTES)
    return REGAL_OK;
  return regal_fail(
      brkga->search->context, REGAL_BAD_INPUT,
      "--population %u and --islands %u need %s of memory, "
      "expected no more chromosomes than evaluations: %llu",
      brkga->population, brkga->islands,
      regal_show_bytes(bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes).text,
      (unsigned long long)left);
}

/* A budget that ends within the first generation makes its first members only:
 * no others are kept. The numbers behind those that are made do not change. */
static void keep_what_is_made(regal_brkga *brkga) {
  uint64_t left = regal_budget_left(&brkga->search->budget);
  uint32_t p = brkga->population;
  if (left >= (uint64_t)brkga->islands * p)
    return;
  brkga->islands = left > p ? (uint32_t)((left + p - 1) / p) : 1;
  if (left >= p)
    return;
  p = left > 2 ? (uint32_t)left : 2;
  brkga->population = p;
  brkga->elites = brkga->elites < p ? brkga->elites : p - 1;
  if (brkga->mutants > p - brkga->elites)
    brkga->mutants = p - brkga->elites;
}

regal_status regal_brkga_set_sizes(regal_brkga *brkga,
                                   const regal_brkga_settings *settings) {
  REGAL_TRY(set_shares(brkga, settings));
  REGAL_TRY(refuse_excess(brkga));
  keep_what_is_made(brkga);
  return check_memory(brkga);
}
