/* Ctrl-C: the first ends the search, the second the program. */
#define _POSIX_C_SOURCE 200809L

#include "cli/cli.h"

#include <signal.h>

static regal_context *volatile searching;
static volatile sig_atomic_t asked;

static const int signals[] = {SIGINT, SIGTERM};

static void handle(int number) {
  if (asked) {
    signal(number, SIG_DFL);
    raise(number);
  }
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
