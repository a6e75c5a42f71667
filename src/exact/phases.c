/* SPDX-License-Identifier: Apache-2.0 */
/* Phases as a constraint model. Op j is in exactly one (phase, device). Literal
 * since(j, k) says that j is not before phase k (an order encoding), so that an
 * edge is one implication for each phase: since(from, k) implies since(to, k).
 * An edge within a phase keeps both ends on one device. A phase takes as long
 * as its busier device; the sum over all phases is minimised.
 */
#include "exact/phases.h"

#include "base/carve.h"
#include "base/compare.h"
#include "exact/formulation.h"

#define FEWEST_PHASES 12
#define MOST_PHASES 24
#define MOST_OPS 2000
#define MOST_ROWS ((size_t)4 << 20)

bool regal_phases_apply(const regal_problem *problem) {
  return problem->objective == REGAL_RUNTIME && problem->devices == 2 &&
         problem->free_transfers && !problem->machine->overlapped &&
         !problem->limited && problem->ops <= MOST_OPS;
}

static int32_t *literal_in(const regal_phases *p, uint32_t op, uint32_t phase,
                           uint32_t device) {
  return &p->in[((size_t)op * p->phases + phase) * 2 + device];
}

static int32_t since(const regal_phases *p, uint32_t op, uint32_t phase) {
  return phase < p->phases ? p->since[(size_t)op * p->phases + phase]
                           : REGAL_CP_FALSE;
}

static bool may_run(const regal_problem *problem, uint32_t op,
                    uint32_t device) {
  uint32_t leader = regal_problem_leader(problem, op);
  if (leader == problem->pinned)
    return device == 0;
  return problem->allowed[op] >> device & 1;
}

static void add_op(regal_phases *p, uint32_t op) {
  const regal_problem *problem = p->problem;
  regal_cp_model *model = &p->model;
  for (uint32_t k = 0; k < p->phases; k++) {
    p->since[(size_t)op * p->phases + k] =
        k ? regal_cp_literal(model) : REGAL_CP_TRUE;
    for (uint32_t a = 0; a < 2; a++)
      *literal_in(p, op, k, a) =
          may_run(problem, op, a) ? regal_cp_literal(model) : REGAL_CP_FALSE;
  }
  regal_cp_begin(model, REGAL_CP_EXACTLY_ONE);
  for (uint32_t k = 0; k < p->phases; k++)
    for (uint32_t a = 0; a < 2; a++)
      regal_cp_term(model, *literal_in(p, op, k, a), 0);
  regal_cp_end(model, 0, 0, NULL, 0);
  for (uint32_t k = 0; k < p->phases; k++) {
    regal_cp_imply(&p->model, since(p, op, k + 1), since(p, op, k));
    for (uint32_t a = 0; a < 2; a++) {
      int32_t in = *literal_in(p, op, k, a);
      regal_cp_imply(&p->model, in, since(p, op, k));
      regal_cp_imply(&p->model, in, regal_cp_not(since(p, op, k + 1)));
    }
  }
}

static void add_edge(regal_phases *p, uint32_t from, uint32_t to) {
  for (uint32_t k = 0; k < p->phases; k++) {
    regal_cp_imply(&p->model, since(p, from, k), since(p, to, k));
    for (uint32_t a = 0; a < 2; a++)
      regal_cp_imply(&p->model, *literal_in(p, from, k, a),
                     regal_cp_not(*literal_in(p, to, k, !a)));
  }
}

static void add_group(regal_phases *p, uint32_t op) {
  uint32_t leader = p->problem->leader[op];
  if (leader == op)
    p->on[op] = regal_cp_literal(&p->model);
  for (uint32_t k = 0; k < p->phases; k++) {
    regal_cp_imply(&p->model, *literal_in(p, op, k, 0), p->on[leader]);
    regal_cp_imply(&p->model, *literal_in(p, op, k, 1),
                   regal_cp_not(p->on[leader]));
  }
}

static void add_loads(regal_phases *p) {
  const regal_problem *problem = p->problem;
  regal_cp_model *model = &p->model;
  int64_t most = 0;
  for (uint32_t op = 0; op < problem->ops; op++)
    most += regal_problem_run_ns(problem, op, !may_run(problem, op, 0));
  for (uint32_t k = 0; k < p->phases; k++) {
    p->takes[k] = regal_cp_variable(model, 0, most);
    regal_cp_minimise(model, p->takes[k]);
    for (uint32_t a = 0; a < 2; a++) {
      regal_cp_begin(model, REGAL_CP_LINEAR);
      for (uint32_t op = 0; op < problem->ops; op++)
        if (may_run(problem, op, a))
          regal_cp_literal_term(model, *literal_in(p, op, k, a),
                                regal_problem_run_ns(problem, op, a));
      regal_cp_term(model, p->takes[k], -1);
      regal_cp_end(model, INT64_MIN, 0, NULL, 0);
    }
  }
}

/* The phase of each op; transfers that follow each other directly are between
 * the same two phases. Returns the number of phases. */
static uint32_t read_phases(const regal_plan *plan, uint32_t *phase,
                            uint8_t *placement) {
  uint32_t now = 0;
  bool ran = false;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    const regal_step *step = &plan->steps[i];
    bool runs = regal_step_runs(step);
    if (runs) {
      phase[step->op] = now;
      placement[step->op] = (uint8_t)step->to;
    } else if (ran) {
      now++;
    }
    ran = runs;
  }
  return now + 1;
}

static regal_status hint(regal_phases *p, const uint32_t *phase,
                         const uint8_t *placement) {
  const regal_problem *problem = p->problem;
  int64_t *values = regal_alloc(p->model.context, p->model.variables, 8);
  if (!values)
    return regal_fail_memory(p->model.context);
  uint32_t swapped =
      problem->pinned == REGAL_NONE ? 0 : placement[problem->pinned];
  values[REGAL_CP_TRUE] = 1;
  for (uint32_t op = 0; op < problem->ops; op++) {
    uint32_t device = placement[op] ^ swapped;
    for (uint32_t k = 1; k <= phase[op]; k++)
      values[since(p, op, k)] = 1;
    values[*literal_in(p, op, phase[op], device)] = 1;
    if (problem->leader && problem->leader[op] == op)
      values[p->on[op]] = !device;
  }
  for (uint32_t k = 0; k < p->phases; k++) {
    int64_t load[2] = {0, 0};
    for (uint32_t op = 0; op < problem->ops; op++)
      if (phase[op] == k)
        load[placement[op]] += regal_problem_run_ns(problem, op, placement[op]);
    values[p->takes[k]] = regal_larger(load[0], load[1]);
  }
  p->model.hint = values;
  return REGAL_OK;
}

static void build(regal_phases *p) {
  const regal_problem *problem = p->problem;
  for (uint32_t op = 0; op < problem->ops; op++)
    add_op(p, op);
  for (uint32_t op = 0; op < problem->ops; op++) {
    for (REGAL_ROW(s, problem->successor_begin, op))
      add_edge(p, op, problem->successor[s]);
    if (problem->leader)
      add_group(p, op);
  }
  add_loads(p);
}

static void layout(regal_phases *p, regal_carver *carver) {
  size_t ops = p->problem->ops, cells = ops * p->phases;
  p->in = regal_carve(carver, cells * 2, sizeof *p->in);
  p->since = regal_carve(carver, cells, sizeof *p->since);
  p->takes = regal_carve(carver, p->phases, sizeof *p->takes);
  p->on = regal_carve(carver, ops, sizeof *p->on);
}

static regal_status fill(regal_phases *p, const regal_plan *known,
                         uint32_t *phase, uint8_t *placement) {
  regal_carver carver = {NULL, 0};
  uint32_t has = read_phases(known, phase, placement);
  p->phases = has < FEWEST_PHASES || has > MOST_PHASES ? FEWEST_PHASES : has;
  REGAL_TRY(REGAL_CARVE_BLOCK(p->model.context, carver, layout(p, &carver)));
  p->block = carver.base;
  build(p);
  REGAL_TRY(regal_cp_status(&p->model));
  return has <= p->phases ? hint(p, phase, placement) : REGAL_OK;
}

regal_status regal_phases_create(regal_context *context,
                                 const regal_problem *problem,
                                 const regal_plan *known, regal_phases *made) {
  regal_phases p = {.problem = problem};
  uint32_t *phase = regal_alloc(context, problem->ops, sizeof *phase);
  uint8_t *placement = regal_alloc(context, problem->ops, 1);
  regal_cp_init(&p.model, context, MOST_ROWS);
  regal_status status = phase && placement ? fill(&p, known, phase, placement)
                                           : regal_fail_memory(context);
  regal_release(context, placement);
  regal_release(context, phase);
  if (status == REGAL_OK)
    *made = p;
  else
    regal_phases_free(&p);
  return status;
}

void regal_phases_free(regal_phases *phases) {
  regal_context *context = phases->model.context;
  regal_release(context, phases->block);
  regal_cp_free(&phases->model);
}

/* Phase k's ops start at 2k + 1; what they read from elsewhere comes at 2k, all
 * of it before any of them. */
static void read_solution(const regal_phases *p, const int64_t *values,
                          regal_exact_times *times) {
  const regal_problem *problem = p->problem;
  for (uint32_t op = 0; op < problem->ops; op++)
    for (uint32_t k = 0; k < p->phases; k++)
      for (uint32_t a = 0; a < 2; a++)
        if (regal_cp_holds(values, *literal_in(p, op, k, a))) {
          times->placement[op] = (uint8_t)a;
          times->start[op] = times->end[op] = 2 * (int64_t)k + 1;
        }
  for (uint32_t t = 0; t < problem->tensors; t++)
    for (uint32_t a = 0; a < 2; a++) {
      int64_t first = INT64_MAX;
      for (REGAL_ROW(u, problem->use_begin, t)) {
        uint32_t op = problem->consumer[u];
        if (times->placement[op] == a)
          first = regal_smaller(first, times->start[op] - 1);
      }
      size_t at = (size_t)t * 2 + a;
      times->sent_start[at] = times->sent_end[at] = first;
    }
}

regal_status regal_phases_plan(const regal_phases *phases,
                               const int64_t *values, regal_plan **plan) {
  const regal_problem *problem = phases->problem;
  regal_context *context = phases->model.context;
  regal_exact_times times;
  REGAL_TRY(regal_exact_times_create(context, problem, &times));
  read_solution(phases, values, &times);
  return regal_exact_plan(context, problem, &times, plan);
}
