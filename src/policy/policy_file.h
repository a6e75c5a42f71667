/* SPDX-License-Identifier: Apache-2.0 */
/* Policies in files: what they are for, how they were made, and their weights.
 *
 * Everything is little-endian; a text is its length (u32) and its bytes, a name
 * 24 or 48 bytes filled up with zeros; a real is an IEEE 754 float.
 *
 *   "REGALPOL"          magic
 *   u32 version         3; a reader refuses newer ones
 *   u64 size            of the whole file
 *   config              u32 kind, update, mean_aggregation, rounds, width,
 *                       experts, node_features, edge_features; real
 *                       neutral_bias; u32 devices, objective; name decoder;
 *                       u32 heads, and for each: name gene_class; u32 domain,
 *                       genes, mean_levels, variance_levels, bias_levels;
 *                       u32 features, and for each: name; u32 relative of each
 *                       head
 *   provenance          u64 dataset checksum, seed, steps; text command,
 *                       version of regal
 *   weights             u32 blocks, and for each: name, u32 rows, columns; u64
 *                       count; so many reals
 *   u64 checksum        of all bytes before it (base/hash.h)
 *
 * node_features and edge_features are columns: the sums of the features'
 * widths. Older versions are still read: version 2 had no `relative`, which is
 * 0, and version 1 had no list of features either: it always was the paper's
 * (policy/paper_features.c), in that order.
 *
 * Errors are one line, "FILE: found X, expected Y".
 */
#ifndef REGAL_POLICY_POLICY_FILE_H
#define REGAL_POLICY_POLICY_FILE_H

#include "base/text.h"
#include "policy/network.h"

#define REGAL_POLICY_MAGIC "REGALPOL"
#define REGAL_POLICY_MAGIC_BYTES 8
#define REGAL_POLICY_VERSION 3
#define REGAL_POLICY_CHECKSUM_BYTES 8
#define REGAL_POLICY_FEATURE_BYTES 24 /* of a name */

typedef struct regal_policy_provenance {
  uint64_t dataset_checksum, seed, steps;
  char command[1024]; /* that made it */
  char version[64];   /* of regal */
} regal_policy_provenance;

typedef struct regal_policy {
  regal_context *context;
  regal_policy_provenance provenance;
  regal_network *network;
} regal_policy;

/* Appends the file's bytes to an empty text; text->failed says if memory was
 * out. */
void regal_policy_write(const regal_network *network,
                        const regal_policy_provenance *provenance,
                        regal_text *text);
/* Written whole or not at all. */
regal_status regal_policy_save(regal_context *context,
                               const regal_network *network,
                               const regal_policy_provenance *provenance,
                               const char *path);
regal_status regal_policy_load(regal_context *context, const char *path,
                               regal_policy **policy);
/* The same for bytes in memory; `name` is for messages. */
regal_status regal_policy_read(regal_context *context, const char *name,
                               const void *bytes, size_t size,
                               regal_policy **policy);
/* Only what it is for. */
regal_status regal_policy_peek(regal_context *context, const char *name,
                               const void *bytes, size_t size,
                               regal_policy_config *config,
                               regal_policy_provenance *provenance);
void regal_policy_free(regal_policy *policy);

/* Fails unless the policy is for this objective and decoder (NULL: any). */
regal_status regal_policy_check(regal_context *context, const char *name,
                                const regal_policy_config *config,
                                uint32_t objective, const char *decoder);
const char *regal_policy_kind_name(regal_policy_kind kind);
const char *regal_objective_name(uint32_t objective);

#endif
