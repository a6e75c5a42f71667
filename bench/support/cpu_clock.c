/* SPDX-License-Identifier: Apache-2.0 */
/* Stands before the C library's clock_gettime in this program alone: the
 * library is linked statically, so that its deadlines follow. */
#define _GNU_SOURCE /* for syscall() */
#include "support/cpu_clock.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool cpu_clock;

void regal_bench_use_cpu_clock(void) {
  cpu_clock = true;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (cpu_clock && clock == CLOCK_MONOTONIC)
    clock = CLOCK_THREAD_CPUTIME_ID;
  return (int)syscall(SYS_clock_gettime, clock, time);
}
