/* SPDX-License-Identifier: Apache-2.0 */
/* How annealing is run: simulated annealing (Kirkpatrick, Gelatt and Vecchi
 * 1983) whose schedule is a budget instead of a number of moves.
 *
 * Temperature. A job gets a share of what is left of its search's budget
 * (search/budget.h) and ends with it. Progress is the part of that share which
 * is used, from 0 to 1, and the temperature is hot * (cold / hot)^progress: it
 * falls geometrically and reaches `cold` exactly when the budget ends, whether
 * that is a million moves or a tenth of a second. Temperatures are in mean run
 * times of ops, or in peaks for memory, so that one pair serves all graphs.
 * Which pair: anneal/schedules.c.
 *
 * Moves. An annealer (annealer.h) knows one representation of a plan, its moves
 * and their cost. The driver calls it for stretches of moves at a constant
 * temperature. Each move is one evaluation: it costs a fraction of simulating
 * the plan, since an annealer updates only what the move changes.
 *
 * Evaluations. Where the budget counts evaluations there is one chain on the
 * calling thread, and stretches have a fixed length of 32 moves. So the plan
 * depends on seed and budget alone, for any number of threads and on any
 * machine.
 *
 * Time. Where the budget is time, each thread of the pool has a chain of its
 * own with random numbers of its own, and stretches adapt to take about a tenth
 * of a millisecond, so that looks at the clock cost nothing. After each lap
 * (a quarter of the job, at most a tenth of a second) chains that are behind
 * the best one by more than the present temperature go on from a copy of it.
 * Chains that are compared 16 times in a job are too much alike: two of them
 * are then worth less than one with 1.6 times the time.
 *
 * Levels. A job may be about another problem than its search: a coarser graph
 * (anneal/levels), or the memory of a plan beyond its limit (auto/limit.c). It
 * then runs in a child search, whose stop rules and reports are its own.
 */
#include "anneal/driver/anneal.h"

#include <math.h>
#include <string.h>

#include "base/random.h"

/* Chains are compared, and the search looks at the clock and reports, so often
 * in a run; more often in long ones. */
#define FEWEST_LAPS 4
#define LONGEST_LAP 0.1 /* seconds */
/* A chain looks at the clock about this often. */
#define SECONDS_PER_STRETCH 100e-6
#define MOST_MOVES 4096

typedef struct chain {
  void *state;
  uint32_t moves;   /* of a stretch */
  uint64_t made;    /* moves in this lap */
  double last_look; /* at the clock */
} chain;

typedef struct team {
  const regal_anneal_job *job;
  regal_search *search; /* of the job's problem, with its share of the budget */
  chain *chains;
  size_t count;
  double began, lap_end; /* seconds */
  uint64_t lap_moves;    /* left in this lap, for the one chain */
  bool by_moves;         /* progress is counted in moves */
} team;

/* -- One chain ------------------------------------------------------------- */

static double progress_of(const team *team, const chain *chain) {
  const regal_budget *budget = &team->search->budget;
  double share =
      team->by_moves
          ? (double)(budget->used + chain->made) / (double)budget->limit
          : (chain->last_look - team->began) / (budget->deadline - team->began);
  return share < 1 ? share : 1;
}

static double temperature_at(const regal_anneal_job *job, double progress) {
  return job->hot * pow(job->cold / job->hot, progress);
}

static bool is_done(const team *team, const chain *chain) {
  if (regal_stop_requested(team->search->context))
    return true;
  return team->by_moves ? chain->made >= team->lap_moves ||
                              chain->last_look >= team->search->budget.deadline
                        : chain->last_look >= team->lap_end;
}

/* As many moves as take about SECONDS_PER_STRETCH. */
static void adapt(chain *chain, double seconds) {
  if (seconds < SECONDS_PER_STRETCH / 2 && chain->moves < MOST_MOVES)
    chain->moves *= 2;
  else if (seconds > SECONDS_PER_STRETCH * 2 && chain->moves > 1)
    chain->moves /= 2;
}

static void run_chain(void *state, size_t item, int thread) {
  (void)thread;
  team *team = state;
  const regal_anneal_job *job = team->job;
  chain *chain = &team->chains[item];
  chain->made = 0;
  chain->last_look = regal_seconds();
  while (!is_done(team, chain)) {
    double progress = progress_of(team, chain);
    regal_anneal_stretch stretch = {temperature_at(job, progress), progress,
                                    chain->moves, job->until_fits};
    /* a stretch of fixed length where the plan must not depend on time */
    if (team->by_moves) {
      uint64_t left = team->lap_moves - chain->made;
      stretch.moves = left < 32 ? (uint32_t)left : 32;
    }
    double before = chain->last_look;
    job->annealer->run(chain->state, &stretch);
    chain->made += stretch.moves;
    chain->last_look = regal_seconds();
    if (!team->by_moves)
      adapt(chain, chain->last_look - before);
  }
}

/* -- All of them ----------------------------------------------------------- */

/* The chain with the least energy; the others go on from there if they are
 * clearly behind. */
static void share_best(team *team) {
  const regal_annealer *annealer = team->job->annealer;
  size_t best = 0;
  for (size_t i = 1; i < team->count; i++)
    if (annealer->energy(team->chains[i].state) <
        annealer->energy(team->chains[best].state))
      best = i;
  double least = annealer->energy(team->chains[best].state);
  double warm =
      temperature_at(team->job, progress_of(team, &team->chains[best]));
  for (size_t i = 0; i < team->count; i++)
    if (annealer->energy(team->chains[i].state) > least + warm)
      annealer->copy(team->chains[i].state, team->chains[best].state);
}

static size_t best_chain(const team *team) {
  const regal_annealer *annealer = team->job->annealer;
  size_t best = 0;
  for (size_t i = 1; i < team->count; i++)
    if (regal_fitness_less(annealer->best(team->chains[i].state),
                           annealer->best(team->chains[best].state)))
      best = i;
  return best;
}

static bool fits(const team *team) {
  const regal_annealer *annealer = team->job->annealer;
  return annealer->best(team->chains[best_chain(team)].state).excess == 0;
}

static void begin_lap(team *team, double now) {
  const regal_budget *budget = &team->search->budget;
  if (team->by_moves) {
    uint64_t left = regal_budget_left(budget);
    uint64_t lap = budget->limit / FEWEST_LAPS + 1;
    lap = lap < 32768 ? lap : 32768;
    team->lap_moves = left < lap ? left : lap;
    return;
  }
  double lap = (budget->deadline - team->began) / FEWEST_LAPS;
  team->lap_end = fmin(now + fmin(lap, LONGEST_LAP), budget->deadline);
}

static bool goes_on(const team *team) {
  return !regal_search_should_stop(team->search) &&
         !(team->job->until_fits && fits(team));
}

static void run_lap(team *team) {
  regal_search *search = team->search;
  if (team->count > 1)
    regal_pool_run(search->pool, team->count, run_chain, team);
  else
    run_chain(team, 0, 0);
  for (size_t i = 0; i < team->count; i++) {
    search->budget.used += team->chains[i].made;
    team->chains[i].made = 0;
  }
  if (team->count > 1)
    share_best(team);
  regal_search_note(
      search, team->job->annealer->best(team->chains[best_chain(team)].state));
  regal_search_report(search, false);
}

static void run_team(team *team) {
  team->began = regal_seconds();
  while (goes_on(team)) {
    begin_lap(team, regal_seconds());
    run_lap(team);
  }
}

static regal_status create_chains(team *team) {
  const regal_anneal_job *job = team->job;
  regal_search *search = team->search;
  regal_context *context = search->context;
  team->chains = regal_alloc(context, team->count, sizeof *team->chains);
  if (!team->chains)
    return regal_fail_memory(context);
  for (size_t i = 0; i < team->count; i++) {
    REGAL_TRY(job->annealer->create(context, search->problem,
                                    &team->chains[i].state));
    uint64_t key =
        regal_random_key(search->seed, REGAL_PURPOSE_ANNEAL, job->stream, i);
    team->chains[i].moves = 8;
    job->annealer->begin(team->chains[i].state, job->start, key);
  }
  return REGAL_OK;
}

static regal_status write_best(const team *team, regal_plan **best) {
  const regal_search *search = team->search;
  REGAL_TRY(regal_plan_create(search->context,
                              regal_plan_most_steps(search->problem), best));
  team->job->annealer->write(team->chains[best_chain(team)].state, *best);
  return REGAL_OK;
}

static regal_status anneal(regal_search *search, const regal_anneal_job *job,
                           regal_plan **best) {
  team team = {.job = job,
               .search = search,
               .by_moves = regal_budget_is_counted(&search->budget)};
  team.count = team.by_moves ? 1 : (size_t)regal_pool_threads(search->pool);
  regal_search_doing(search, "annealing");
  regal_status status = create_chains(&team);
  if (status == REGAL_OK) {
    run_team(&team);
    status = write_best(&team, best);
  }
  for (size_t i = 0; team.chains && i < team.count; i++)
    if (team.chains[i].state)
      job->annealer->destroy(team.chains[i].state);
  regal_release(search->context, team.chains);
  return status;
}

regal_status regal_anneal(regal_search *search, const regal_problem *problem,
                          double share, const regal_anneal_job *job,
                          regal_plan **best) {
  regal_search part;
  if (problem == search->problem)
    regal_search_stage(search, share, &part);
  else
    regal_search_child(search, problem, share, &part);
  regal_status status = anneal(&part, job, best);
  regal_search_close(&part);
  return status;
}
