/* SPDX-License-Identifier: Apache-2.0 */
/* Where units are along the axis that is cut into stages.
 *
 * Units of several ops are layers, and stand in the order of their first ops in
 * the file. All others are drawn to what they exchange bytes with, as in
 * quadratic placement of circuits: each place is the mean of its neighbours'
 * places, weighted by bytes. A few sweeps over the ops, forwards and backwards,
 * come near enough: information travels along whole chains in one sweep. So an
 * activation's gradient stands beside the layer whose activations it needs, in
 * whichever microbatch it is. Without units of several ops, fold ranks stand
 * for the layers (heuristic/cut/fold.h).
 */
#include "base/compare.h"
#include "heuristic/cut/fold.h"
#include "heuristic/place/units.h"

#define SWEEPS 8

/* A neighbour draws by the bytes between, and a little even without any. */
static void draw(const regal_units *units, uint32_t tensor, uint32_t other,
                 double *sum, double *weight) {
  const regal_problem *problem = units->problem;
  uint32_t readers =
      problem->use_begin[tensor + 1] - problem->use_begin[tensor];
  double force = ((double)problem->bytes[tensor] + 1) / readers;
  *sum += force * units->place[units->unit[other]];
  *weight += force;
}

static void relax(regal_units *units, uint32_t op) {
  const regal_problem *problem = units->problem;
  uint32_t unit = units->unit[op];
  double sum = 0, weight = 0;
  if (units->size[unit] > 1)
    return;
  for (REGAL_ROW(i, problem->input_begin, op))
    draw(units, problem->input[i], problem->producer[problem->input[i]], &sum,
         &weight);
  for (REGAL_ROW(t, problem->output_begin, op))
    for (REGAL_ROW(u, problem->use_begin, t))
      draw(units, t, problem->consumer[u], &sum, &weight);
  if (weight > 0)
    units->place[unit] = sum / weight;
}

static bool has_layers(const regal_units *units) {
  for (uint32_t u = 0; u < units->count; u++)
    if (units->size[u] > 1)
      return true;
  return false;
}

/* Places at first: the layers' numbers; others have that of the last layer
 * before them in the file. */
static void place_layers(regal_units *units) {
  double layer = 0;
  uint32_t seen = 0;
  for (uint32_t op = 0; op < units->problem->ops; op++) {
    uint32_t unit = units->unit[op];
    if (unit != seen)
      continue;
    seen++;
    layer += units->size[unit] > 1;
    units->place[unit] = layer;
  }
  for (uint32_t sweep = 0; sweep < SWEEPS; sweep++) {
    for (uint32_t op = 0; op < units->problem->ops; op++)
      relax(units, op);
    for (uint32_t op = units->problem->ops; op-- > 0;)
      relax(units, op);
  }
}

static regal_status place_folded(regal_units *units) {
  uint32_t ops = units->problem->ops;
  uint32_t *by_fold = regal_alloc(units->context, ops, sizeof *by_fold);
  if (!by_fold)
    return regal_fail_memory(units->context);
  regal_status status =
      regal_fold_order(units->context, units->problem, by_fold);
  for (uint32_t i = 0; status == REGAL_OK && i < ops; i++)
    units->place[units->unit[by_fold[i]]] = i;
  regal_release(units->context, by_fold);
  return status;
}

typedef struct placed {
  double place;
  uint32_t unit;
} placed;

static int compare_placed(const void *left, const void *right) {
  const placed *a = left, *b = right;
  if (a->place != b->place)
    return a->place < b->place ? -1 : 1;
  return (a->unit > b->unit) - (a->unit < b->unit);
}

regal_status regal_units_arrange(regal_units *units) {
  placed *sorted = regal_alloc(units->context, units->count, sizeof *sorted);
  if (!sorted)
    return regal_fail_memory(units->context);
  regal_status status = REGAL_OK;
  if (has_layers(units))
    place_layers(units);
  else
    status = place_folded(units);
  for (uint32_t u = 0; u < units->count; u++)
    sorted[u] = (placed){units->place[u], u};
  qsort(sorted, units->count, sizeof *sorted, compare_placed);
  for (uint32_t k = 0; k < units->count; k++)
    units->by_place[k] = sorted[k].unit;
  regal_release(units->context, sorted);
  return status;
}
