/* SPDX-License-Identifier: Apache-2.0 */
/* Annealing schedules: how `auto` anneals which problem. The table behind them,
 * anneal/schedule_table.h, is written by bench/tune_auto.py, which tries
 * settings on training graphs.
 */
#ifndef REGAL_ANNEAL_SCHEDULES_H
#define REGAL_ANNEAL_SCHEDULES_H

#include "anneal/driver/annealer.h"
#include "search/search.h"

/* What decides about the schedule: the kind of problem, its size, the time. */
typedef enum regal_problem_kind {
  REGAL_KIND_FREE,      /* run time, blocking, transfers cost nothing */
  REGAL_KIND_WIDE,      /* the same, and the graph is wide */
  REGAL_KIND_MANY,      /* FREE on more than two devices */
  REGAL_KIND_CHEAP,     /* run time, blocking, transfers shorter than ops */
  REGAL_KIND_EXPENSIVE, /* run time, blocking, transfers longer than ops */
  REGAL_KIND_LINKS,     /* run time, overlapped */
  REGAL_KIND_LIMITED,   /* run time, within a memory limit */
  REGAL_KIND_ONE,       /* memory, one device */
  REGAL_KIND_MEMORY     /* memory, several devices */
} regal_problem_kind;

typedef struct regal_schedule {
  regal_problem_kind kind;
  uint32_t most_ops;   /* for graphs up to so many */
  double most_seconds; /* and budgets up to so much */
  const char *annealer;
  double hot, cold;    /* as in anneal/levels/multilevel.h */
  double fall;         /* of the heat from level to level */
  double coarse_share; /* of the budget; 0: no levels */
  uint32_t coarsest;   /* ops of the coarsest level */
  double fresh;        /* share of the budget that starts from one device */
} regal_schedule;

/* Two devices can nearly always be kept busy: the longest chain of ops is
 * clearly shorter than half of the work. */
bool regal_is_wide(const regal_problem *problem);

/* What the user wants of a schedule; columns that are 0, "" or less than 0 are
 * not given. The first three are of no meaning. */
regal_schedule regal_schedule_given(const regal_options *options);
/* Nothing is given. */
extern const regal_schedule regal_schedule_none;

/* The first row that fits, with those of its columns replaced that are given.
 * An annealer that does not suit the problem is replaced by one that does. NULL
 * when none does. */
const regal_annealer *regal_schedule_for(const regal_search *search,
                                         const regal_schedule *given,
                                         regal_schedule *schedule);

/* Anneals by the schedule, with all that is left of the budget, from the best
 * plan so far or from nothing (levels). Unless it is to be left alone, another
 * annealer may have the end of it, where that is known to be better. */
regal_status regal_anneal_by(regal_search *search,
                             const regal_schedule *schedule,
                             const regal_annealer *annealer, bool alone);

/* The same from the best plan, which is not heated much. */
regal_status regal_anneal_on(regal_search *search,
                             const regal_schedule *schedule,
                             const regal_annealer *annealer);
/* What is left of the budget in seconds; evaluations count as on a machine of
 * usual speed. */
double regal_schedule_seconds(const regal_search *search);
/* So long an op takes, for a search that is not cut short. */
#define REGAL_SECONDS_PER_OP 3e-4

/* The methods `anneal` and `multilevel`. */
regal_status regal_method_anneal(regal_search *search);
regal_status regal_method_multilevel(regal_search *search);

#endif
