/* SPDX-License-Identifier: Apache-2.0 */
#include "support/random_cases.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "support/needed_steps.h"

static regal_random stream(uint64_t seed, uint64_t what) {
  return (regal_random){
      .key = regal_random_key(seed, REGAL_PURPOSE_TEST, what, 0)};
}

static uint64_t below(regal_random *random, uint64_t n) {
  return regal_random_below(random, n);
}

static bool one_in(regal_random *random, uint64_t n) {
  return below(random, n) == 0;
}

static void must(regal_context *context, bool good) {
  if (good)
    return;
  fprintf(stderr, "random case: %s\n", regal_error(context));
  abort();
}

static void *room(regal_context *context, size_t count, size_t size) {
  void *block = regal_alloc(context, count, size);
  must(context, block != NULL);
  return block;
}

/* -- Graphs ---------------------------------------------------------------- */

/* How a random graph looks; drawn once for the whole graph. */
typedef struct shape {
  uint32_t ops;
  uint32_t reach;      /* how far back inputs come from; 1: a chain */
  uint32_t inputs;     /* at most, for each op */
  uint32_t outputs;    /* at most */
  uint64_t controls;   /* one op in so many has control edges; 0: none has */
  uint64_t extras;     /* one in so many has temporary, resident bytes */
  uint64_t finals;     /* one tensor in so many is final */
  uint64_t most_ns;    /* run times below this */
  uint64_t most_bytes; /* sizes below this */
  uint32_t *place; /* [ops] position in the file of the op that comes k-th */
} shape;

static void draw_shape(regal_context *context, regal_random *random,
                       uint32_t max_ops, shape *shape) {
  static const uint64_t sizes[] = {2, 5, 100, 1000, 1000000};
  shape->ops = 1 + (uint32_t)below(random, max_ops);
  shape->reach = one_in(random, 3) ? 1 + (uint32_t)below(random, 4) : max_ops;
  shape->inputs = 1 + (uint32_t)below(random, 4);
  shape->outputs = 1 + (uint32_t)below(random, 3);
  shape->controls = below(random, 5);
  shape->extras = 1 + below(random, 8);
  shape->finals = 1 + below(random, 10);
  shape->most_ns = sizes[below(random, 5)];
  shape->most_bytes = sizes[below(random, 5)];
  shape->place = room(context, shape->ops, sizeof *shape->place);
  bool shuffled = one_in(random, 3);
  for (uint32_t k = 0; k < shape->ops; k++) {
    uint32_t other = shuffled ? (uint32_t)below(random, k + 1) : k;
    shape->place[k] = shape->place[other];
    shape->place[other] = k;
  }
}

static int64_t draw(regal_random *random, uint64_t one_in_is_zero,
                    uint64_t limit) {
  return one_in(random, one_in_is_zero) ? 0 : (int64_t)below(random, limit);
}

/* Adds the op at the given place in the file; returns its outputs. */
static uint32_t add_op(regal_random *random, const shape *shape,
                       regal_context *context, regal_builder *builder,
                       uint32_t place) {
  char name[32];
  uint32_t id, outputs = (uint32_t)below(random, shape->outputs + 1);
  bool extra = one_in(random, shape->extras);
  /* One draw after the other: arguments have no order of their own. */
  int64_t run_ns = draw(random, 6, shape->most_ns);
  int64_t temporary = extra ? draw(random, 2, shape->most_bytes) : 0;
  int64_t resident = extra ? draw(random, 2, shape->most_bytes) : 0;
  snprintf(name, sizeof name, "op%u", place);
  must(context, regal_builder_add_op(builder, name, run_ns, temporary, resident,
                                     &id) == REGAL_OK);
  for (uint32_t port = 0; port < outputs; port++) {
    int64_t bytes = draw(random, 6, shape->most_bytes);
    bool is_final = one_in(random, shape->finals);
    must(context,
         regal_builder_add_output(builder, id, bytes, is_final) == REGAL_OK);
  }
  return outputs;
}

/* Edges from earlier ops, by position in the drawn order, to the k-th. */
static void add_edges(regal_random *random, const shape *shape,
                      regal_context *context, regal_builder *builder,
                      const uint32_t *outputs, uint32_t k) {
  uint32_t reach = k < shape->reach ? k : shape->reach;
  uint32_t inputs = (uint32_t)below(random, shape->inputs + 1);
  for (uint32_t i = 0; reach && i < inputs; i++) {
    uint32_t from = shape->place[k - 1 - below(random, reach)];
    if (outputs[from])
      must(context, regal_builder_add_input(
                        builder, shape->place[k], from,
                        (uint32_t)below(random, outputs[from])) == REGAL_OK);
  }
  if (k && shape->controls && one_in(random, shape->controls))
    must(context,
         regal_builder_add_control(builder, shape->place[below(random, k)],
                                   shape->place[k]) == REGAL_OK);
}

/* Parameters, with readers drawn for each, in every second graph; some have no
 * reader, and some a reader twice. */
static void add_parameters(regal_random *random, const shape *shape,
                           regal_context *context, regal_builder *builder) {
  uint64_t parameters = one_in(random, 2) ? 0 : 1 + below(random, 6);
  for (uint64_t p = 0; p < parameters; p++) {
    uint64_t readers = below(random, 1 + 2 * (uint64_t)shape->ops);
    uint32_t parameter;
    must(context, regal_builder_add_parameter(
                      builder, draw(random, 6, shape->most_bytes),
                      &parameter) == REGAL_OK);
    if (one_in(random, 2))
      readers = below(random, 4);
    for (uint64_t r = 0; r < readers; r++)
      must(context, regal_builder_add_parameter_use(
                        builder, (uint32_t)below(random, shape->ops),
                        parameter) == REGAL_OK);
  }
}

/* Outputs that may be written over an input, in every second graph. */
static void add_marks(regal_random *random, const shape *shape,
                      regal_context *context, regal_builder *builder,
                      const uint32_t *outputs) {
  uint64_t marks = one_in(random, 2) ? 0 : 1 + below(random, 3);
  for (uint32_t op = 0; marks && op < shape->ops; op++)
    for (uint32_t port = 0; port < outputs[op]; port++)
      if (one_in(random, marks))
        must(context,
             regal_builder_set_may_reuse(builder, op, port) == REGAL_OK);
}

void regal_test_random_graph(regal_context *context, uint64_t seed,
                             uint32_t max_ops, regal_graph **graph) {
  regal_random random = stream(seed, 1);
  regal_builder *builder;
  shape shape;
  draw_shape(context, &random, max_ops, &shape);
  uint32_t *outputs = room(context, shape.ops, sizeof *outputs);
  must(context, regal_builder_create(context, &builder) == REGAL_OK);
  for (uint32_t place = 0; place < shape.ops; place++)
    outputs[place] = add_op(&random, &shape, context, builder, place);
  for (uint32_t k = 0; k < shape.ops; k++)
    add_edges(&random, &shape, context, builder, outputs, k);
  random = stream(seed, 5); /* all else stays as it was without these */
  add_parameters(&random, &shape, context, builder);
  add_marks(&random, &shape, context, builder, outputs);
  must(context, regal_builder_finish(builder, graph) == REGAL_OK);
  regal_release(context, outputs);
  regal_release(context, shape.place);
}

/* -- Machines -------------------------------------------------------------- */

void regal_test_plain_machine(regal_machine *machine, uint32_t devices) {
  memset(machine, 0, sizeof *machine);
  machine->devices = devices;
  for (uint32_t d = 0; d < REGAL_MAX_DEVICES; d++) {
    machine->memory_limit[d] = REGAL_UNLIMITED;
    machine->speed[d] = 1;
  }
}

static void draw_links(regal_random *random, regal_machine *machine) {
  static const int64_t bandwidths[] = {0,          1000000,      300000000,
                                       1000000000, 7000000000ll, 0};
  bool alike = one_in(random, 2);
  int64_t latency = draw(random, 2, 100),
          bandwidth = bandwidths[below(random, 5)];
  for (uint32_t a = 0; a < machine->devices; a++)
    for (uint32_t b = 0; b < machine->devices; b++) {
      machine->latency_ns[a][b] = alike ? latency : draw(random, 3, 100);
      machine->bandwidth[a][b] =
          alike ? bandwidth : bandwidths[below(random, 6)];
    }
}

/* Times of their own for some ops; `home` runs them all. */
static void draw_times(regal_context *context, regal_random *random,
                       const regal_graph *graph, uint32_t home,
                       regal_machine *machine) {
  machine->timed_op = room(context, graph->ops, sizeof(uint32_t));
  machine->timed_ns =
      room(context, (size_t)graph->ops * machine->devices, sizeof(int64_t));
  for (uint32_t op = 0; op < graph->ops; op++) {
    if (one_in(random, 2))
      continue;
    uint32_t row = machine->timed_ops++;
    machine->timed_op[row] = op;
    for (uint32_t d = 0; d < machine->devices; d++)
      machine->timed_ns[(size_t)row * machine->devices + d] =
          d != home && one_in(random, 3)
              ? REGAL_NEVER
              : draw(random, 6, 2 * (uint64_t)graph->run_ns[op] + 2);
  }
}

static void draw_groups(regal_context *context, regal_random *random,
                        const regal_graph *graph, regal_machine *machine) {
  uint64_t groups = 1 + below(random, graph->ops);
  machine->group = room(context, graph->ops, sizeof(uint32_t));
  for (uint32_t op = 0; op < graph->ops; op++)
    machine->group[op] =
        one_in(random, 2) ? REGAL_NONE : (uint32_t)below(random, groups);
}

/* Pins for some ops and whole groups; where ops have times of their own, on
 * `home`, which runs them all. */
static void draw_pins(regal_context *context, regal_random *random,
                      const regal_graph *graph, uint32_t home,
                      regal_machine *machine) {
  const uint32_t *group = machine->group;
  machine->pin = room(context, graph->ops, sizeof(uint32_t));
  for (uint32_t op = 0; op < graph->ops; op++) {
    uint32_t device =
        machine->timed_ops ? home : (uint32_t)below(random, machine->devices);
    machine->pin[op] = one_in(random, 2) ? REGAL_NONE : device;
    for (uint32_t other = 0; group && other < op; other++)
      if (group[op] != REGAL_NONE && group[op] == group[other])
        machine->pin[op] = machine->pin[other];
  }
}

static void draw_limits(regal_random *random, const regal_graph *graph,
                        regal_machine *machine) {
  uint64_t most =
      (uint64_t)graph->tensor_bytes + (uint64_t)graph->total_resident_bytes + 2;
  uint64_t scale = 1 + below(random, 3);
  int64_t limit = (int64_t)below(random, most / scale + 1);
  bool alike = one_in(random, 2);
  for (uint32_t d = 0; d < machine->devices; d++) {
    if (!alike)
      limit = one_in(random, 4) ? REGAL_UNLIMITED
                                : (int64_t)below(random, most / scale + 1);
    machine->memory_limit[d] = limit;
  }
}

void regal_test_random_small_machine(regal_context *context, uint64_t seed,
                                     uint32_t max_devices,
                                     const regal_graph *graph,
                                     regal_machine **machine) {
  static const double speeds[] = {1, 2, 0.5, 1.7, 0.3};
  regal_random random = stream(seed, 2);
  regal_machine *made = room(context, 1, sizeof *made);
  regal_test_plain_machine(made, 1 + (uint32_t)below(&random, max_devices));
  made->context = context;
  made->overlapped = one_in(&random, 2);
  made->control_transfers = one_in(&random, 2);
  if (!one_in(&random, 3))
    draw_links(&random, made);
  if (one_in(&random, 4))
    for (uint32_t d = 0; d < made->devices; d++)
      made->speed[d] = speeds[below(&random, 5)];
  uint32_t home = (uint32_t)below(&random, made->devices);
  if (one_in(&random, 4))
    draw_times(context, &random, graph, home, made);
  if (one_in(&random, 4))
    draw_groups(context, &random, graph, made);
  if (one_in(&random, 3))
    draw_limits(&random, graph, made);
  if (one_in(&random, 4))
    draw_pins(context, &random, graph, home, made);
  *machine = made;
}

void regal_test_random_machine(regal_context *context, uint64_t seed,
                               const regal_graph *graph,
                               regal_machine **machine) {
  regal_random random = stream(seed, 3);
  uint32_t most = one_in(&random, 16) ? REGAL_MAX_DEVICES : 4;
  regal_test_random_small_machine(context, seed, most, graph, machine);
}

/* -- Plans ----------------------------------------------------------------- */

static uint32_t pinned_or(const regal_machine *machine, uint32_t op,
                          uint32_t device) {
  bool pinned = machine->pin && machine->pin[op] != REGAL_NONE;
  return pinned ? machine->pin[op] : device;
}

/* Op by op, a device that it and its group's earlier ops may be on; when an op
 * fits nowhere, all that are not pinned go to the device that can run
 * everything. */
static void draw_placement(regal_random *random, const regal_graph *graph,
                           const regal_machine *machine, uint32_t *placement) {
  uint32_t used = 1 + (uint32_t)below(random, machine->devices);
  for (int tries = 0; tries < 20; tries++) {
    for (uint32_t op = 0; op < graph->ops; op++) {
      placement[op] = pinned_or(machine, op, (uint32_t)below(random, used));
      for (uint32_t other = 0; machine->group && other < op; other++)
        if (machine->group[op] != REGAL_NONE &&
            machine->group[op] == machine->group[other])
          placement[op] = placement[other];
    }
    if (regal_test_may_place(graph, machine, placement))
      return;
  }
  for (uint32_t d = 0; d < machine->devices; d++) {
    for (uint32_t op = 0; op < graph->ops; op++)
      placement[op] = pinned_or(machine, op, d);
    if (regal_test_may_place(graph, machine, placement))
      return;
  }
}

/* Puts steps[0 .. count-1] into a random order that respects what must follow
 * what: again and again a random one of those that can come next. */
static void shuffle_steps(regal_random *random, const regal_graph *graph,
                          const regal_machine *machine, regal_step *steps,
                          uint32_t count) {
  for (uint32_t done = 0; done < count; done++) {
    uint32_t chosen = done, ready = 0;
    for (uint32_t k = done; k < count; k++) {
      bool blocked = false;
      for (uint32_t m = done; m < count && !blocked; m++)
        blocked = m != k &&
                  regal_test_must_follow(graph, machine, &steps[k], &steps[m]);
      if (!blocked && one_in(random, ++ready))
        chosen = k;
    }
    regal_step step = steps[chosen];
    steps[chosen] = steps[done];
    steps[done] = step;
  }
}

void regal_test_random_plan(regal_context *context, uint64_t seed,
                            const regal_graph *graph,
                            const regal_machine *machine, regal_plan **plan) {
  regal_random random = stream(seed, 4);
  regal_plan *made = room(context, 1, sizeof *made);
  uint32_t *placement = room(context, graph->ops, sizeof *placement);
  made->context = context;
  made->steps =
      room(context, regal_test_most_steps(graph, machine), sizeof *made->steps);
  draw_placement(&random, graph, machine, placement);
  made->step_count =
      regal_test_needed_steps(graph, machine, placement, made->steps);
  shuffle_steps(&random, graph, machine, made->steps, made->step_count);
  regal_release(context, placement);
  *plan = made;
}
