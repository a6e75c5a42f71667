/* SPDX-License-Identifier: Apache-2.0 */
/* The microbatches and passes of a graph that is a pipeline.
 *
 * The results of a microbatch are what leaves it: what an op of no microbatch
 * (the optimizer) waits for, or an op that adds up gradients, which reads those
 * of the microbatch before. Those ops belong to the gradient of their weight.
 * If nothing leaves any microbatch (there is only one, and no optimizer),
 * results are final tensors that nobody reads.
 */
#include "base/carve.h"
#include "pipeline/pipeline.h"

typedef struct reader {
  const regal_graph *graph;
  regal_pipeline *pipeline;
  uint32_t *part;     /* [ops] the microbatch, without what adds up */
  uint8_t *is_result; /* [ops] */
  bool leaves;        /* something leaves its microbatch */
} reader;

static void layout_reader(void *made, regal_carver *carver) {
  reader *r = made;
  r->part = regal_carve(carver, r->graph->ops, sizeof *r->part);
  r->is_result = regal_carve(carver, r->graph->ops, 1);
}

/* Whether it reads what another microbatch made: it adds up gradients. */
static bool adds_up(const reader *r, uint32_t op) {
  const regal_graph *graph = r->graph;
  const uint32_t *microbatch = r->pipeline->microbatch;
  for (REGAL_ROW(i, graph->input_begin, op)) {
    uint32_t other = microbatch[graph->producer[graph->input[i]]];
    if (other != REGAL_NONE && other != microbatch[op])
      return true;
  }
  return false;
}

static void read_microbatches(reader *r) {
  uint32_t *microbatch = r->pipeline->microbatch;
  for (uint32_t op = 0; op < r->graph->ops; op++)
    microbatch[op] = regal_microbatch_of_name(regal_graph_name(r->graph, op));
  for (uint32_t op = 0; op < r->graph->ops; op++)
    r->part[op] = microbatch[op] != REGAL_NONE && adds_up(r, op)
                      ? REGAL_NONE
                      : microbatch[op];
}

/* Whether an op outside of its part depends on the op. */
static bool leaves_part(const reader *r, uint32_t op) {
  const regal_graph *graph = r->graph;
  for (REGAL_ROW(t, graph->output_begin, op))
    for (REGAL_ROW(u, graph->use_begin, t))
      if (r->part[graph->consumer[u]] != r->part[op])
        return true;
  for (REGAL_ROW(i, graph->control_out_begin, op))
    if (r->part[graph->control_out[i]] != r->part[op])
      return true;
  return false;
}

static bool has_unread_final(const regal_graph *graph, uint32_t op) {
  for (REGAL_ROW(t, graph->output_begin, op))
    if (graph->is_final[t] && graph->use_begin[t] == graph->use_begin[t + 1])
      return true;
  return false;
}

static void find_results(reader *r) {
  for (uint32_t op = 0; op < r->graph->ops; op++) {
    r->is_result[op] = r->part[op] != REGAL_NONE && leaves_part(r, op);
    r->leaves |= r->is_result[op];
  }
  for (uint32_t op = 0; op < r->graph->ops && !r->leaves; op++)
    r->is_result[op] = has_unread_final(r->graph, op);
}

/* What adds up, and what names say; true if that is a backward pass. */
static bool name_passes(reader *r) {
  regal_pipeline *pipeline = r->pipeline;
  bool has_backward = false;
  for (uint32_t op = 0; op < r->graph->ops; op++) {
    regal_pass named = regal_pass_of_name(regal_graph_name(r->graph, op));
    if (r->part[op] != pipeline->microbatch[op])
      pipeline->pass[op] = REGAL_PASS_WEIGHT;
    else if (named != REGAL_PASS_NONE)
      pipeline->pass[op] = (uint8_t)named;
    has_backward |= named == REGAL_PASS_BACKWARD;
  }
  return has_backward;
}

static regal_status read_passes(regal_context *context, reader *r) {
  regal_pipeline *pipeline = r->pipeline;
  regal_pass_counts counts;
  read_microbatches(r);
  find_results(r);
  REGAL_TRY(regal_find_passes(context, r->graph, r->part, r->is_result,
                              pipeline->pass, &counts));
  /* With a single result nothing tells the passes apart. */
  if (!name_passes(r) && counts.results < 2)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "not a pipeline graph: its microbatches have no backward "
                      "pass");
  return REGAL_OK;
}

static regal_status fill(regal_context *context, const regal_graph *graph,
                         regal_pipeline *pipeline) {
  reader plain = {.graph = graph, .pipeline = pipeline};
  reader *r = regal_carve_struct(context, &plain, sizeof plain, layout_reader);
  if (!r)
    return regal_fail_memory(context);
  regal_status status = read_passes(context, r);
  regal_release(context, r);
  return status;
}

static void layout_pipeline(regal_pipeline *made, regal_carver *carver,
                            uint32_t ops) {
  regal_carve(carver, 1, sizeof *made);
  made->microbatch = regal_carve(carver, ops, sizeof *made->microbatch);
  made->pass = regal_carve(carver, ops, 1);
}

regal_status regal_pipeline_read(regal_context *context,
                                 const regal_graph *graph,
                                 regal_pipeline **pipeline) {
  regal_pipeline plain = {.context = context,
                          .microbatches = regal_graph_microbatches(graph)};
  regal_carver carver = {NULL, 0};
  if (!plain.microbatches)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "not a pipeline graph: the names of its ops have no "
                      "microbatches (NAME#0, NAME#1, ...); 'regal pipeline' "
                      "makes one");
  REGAL_TRY(REGAL_CARVE_BLOCK(context, carver,
                              layout_pipeline(&plain, &carver, graph->ops)));
  regal_status status = fill(context, graph, &plain);
  if (status != REGAL_OK) {
    regal_release(context, carver.base);
    return status;
  }
  *pipeline = (regal_pipeline *)carver.base;
  **pipeline = plain;
  return REGAL_OK;
}

void regal_pipeline_free(regal_pipeline *pipeline) {
  if (pipeline)
    regal_release(pipeline->context, pipeline);
}
