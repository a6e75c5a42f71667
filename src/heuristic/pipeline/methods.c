/* SPDX-License-Identifier: Apache-2.0 */
/* The methods `gpipe`, `1f1b`, `interleaved` and `zb-h1`: what pipelines are
 * run with today, to compare with. They need a pipeline graph.
 *
 * `auto` begins with them, too, where it can.
 *
 * Memory along the cuts is estimated. If a plan turns out not to fit, the cuts
 * are made again for a smaller limit, a few times. */
#include "base/carve.h"
#include "cost/model/plan.h"
#include "heuristic/heuristics.h"
#include "heuristic/pipeline/parts.h"

static void layout(regal_pipe *pipe, regal_carver *carver) {
  size_t ops = pipe->problem->ops;
  pipe->place = regal_carve(carver, ops, sizeof *pipe->place);
  pipe->late = regal_carve(carver, ops, 1);
  pipe->chunk_of = regal_carve(carver, ops, sizeof *pipe->chunk_of);
  pipe->device_of = regal_carve(carver, ops, 1);
  pipe->placement = regal_carve(carver, ops, 1);
  pipe->order = regal_carve(carver, ops, sizeof *pipe->order);
}

/* Offers the plan, and says whether it is within the limits itself. */
static regal_status offer(regal_search *search, regal_pipe *pipe, bool *fits) {
  regal_plan *plan;
  regal_cost cost;
  REGAL_TRY(regal_pipe_place(pipe));
  REGAL_TRY(regal_pipe_order(pipe));
  REGAL_TRY(regal_plan_from_order(search->context, search->problem, pipe->order,
                                  pipe->placement, &plan));
  regal_status status = regal_search_cost(search, plan, &cost);
  if (status != REGAL_OK) {
    regal_plan_free(plan);
    return status;
  }
  *fits = regal_fitness_of(search->problem, &cost).excess == 0;
  return regal_search_offer(search, plan);
}

/* `thorough`: all shares, even if a plan fits, since another one may be better.
 */
static regal_status run(regal_search *search, regal_pipe *pipe, bool thorough) {
  static const double shares[] = {1, 0.9, 0.8, 0.7, 0.6, 0.5};
  bool fits = false;
  REGAL_TRY(regal_pipe_find_places(pipe));
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
    pipe->limit_share = shares[i];
    REGAL_TRY(offer(search, pipe, &fits));
    if (pipe->pinned || !search->problem->limited || (fits && !thorough) ||
        regal_search_should_stop(search))
      break;
  }
  regal_search_account(search, "%u microbatches, %u %s on %u devices%s",
                       pipe->pipeline->microbatches, pipe->chunks,
                       pipe->chunks == 1 ? "stage" : "stages",
                       pipe->problem->devices,
                       pipe->pinned ? ", where they are pinned" : "");
  return REGAL_OK;
}

/* A schedule for a pipeline that has been read. */
static regal_status run_schedule(regal_search *search,
                                 const regal_pipeline *pipeline,
                                 regal_pipeline_schedule kind, bool thorough) {
  regal_context *context = search->context;
  const regal_options *options = search->options;
  regal_pipe pipe = {.context = context,
                     .problem = search->problem,
                     .pipeline = pipeline,
                     .schedule = kind,
                     .chunks_each = 1};
  regal_carver carver = {NULL, 0};
  if (kind == REGAL_INTERLEAVED)
    pipe.chunks_each = options ? (uint32_t)options->pipeline_chunks : 2;
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver, layout(&pipe, &carver)));
  regal_status status = run(search, &pipe, thorough);
  regal_release(context, carver.base);
  return status;
}

static regal_status schedule(regal_search *search,
                             regal_pipeline_schedule kind) {
  regal_pipeline *pipeline;
  REGAL_TRY(
      regal_pipeline_read(search->context, search->problem->graph, &pipeline));
  regal_status status = run_schedule(search, pipeline, kind, true);
  regal_pipeline_free(pipeline);
  return status;
}

/* gpipe has nothing that 1f1b has not. */
regal_status regal_start_pipelines(regal_search *search) {
  static const regal_pipeline_schedule kinds[] = {REGAL_1F1B, REGAL_INTERLEAVED,
                                                  REGAL_ZB_H1};
  const regal_graph *graph = search->problem->graph;
  regal_pipeline *pipeline;
  if (search->problem->devices == 1 || !regal_graph_microbatches(graph))
    return REGAL_OK;
  regal_status status = regal_pipeline_read(search->context, graph, &pipeline);
  if (status != REGAL_OK)
    return status == REGAL_BAD_INPUT ? REGAL_OK : status;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !status &&
                     !regal_search_should_stop(search);
       i++)
    status = run_schedule(search, pipeline, kinds[i], false);
  regal_pipeline_free(pipeline);
  return status;
}

regal_status regal_method_gpipe(regal_search *search) {
  return schedule(search, REGAL_GPIPE);
}

regal_status regal_method_1f1b(regal_search *search) {
  return schedule(search, REGAL_1F1B);
}

regal_status regal_method_interleaved(regal_search *search) {
  return schedule(search, REGAL_INTERLEAVED);
}

regal_status regal_method_zb_h1(regal_search *search) {
  return schedule(search, REGAL_ZB_H1);
}
