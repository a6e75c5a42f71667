/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions compute and move, and how long that takes on a device. */
#ifndef REGAL_FORMAT_HLO_WORK_H
#define REGAL_FORMAT_HLO_WORK_H

#include "format/costs/roofline.h"
#include "format/hlo/module.h"

/* Sums up a computation; what it calls has been summed up. */
regal_status regal_hlo_sum_work(regal_hlo_module *module,
                                regal_hlo_computation *computation,
                                const regal_roofline *roofline);
/* The run time of an instruction; those of its computation and of what that
 * calls have been summed up. */
regal_status regal_hlo_run_ns(const regal_hlo_module *module,
                              const regal_hlo_computation *computation,
                              const regal_hlo_instruction *instruction,
                              const regal_roofline *roofline, int64_t *ns);
/* FLOPs, counted as so many of fp32. */
double regal_hlo_flops(const regal_hlo_module *module,
                       const regal_hlo_computation *computation,
                       const regal_hlo_instruction *instruction,
                       const regal_roofline *roofline);

#endif
