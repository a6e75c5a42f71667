/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of a training run: steps, validation now and then, and files. The
 * best policy on validation is the one that is saved; a checkpoint is saved
 * at the start, every --checkpoint-every and at the end, also when the user
 * stops the run. Only the first of several processes writes.
 *
 * Nothing of an earlier run is lost: its files are replaced with --overwrite
 * only. A run that is killed at any moment can be resumed, and its log then has
 * each row once. For that, each checkpoint is written after the log's rows up
 * to its step are on the disk, and before the first row of a new log. */
#include "learn/train_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "learn/checkpoint.h"
#include "learn/train_log.h"

typedef struct run {
  regal_trainer *trainer;
  const regal_train_job *job;
  regal_train_log log;
  uint64_t first_step, first_evaluations; /* of this call */
  double saved;                           /* when a checkpoint was written */
} run;

static bool leads(const run *r) {
  return r->trainer->ranks->rank == 0;
}

/* -- Files ----------------------------------------------------------------- */

/* The best policy on validation; without validation the present one. */
static regal_status save_policy(const run *r) {
  regal_trainer *t = r->trainer;
  const regal_train_state *state = &t->state;
  regal_network network = *t->network;
  regal_policy_provenance provenance = {
      .dataset_checksum = r->job->dataset,
      .seed = t->settings.seed,
      .steps = state->has_best ? state->best_step : state->step};
  if (state->has_best)
    network.parameters = t->best;
  snprintf(provenance.command, sizeof provenance.command, "%s",
           r->job->command);
  snprintf(provenance.version, sizeof provenance.version, "%s",
           regal_version());
  return regal_policy_save(t->context, &network, &provenance, r->job->output);
}

static regal_status save_checkpoint(run *r) {
  r->saved = regal_seconds();
  if (!leads(r))
    return REGAL_OK;
  REGAL_TRY(regal_train_log_sync(r->trainer->context, r->job->log, &r->log));
  return regal_checkpoint_save(r->trainer, r->job->dataset, r->job->checkpoint);
}

static bool is_due(const run *r) {
  double every = r->trainer->options.checkpoint_every;
  return regal_seconds() - r->saved >= every;
}

static bool is_file(const char *path) {
  struct stat info;
  return !stat(path, &info) && S_ISREG(info.st_mode);
}

static regal_status refuse_to_replace(const run *r, const char *path) {
  const char *checkpoint = r->job->checkpoint;
  if (!is_file(path))
    return REGAL_OK;
  if (!is_file(checkpoint))
    return regal_fail(r->trainer->context, REGAL_BAD_INPUT,
                      "%s: exists already; --overwrite replaces it", path);
  return regal_fail(r->trainer->context, REGAL_BAD_INPUT,
                    "%s: exists already; --resume continues the run of %s, "
                    "--overwrite replaces it",
                    path, checkpoint);
}

static regal_status refuse_to_replace_any(const run *r) {
  REGAL_TRY(refuse_to_replace(r, r->job->output));
  REGAL_TRY(refuse_to_replace(r, r->job->checkpoint));
  return refuse_to_replace(r, r->job->log);
}

/* -- Figures --------------------------------------------------------------- */

static void bring_up_to_date(run *r) {
  regal_trainer *t = r->trainer;
  regal_training *report = &t->report;
  double steps = (double)(t->state.step - r->first_step);
  report->step = t->state.step;
  report->evaluations = t->state.evaluations;
  report->seconds = regal_seconds() - t->began;
  report->rate = report->seconds > 0
                     ? (double)(t->state.evaluations - r->first_evaluations) /
                           report->seconds
                     : 0;
  report->seconds_left = steps > 0 ? report->seconds / steps *
                                         (double)(report->steps - report->step)
                                   : NAN;
  report->best_valid = t->state.best_valid;
  report->best_step = t->state.best_step;
  report->finished = t->state.step == t->settings.steps;
}

static void tell(run *r, bool validated) {
  regal_training *report = &r->trainer->report;
  bring_up_to_date(r);
  report->validated = validated;
  if (!leads(r))
    return;
  if (validated)
    regal_train_log_valid(&r->log, report);
  else
    regal_train_log_step(&r->log, report);
  if (r->job->progress)
    r->job->progress(r->job->progress_state, report);
}

/* -- The loop -------------------------------------------------------------- */

static bool needs_validation(const regal_trainer *t) {
  return regal_tasks_count(t->valid) > 0 &&
         t->state.step >= t->state.next_validation;
}

static regal_status validate(run *r, bool *stopped) {
  regal_trainer *t = r->trainer;
  REGAL_TRY(regal_trainer_validate(t, stopped));
  if (*stopped)
    return REGAL_OK;
  tell(r, true);
  if (leads(r) && t->state.best_step == t->state.step)
    return save_policy(r);
  return REGAL_OK;
}

static regal_status go_on(run *r, bool *stopped) {
  regal_trainer *t = r->trainer;
  if (needs_validation(t))
    return validate(r, stopped);
  REGAL_TRY(regal_trainer_step(t, stopped));
  if (*stopped)
    return REGAL_OK;
  tell(r, false);
  return is_due(r) ? save_checkpoint(r) : REGAL_OK;
}

static regal_status loop(run *r) {
  regal_trainer *t = r->trainer;
  bool stopped = false;
  while (!stopped && (t->state.step < t->settings.steps || needs_validation(t)))
    REGAL_TRY(go_on(r, &stopped));
  bring_up_to_date(r);
  t->report.finished = t->report.finished && !stopped;
  REGAL_TRY(save_checkpoint(r));
  return leads(r) ? save_policy(r) : REGAL_OK;
}

static regal_status begin_anew(run *r) {
  if (leads(r) && !r->trainer->options.overwrite)
    REGAL_TRY(refuse_to_replace_any(r));
  return save_checkpoint(r);
}

static regal_status begin(run *r) {
  regal_trainer *t = r->trainer;
  if (t->options.resume)
    REGAL_TRY(regal_checkpoint_load(t, r->job->dataset, r->job->checkpoint));
  else
    REGAL_TRY(begin_anew(r));
  r->first_step = t->state.step;
  r->first_evaluations = t->state.evaluations;
  r->saved = regal_seconds();
  if (!leads(r))
    return REGAL_OK;
  return t->options.resume
             ? regal_train_log_continue(t->context, r->job->log, &t->state,
                                        &r->log)
             : regal_train_log_begin(t->context, r->job->log, &r->log);
}

regal_status regal_train_run(regal_trainer *trainer,
                             const regal_train_job *job) {
  run r = {.trainer = trainer, .job = job};
  REGAL_TRY(begin(&r));
  regal_status status = loop(&r);
  regal_status closed =
      regal_train_log_close(trainer->context, job->log, &r.log);
  return status == REGAL_OK ? closed : status;
}
