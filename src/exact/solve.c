/* SPDX-License-Identifier: Apache-2.0 */
/* The solver runs in a thread of its own, so that this one can report progress
 * and stop it: fifty times a second it looks whether the search should end. The
 * answer is read back from CP-SAT's message and checked before it is believed.
 */
#define _GNU_SOURCE
#include "exact/solve.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "cp_sat.pb-c.h"

#define LOOKS_PER_SECOND 50

typedef struct solving {
  const regal_cp_library *library;
  const void *model, *parameters;
  int model_size, parameters_size;
  void *environment; /* or NULL: cannot be stopped */
  void *response;    /* allocated by malloc */
  int response_size;
  sem_t done;
} solving;

static void call(solving *solving) {
  const regal_cp_library *library = solving->library;
  if (solving->environment)
    library->interruptible(solving->environment, solving->model,
                           solving->model_size, solving->parameters,
                           solving->parameters_size, &solving->response,
                           &solving->response_size);
  else
    library->solve(solving->model, solving->model_size, solving->parameters,
                   solving->parameters_size, &solving->response,
                   &solving->response_size);
}

static void *thread_main(void *argument) {
  solving *solving = argument;
  call(solving);
  sem_post(&solving->done);
  return NULL;
}

/* Whether it is done; a signal may end the wait early. */
static bool wait_a_moment(solving *solving) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += 1000000000L / LOOKS_PER_SECOND;
  if (until.tv_nsec >= 1000000000L) {
    until.tv_nsec -= 1000000000L;
    until.tv_sec++;
  }
  return sem_clockwait(&solving->done, CLOCK_MONOTONIC, &until) == 0;
}

static regal_status watch(regal_search *search, solving *solving) {
  pthread_t thread;
  sem_init(&solving->done, 0, 0);
  if (pthread_create(&thread, NULL, thread_main, solving) != 0)
    return regal_fail(search->context, REGAL_INTERNAL,
                      "cp-sat: cannot start a thread");
  for (bool stopped = false; !wait_a_moment(solving);) {
    regal_search_report(search, false);
    if (!stopped && solving->environment && regal_search_should_stop(search)) {
      solving->library->stop(solving->environment);
      stopped = true;
    }
  }
  pthread_join(thread, NULL);
  sem_destroy(&solving->done);
  return REGAL_OK;
}

static size_t pack_parameters(const regal_search *search, double seconds,
                              uint8_t *bytes) {
  Regal__Cp__Parameters parameters = REGAL__CP__PARAMETERS__INIT;
  parameters.has_max_time_in_seconds = true;
  parameters.max_time_in_seconds = seconds;
  parameters.has_random_seed = true;
  parameters.random_seed = (int32_t)(search->seed % INT32_MAX);
  parameters.has_num_workers = true;
  parameters.num_workers = regal_pool_threads(search->pool);
  parameters.has_log_search_progress = true;
  parameters.has_catch_sigint_signal = true; /* both false */
  return regal__cp__parameters__pack(&parameters, bytes);
}

static void *allocate(void *context, size_t size) {
  return regal_alloc(context, size, 1);
}

static void release(void *context, void *block) {
  regal_release(context, block);
}

static int64_t goal_of(const regal_cp_model *model, const int64_t *values) {
  int64_t goal = 0;
  for (size_t i = 0; i < model->goal_count; i++)
    goal += values[model->goal[i]];
  return goal;
}

/* The bound as a double may be off by rounding, so that it only serves to keep
 * the exact one honest. */
static int64_t bound_of(const Regal__Cp__Response *response) {
  if (!response->has_best_objective_bound ||
      !(fabs(response->best_objective_bound) < 0x1p62))
    return INT64_MIN;
  int64_t rounded = (int64_t)floor(response->best_objective_bound + 0.5);
  return response->inner_objective_lower_bound < rounded
             ? response->inner_objective_lower_bound
             : rounded;
}

static bool within_domains(const regal_cp_model *model, const int64_t *values) {
  for (size_t i = 0; i < model->variables; i++)
    if (values[i] < model->domain[i][0] || values[i] > model->domain[i][1])
      return false;
  return true;
}

static regal_status take_values(const regal_cp_model *model,
                                const Regal__Cp__Response *response,
                                regal_cp_answer *answer) {
  if (response->n_solution != model->variables ||
      !within_domains(model, response->solution))
    return regal_fail(model->context, REGAL_INTERNAL,
                      "cp-sat: CP-SAT's solution is not one of the model");
  answer->values =
      regal_alloc(model->context, model->variables, sizeof *answer->values);
  if (!answer->values)
    return regal_fail_memory(model->context);
  for (size_t i = 0; i < model->variables; i++)
    answer->values[i] = response->solution[i];
  answer->goal = goal_of(model, answer->values);
  return REGAL_OK;
}

regal_status regal_cp_read_answer(const regal_cp_model *model,
                                  const void *bytes, size_t size,
                                  regal_cp_answer *answer) {
  ProtobufCAllocator allocator = {allocate, release, model->context};
  Regal__Cp__Response *response =
      regal__cp__response__unpack(&allocator, size, bytes);
  if (!response)
    return regal_fail(model->context, REGAL_INTERNAL,
                      "cp-sat: CP-SAT's answer cannot be read");
  regal_status status = REGAL_OK;
  *answer = (regal_cp_answer){.verdict = (regal_cp_verdict)response->status,
                              .bound = bound_of(response)};
  if (answer->verdict == REGAL_CP_INVALID)
    status = regal_fail(model->context, REGAL_INTERNAL,
                        "cp-sat: CP-SAT does not accept the model");
  else if (response->n_solution)
    status = take_values(model, response, answer);
  if (answer->verdict == REGAL_CP_OPTIMAL && answer->values)
    answer->bound = answer->goal;
  regal__cp__response__free_unpacked(response, &allocator);
  return status;
}

regal_status regal_cp_solve(regal_search *search,
                            const regal_cp_library *library,
                            const regal_cp_model *model, double seconds,
                            regal_cp_answer *answer) {
  uint8_t parameters[64], *bytes;
  size_t size;
  REGAL_TRY(regal_cp_pack(model, &bytes, &size));
  if (size > INT_MAX) {
    regal_release(search->context, bytes);
    return regal_fail(search->context, REGAL_BAD_INPUT,
                      "cp-sat: the model of %zu bytes is too large; try "
                      "--method auto",
                      size);
  }
  solving solving = {
      .library = library,
      .model = bytes,
      .model_size = (int)size,
      .parameters = parameters,
      .parameters_size = (int)pack_parameters(search, seconds, parameters),
      .environment = library->interruptible ? library->create() : NULL};
  regal_status status = watch(search, &solving);
  if (solving.environment)
    library->destroy(solving.environment);
  regal_release(search->context, bytes);
  if (status == REGAL_OK)
    status = regal_cp_read_answer(model, solving.response,
                                  (size_t)solving.response_size, answer);
  free(solving.response);
  return status;
}
