/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets in CPU time, for measurements on a machine that has other work. */
#ifndef REGAL_BENCH_CPU_CLOCK_H
#define REGAL_BENCH_CPU_CLOCK_H

/* From here on the monotonic clock of every thread is the CPU time that this
 * thread has used. For searches on one thread: two would not agree. */
void regal_bench_use_cpu_clock(void);

#endif
