/* SPDX-License-Identifier: Apache-2.0 */
/* A change of device in a list of steps: which transfers it needs and which it
 * no longer does.
 *
 * Only tensors that the op (or a member of its group) makes or reads can have
 * other transfers than before, and only to the two devices concerned. The
 * others keep their places. Skipped and added steps are noted beside the list,
 * so that a trial that is refused leaves the list as it was.
 */
#include "anneal/local/descent.h"

static void include(regal_descent *d, uint32_t step) {
  d->first = step < d->first ? step : d->first;
  d->last = step > d->last ? step : d->last;
}

static void skip(regal_descent *d, uint32_t step) {
  d->skipped[step] = 1;
  d->skips[d->skip_count++] = step;
  include(d, step);
}

/* Several before one step: by tensor, then device. */
static bool comes_first(regal_descent_step a, regal_descent_step b) {
  return a.what != b.what ? a.what < b.what : a.to < b.to;
}

static void add(regal_descent *d, uint32_t tensor, uint32_t to,
                uint32_t before) {
  regal_descent_step step = {tensor, (uint16_t)to};
  uint32_t *link = &d->extra_before[before];
  while (*link != REGAL_NONE && comes_first(d->extras[*link].step, step))
    link = &d->extras[*link].next;
  d->extras[d->extra_count] = (regal_descent_extra){step, before, *link};
  *link = d->extra_count++;
  include(d, before);
}

/* The step of the tensor's first reader on the device, or REGAL_NONE. */
static uint32_t first_reader(const regal_descent *d, uint32_t tensor,
                             uint32_t device) {
  const regal_problem *problem = d->problem;
  uint32_t first = REGAL_NONE;
  if (device == regal_descent_home(d, tensor))
    return first;
  for (REGAL_ROW(u, problem->use_begin, tensor)) {
    uint32_t reader = problem->consumer[u];
    if (d->placement[reader] == device && d->at[reader] < first)
      first = d->at[reader];
  }
  return first;
}

/* The transfer of a tensor to a device, under the placement as it is now. */
static void see_transfer(regal_descent *d, uint32_t tensor, uint32_t to) {
  uint32_t present = d->send_at[(size_t)tensor * d->problem->devices + to];
  uint32_t reader = first_reader(d, tensor, to);
  bool in_time = reader != REGAL_NONE && present < reader;
  if (present != REGAL_NONE && !in_time)
    skip(d, present);
  if (reader != REGAL_NONE && !in_time)
    add(d, tensor, to,
        d->eager ? d->at[d->problem->producer[tensor]] + 1 : reader);
}

static void see_tensor(regal_descent *d, uint32_t tensor, uint32_t from,
                       uint32_t to) {
  if (d->seen[tensor] == d->trial)
    return;
  d->seen[tensor] = d->trial;
  see_transfer(d, tensor, from);
  see_transfer(d, tensor, to);
}

/* What the op sends to other devices still leaves at the same step, but from
 * another device. */
static void include_sends(regal_descent *d, uint32_t tensor) {
  size_t begin = (size_t)tensor * d->problem->devices;
  for (uint32_t a = 0; a < d->problem->devices; a++)
    if (d->send_at[begin + a] != REGAL_NONE)
      include(d, d->send_at[begin + a]);
}

static void begin_change(regal_descent *d) {
  d->first = REGAL_NONE;
  d->last = 0;
  if (++d->trial == 0) { /* once in 2^32 trials */
    memset(d->seen, 0, d->problem->tensors * sizeof *d->seen);
    d->trial = 1;
  }
}

static void see_op(regal_descent *d, uint32_t op, uint32_t from,
                   uint32_t device) {
  const regal_problem *problem = d->problem;
  include(d, d->at[op]);
  for (REGAL_ROW(i, problem->input_begin, op))
    see_tensor(d, problem->input[i], from, device);
  for (REGAL_ROW(t, problem->output_begin, op)) {
    see_tensor(d, t, from, device);
    include_sends(d, t);
  }
}

void regal_descent_flip(regal_descent *d, uint32_t op, uint32_t device) {
  uint32_t from = d->placement[op];
  begin_change(d);
  for (uint32_t m = op; m != REGAL_NONE; m = d->next_member[m])
    d->placement[m] = (uint8_t)device;
  for (uint32_t m = op; m != REGAL_NONE; m = d->next_member[m])
    see_op(d, m, from, device);
}

static void forget_change(regal_descent *d) {
  while (d->skip_count > 0)
    d->skipped[d->skips[--d->skip_count]] = 0;
  while (d->extra_count > 0)
    d->extra_before[d->extras[--d->extra_count].before] = REGAL_NONE;
}

void regal_descent_unflip(regal_descent *d, uint32_t op, uint32_t from) {
  forget_change(d);
  for (uint32_t m = op; m != REGAL_NONE; m = d->next_member[m])
    d->placement[m] = (uint8_t)from;
}

void regal_descent_rebuild(regal_descent *d) {
  regal_descent_step *made = d->spare;
  uint32_t count = 0;
  for (uint32_t i = 0; i < d->count; i++) {
    for (uint32_t e = d->extra_before[i]; e != REGAL_NONE;
         e = d->extras[e].next)
      made[count++] = d->extras[e].step;
    if (!d->skipped[i])
      made[count++] = d->steps[i];
  }
  forget_change(d);
  d->spare = d->steps;
  d->steps = made;
  d->count = count;
}

void regal_descent_add_transfers(regal_descent *d) {
  begin_change(d);
  for (uint32_t t = 0; t < d->problem->tensors; t++)
    for (uint32_t a = 0; a < d->problem->devices; a++)
      see_transfer(d, t, a);
  regal_descent_rebuild(d);
}

/* -- Where every step is --------------------------------------------------- */

static uint32_t later_step(uint32_t a, uint32_t b) {
  return a == REGAL_NONE || (b != REGAL_NONE && b > a) ? b : a;
}

/* The last step that the op depends on. */
static uint32_t last_needed(const regal_descent *d, uint32_t op) {
  const regal_problem *problem = d->problem;
  const regal_graph *graph = problem->graph;
  uint32_t last = REGAL_NONE, device = d->placement[op];
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    last = later_step(
        last, regal_descent_home(d, tensor) == device
                  ? d->at[problem->producer[tensor]]
                  : d->send_at[(size_t)tensor * problem->devices + device]);
  }
  if (problem->has_waits)
    for (REGAL_ROW(c, graph->control_in_begin, op))
      last = later_step(last, d->at[graph->control_in[c]]);
  return last;
}

void regal_descent_index(regal_descent *d) {
  const regal_problem *problem = d->problem;
  memset(d->send_at, 0xff,
         (size_t)problem->tensors * problem->devices * sizeof *d->send_at);
  for (uint32_t i = 0; i < d->count; i++) {
    regal_descent_step step = d->steps[i];
    if (regal_descent_runs(step)) {
      d->at[step.what] = i;
      d->after[i] = last_needed(d, step.what);
    } else {
      d->send_at[(size_t)step.what * problem->devices + step.to] = i;
      d->after[i] = d->at[problem->producer[step.what]];
    }
  }
}
