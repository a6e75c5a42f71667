/* Overlapped transfers: clocks, links, the ends of ops and the arrivals of
 * tensors. What a trial finds goes beside what is kept. A trial ends early when
 * clocks and links are those of a mark and nothing that changed is read later;
 * or when the tails say that it will cost too much.
 */
#include <string.h>

#include "search/order.h"

typedef struct pass {
  regal_order *order;
  uint32_t first; /* position at which it began */
  uint32_t reach; /* nothing that has changed is read after this position */
} pass;

static size_t slot_of(const regal_order *order, uint32_t tensor,
                      uint32_t device) {
  return (size_t)tensor * order->problem->devices + device;
}

static void load_mark(regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  const int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  memcpy(order->clock, mark, d * sizeof *mark);
  memcpy(order->link, mark + d, (size_t)d * d * sizeof *mark);
}

static void save_mark(regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  memcpy(mark, order->clock, d * sizeof *mark);
  memcpy(mark + d, order->link, (size_t)d * d * sizeof *mark);
}

static bool meets(const regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  const int64_t *mark = order->mark_ns + (size_t)k * order->mark_size;
  return memcmp(mark, order->clock, d * sizeof *mark) == 0 &&
         memcmp(mark + d, order->link, (size_t)d * d * sizeof *mark) == 0;
}

static int64_t end_of(const pass *pass, uint32_t op) {
  const regal_order *order = pass->order;
  return order->position[op] >= pass->first ? order->new_end_ns[op]
                                            : order->end_ns[op];
}

static void extend_reach(pass *pass, uint32_t op) {
  uint32_t at = pass->order->position[op];
  pass->reach = at > pass->reach ? at : pass->reach;
}

static int64_t send(pass *pass, uint32_t tensor, uint32_t from, uint32_t to,
                    uint32_t position) {
  regal_order *order = pass->order;
  const regal_problem *problem = order->problem;
  size_t slot = slot_of(order, tensor, to);
  int64_t *link = &order->link[from * problem->devices + to];
  int64_t arrival =
      regal_later(*link, end_of(pass, problem->producer[tensor])) +
      regal_problem_transfer_ns(problem, tensor, from, to);
  *link = arrival;
  order->new_arrival_ns[slot] = arrival;
  order->new_sent_at[slot] = position;
  order->stamp[slot] = order->trial;
  if (arrival != order->arrival_ns[slot] || order->sent_at[slot] == REGAL_NONE)
    for (uint32_t u = problem->use_begin[tensor];
         u < problem->use_begin[tensor + 1]; u++)
      if (order->cells[problem->consumer[u]].device == to)
        extend_reach(pass, problem->consumer[u]);
  return arrival;
}

/* When the last input from another device is there. */
static int64_t fetch(pass *pass, uint32_t op, uint32_t device,
                     uint32_t position, int64_t start) {
  regal_order *order = pass->order;
  const regal_problem *problem = order->problem;
  for (uint32_t i = problem->input_begin[op]; i < problem->input_begin[op + 1];
       i++) {
    uint32_t tensor = problem->input[i];
    uint32_t home = order->cells[problem->producer[tensor]].device;
    if (home == device)
      continue;
    size_t slot = slot_of(order, tensor, device);
    int64_t arrival;
    if (order->stamp[slot] == order->trial)
      arrival = order->new_arrival_ns[slot];
    else if (order->sent_at[slot] < pass->first)
      arrival = order->arrival_ns[slot];
    else
      arrival = send(pass, tensor, home, device, position);
    start = regal_later(start, arrival);
  }
  return start;
}

static int64_t wait_for(const pass *pass, uint32_t op, int64_t start) {
  const regal_graph *graph = pass->order->problem->graph;
  for (uint32_t i = graph->control_in_begin[op];
       i < graph->control_in_begin[op + 1]; i++)
    start = regal_later(start, end_of(pass, graph->control_in[i]));
  return start;
}

/* The end of an op has changed: who reads it elsewhere, or waits for it? */
static void note_change(pass *pass, uint32_t op, uint32_t device) {
  regal_order *order = pass->order;
  const regal_problem *problem = order->problem;
  if (order->cells[op].leaves)
    for (uint32_t u = problem->use_begin[problem->output_begin[op]];
         u < problem->use_begin[problem->output_begin[op + 1]]; u++)
      if (order->cells[problem->consumer[u]].device != device)
        extend_reach(pass, problem->consumer[u]);
  for (uint32_t w = problem->wait_begin[op]; w < problem->wait_begin[op + 1];
       w++)
    extend_reach(pass, problem->waiter[w]);
}

static void run_block(pass *pass, uint32_t first, uint32_t end) {
  regal_order *order = pass->order;
  bool waits = order->problem->has_waits;
  for (uint32_t i = first; i < end; i++) {
    uint32_t op = order->op_at[i];
    const regal_order_cell *cell = &order->cells[op];
    uint32_t device = cell->device;
    int64_t start = order->clock[device];
    if (cell->remote)
      start = fetch(pass, op, device, i, start);
    if (waits)
      start = wait_for(pass, op, start);
    int64_t ended = start + cell->run_ns;
    order->clock[device] = ended;
    order->new_end_ns[op] = ended;
    if (ended != order->end_ns[op])
      note_change(pass, op, device);
  }
}

static int64_t latest(const regal_order *order) {
  int64_t runtime = 0;
  for (uint32_t a = 0; a < order->problem->devices; a++)
    runtime = regal_later(runtime, order->clock[a]);
  return runtime;
}

/* No plan that goes on as the kept one does ends before this. */
static int64_t at_least(const regal_order *order, uint32_t k) {
  uint32_t d = order->problem->devices;
  const int64_t *tail = order->tails + (size_t)k * d;
  int64_t runtime = 0;
  for (uint32_t a = 0; a < d; a++)
    runtime = regal_later(runtime, order->clock[a] + tail[a]);
  return runtime;
}

/* Begins a trial: what earlier ones sent is not of this one. */
static void begin_trial(regal_order *order) {
  size_t slots = (size_t)order->problem->tensors * order->problem->devices;
  if (++order->trial != 0)
    return;
  memset(order->stamp, 0, slots * sizeof *order->stamp);
  order->trial = 1;
}

static int64_t cost(regal_order *order, int64_t allowed) {
  uint32_t ops = order->problem->ops, bits = order->block_bits;
  uint32_t last = order->touched[order->touched_count - 1].last;
  uint32_t k = order->touched[0].first >> bits;
  pass pass = {order, k << bits, 0};
  begin_trial(order);
  order->changed_from = pass.first;
  load_mark(order, k);
  for (; (k + 1) << bits <= ops; k++) {
    uint32_t end = (k + 1) << bits;
    run_block(&pass, k << bits, end);
    if (last >= end)
      continue;
    order->changed_to = end;
    if (pass.reach < end && meets(order, k + 1))
      return order->runtime_ns;
    if (order->has_tails) {
      int64_t bound = at_least(order, k + 1);
      if (bound > allowed)
        return bound;
    }
  }
  run_block(&pass, k << bits, ops);
  order->changed_to = ops;
  return latest(order);
}

/* What was sent of the flipped ops' inputs and outputs holds no longer, unless
 * the trial has sent it anew. */
static void forget_sends(regal_order *order) {
  const regal_problem *problem = order->problem;
  uint32_t d = problem->devices;
  for (uint32_t k = 0; k < order->flips; k++) {
    uint32_t op = order->flipped[k], from = order->flipped_from[k];
    for (uint32_t i = problem->input_begin[op];
         i < problem->input_begin[op + 1]; i++) {
      size_t slot = slot_of(order, problem->input[i], from);
      if (order->readers[slot] == 0)
        order->sent_at[slot] = REGAL_NONE;
    }
    for (size_t slot = slot_of(order, problem->output_begin[op], 0);
         slot < (size_t)problem->output_begin[op + 1] * d; slot++)
      order->sent_at[slot] = REGAL_NONE;
  }
}

/* Takes over what the last trial found for the positions that it simulated. */
static void keep_times(regal_order *order, uint32_t first, uint32_t end) {
  const regal_problem *problem = order->problem;
  for (uint32_t i = first; i < end; i++) {
    uint32_t op = order->op_at[i], device = order->cells[op].device;
    order->end_ns[op] = order->new_end_ns[op];
    if (!order->cells[op].remote)
      continue;
    for (uint32_t k = problem->input_begin[op];
         k < problem->input_begin[op + 1]; k++) {
      size_t slot = slot_of(order, problem->input[k], device);
      if (order->stamp[slot] == order->trial) {
        order->arrival_ns[slot] = order->new_arrival_ns[slot];
        order->sent_at[slot] = order->new_sent_at[slot];
      }
    }
  }
}

/* Marks are written by a second pass over the same positions: trials, most of
 * which are refused, then have none to write. */
static void write_marks(regal_order *order, uint32_t first, uint32_t end) {
  uint32_t bits = order->block_bits, k = first >> bits;
  pass pass = {order, first, 0};
  begin_trial(order);
  load_mark(order, k);
  for (; (k + 1) << bits <= end; k++) {
    run_block(&pass, k << bits, (k + 1) << bits);
    save_mark(order, k + 1);
  }
}

static void keep(regal_order *order, int64_t runtime_ns) {
  (void)runtime_ns;
  forget_sends(order);
  keep_times(order, order->changed_from, order->changed_to);
  write_marks(order, order->changed_from, order->changed_to);
}

static void reset(regal_order *order) {
  uint32_t ops = order->problem->ops;
  size_t d = order->problem->devices, slots = order->problem->tensors * d;
  memset(order->sent_at, 0xff, slots * sizeof *order->sent_at);
  memset(order->stamp, 0, slots * sizeof *order->stamp);
  memset(order->end_ns, 0, ops * sizeof *order->end_ns);
  memset(order->clock, 0, d * sizeof *order->clock);
  memset(order->link, 0, d * d * sizeof *order->link);
  order->trial = 1;
  save_mark(order, 0);
  pass pass = {order, 0, 0};
  run_block(&pass, 0, ops);
  order->runtime_ns = latest(order);
  keep_times(order, 0, ops);
  write_marks(order, 0, ops);
}

/* The longest way from an op's start to the end of the plan, and from a link's
 * transfer; an op's own tail is set before those of what it reads. */
static void find_op_tail(regal_order *order, uint32_t op, uint32_t position,
                         int64_t *clock_tail) {
  const regal_problem *problem = order->problem;
  const regal_graph *graph = problem->graph;
  const regal_order_cell *cell = &order->cells[op];
  uint32_t d = problem->devices, device = cell->device;
  int64_t tail =
      cell->run_ns + regal_later(clock_tail[device], order->tail_out[op]);
  clock_tail[device] = tail;
  if (problem->has_waits)
    for (uint32_t i = graph->control_in_begin[op];
         i < graph->control_in_begin[op + 1]; i++) {
      int64_t *out = &order->tail_out[graph->control_in[i]];
      *out = regal_later(*out, tail);
    }
  if (!cell->remote)
    return;
  for (uint32_t i = problem->input_begin[op + 1];
       i-- > problem->input_begin[op];) {
    uint32_t tensor = problem->input[i], made_by = problem->producer[tensor];
    uint32_t home = order->cells[made_by].device;
    if (home == device)
      continue;
    size_t slot = slot_of(order, tensor, device);
    order->tail_read[slot] = regal_later(order->tail_read[slot], tail);
    if (order->sent_at[slot] != position)
      continue;
    int64_t *link = &order->tail_link[home * d + device];
    *link = regal_later(*link, order->tail_read[slot]) +
            regal_problem_transfer_ns(problem, tensor, home, device);
    order->tail_out[made_by] = regal_later(order->tail_out[made_by], *link);
  }
}

static void find_tails(regal_order *order) {
  const regal_problem *problem = order->problem;
  size_t d = problem->devices, ops = problem->ops;
  int64_t *tail = order->clock;
  memset(tail, 0, d * sizeof *tail);
  memset(order->tail_link, 0, d * d * sizeof *order->tail_link);
  memset(order->tail_out, 0, ops * sizeof *order->tail_out);
  memset(order->tail_read, 0, problem->tensors * d * sizeof *order->tail_read);
  for (uint32_t i = (uint32_t)ops + 1; i-- > 0;) {
    if (i < ops)
      find_op_tail(order, order->op_at[i], i, tail);
    if ((i & (order->block - 1)) == 0)
      memcpy(order->tails + (size_t)(i >> order->block_bits) * d, tail,
             d * sizeof *tail);
  }
}

const regal_order_kind regal_order_links = {cost, keep, reset, find_tails};
