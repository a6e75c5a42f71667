/* SPDX-License-Identifier: Apache-2.0 */
/* A second reading of the paper's decoder (A.5): the topological sort by
 * priority is over the ops alone, and a tensor is sent just before its first
 * reader on a device. "A valid schedule of the computation graph is obtained by
 * performing a topological sort over the nodes of the graph", says the paper,
 * and of transfer priorities that "these determine the order in which tensors
 * are transferred": here the order of the inputs that one op is waiting for. In
 * decode/paper.c transfers stand in one queue with the ops instead.
 *
 * The chromosome is that of `paper`, so that proposals and policies for one of
 * them serve the other (docs/algorithm.md, open readings).
 *
 * With two devices and blocking transfers the order of what is sent before one
 * op changes nothing but memory and the plan, and is not looked at where only
 * the run time counts.
 */
#include "cost/model/running_cost.h"
#include "decode/decoder.h"
#include "decode/edges.h"
#include "decode/genes.h"
#include "decode/rank.h"
#include "decode/ready.h"

typedef struct scratch {
  regal_edges edges;
  uint8_t *placement; /* [ops] */
  uint32_t *missing;  /* [ops] inputs and waits that have not run */
  uint32_t *rank;     /* [ops] */
  uint32_t *op_at;    /* [ops] by rank */
  uint64_t *sent;     /* [tensors] bit for each device that has it */
  uint32_t *inputs;   /* [most inputs] that are to be sent to one op */
  regal_ranking ranking;
  regal_ready ready;
  regal_running_cost running;
} scratch;

static void layout(scratch *made, regal_carver *carver,
                   const regal_problem *problem) {
  size_t ops = problem->ops;
  regal_edges_layout(&made->edges, carver, problem);
  made->placement = regal_carve(carver, ops, 1);
  made->missing = regal_carve(carver, ops, 4);
  made->rank = regal_carve(carver, ops, 4);
  made->op_at = regal_carve(carver, ops + 1, 4);
  made->sent = regal_carve(carver, problem->tensors, 8);
  made->inputs = regal_carve(carver, regal_problem_most_inputs(problem), 4);
  regal_ranking_layout(&made->ranking, carver, ops);
  regal_ready_layout(&made->ready, carver, ops + 1);
  regal_running_cost_layout(&made->running, carver, problem);
}

static void fill(scratch *made, const regal_problem *problem) {
  regal_edges_fill(&made->edges, problem);
}

REGAL_DEFINE_CREATE_SCRATCH(scratch, layout, fill)

/* What differs between the variants; constants where they are inlined. */
typedef struct variant {
  bool memory, overlapped;
  bool sorted; /* the order of transfers before one op counts */
  int levels;  /* of the ready set */
} variant;

/* Highest priority first; few items, nearly always. */
static void sort_inputs(const regal_problem *problem, scratch *s,
                        const regal_gene *transfer, uint32_t to,
                        uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    uint32_t tensor = s->inputs[i], at = i;
    regal_gene gene = transfer[(size_t)tensor * problem->devices + to];
    while (at > 0 &&
           transfer[(size_t)s->inputs[at - 1] * problem->devices + to] < gene) {
      s->inputs[at] = s->inputs[at - 1];
      at--;
    }
    s->inputs[at] = tensor;
  }
}

/* Sends what the op reads and its device does not have. */
REGAL_INLINE void send_inputs(const regal_problem *problem, scratch *s,
                              const regal_gene *transfer, uint32_t op,
                              regal_plan *plan, variant v) {
  uint32_t device = s->placement[op], count = 0;
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    uint32_t home = s->placement[problem->producer[tensor]];
    if (home == device || (s->sent[tensor] >> device & 1))
      continue;
    s->sent[tensor] |= UINT64_C(1) << device;
    s->inputs[count++] = tensor;
  }
  if (v.sorted && count > 1)
    sort_inputs(problem, s, transfer, device, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t tensor = s->inputs[i];
    uint32_t home = s->placement[problem->producer[tensor]];
    regal_running_cost_send(&s->running, problem, s->placement, tensor, home,
                            device, v.memory, v.overlapped);
    regal_plan_add_send(plan, problem, tensor, home, device);
  }
}

REGAL_INLINE void tell(scratch *s, uint32_t op, int levels) {
  for (uint32_t e = s->edges.of_op[op]; e < s->edges.of_op[op + 1]; e++) {
    uint32_t next = regal_edge_op(s->edges.edge[e]);
    regal_ready_push_if(&s->ready, s->rank[next], --s->missing[next] == 0,
                        levels);
  }
}

REGAL_INLINE void run_ops(const regal_problem *problem, scratch *s,
                          const regal_gene *transfer, regal_plan *plan,
                          variant v) {
  memset(s->sent, 0, problem->tensors * sizeof *s->sent);
  regal_running_cost_begin(&s->running, problem, s->placement, v.memory,
                           v.overlapped);
  for (uint32_t op = 0; op < problem->ops; op++)
    if (!s->missing[op])
      regal_ready_push(&s->ready, s->rank[op], v.levels);
  for (uint32_t done = 0; done < problem->ops; done++) {
    uint32_t rank = regal_ready_lowest(&s->ready, v.levels);
    uint32_t op = s->op_at[rank];
    regal_ready_remove(&s->ready, rank, v.levels);
    send_inputs(problem, s, transfer, op, plan, v);
    regal_running_cost_run(&s->running, problem, op, s->placement[op], v.memory,
                           v.overlapped);
    regal_plan_add_run(plan, op, s->placement[op]);
    tell(s, op, v.levels);
  }
}

REGAL_INLINE void run_at_levels(const regal_problem *problem, scratch *s,
                                const regal_gene *transfer, regal_plan *plan,
                                int levels) {
  bool memory = regal_problem_needs_memory(problem);
  if (problem->machine->overlapped)
    run_ops(problem, s, transfer, plan, (variant){memory, true, true, levels});
  else if (memory || plan || problem->devices > 2)
    run_ops(problem, s, transfer, plan, (variant){memory, false, true, levels});
  else
    run_ops(problem, s, transfer, NULL, (variant){false, false, false, levels});
}

static void run_any(const regal_problem *problem, scratch *s,
                    const regal_gene *transfer, regal_plan *plan) {
  if (regal_ready_levels((size_t)problem->ops + 1) == 2)
    run_at_levels(problem, s, transfer, plan, 2);
  else
    run_at_levels(problem, s, transfer, plan, REGAL_READY_LEVELS);
}

static void rank_ops(const regal_problem *problem, scratch *s,
                     const regal_gene *priority) {
  bool few = problem->ops <= REGAL_RANKING_FEW;
  regal_ranking_begin(&s->ranking, few);
  for (uint32_t op = 0; op < problem->ops; op++)
    regal_ranking_add_if(&s->ranking, op, priority[op], 1, few);
  const uint64_t *sorted = regal_ranking_sort(&s->ranking, problem->ops, few);
  for (uint32_t r = 0; r < problem->ops; r++) {
    s->op_at[r] = (uint32_t)sorted[r];
    s->rank[s->op_at[r]] = r;
  }
  memcpy(s->missing, problem->needs, problem->ops * sizeof *s->missing);
}

static regal_fitness decode(const regal_problem *problem, void *memory,
                            const regal_gene *genes, regal_plan *plan) {
  scratch *s = memory;
  const regal_gene *priority = genes + (size_t)problem->ops * problem->devices;
  regal_place_by_affinity(problem, genes, s->placement);
  rank_ops(problem, s, priority);
  if (plan)
    plan->step_count = 0;
  run_any(problem, s, priority + problem->ops, plan);
  return regal_running_cost_fitness(&s->running, problem,
                                    regal_problem_needs_memory(problem));
}

/* The plan's order of ops and its devices, and the order of its transfers. */
static void encode(const regal_problem *problem, const regal_plan *plan,
                   regal_gene *genes) {
  uint32_t d = problem->devices;
  uint8_t relabel[REGAL_MAX_DEVICES];
  regal_gene *priority = genes + (size_t)problem->ops * d;
  regal_gene *transfer = priority + problem->ops;
  regal_encode_placement(problem, plan, genes, relabel);
  regal_encode_order(plan, priority);
  memset(transfer, 0, (size_t)problem->tensors * d * sizeof *transfer);
  regal_encode_transfers(problem, plan, relabel, transfer);
}

const regal_decoder regal_decoder_paper_late = {
    .name = "paper-late",
    .help = "the same genes: ops by priority, each transfer just before its "
            "first reader",
    .classes = {{"affinity", REGAL_GENE_OP_DEVICE},
                {"priority", REGAL_GENE_OP},
                {"transfer", REGAL_GENE_TENSOR_DEVICE}},
    .create_scratch = create_scratch,
    .decode = decode,
    .encode = encode,
};
