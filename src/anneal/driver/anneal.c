/* SPDX-License-Identifier: Apache-2.0 */
#include "anneal/driver/anneal.h"

#include <math.h>
#include <string.h>

#include "base/random.h"

/* Chains are compared, and the search looks at the clock and reports, so often
 * in a run; more often in long ones. Chains that are compared 16 times are too
 * much alike: two of them are then worth less than one with 1.6 times the time.
 */
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
  chain *chains;
  size_t count;
  double began, lap_end;  /* seconds */
  uint64_t lap_moves;     /* left in this lap, for the one chain */
  uint64_t first_counted; /* the search's evaluations when the job began */
  bool by_moves;          /* progress is counted in moves */
} team;

/* -- One chain ---------------------------------------------------------------
 */

static double progress_of(const team *team, const chain *chain) {
  const regal_anneal_job *job = team->job;
  double share;
  if (team->by_moves) {
    uint64_t used =
        job->search->evaluations - team->first_counted + chain->made;
    share = (double)used / (double)job->evaluations;
  } else {
    share = (chain->last_look - team->began) / (job->deadline - team->began);
  }
  return share < 1 ? share : 1;
}

static bool is_done(const team *team, const chain *chain) {
  const regal_search *search = team->job->search;
  if (regal_stop_requested(search->context))
    return true;
  return team->by_moves ? chain->made >= team->lap_moves ||
                              chain->last_look >= team->job->deadline
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
    regal_anneal_stretch stretch = {job->hot *
                                        pow(job->cold / job->hot, progress),
                                    progress, chain->moves, job->until_fits};
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

/* -- All of them -------------------------------------------------------------
 */

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
  double progress = progress_of(team, &team->chains[best]);
  double warm =
      team->job->hot * pow(team->job->cold / team->job->hot, progress);
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
  const regal_anneal_job *job = team->job;
  if (team->by_moves) {
    uint64_t used = job->search->evaluations - team->first_counted;
    uint64_t left = job->evaluations - used;
    uint64_t lap = job->evaluations / FEWEST_LAPS + 1;
    lap = lap < 32768 ? lap : 32768;
    team->lap_moves = left < lap ? left : lap;
    return;
  }
  double lap = (job->deadline - team->began) / FEWEST_LAPS;
  team->lap_end = fmin(now + fmin(lap, LONGEST_LAP), job->deadline);
}

/* Whether the job goes on; the search's own stop rules belong to its problem,
 * a coarse one only knows when to end. */
static bool goes_on(const team *team, double now) {
  const regal_anneal_job *job = team->job;
  regal_search *search = job->search;
  if (job->problem == search->problem && regal_search_should_stop(search))
    return false;
  if (regal_stop_requested(search->context) || now >= job->deadline ||
      (job->until_fits && fits(team)))
    return false;
  return search->evaluations - team->first_counted < job->evaluations;
}

static void run_team(team *team) {
  const regal_anneal_job *job = team->job;
  regal_search *search = job->search;
  team->began = regal_seconds();
  team->first_counted = search->evaluations;
  for (double now = team->began; goes_on(team, now); now = regal_seconds()) {
    begin_lap(team, now);
    if (team->count > 1)
      regal_pool_run(search->pool, team->count, run_chain, team);
    else
      run_chain(team, 0, 0);
    for (size_t i = 0; i < team->count; i++) {
      search->evaluations += team->chains[i].made;
      team->chains[i].made = 0;
    }
    if (team->count > 1)
      share_best(team);
    if (job->problem == search->problem)
      regal_search_note(
          search, job->annealer->best(team->chains[best_chain(team)].state));
    regal_search_report(search, false);
  }
}

static regal_status create_chains(team *team) {
  const regal_anneal_job *job = team->job;
  regal_context *context = job->search->context;
  team->chains = regal_alloc(context, team->count, sizeof *team->chains);
  if (!team->chains)
    return regal_fail_memory(context);
  for (size_t i = 0; i < team->count; i++) {
    REGAL_TRY(
        job->annealer->create(context, job->problem, &team->chains[i].state));
    uint64_t key = regal_random_key((uint64_t)job->search->options->seed,
                                    REGAL_PURPOSE_ANNEAL, job->stream, i);
    team->chains[i].moves = 8;
    job->annealer->begin(team->chains[i].state, job->start, key);
  }
  return REGAL_OK;
}

static regal_status write_best(const team *team, regal_plan **best) {
  const regal_anneal_job *job = team->job;
  REGAL_TRY(regal_plan_create(job->search->context,
                              regal_plan_most_steps(job->problem), best));
  job->annealer->write(team->chains[best_chain(team)].state, *best);
  return REGAL_OK;
}

regal_status regal_anneal(const regal_anneal_job *job, regal_plan **best) {
  team team = {.job = job, .by_moves = job->evaluations != UINT64_MAX};
  team.count =
      team.by_moves ? 1 : (size_t)regal_pool_threads(job->search->pool);
  regal_status status = create_chains(&team);
  if (status == REGAL_OK) {
    run_team(&team);
    status = write_best(&team, best);
  }
  for (size_t i = 0; team.chains && i < team.count; i++)
    if (team.chains[i].state)
      job->annealer->destroy(team.chains[i].state);
  regal_release(job->search->context, team.chains);
  return status;
}

void regal_anneal_grant(const regal_search *search, double share,
                        regal_anneal_job *job) {
  double now = regal_seconds();
  job->evaluations = UINT64_MAX;
  if (search->budget != UINT64_MAX)
    job->evaluations =
        (uint64_t)(share * (double)(search->budget - search->evaluations));
  job->deadline = isinf(search->deadline)
                      ? search->deadline
                      : now + share * (search->deadline - now);
}
