/* SPDX-License-Identifier: Apache-2.0 */
/* A try of a network on a small graph, before it is used. */
#ifndef REGAL_POLICY_PROBE_H
#define REGAL_POLICY_PROBE_H

#include "policy/network.h"

/* Sets *finite to whether all outputs of the policy are finite numbers on a
 * graph of four ops with features between 0 and 1. */
regal_status regal_network_probe(regal_context *context,
                                 const regal_network *network, bool *finite);

#endif
