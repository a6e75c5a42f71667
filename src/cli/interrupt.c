/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C: the first ends the search, a later one the program. What comes within
 * a moment of the first is the same one: timeout(1), for example, signals its
 * child and then the whole process group, so that the child gets it twice.
 * While an input is awaited that may never come, there is no search to end, and
 * the first ends the program.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/cli.h"

#include <signal.h>
#include <time.h>

#define SAME_MOMENT_NS 500000000

static regal_context *volatile searching;
static volatile sig_atomic_t asked;
static struct timespec asked_at; /* written by the first signal alone */

static const int signals[] = {SIGINT, SIGTERM};

static bool is_later(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  long long seconds = now.tv_sec - asked_at.tv_sec;
  return seconds * 1000000000 + now.tv_nsec - asked_at.tv_nsec > SAME_MOMENT_NS;
}

static void handle(int number) {
  bool waits = searching && regal_waits_for_input(searching);
  if (asked || waits) {
    if (!waits && !is_later())
      return;
    signal(number, SIG_DFL);
    raise(number);
  }
  clock_gettime(CLOCK_MONOTONIC, &asked_at);
  asked = 1;
  if (searching)
    regal_stop_request(searching);
}

void regal_interrupt_begin(regal_context *context) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  searching = context;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction old;
    /* Who starts the program with a signal ignored (nohup) wants it so. */
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(signals[i], &action, NULL);
  }
}

void regal_interrupt_end(void) {
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction now;
    if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == handle)
      signal(signals[i], SIG_DFL);
  }
  searching = NULL;
}
