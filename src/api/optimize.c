/* SPDX-License-Identifier: Apache-2.0 */
/* The public way into the search: sets it up, runs the method, and lets no plan
 * out that the verifier has not passed.
 */
#include <math.h>
#include <string.h>

#include "api/budget.h"
#include "api/evaluate.h"
#include "api/methods.h"
#include "base/compare.h"
#include "base/memory/limit.h"
#include "base/options/options.h"
#include "cost/bound/bound.h"
#include "cost/verify/verify.h"
#include "decode/decoder.h"
#include "evolve/proposal.h"
#include "evolve/proposer.h"
#include "heuristic/list/orders.h"
#include "learn/guide/policies.h"

/* The verifier does not know where a plan is from. */
static regal_status fail_start(regal_context *context, const char *path,
                               regal_status status) {
  char message[REGAL_MESSAGE_CAPACITY];
  snprintf(message, sizeof message, "%s", regal_error(context));
  return regal_fail(context, status, "%s: %s",
                    strcmp(path, "-") ? path : "stdin", message);
}

/* --start schedule: the order of the graph's file on one device. */
static regal_status open_schedule(regal_search *search, regal_plan **plan) {
  if (!search->problem->graph->has_schedule)
    return regal_fail(search->context, REGAL_BAD_INPUT,
                      "--start schedule: the graph's file has no schedule "
                      "(modules that XLA has scheduled have one)");
  return regal_plan_single(search->context, search->problem, plan);
}

/* The plan to start from, in memory or in a file, or NULL. A plan from outside
 * is checked before the fast code sees it. */
static regal_status open_start(regal_search *search, regal_plan **plan) {
  const char *path = search->options->start;
  regal_cost cost;
  if (search->start)
    return regal_plan_from_steps(search->context, search->problem,
                                 search->start->steps,
                                 search->start->step_count, plan);
  *plan = NULL;
  if (!path[0])
    return REGAL_OK;
  if (!strcmp(path, REGAL_START_SCHEDULE))
    return open_schedule(search, plan);
  REGAL_TRY(regal_plan_load(search->context, search->problem, path, plan));
  regal_status status =
      regal_verify(search->context, search->problem, *plan, &cost);
  if (status != REGAL_OK)
    regal_plan_free(*plan);
  return status == REGAL_INVALID_PLAN
             ? fail_start(search->context, path, status)
             : status;
}

/* Without a start, the compiler's order is one plan more on its one device: the
 * search is what it would be, but its result is never worse than that. */
static regal_status offer_schedule(regal_search *search) {
  regal_plan *plan;
  if (!search->problem->graph->has_schedule || search->problem->devices > 1)
    return REGAL_OK;
  REGAL_TRY(open_schedule(search, &plan));
  return regal_search_offer(search, plan);
}

static regal_status offer_start(regal_search *search) {
  regal_plan *plan;
  REGAL_TRY(open_start(search, &plan));
  if (!plan)
    return offer_schedule(search);
  REGAL_TRY(regal_search_offer(search, plan));
  search->start = search->best;
  return REGAL_OK;
}

/* A proposal is for BRKGA, and so is a policy where no method is named. */
static const char *method_name(const regal_search *search) {
  const regal_options *options = search->options;
  if (search->proposal)
    return "brkga";
  bool guided = options->policy[0] && !regal_option_given(options, "method");
  return guided ? "regal" : options->method;
}

/* The method and the decoder that the options name. */
static regal_status find_method(regal_search *search) {
  const regal_options *options = search->options;
  const char *name = method_name(search);
  if (search->proposal && search->proposal->problem != search->problem)
    return regal_fail(search->context, REGAL_MISUSE,
                      "the proposal was made for another problem");
  REGAL_TRY(regal_method_require(search->context, name, &search->method));
  const regal_decoder *decoder;
  return options->decoder[0] ? regal_decoder_require(search->context,
                                                     options->decoder, &decoder)
                             : REGAL_OK;
}

static regal_status fail_policy(const regal_search *search) {
  char names[200];
  regal_methods_with_policy(names, sizeof names);
  return regal_fail(search->context, REGAL_BAD_INPUT,
                    "--policy: method %s takes none; %s do",
                    search->method->name, names);
}

/* The policy that guides the method, if one does. */
static regal_status open_policy(regal_search *search, regal_guide **guide) {
  const regal_options *options = search->options;
  const regal_method *method = search->method;
  const char *kind = method->policy_kind;
  if (search->proposal)
    return REGAL_OK;
  if (options->policy[0] && method->policy == REGAL_METHOD_NO_POLICY)
    return fail_policy(search);
  if (!options->policy[0] && method->policy != REGAL_METHOD_NEEDS_POLICY)
    return REGAL_OK;
  REGAL_TRY(regal_policies_open(search->context, options, search->problem,
                                kind ? kind : "", guide));
  search->proposer = &(*guide)->proposer;
  if (kind && strcmp(search->proposer->kind, kind) != 0)
    return regal_fail(search->context, REGAL_BAD_INPUT,
                      "%s: found a policy of kind %s, expected %s",
                      search->proposer->name, search->proposer->kind, kind);
  return REGAL_OK;
}

/* Below so many seconds the bound that knows transfers waits until the search
 * is over. */
#define SHORT_SECONDS 0.5
/* Of the time that the user gives, for the live set at first, which takes up to
 * a second on a large graph; all of it waits, too. */
#define LIVE_SHARE 0.05

static bool is_short(const regal_options *options) {
  return options->time > 0 && options->time < SHORT_SECONDS;
}

/* Whether the first bound is a quick one. Where transfers are free it would be
 * the same as the other. */
static bool leaves_transfers_out(const regal_search *search) {
  const regal_problem *problem = search->problem;
  return is_short(search->options) && problem->devices > 1 &&
         !problem->free_transfers;
}

static regal_status bound_peak(regal_search *search) {
  double seconds = search->options->time;
  return regal_bound_memory_within(
      search->context, search->problem,
      seconds > 0 ? LIVE_SHARE * seconds : INFINITY, &search->bound.peak_bytes);
}

/* The search needs the bound of its objective only; what the report wants
 * beside it comes after the time that the user gave. */
static regal_status bound_objective(regal_search *search) {
  if (!regal_has_bounds(search->problem))
    return REGAL_OK;
  if (search->problem->objective == REGAL_MEMORY)
    return bound_peak(search);
  if (leaves_transfers_out(search))
    return regal_bound_runtime_quick(search->context, search->problem,
                                     &search->bound.runtime_ns);
  return regal_bound_runtime(search->context, search->problem,
                             &search->bound.runtime_ns);
}

static regal_status tell_shortage(regal_search *search, const char *why,
                                  regal_result *result) {
  search->never_fits = true;
  result->shortage = regal_copy_text(search->context, why);
  return result->shortage ? REGAL_OK : regal_fail_memory(search->context);
}

/* A search for what cannot be ends with its first plan. */
static regal_status look_for_shortage(regal_search *search,
                                      regal_result *result) {
  char text[400];
  REGAL_TRY(regal_bound_shortage(search->context, search->problem,
                                 is_short(search->options), text, sizeof text));
  return text[0] ? tell_shortage(search, text, result) : REGAL_OK;
}

/* What bound_objective left out; of a bound that the plan has met nothing is
 * left. A method may have proven more (cp-sat). */
static regal_status complete_bounds(regal_search *search) {
  const regal_options *options = search->options;
  bool memory = search->problem->objective == REGAL_MEMORY;
  regal_bound *bound = &search->bound, more = {0};
  if (!regal_has_bounds(search->problem))
    return REGAL_OK;
  if (memory || leaves_transfers_out(search))
    REGAL_TRY(regal_bound_runtime(search->context, search->problem,
                                  &more.runtime_ns));
  if (!memory || (options->time > 0 && search->stop != REGAL_STOP_BOUND))
    REGAL_TRY(
        regal_bound_memory(search->context, search->problem, &more.peak_bytes));
  bound->runtime_ns = regal_larger(bound->runtime_ns, more.runtime_ns);
  bound->peak_bytes = regal_larger(bound->peak_bytes, more.peak_bytes);
  return REGAL_OK;
}

/* A limit that no plan can exceed is left out: without one everything is
 * faster. A proposal or a policy is about the problem as it is. */
static regal_status run_method(regal_search *search) {
  const regal_problem *problem = search->problem;
  bool binding = true;
  if (problem->limited && !search->proposal && !search->proposer)
    REGAL_TRY(regal_bound_limits(search->context, problem, &binding));
  if (binding)
    return search->method->run(search);
  regal_problem unlimited = regal_problem_unlimited(problem);
  search->problem = &unlimited;
  regal_status status = search->method->run(search);
  search->problem = problem;
  return status;
}

static regal_status run_search(regal_search *search, regal_guide **guide,
                               regal_result *result) {
  REGAL_TRY(find_method(search));
  REGAL_TRY(
      regal_options_check_costs(search->context, search->options,
                                search->problem->objective == REGAL_MEMORY));
  regal_search_set_budget(search);
  search->whole = search->budget;
  REGAL_TRY(open_policy(search, guide));
  REGAL_TRY(regal_pool_create(search->context, (int)search->options->threads,
                              &search->pool));
  regal_search_doing(search, "lower bound");
  REGAL_TRY(bound_objective(search));
  REGAL_TRY(look_for_shortage(search, result));
  REGAL_TRY(offer_start(search));
  regal_search_doing(search, search->method->name);
  REGAL_TRY(run_method(search));
  search->ended = regal_seconds();
  if (search->never_fits && !result->shortage)
    REGAL_TRY(tell_shortage(search, "all plans were tried", result));
  if (!search->best)
    return regal_fail(search->context, REGAL_INTERNAL,
                      "method %s returned no plan", search->method->name);
  if (search->stop == REGAL_STOP_DONE && search->best_fitness.excess == 0)
    regal_search_should_stop(search);
  return REGAL_OK;
}

/* The verifier's word on the best plan; it must agree with the fast code. */
static regal_status judge(regal_search *search, regal_result *result) {
  REGAL_TRY(regal_verify(search->context, search->problem, search->best,
                         &result->cost));
  regal_fitness judged = regal_fitness_of(search->problem, &result->cost);
  if (regal_fitness_less(judged, search->plan_fitness) ||
      regal_fitness_less(search->plan_fitness, judged))
    return regal_fail(search->context, REGAL_INTERNAL,
                      "the simulator and the verifier disagree on a plan");
  REGAL_TRY(
      regal_check_moved_sizes(search->context, search->problem, search->best));
  REGAL_TRY(complete_bounds(search));
  REGAL_TRY(
      regal_cost_before(search->context, search->problem, &result->before));
  REGAL_TRY(regal_history_copy(search->context, search->history,
                               &result->history, &result->history_count));
  result->account = regal_copy_text(search->context, search->account);
  if (!result->account)
    return regal_fail_memory(search->context);
  return REGAL_OK;
}

/* Also what a method has proven is proven for the sizes that were assumed. */
static void withdraw_bounds(regal_search *search) {
  if (regal_has_bounds(search->problem))
    return;
  search->bound = (regal_bound){0};
  if (search->stop == REGAL_STOP_BOUND)
    search->stop = REGAL_STOP_DONE;
}

static void fill_result(regal_search *search, regal_result *result) {
  withdraw_bounds(search);
  result->problem = search->problem;
  result->plan = search->best;
  result->bound = search->bound;
  result->stop = search->stop;
  result->fits = result->cost.excess_bytes == 0;
  result->method = search->method->name;
  result->seed = search->seed;
  result->evaluations = search->budget.used;
  result->seconds = search->ended - search->began;
  result->threads = regal_pool_threads(search->pool);
  search->best = NULL;
}

/* What a search may have beside its options. */
typedef struct extras {
  const regal_proposal *proposal; /* or NULL */
  const regal_plan *start;        /* or NULL */
} extras;

static regal_status run(regal_context *context, const regal_problem *problem,
                        const regal_options *options, extras extras,
                        regal_result **result) {
  regal_search search;
  regal_history history = {.count = 0};
  regal_result *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  regal_guide *guide = NULL;
  regal_search_open(&search, context, problem, NULL, (uint64_t)options->seed,
                    0);
  search.options = options;
  search.proposal = extras.proposal;
  search.start = extras.start;
  search.history = &history;
  regal_status status = run_search(&search, &guide, made);
  if (status == REGAL_OK)
    status = judge(&search, made);
  if (status == REGAL_OK)
    fill_result(&search, made);
  else
    regal_result_free(made);
  regal_search_close(&search);
  regal_guide_free(guide);
  regal_pool_free(search.pool);
  if (status == REGAL_OK)
    *result = made;
  return status;
}

static regal_status optimize(regal_context *context,
                             const regal_problem *problem,
                             const regal_options *options, extras extras,
                             regal_result **result) {
  REGAL_TRY(regal_need(context, problem && options && result,
                       "a search needs a problem, options and a place for its "
                       "result"));
  size_t before = regal_memory_limit(context, options);
  regal_status status = run(context, problem, options, extras, result);
  regal_memory_restore(context, before);
  return status;
}

regal_status regal_optimize(regal_context *context,
                            const regal_problem *problem,
                            const regal_options *options,
                            regal_result **result) {
  return optimize(context, problem, options, (extras){0}, result);
}

regal_status regal_optimize_from(regal_context *context,
                                 const regal_problem *problem,
                                 const regal_options *options,
                                 const regal_plan *start,
                                 regal_result **result) {
  return optimize(context, problem, options, (extras){.start = start}, result);
}

regal_status regal_optimize_guided(regal_context *context,
                                   const regal_problem *problem,
                                   const regal_options *options,
                                   const regal_proposal *proposal,
                                   regal_result **result) {
  REGAL_TRY(regal_need(context, proposal, "a guided search needs a proposal"));
  return optimize(context, problem, options, (extras){.proposal = proposal},
                  result);
}

regal_status regal_solve(regal_context *context, const regal_graph *graph,
                         const regal_options *options, regal_result **result) {
  regal_problem *problem;
  REGAL_TRY(regal_need(context, graph && options && result,
                       "a search needs a graph, options and a place for its "
                       "result"));
  REGAL_TRY(regal_problem_create(context, graph, options, &problem));
  regal_status status = regal_optimize(context, problem, options, result);
  if (status == REGAL_OK)
    (*result)->owned_problem = problem;
  else
    regal_problem_free(problem);
  return status;
}

void regal_result_free(regal_result *result) {
  if (!result)
    return;
  regal_context *context = result->context;
  regal_plan_free(result->plan);
  regal_problem_free(result->owned_problem);
  regal_release(context, result->account);
  regal_release(context, result->history);
  regal_release(context, result->shortage);
  regal_release(context, result);
}
