/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decoding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "cost/verify/verify.h"
#include "support/reference_batched.h"

/* -- Genes ----------------------------------------------------------------- */

static regal_gene draw_near(regal_random *random, regal_gene centre) {
  regal_gene gene = centre + (regal_gene)regal_random_below(random, 5) - 2;
  return gene > REGAL_GENE_LARGEST ? 0 : gene;
}

void regal_test_draw_genes(regal_test_genes kind, uint64_t seed,
                           regal_gene *genes, size_t count) {
  regal_random random = {
      .key = regal_random_key(seed, REGAL_PURPOSE_TEST, kind, 77)};
  regal_gene values[4];
  for (int i = 0; i < 4; i++)
    values[i] = (regal_gene)regal_random_below(&random, 1 << REGAL_GENE_BITS);
  uint64_t few = 2 + regal_random_below(&random, 3);
  int shift = 8 * (int)regal_random_below(&random, 3);
  regal_gene centre = values[0] >> 8 << 8;
  if (values[1] & 1)
    centre = values[0] >> 16 << 16;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits = regal_random_next(&random);
    switch (kind) {
    case REGAL_TEST_UNIFORM:
      genes[i] = (regal_gene)(bits & REGAL_GENE_LARGEST);
      break;
    case REGAL_TEST_FEW:
      genes[i] = values[bits % few];
      break;
    case REGAL_TEST_EQUAL:
      genes[i] = values[0];
      break;
    case REGAL_TEST_EXTREME:
      genes[i] = bits & 1 ? REGAL_GENE_LARGEST : 0;
      break;
    case REGAL_TEST_NEAR:
      genes[i] = draw_near(&random, centre);
      break;
    default:
      genes[i] = (regal_gene)(bits & 0xff) << shift;
    }
  }
}

/* -- Decoding -------------------------------------------------------------- */

static void must(const regal_test_decoding *decoding, bool good,
                 const char *what) {
  if (!good)
    fail_msg("%s: %s: %s", decoding->about, what,
             regal_error(decoding->context));
}

static size_t longest_chromosome(const regal_problem *problem) {
  size_t longest = 0;
  for (size_t i = 0; i < regal_decoder_count(); i++) {
    const regal_decoder *decoder = regal_decoder_find(regal_decoder_at(i).name);
    size_t genes = regal_decoder_genes(decoder, problem);
    longest = genes > longest ? genes : longest;
  }
  return longest;
}

size_t regal_test_decoder_index(const char *name) {
  size_t index = 0;
  while (index < regal_decoder_count() &&
         strcmp(regal_decoder_at(index).name, name) != 0)
    index++;
  assert_true(index < regal_decoder_count());
  return index;
}

void regal_test_decoding_begin(regal_test_decoding *decoding,
                               regal_context *context,
                               const regal_problem *problem) {
  size_t longest = longest_chromosome(problem);
  uint32_t steps = regal_plan_most_steps(problem);
  memset(decoding, 0, sizeof *decoding);
  decoding->context = context;
  decoding->problem = problem;
  decoding->plain = true;
  must(decoding, regal_decoder_count() <= REGAL_TEST_MOST_DECODERS,
       "too many decoders");
  for (size_t i = 0; i < regal_decoder_count(); i++)
    must(decoding,
         !regal_decoder_find(regal_decoder_at(i).name)
              ->create_scratch(context, problem, &decoding->scratch[i]),
         "scratch");
  must(decoding,
       !regal_simulator_create(context, problem, &decoding->simulator) &&
           !reference_create(context, problem, &decoding->reference) &&
           !regal_plan_create(context, steps, &decoding->plan) &&
           !regal_plan_create(context, steps, &decoding->expected),
       "begin");
  decoding->genes = regal_alloc(context, longest, sizeof(regal_gene));
  decoding->keys = regal_alloc(context, longest, sizeof(float));
  must(decoding, decoding->genes && decoding->keys, "genes");
}

void regal_test_decoding_end(regal_test_decoding *decoding) {
  for (size_t i = 0; i < regal_decoder_count(); i++)
    regal_release(decoding->context, decoding->scratch[i]);
  regal_simulator_free(decoding->simulator);
  reference_free(decoding->reference);
  regal_plan_free(decoding->plan);
  regal_plan_free(decoding->expected);
  regal_release(decoding->context, decoding->genes);
  regal_release(decoding->context, decoding->keys);
}

void regal_test_same_fitness(const regal_test_decoding *decoding,
                             const char *what, regal_fitness a,
                             regal_fitness b) {
  if (memcmp(&a, &b, sizeof a) != 0)
    fail_msg("%s: %s: %lld %lld %lld is not %lld %lld %lld", decoding->about,
             what, (long long)a.excess, (long long)a.value, (long long)a.tie,
             (long long)b.excess, (long long)b.value, (long long)b.tie);
}

void regal_test_same_steps(const regal_test_decoding *decoding,
                           const char *what, const regal_plan *a,
                           const regal_plan *b) {
  if (a->step_count != b->step_count)
    fail_msg("%s: %s: %u steps, not %u", decoding->about, what, a->step_count,
             b->step_count);
  for (uint32_t i = 0; i < a->step_count; i++)
    if (memcmp(&a->steps[i], &b->steps[i], sizeof a->steps[i]) != 0)
      fail_msg("%s: %s: step %u is op %u port %d on %u to %u, not op %u port "
               "%d on %u to %u",
               decoding->about, what, i, a->steps[i].op, a->steps[i].port,
               a->steps[i].device, a->steps[i].to, b->steps[i].op,
               b->steps[i].port, b->steps[i].device, b->steps[i].to);
}

/* The plain reference's plan, where there is one for this decoder. */
static void check_reference(regal_test_decoding *decoding,
                            const regal_decoder *decoder,
                            regal_fitness fitness) {
  const regal_problem *problem = decoding->problem;
  if (decoder == &regal_decoder_paper) {
    size_t count = regal_decoder_genes(decoder, problem);
    for (size_t i = 0; i < count; i++)
      decoding->keys[i] = (float)decoding->genes[i] * 0x1p-24f;
    regal_fitness expected = reference_decode(
        decoding->reference, decoding->keys, decoding->expected);
    regal_test_same_fitness(decoding, "paper and its reference", fitness,
                            expected);
  } else if (decoder == &regal_decoder_batched && decoding->plain) {
    regal_test_batched_plan(problem, decoding->genes, decoding->expected);
  } else {
    return;
  }
  regal_test_same_steps(decoding, decoder->name, decoding->plan,
                        decoding->expected);
}

regal_fitness regal_test_check_decoder(regal_test_decoding *decoding,
                                       size_t decoder_index) {
  const regal_problem *problem = decoding->problem;
  const regal_decoder *decoder =
      regal_decoder_find(regal_decoder_at(decoder_index).name);
  void *scratch = decoding->scratch[decoder_index];
  regal_cost simulated, verified;
  regal_fitness fast = decoder->decode(problem, scratch, decoding->genes, NULL);
  regal_fitness with_plan =
      decoder->decode(problem, scratch, decoding->genes, decoding->plan);
  regal_fitness again =
      decoder->decode(problem, scratch, decoding->genes, NULL);
  regal_test_same_fitness(decoding, "with a plan", fast, with_plan);
  regal_test_same_fitness(decoding, "a second time", fast, again);
  must(decoding,
       decoding->plan->step_count <= regal_plan_most_steps(problem) &&
           !regal_verify_plan(decoding->context, problem->graph,
                              problem->machine, decoding->plan, &verified,
                              NULL),
       decoder->name);
  regal_simulate(decoding->simulator, decoding->plan, &simulated);
  if (memcmp(&simulated, &verified, sizeof simulated) != 0)
    fail_msg("%s: %s: the simulator and the verifier disagree", decoding->about,
             decoder->name);
  regal_test_same_fitness(decoding, decoder->name, fast,
                          regal_fitness_of(problem, &verified));
  check_reference(decoding, decoder, fast);
  return fast;
}
