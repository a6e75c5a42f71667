/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of a module as a graph. */
#ifndef REGAL_FORMAT_HLO_BUILD_H
#define REGAL_FORMAT_HLO_BUILD_H

#include "format/hlo/flow.h"
#include "format/hlo/work.h"

/* Makes the graph; everything that the entry calls has been measured. */
regal_status regal_hlo_build(regal_hlo_flow *flow,
                             const regal_roofline *roofline,
                             regal_graph **graph);
/* Says what was assumed and joined. */
regal_status regal_hlo_add_notes(const regal_hlo_flow *flow,
                                 const regal_roofline *roofline,
                                 regal_graph *graph);

#endif
