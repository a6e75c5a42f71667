/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy_file.h"

#include <ctype.h>
#include <math.h>

#include "base/hash.h"
#include "policy/features.h"
#include "policy/policy_bytes.h"

#define MAGIC "REGALPOL"
#define MAGIC_BYTES 8
#define VERSION 1
#define HEAD_BYTES (MAGIC_BYTES + 4 + 8) /* magic, version, size */
#define CHECKSUM_BYTES 8
#define OBJECTIVE_MEMORY 1 /* as in the table of options; 0 is run time */

static const char *const kinds[] = {"gnn", "gas", "autoregressive", "experts",
                                    "blind"};
#define KINDS (sizeof kinds / sizeof *kinds)

const char *regal_policy_kind_name(regal_policy_kind kind) {
  return (size_t)kind < KINDS ? kinds[kind] : "unknown";
}

const char *regal_objective_name(uint32_t objective) {
  return objective == OBJECTIVE_MEMORY ? "memory" : "runtime";
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

/* The size stands near the beginning and is known at the end. */
static void set_size(regal_text *text, uint64_t size) {
  for (size_t i = 0; i < 8; i++)
    text->bytes[MAGIC_BYTES + 4 + i] = (char)(unsigned char)(size >> 8 * i);
}

void regal_policy_write(const regal_network *network,
                        const regal_policy_provenance *provenance,
                        regal_text *text) {
  regal_text_append(text, MAGIC, MAGIC_BYTES);
  regal_put(text, VERSION, 4);
  regal_put(text, 0, 8);
  put_config(text, &network->config);
  put_provenance(text, provenance);
  put_weights(text, network);
  if (text->failed)
    return;
  set_size(text, text->size + CHECKSUM_BYTES);
  regal_put(text, regal_hash_bytes(REGAL_HASH_BASIS, text->bytes, text->size),
            CHECKSUM_BYTES);
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

/* -- Reading --------------------------------------------------------------- */

typedef struct reader {
  regal_context *context;
  const char *name;
  regal_cursor cursor;
} reader;

/* The first bytes as text, for people. */
static void print_start(const reader *r, char *text) {
  size_t count = r->cursor.size < MAGIC_BYTES ? r->cursor.size : MAGIC_BYTES;
  for (size_t i = 0; i < count; i++)
    text[i] = isprint(r->cursor.bytes[i]) ? (char)r->cursor.bytes[i] : '.';
  text[count] = 0;
}

static regal_status check_magic(reader *r) {
  const regal_cursor *cursor = &r->cursor;
  char start[MAGIC_BYTES + 1];
  if (cursor->size >= MAGIC_BYTES && !memcmp(cursor->bytes, MAGIC, MAGIC_BYTES))
    return REGAL_OK;
  if (!cursor->size)
    return regal_fail(r->context, REGAL_BAD_INPUT,
                      "%s: found an empty file, expected a policy", r->name);
  print_start(r, start);
  return regal_fail(r->context, REGAL_BAD_INPUT,
                    "%s: found a file that begins with \"%s\", expected a "
                    "policy (\"" MAGIC "\")",
                    r->name, start);
}

static regal_status fail_size(reader *r, uint64_t expected) {
  return regal_fail(r->context, REGAL_BAD_INPUT,
                    "%s: found %zu bytes, expected %llu: the file is %s",
                    r->name, r->cursor.size, (unsigned long long)expected,
                    r->cursor.size < expected ? "truncated" : "too long");
}

static regal_status check_checksum(reader *r) {
  size_t end = r->cursor.size - CHECKSUM_BYTES;
  regal_cursor last = {.bytes = r->cursor.bytes, .size = r->cursor.size};
  last.at = end;
  uint64_t found = regal_hash_bytes(REGAL_HASH_BASIS, r->cursor.bytes, end);
  uint64_t expected = regal_get(&last, CHECKSUM_BYTES);
  if (found == expected)
    return REGAL_OK;
  return regal_fail(r->context, REGAL_BAD_INPUT,
                    "%s: found checksum %016llx, expected %016llx: the file is "
                    "corrupted",
                    r->name, (unsigned long long)found,
                    (unsigned long long)expected);
}

/* That the file is a policy, whole and as it was written; leaves the cursor at
 * the config, and its end at the checksum. */
static regal_status check_file(reader *r) {
  REGAL_TRY(check_magic(r));
  r->cursor.at = MAGIC_BYTES;
  uint32_t version = regal_get32(&r->cursor);
  if (r->cursor.ended)
    return fail_size(r, HEAD_BYTES + CHECKSUM_BYTES);
  if (version != VERSION)
    return regal_fail(r->context, REGAL_BAD_INPUT,
                      "%s: found a policy file of version %u, expected %d%s",
                      r->name, version, VERSION,
                      version > VERSION ? ": made by a newer regal" : "");
  uint64_t size = regal_get(&r->cursor, 8);
  if (r->cursor.ended || r->cursor.size < HEAD_BYTES + CHECKSUM_BYTES)
    return fail_size(r, HEAD_BYTES + CHECKSUM_BYTES);
  if (size != r->cursor.size)
    return fail_size(r, size);
  REGAL_TRY(check_checksum(r));
  r->cursor.size -= CHECKSUM_BYTES;
  return REGAL_OK;
}

/* A number that a sound file cannot hold, though its checksum is right. */
static regal_status check_range(reader *r, const char *what, uint64_t found,
                                uint64_t low, uint64_t high) {
  if (found >= low && found <= high)
    return REGAL_OK;
  if (low == high)
    return regal_fail(r->context, REGAL_BAD_INPUT,
                      "%s: found %s %llu, expected %llu", r->name, what,
                      (unsigned long long)found, (unsigned long long)low);
  return regal_fail(r->context, REGAL_BAD_INPUT,
                    "%s: found %s %llu, expected %llu to %llu", r->name, what,
                    (unsigned long long)found, (unsigned long long)low,
                    (unsigned long long)high);
}

static regal_status check_ended(reader *r) {
  if (!r->cursor.ended)
    return REGAL_OK;
  return regal_fail(r->context, REGAL_BAD_INPUT,
                    "%s: found the end of the file, expected more of its "
                    "content",
                    r->name);
}

/* Names end up in messages. */
static regal_status check_name(reader *r, const char *name) {
  for (const char *c = name; *c; c++)
    if (!isgraph((unsigned char)*c))
      return regal_fail(r->context, REGAL_BAD_INPUT,
                        "%s: found a name with byte %d, expected letters",
                        r->name, (unsigned char)*c);
  return REGAL_OK;
}

static void get_head(regal_cursor *cursor, regal_policy_head *head) {
  regal_get_name(cursor, head->gene_class, sizeof head->gene_class);
  head->domain = (regal_head_domain)regal_get32(cursor);
  head->genes = regal_get32(cursor);
  head->mean_levels = regal_get32(cursor);
  head->variance_levels = regal_get32(cursor);
  head->bias_levels = regal_get32(cursor);
}

static regal_status check_head(reader *r, const regal_policy_head *head,
                               uint32_t devices) {
  REGAL_TRY(check_name(r, head->gene_class));
  REGAL_TRY(check_range(r, "domain", head->domain, 0, REGAL_HEAD_TENSOR));
  uint32_t most = head->domain == REGAL_HEAD_GRAPH ? 1 : devices;
  REGAL_TRY(check_range(r, "genes of an item", head->genes, 1, most));
  REGAL_TRY(check_range(r, "mean levels", head->mean_levels, 2, 256));
  REGAL_TRY(check_range(r, "variance levels", head->variance_levels, 2, 256));
  return check_range(r, "bias levels", head->bias_levels, 0, 256);
}

static regal_status check_config(reader *r, const regal_policy_config *config) {
  REGAL_TRY(check_name(r, config->decoder));
  REGAL_TRY(check_range(r, "kind", config->kind, 0, KINDS - 1));
  REGAL_TRY(check_range(r, "update", config->update, 0, REGAL_UPDATE_GRU));
  REGAL_TRY(check_range(r, "rounds", config->rounds, 0, 1000));
  REGAL_TRY(check_range(r, "width", config->width, 1, 4096));
  REGAL_TRY(check_range(r, "experts", config->experts, 0, 256));
  REGAL_TRY(
      check_range(r, "objective", config->objective, 0, OBJECTIVE_MEMORY));
  REGAL_TRY(check_range(r, "devices", config->devices, 1, REGAL_MAX_DEVICES));
  uint32_t features = regal_node_features(config->devices);
  REGAL_TRY(check_range(r, "node features", config->node_features, features,
                        features));
  return check_range(r, "edge features", config->edge_features,
                     REGAL_EDGE_FEATURES, REGAL_EDGE_FEATURES);
}

static regal_status get_config(reader *r, regal_policy_config *config) {
  regal_cursor *cursor = &r->cursor;
  *config = (regal_policy_config){0};
  config->kind = (regal_policy_kind)regal_get32(cursor);
  config->update = (regal_node_update)regal_get32(cursor);
  config->mean_aggregation = regal_get32(cursor) != 0;
  config->rounds = regal_get32(cursor);
  config->width = regal_get32(cursor);
  config->experts = regal_get32(cursor);
  config->node_features = regal_get32(cursor);
  config->edge_features = regal_get32(cursor);
  config->neutral_bias = regal_get_real(cursor);
  config->devices = regal_get32(cursor);
  config->objective = regal_get32(cursor);
  regal_get_name(cursor, config->decoder, sizeof config->decoder);
  config->head_count = regal_get32(cursor);
  REGAL_TRY(check_ended(r));
  REGAL_TRY(check_config(r, config));
  REGAL_TRY(check_range(r, "heads", config->head_count, 1, REGAL_MOST_HEADS));
  for (uint32_t h = 0; h < config->head_count; h++) {
    get_head(cursor, &config->heads[h]);
    REGAL_TRY(check_ended(r));
    REGAL_TRY(check_head(r, &config->heads[h], config->devices));
  }
  return REGAL_OK;
}

static regal_status get_provenance(reader *r,
                                   regal_policy_provenance *provenance) {
  regal_cursor *cursor = &r->cursor;
  provenance->dataset_checksum = regal_get(cursor, 8);
  provenance->seed = regal_get(cursor, 8);
  provenance->steps = regal_get(cursor, 8);
  regal_get_text(cursor, provenance->command, sizeof provenance->command);
  regal_get_text(cursor, provenance->version, sizeof provenance->version);
  return check_ended(r);
}

/* A config may claim more weights than the file has room for: nothing of that
 * size is made. Every network has a square of its width, and one for each
 * expert. */
static regal_status check_room(reader *r, const regal_policy_config *config) {
  uint64_t room = (r->cursor.size - r->cursor.at) / 4;
  uint64_t least = (uint64_t)config->width * config->width;
  if (config->kind == REGAL_POLICY_EXPERTS && config->experts > 1)
    least *= config->experts;
  if (least <= room)
    return REGAL_OK;
  return regal_fail(r->context, REGAL_BAD_INPUT,
                    "%s: found room for %llu weights, expected %llu at least",
                    r->name, (unsigned long long)room,
                    (unsigned long long)least);
}

static regal_status check_block(reader *r, const regal_network_block *block) {
  char name[sizeof block->name];
  regal_get_name(&r->cursor, name, sizeof name);
  uint32_t rows = regal_get32(&r->cursor), columns = regal_get32(&r->cursor);
  REGAL_TRY(check_ended(r));
  REGAL_TRY(check_name(r, name));
  if (!strcmp(name, block->name) && rows == block->rows &&
      columns == block->columns)
    return REGAL_OK;
  return regal_fail(r->context, REGAL_BAD_INPUT,
                    "%s: found weights \"%s\" of %u x %u, expected \"%s\" of "
                    "%u x %u",
                    r->name, name, rows, columns, block->name, block->rows,
                    block->columns);
}

static regal_status get_weights(reader *r, regal_network *network) {
  uint32_t blocks = regal_get32(&r->cursor);
  REGAL_TRY(check_range(r, "blocks of weights", blocks, network->block_count,
                        network->block_count));
  for (uint32_t b = 0; b < blocks; b++)
    REGAL_TRY(check_block(r, &network->blocks[b]));
  uint64_t count = regal_get(&r->cursor, 8);
  REGAL_TRY(check_range(r, "weights", count, network->parameter_count,
                        network->parameter_count));
  REGAL_TRY(check_range(r, "bytes of weights", r->cursor.size - r->cursor.at,
                        4 * count, 4 * count));
  for (size_t i = 0; i < network->parameter_count; i++) {
    float weight = regal_get_real(&r->cursor);
    if (!isfinite(weight))
      return regal_fail(r->context, REGAL_BAD_INPUT,
                        "%s: found weight %zu to be %g, expected a finite "
                        "number",
                        r->name, i, (double)weight);
    network->parameters[i] = weight;
  }
  return REGAL_OK;
}

regal_status regal_policy_peek(regal_context *context, const char *name,
                               const void *bytes, size_t size,
                               regal_policy_config *config,
                               regal_policy_provenance *provenance) {
  reader r = {context, name, {.bytes = bytes, .size = size}};
  REGAL_TRY(check_file(&r));
  REGAL_TRY(get_config(&r, config));
  return get_provenance(&r, provenance);
}

static regal_status get_policy(reader *r, regal_policy *policy) {
  regal_policy_config config;
  REGAL_TRY(check_file(r));
  REGAL_TRY(get_config(r, &config));
  REGAL_TRY(get_provenance(r, &policy->provenance));
  REGAL_TRY(check_room(r, &config));
  REGAL_TRY(regal_network_create(r->context, &config, 0, &policy->network));
  return get_weights(r, policy->network);
}

regal_status regal_policy_read(regal_context *context, const char *name,
                               const void *bytes, size_t size,
                               regal_policy **policy) {
  reader r = {context, name, {.bytes = bytes, .size = size}};
  regal_policy *made = regal_alloc(context, 1, sizeof *made);
  if (!made)
    return regal_fail_memory(context);
  made->context = context;
  regal_status status = get_policy(&r, made);
  if (status == REGAL_OK)
    *policy = made;
  else
    regal_policy_free(made);
  return status;
}

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

/* -- Use ------------------------------------------------------------------- */

regal_status regal_policy_check(regal_context *context, const char *name,
                                const regal_policy_config *config,
                                uint32_t devices, uint32_t objective,
                                const char *decoder) {
  if (config->devices != devices)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: found a policy for %u device%s, expected one for %u",
                      name, config->devices, config->devices == 1 ? "" : "s",
                      devices);
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
