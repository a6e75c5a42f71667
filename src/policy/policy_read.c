/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of policy files (the layout is in policy_file.h). A file is input
 * from outside: sizes, names and numbers are checked before anything of that
 * size is made, and a checksum finds what is damaged. */
#include <ctype.h>
#include <math.h>

#include "base/hash.h"
#include "policy/features.h"
#include "policy/policy_bytes.h"
#include "policy/policy_file.h"
#include "policy/probe.h"

/* Magic, version, size. */
#define HEAD_BYTES (REGAL_POLICY_MAGIC_BYTES + 4 + 8)

typedef struct reader {
  regal_context *context;
  const char *name;
  regal_cursor cursor;
  uint32_t version;
} reader;

#define FAIL(r, format, ...)                                                   \
  regal_fail((r)->context, REGAL_BAD_INPUT, "%s: " format, (r)->name,          \
             ##__VA_ARGS__)

/* The first bytes as text, for people. */
static void print_start(const reader *r, char *text) {
  size_t count = r->cursor.size < REGAL_POLICY_MAGIC_BYTES
                     ? r->cursor.size
                     : REGAL_POLICY_MAGIC_BYTES;
  for (size_t i = 0; i < count; i++)
    text[i] = isprint(r->cursor.bytes[i]) ? (char)r->cursor.bytes[i] : '.';
  text[count] = 0;
}

static regal_status check_magic(reader *r) {
  const regal_cursor *cursor = &r->cursor;
  char start[REGAL_POLICY_MAGIC_BYTES + 1];
  if (cursor->size >= REGAL_POLICY_MAGIC_BYTES &&
      !memcmp(cursor->bytes, REGAL_POLICY_MAGIC, REGAL_POLICY_MAGIC_BYTES))
    return REGAL_OK;
  if (!cursor->size)
    return FAIL(r, "found an empty file, expected a policy");
  print_start(r, start);
  return FAIL(r,
              "found a file that begins with \"%s\", expected a "
              "policy (\"" REGAL_POLICY_MAGIC "\")",
              start);
}

static regal_status fail_size(reader *r, uint64_t expected) {
  return FAIL(r, "found %zu bytes, expected %llu: the file is %s",
              r->cursor.size, (unsigned long long)expected,
              r->cursor.size < expected ? "truncated" : "too long");
}

static regal_status check_checksum(reader *r) {
  size_t end = r->cursor.size - REGAL_POLICY_CHECKSUM_BYTES;
  regal_cursor last = {.bytes = r->cursor.bytes, .size = r->cursor.size};
  last.at = end;
  uint64_t found = regal_hash_bytes(REGAL_HASH_BASIS, r->cursor.bytes, end);
  uint64_t expected = regal_get(&last, REGAL_POLICY_CHECKSUM_BYTES);
  if (found == expected)
    return REGAL_OK;
  return FAIL(r,
              "found checksum %016llx, expected %016llx: the file is corrupted",
              (unsigned long long)found, (unsigned long long)expected);
}

/* That the file is a policy, whole and as it was written; leaves the cursor at
 * the config, and its end at the checksum. */
static regal_status check_file(reader *r) {
  REGAL_TRY(check_magic(r));
  r->cursor.at = REGAL_POLICY_MAGIC_BYTES;
  r->version = regal_get32(&r->cursor);
  if (r->cursor.ended)
    return fail_size(r, HEAD_BYTES + REGAL_POLICY_CHECKSUM_BYTES);
  if (!r->version || r->version > REGAL_POLICY_VERSION)
    return FAIL(r, "found a policy file of version %u, expected 1 to %d%s",
                r->version, REGAL_POLICY_VERSION,
                r->version > REGAL_POLICY_VERSION ? ": made by a newer regal"
                                                  : "");
  uint64_t size = regal_get(&r->cursor, 8);
  if (r->cursor.ended ||
      r->cursor.size < HEAD_BYTES + REGAL_POLICY_CHECKSUM_BYTES)
    return fail_size(r, HEAD_BYTES + REGAL_POLICY_CHECKSUM_BYTES);
  if (size != r->cursor.size)
    return fail_size(r, size);
  REGAL_TRY(check_checksum(r));
  r->cursor.size -= REGAL_POLICY_CHECKSUM_BYTES;
  return REGAL_OK;
}

/* A number that a sound file cannot hold, though its checksum is right. */
static regal_status check_range(reader *r, const char *what, uint64_t found,
                                uint64_t low, uint64_t high) {
  if (found >= low && found <= high)
    return REGAL_OK;
  if (low == high)
    return FAIL(r, "found %s %llu, expected %llu", what,
                (unsigned long long)found, (unsigned long long)low);
  return FAIL(r, "found %s %llu, expected %llu to %llu", what,
              (unsigned long long)found, (unsigned long long)low,
              (unsigned long long)high);
}

static regal_status check_ended(reader *r) {
  if (!r->cursor.ended)
    return REGAL_OK;
  return FAIL(r, "found the end of the file, expected more of its content");
}

/* Names end up in messages. */
static regal_status check_name(reader *r, const char *name) {
  for (const char *c = name; *c; c++)
    if (!isgraph((unsigned char)*c))
      return FAIL(r, "found a name with byte %d, expected letters",
                  (unsigned char)*c);
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

/* -- Features -------------------------------------------------------------- */

/* What every policy of version 1 read. */
static const char *const first_features[] = {
    "input_bytes",     "output_bytes",  "own_bytes",    "uses_most_memory",
    "predecessors_ns", "successors_ns", "run_ns",       "runs_longest",
    "placement",       "position",      "tensor_bytes", "is_control",
    "tensor_number"};
#define FIRST_FEATURES (sizeof first_features / sizeof *first_features)

static regal_status get_feature(reader *r, regal_feature_list *list) {
  char name[REGAL_POLICY_FEATURE_BYTES];
  regal_get_name(&r->cursor, name, sizeof name);
  REGAL_TRY(check_ended(r));
  REGAL_TRY(check_name(r, name));
  if (regal_features_add(list, name))
    return REGAL_OK;
  return FAIL(r,
              "found a policy that reads feature \"%s\", expected "
              "features that this version of regal has",
              name);
}

static regal_status get_features(reader *r, regal_feature_list *list) {
  if (r->version == 1) {
    for (size_t i = 0; i < FIRST_FEATURES; i++)
      regal_features_add(list, first_features[i]);
    return REGAL_OK;
  }
  uint32_t count = regal_get32(&r->cursor);
  REGAL_TRY(check_ended(r));
  REGAL_TRY(check_range(r, "features", count, 1, REGAL_MOST_FEATURES));
  for (uint32_t i = 0; i < count; i++)
    REGAL_TRY(get_feature(r, list));
  return REGAL_OK;
}

/* A relative head needs a draft to be relative to. */
static regal_status get_relative(reader *r, regal_policy_config *config) {
  bool draft = regal_features_need(&config->features, REGAL_FEATURE_FROM_DRAFT);
  for (uint32_t h = 0; r->version > 2 && h < config->head_count; h++) {
    uint32_t relative = regal_get32(&r->cursor);
    REGAL_TRY(check_ended(r));
    REGAL_TRY(check_range(r, "relative levels", relative, 0, draft));
    config->heads[h].relative = relative != 0;
  }
  return REGAL_OK;
}

static regal_status check_columns(reader *r,
                                  const regal_policy_config *config) {
  uint32_t nodes = regal_features_width(&config->features, REGAL_FEATURE_NODE,
                                        config->devices);
  uint32_t edges = regal_features_width(&config->features, REGAL_FEATURE_EDGE,
                                        config->devices);
  REGAL_TRY(
      check_range(r, "node features", config->node_features, nodes, nodes));
  return check_range(r, "edge features", config->edge_features, edges, edges);
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
  REGAL_TRY(check_name(r, config->decoder));
  REGAL_TRY(check_range(r, "heads", config->head_count, 1, REGAL_MOST_HEADS));
  for (uint32_t h = 0; h < config->head_count; h++) {
    get_head(cursor, &config->heads[h]);
    REGAL_TRY(check_ended(r));
    REGAL_TRY(check_name(r, config->heads[h].gene_class));
  }
  REGAL_TRY(get_features(r, &config->features));
  REGAL_TRY(get_relative(r, config));
  REGAL_TRY(regal_policy_config_check(r->context, r->name, config));
  return check_columns(r, config);
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
  return FAIL(r, "found room for %llu weights, expected %llu at least",
              (unsigned long long)room, (unsigned long long)least);
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
  return FAIL(r, "found weights \"%s\" of %u x %u, expected \"%s\" of %u x %u",
              name, rows, columns, block->name, block->rows, block->columns);
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
      return FAIL(r, "found weight %zu to be %g, expected a finite number", i,
                  (double)weight);
    network->parameters[i] = weight;
  }
  return REGAL_OK;
}

regal_status regal_policy_peek(regal_context *context, const char *name,
                               const void *bytes, size_t size,
                               regal_policy_config *config,
                               regal_policy_provenance *provenance) {
  reader r = {context, name, {.bytes = bytes, .size = size}, 0};
  REGAL_TRY(check_file(&r));
  REGAL_TRY(get_config(&r, config));
  return get_provenance(&r, provenance);
}

static regal_status check_outputs(reader *r, const regal_network *network) {
  bool finite;
  REGAL_TRY(regal_network_probe(r->context, network, &finite));
  if (finite)
    return REGAL_OK;
  return FAIL(r, "found weights with which the policy's output overflows, "
                 "expected finite outputs");
}

static regal_status get_policy(reader *r, regal_policy *policy) {
  regal_policy_config config;
  REGAL_TRY(check_file(r));
  REGAL_TRY(get_config(r, &config));
  REGAL_TRY(get_provenance(r, &policy->provenance));
  REGAL_TRY(check_room(r, &config));
  REGAL_TRY(regal_network_create(r->context, &config, 0, &policy->network));
  REGAL_TRY(get_weights(r, policy->network));
  return check_outputs(r, policy->network);
}

regal_status regal_policy_read(regal_context *context, const char *name,
                               const void *bytes, size_t size,
                               regal_policy **policy) {
  reader r = {context, name, {.bytes = bytes, .size = size}, 0};
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
