/* SPDX-License-Identifier: Apache-2.0 */
/* Random small problems for property tests, each from one seed: the same seed
 * gives the same case everywhere. They abort when memory is out. */
#ifndef REGAL_TESTS_RANDOM_CASES_H
#define REGAL_TESTS_RANDOM_CASES_H

#include "cost/model/machine.h"

/* `devices` alike ones, blocking, control = wait, free transfers, no limit.
 * Nothing is allocated. */
void regal_test_plain_machine(regal_machine *machine, uint32_t devices);

/* 1 .. max_ops ops: chains, trees, layers and tangles, in topological order or
 * shuffled; 0 to 3 outputs; final tensors, control edges, temporary and
 * resident bytes; times and sizes that are often 0 or alike; in half of them
 * parameters, in half of them outputs that may be written over an input. */
void regal_test_random_graph(regal_context *context, uint64_t seed,
                             uint32_t max_ops, regal_graph **graph);

/* 1 to 4 devices, now and then up to 64, with any mix of all that a machine
 * can have. One device at least can run everything, so that a plan exists.
 * Freed by regal_machine_free. */
void regal_test_random_machine(regal_context *context, uint64_t seed,
                               const regal_graph *graph,
                               regal_machine **machine);
/* The same with at most `max_devices`. */
void regal_test_random_small_machine(regal_context *context, uint64_t seed,
                                     uint32_t max_devices,
                                     const regal_graph *graph,
                                     regal_machine **machine);

/* A valid plan: a random placement that the machine allows, its needed steps
 * in a random order. Freed by regal_plan_free. */
void regal_test_random_plan(regal_context *context, uint64_t seed,
                            const regal_graph *graph,
                            const regal_machine *machine, regal_plan **plan);

#endif
