/* SPDX-License-Identifier: Apache-2.0 */
/* What every plan of a placement consists of, straight from the model: the
 * steps that it needs and which of them must come before which. Quadratic, for
 * small graphs. */
#ifndef REGAL_TESTS_NEEDED_STEPS_H
#define REGAL_TESTS_NEEDED_STEPS_H

#include "cost/model/machine.h"

/* Whether the machine lets every op run where `placement` [ops] puts it. */
bool regal_test_may_place(const regal_graph *graph,
                          const regal_machine *machine,
                          const uint32_t *placement);

/* An upper limit for any placement: ops and (items * other devices). */
size_t regal_test_most_steps(const regal_graph *graph,
                             const regal_machine *machine);
/* Writes the runs and the needed transfers; returns their number. */
uint32_t regal_test_needed_steps(const regal_graph *graph,
                                 const regal_machine *machine,
                                 const uint32_t *placement, regal_step *steps);

/* Whether `step` can only happen after `other`. */
bool regal_test_must_follow(const regal_graph *graph,
                            const regal_machine *machine,
                            const regal_step *step, const regal_step *other);

#endif
