/* SPDX-License-Identifier: Apache-2.0 */
/* One graph of the stream: drawn, judged by the paper's filter, written.
 *
 * The filter (appendix, synthetic dataset): BRKGA with 10K evaluations must
 * improve on BRKGA with 1K by at least 18%. The shorter run is the beginning of
 * the longer one, so one run gives both. It is the standard BRKGA whatever the
 * options say, with the graph's own seed.
 */
#include "dataset/generate/generate.h"

#include "dataset/figures.h"
#include "evolve/milestones.h"

static const uint64_t filter_budgets[2] = {1000, 10000};
enum { WORST_PERCENT_LEFT = 82 }; /* of the run time at 1K, at 10K */

static const regal_brkga_settings standard = {.population = 100,
                                              .islands = 1,
                                              .elites = .2,
                                              .mutants = .15,
                                              .elite_bias = .7};

static regal_status run_filter(regal_context *context, regal_pool *single,
                               const regal_graph *graph,
                               regal_candidate *candidate) {
  regal_made_row *row = &candidate->row;
  regal_options options;
  regal_problem *problem;
  regal_search search;
  regal_fitness best[2];
  regal_options_init(&options);
  options.devices = 2; /* with free, blocking transfers; control = wait */
  REGAL_TRY(regal_problem_create(context, graph, &options, &problem));
  regal_search_open(&search, context, problem, single, row->draw.seed,
                    filter_budgets[1]);
  regal_status status =
      regal_brkga_milestones(&search, &standard, filter_budgets, 2, best);
  candidate->finished = search.stop != REGAL_STOP_INTERRUPT;
  regal_search_close(&search);
  regal_problem_free(problem);
  REGAL_TRY(status);
  if (!candidate->finished)
    return REGAL_OK;
  row->cost_1k = best[0].value;
  row->cost_10k = best[1].value;
  /* wide, since a hundred times a run time may not fit into 64 bits */
  __int128 left = (__int128)100 * row->cost_10k;
  candidate->passed =
      row->cost_1k > 0 && left <= (__int128)WORST_PERCENT_LEFT * row->cost_1k;
  return REGAL_OK;
}

static regal_status judge(regal_context *context, regal_pool *single,
                          const regal_spec *spec, const regal_graph *graph,
                          regal_candidate *candidate) {
  regal_made_row *row = &candidate->row;
  row->checksum = graph->checksum;
  row->ops = graph->ops;
  row->edges = graph->uses;
  row->controls = graph->controls;
  REGAL_TRY(regal_graph_degrees(context, graph, &row->degrees));
  candidate->finished = candidate->passed = true;
  if (spec->filter)
    REGAL_TRY(run_filter(context, single, graph, candidate));
  if (!candidate->finished || !candidate->passed)
    return REGAL_OK;
  return spec->format->save(context, "graph", graph, &candidate->text);
}

void regal_candidate_make(regal_context *context, regal_pool *single,
                          const regal_spec *spec, uint64_t number,
                          regal_candidate *candidate) {
  regal_graph *graph = NULL;
  *candidate = (regal_candidate){0};
  regal_text_init(&candidate->text, context);
  if (regal_stop_requested(context))
    return;
  candidate->row.number = number;
  candidate->row.draw = regal_recipe_draw(&spec->recipe, number);
  candidate->status =
      regal_recipe_graph(context, &spec->recipe, candidate->row.draw, &graph);
  if (candidate->status == REGAL_OK)
    candidate->status = judge(context, single, spec, graph, candidate);
  regal_graph_free(graph);
}
