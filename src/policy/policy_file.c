/* SPDX-License-Identifier: Apache-2.0 */
/* Policy files: written, loaded, and checked against a problem. The reader of
 * their bytes is policy/policy_read.c, the layout is in policy_file.h. */
#include "policy/policy_file.h"

#include "base/hash.h"
#include "policy/features.h"
#include "policy/policy_bytes.h"

static const char *const kinds[] = {"gnn", "gas", "autoregressive", "experts",
                                    "blind"};

const char *regal_policy_kind_name(regal_policy_kind kind) {
  return (size_t)kind < sizeof kinds / sizeof *kinds ? kinds[kind] : "unknown";
}

const char *regal_objective_name(uint32_t objective) {
  return objective == REGAL_MEMORY ? "memory" : "runtime";
}

/* -- Writing --------------------------------------------------------------- */

static void put_config(regal_text *text, const regal_policy_config *config) {
  regal_put(text, config->kind, 4);
  regal_put(text, config->update, 4);
  regal_put(text, config->mean_aggregation, 4);
  regal_put(text, config->rounds, 4);
  regal_put(text, config->width, 4);
  regal_put(text, config->experts, 4);
  regal_put(text, config->node_features, 4);
  regal_put(text, config->edge_features, 4);
  regal_put_real(text, config->neutral_bias);
  regal_put(text, config->devices, 4);
  regal_put(text, config->objective, 4);
  regal_put_name(text, config->decoder, sizeof config->decoder);
  regal_put(text, config->head_count, 4);
  for (uint32_t h = 0; h < config->head_count; h++) {
    const regal_policy_head *head = &config->heads[h];
    regal_put_name(text, head->gene_class, sizeof head->gene_class);
    regal_put(text, head->domain, 4);
    regal_put(text, head->genes, 4);
    regal_put(text, head->mean_levels, 4);
    regal_put(text, head->variance_levels, 4);
    regal_put(text, head->bias_levels, 4);
  }
  regal_put(text, config->features.count, 4);
  for (uint32_t i = 0; i < config->features.count; i++)
    regal_put_name(text, regal_feature_at(config->features.row[i])->name,
                   REGAL_POLICY_FEATURE_BYTES);
  for (uint32_t h = 0; h < config->head_count; h++)
    regal_put(text, config->heads[h].relative, 4);
}

static void put_provenance(regal_text *text,
                           const regal_policy_provenance *provenance) {
  regal_put(text, provenance->dataset_checksum, 8);
  regal_put(text, provenance->seed, 8);
  regal_put(text, provenance->steps, 8);
  regal_put_text(text, provenance->command);
  regal_put_text(text, provenance->version);
}

static void put_weights(regal_text *text, const regal_network *network) {
  regal_put(text, network->block_count, 4);
  for (uint32_t b = 0; b < network->block_count; b++) {
    const regal_network_block *block = &network->blocks[b];
    regal_put_name(text, block->name, sizeof block->name);
    regal_put(text, block->rows, 4);
    regal_put(text, block->columns, 4);
  }
  regal_put(text, network->parameter_count, 8);
  for (size_t i = 0; i < network->parameter_count; i++)
    regal_put_real(text, (float)network->parameters[i]);
}

/* The size is near the beginning of the file and is known at the end. */
static void set_size(regal_text *text, uint64_t size) {
  for (size_t i = 0; i < 8; i++)
    text->bytes[REGAL_POLICY_MAGIC_BYTES + 4 + i] =
        (char)(unsigned char)(size >> 8 * i);
}

void regal_policy_write(const regal_network *network,
                        const regal_policy_provenance *provenance,
                        regal_text *text) {
  regal_text_append(text, REGAL_POLICY_MAGIC, REGAL_POLICY_MAGIC_BYTES);
  regal_put(text, REGAL_POLICY_VERSION, 4);
  regal_put(text, 0, 8);
  put_config(text, &network->config);
  put_provenance(text, provenance);
  put_weights(text, network);
  if (text->failed)
    return;
  set_size(text, text->size + REGAL_POLICY_CHECKSUM_BYTES);
  regal_put(text, regal_hash_bytes(REGAL_HASH_BASIS, text->bytes, text->size),
            REGAL_POLICY_CHECKSUM_BYTES);
}

regal_status regal_policy_save(regal_context *context,
                               const regal_network *network,
                               const regal_policy_provenance *provenance,
                               const char *path) {
  regal_text text;
  regal_text_init(&text, context);
  regal_policy_write(network, provenance, &text);
  regal_status status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}

/* -- Loading and use ------------------------------------------------------- */

regal_status regal_policy_load(regal_context *context, const char *path,
                               regal_policy **policy) {
  regal_text text;
  REGAL_TRY(regal_read_file(context, path, &text));
  regal_status status =
      regal_policy_read(context, path, text.bytes, text.size, policy);
  regal_text_free(&text);
  return status;
}

void regal_policy_free(regal_policy *policy) {
  if (!policy)
    return;
  if (policy->network)
    regal_network_free(policy->context, policy->network);
  regal_release(policy->context, policy);
}

regal_status regal_policy_check(regal_context *context, const char *name,
                                const regal_policy_config *config,
                                uint32_t objective, const char *decoder) {
  if (config->objective != objective)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: found a policy for objective %s, expected one for "
                      "%s",
                      name, regal_objective_name(config->objective),
                      regal_objective_name(objective));
  if (decoder && strcmp(config->decoder, decoder) != 0)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: found a policy for decoder %s, expected one for %s",
                      name, config->decoder, decoder);
  return REGAL_OK;
}
