/* SPDX-License-Identifier: Apache-2.0 */
/* Teams of several processes; a benchmark on them makes the rows that one
 * makes. MPI is not needed: this program has ranks of its own (those of the
 * library are not linked then), processes that exchange results through shared
 * memory. */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/parallel/team.h"
#include "regal_bench.h"
#include "regal_data.h"
#include "support/files.h"

enum { SHARED_BYTES = 1 << 20 };

typedef struct exchange {
  pthread_barrier_t barrier;
  char bytes[SHARED_BYTES];
} exchange;

static exchange *shared;
static int this_rank, rank_count = 1;

regal_status regal_ranks_join(regal_context *context, regal_ranks *ranks) {
  (void)context;
  *ranks = (regal_ranks){.rank = this_rank, .size = rank_count};
  return REGAL_OK;
}

void regal_ranks_leave(regal_ranks *ranks) {
  (void)ranks;
}

regal_status regal_ranks_gather(const regal_ranks *ranks,
                                regal_context *context, void *array,
                                size_t items, size_t item_bytes) {
  size_t first = regal_ranks_first(ranks, items, ranks->rank) * item_bytes;
  size_t end = regal_ranks_first(ranks, items, ranks->rank + 1) * item_bytes;
  (void)context;
  if (ranks->size == 1)
    return REGAL_OK;
  if (items * item_bytes > SHARED_BYTES)
    return REGAL_INTERNAL;
  memcpy(shared->bytes + first, (char *)array + first, end - first);
  pthread_barrier_wait(&shared->barrier);
  memcpy(array, shared->bytes, items * item_bytes);
  pthread_barrier_wait(&shared->barrier);
  return REGAL_OK;
}

regal_status regal_ranks_spread(const regal_ranks *ranks,
                                regal_context *context, void *bytes,
                                size_t size) {
  (void)context;
  if (ranks->size == 1)
    return REGAL_OK;
  if (size > SHARED_BYTES)
    return REGAL_INTERNAL;
  if (ranks->rank == 0)
    memcpy(shared->bytes, bytes, size);
  pthread_barrier_wait(&shared->barrier);
  memcpy(bytes, shared->bytes, size);
  pthread_barrier_wait(&shared->barrier);
  return REGAL_OK;
}

/* Runs it on so many processes; it returns 0 if all went well. */
static void run_on(int ranks, int (*run)(const char *), const char *argument) {
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, (unsigned)ranks);
  rank_count = ranks;
  for (int rank = 0; rank < ranks; rank++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      this_rank = rank;
      _exit(run(argument));
    }
  }
  for (int rank = 0; rank < ranks; rank++) {
    int status;
    assert_true(wait(&status) > 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
  pthread_barrier_destroy(&shared->barrier);
}

/* -- Teams ----------------------------------------------------------------- */

enum { ITEMS = 11 };

typedef struct squares {
  uint64_t square[ITEMS];
} squares;

static regal_status set_square(void *state, size_t item,
                               const regal_worker *worker) {
  squares *made = state;
  (void)worker;
  made->square[item] = item * item;
  return REGAL_OK;
}

static regal_status fail_item(void *state, size_t item,
                              const regal_worker *worker) {
  (void)state;
  return regal_fail(worker->context, REGAL_BAD_INPUT, "item %zu", item);
}

/* Rank r has r + 1 threads. */
static int work_together(const char *word) {
  regal_context *context;
  regal_team team;
  squares made = {{0}};
  char spread[8] = "";
  size_t threads = 0, all = (size_t)(rank_count * (rank_count + 1) / 2);
  if (regal_context_create(&context, NULL) ||
      regal_team_join(context, this_rank + 1, &team))
    return 1;
  if (this_rank == 0)
    snprintf(spread, sizeof spread, "%s", word);
  if (regal_team_threads(&team, &threads) || threads != all ||
      regal_team_run(&team, ITEMS, set_square, &made, made.square,
                     sizeof *made.square) ||
      regal_ranks_spread(&team.ranks, context, spread, sizeof spread) ||
      strcmp(spread, word))
    return 2;
  for (size_t i = 0; i < ITEMS; i++)
    if (made.square[i] != i * i)
      return 3;
  regal_team_leave(&team, true);
  regal_context_free(context);
  return 0;
}

static void test_team(void **state) {
  (void)state;
  for (int ranks = 1; ranks <= 4; ranks++)
    run_on(ranks, work_together, "word");
}

/* Items are counted over all ranks: the message names the failed one. */
static void test_team_fails(void **state) {
  regal_context *context;
  regal_team team;
  (void)state;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  rank_count = 1;
  assert_int_equal(regal_team_join(context, 2, &team), REGAL_OK);
  team.ranks = (regal_ranks){.rank = 1, .size = 2};
  assert_int_equal(regal_team_run(&team, ITEMS, fail_item, NULL, NULL, 0),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context), "item 5");
  regal_team_leave(&team, false);
  regal_context_free(context);
}

/* -- Benchmarks ------------------------------------------------------------ */

static int bench(const char *output) {
  const char *sets[] = {"set"};
  regal_context *context;
  regal_options options;
  regal_benching made;
  if (regal_context_create(&context, NULL))
    return 1;
  regal_options_init(&options);
  options.threads = 2;
  snprintf(options.methods, sizeof options.methods, "brkga,heft");
  snprintf(options.budgets, sizeof options.budgets, "50,120");
  snprintf(options.seeds, sizeof options.seeds, "1,2,3,4,5");
  snprintf(options.output, sizeof options.output, "%s", output);
  regal_status status =
      regal_bench(context, sets, 1, &options, NULL, NULL, &made);
  regal_context_free(context);
  return status || made.runs != made.total || made.rank != this_rank;
}

/* Without the last column, the time. */
static char *read_rows(const char *path) {
  char *table = files_read(path), *to = table;
  assert_non_null(table);
  for (char *from = table, *end; (end = strchr(from, '\n')); from = end + 1) {
    char *comma = end;
    while (*comma != ',')
      comma--;
    memmove(to, from, (size_t)(comma - from));
    to += comma - from;
    *to++ = '\n';
  }
  *to = 0;
  return table;
}

static void expect_rows(const char *path, const char *expected) {
  char *rows = read_rows(path);
  assert_string_equal(rows, expected);
  free(rows);
}

static void test_bench(void **state) {
  (void)state;
  run_on(1, bench, "alone.csv");
  char *expected = read_rows("alone.csv"), *whole = files_read("alone.csv");
  run_on(2, bench, "two.csv");
  expect_rows("two.csv", expected);
  /* the first process reads what is there, and all know it */
  files_write("three.csv", whole, strlen(whole) / 3);
  run_on(3, bench, "three.csv");
  expect_rows("three.csv", expected);
  free(whole);
  free(expected);
}

static int set_up(void **state) {
  regal_context *context;
  regal_options options;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || files_enter(state) ||
      regal_context_create(&context, NULL))
    return -1;
  regal_options_init(&options);
  options.count = 7;
  options.nodes = 20;
  options.threads = 1;
  int failed = regal_generate(context, "set", &options, NULL, NULL, NULL);
  regal_context_free(context);
  return failed;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_team),
                                     cmocka_unit_test(test_team_fails),
                                     cmocka_unit_test(test_bench)};
  return cmocka_run_group_tests_name("ranks", tests, set_up, files_leave);
}
