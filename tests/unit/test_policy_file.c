/* SPDX-License-Identifier: Apache-2.0 */
/* Policy files: what is written is read; nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/text.h"
#include "policy/features.h"
#include "policy/policy_file.h"
#include "support/failing_allocator.h"
#include "support/files.h"

static regal_policy_config small_config(void) {
  regal_policy_config config = {
      .kind = REGAL_POLICY_GNN,
      .update = REGAL_UPDATE_GRU,
      .mean_aggregation = true,
      .rounds = 1,
      .width = 3,
      .features = regal_features_of(REGAL_FEATURES_PAPER),
      .node_features = 11,
      .edge_features = 3,
      .neutral_bias = 1.5f,
      .head_count = 2,
      .heads = {{"affinity", REGAL_HEAD_NODE, 2, 2, 2, 0, false},
                {"priority", REGAL_HEAD_NODE, 1, 16, 16, 4, false}},
      .devices = 2,
      .decoder = "paper",
  };
  return config;
}

static const regal_policy_provenance provenance = {
    .dataset_checksum = UINT64_C(0x0123456789abcdef),
    .seed = 7,
    .steps = 1000,
    .command = "regal train set -o small.policy",
    .version = "0.1.0",
};

typedef struct file {
  regal_context *context;
  regal_network *network;
  unsigned char *bytes; /* of small.policy */
  size_t size;
} file;

static int set_up(void **state) {
  file *f = calloc(1, sizeof *f);
  regal_text text;
  regal_policy_config config = small_config();
  if (!f || regal_context_create(&f->context, NULL) ||
      regal_network_create(f->context, &config, 5, &f->network) ||
      regal_policy_save(f->context, f->network, &provenance, "small.policy") ||
      regal_read_file(f->context, "small.policy", &text))
    return -1;
  f->size = text.size;
  f->bytes = malloc(text.size + 16);
  memcpy(f->bytes, text.bytes, text.size);
  regal_text_free(&text);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  file *f = *state;
  regal_network_free(f->context, f->network);
  bool leaked = regal_bytes_in_use(f->context) != 0;
  regal_context_free(f->context);
  free(f->bytes);
  free(f);
  return leaked;
}

static void check_fails(file *f, const unsigned char *bytes, size_t size,
                        const char *message) {
  regal_policy *policy = NULL;
  assert_int_equal(
      regal_policy_read(f->context, "x.policy", bytes, size, &policy),
      REGAL_BAD_INPUT);
  assert_null(policy);
  if (message)
    assert_string_equal(regal_error(f->context), message);
  assert_true(strncmp(regal_error(f->context), "x.policy: found ", 16) == 0);
  assert_non_null(strstr(regal_error(f->context), ", expected "));
}

static void test_round_trip(void **state) {
  file *f = *state;
  regal_policy *policy;
  assert_int_equal(regal_policy_load(f->context, "small.policy", &policy),
                   REGAL_OK);
  assert_memory_equal(&policy->provenance, &provenance, sizeof provenance);
  regal_policy_config read = policy->network->config, made = small_config();
  assert_int_equal(read.kind, made.kind);
  assert_int_equal(read.update, made.update);
  assert_int_equal(read.mean_aggregation, made.mean_aggregation);
  assert_int_equal(read.rounds, made.rounds);
  assert_int_equal(read.width, made.width);
  assert_memory_equal(&read.features, &made.features, sizeof made.features);
  assert_int_equal(read.node_features, made.node_features);
  assert_true(read.neutral_bias == made.neutral_bias);
  assert_int_equal(read.devices, made.devices);
  assert_int_equal(read.objective, made.objective);
  assert_string_equal(read.decoder, made.decoder);
  assert_int_equal(read.head_count, 2);
  assert_memory_equal(read.heads, made.heads, sizeof made.heads);
  assert_int_equal(policy->network->parameter_count,
                   f->network->parameter_count);
  assert_memory_equal(policy->network->parameters, f->network->parameters,
                      f->network->parameter_count * sizeof(regal_real));
  assert_int_equal(regal_policy_save(f->context, policy->network,
                                     &policy->provenance, "again.policy"),
                   REGAL_OK);
  regal_text again;
  assert_int_equal(regal_read_file(f->context, "again.policy", &again),
                   REGAL_OK);
  assert_int_equal(again.size, f->size);
  assert_memory_equal(again.bytes, f->bytes, f->size);
  regal_text_free(&again);
  regal_policy_free(policy);
}

/* The bytes themselves, so that another machine's files are the same. */
static void test_bytes(void **state) {
  file *f = *state;
  static const unsigned char head[] = "REGALPOL\3\0\0\0";
  assert_memory_equal(f->bytes, head, 12);
  assert_int_equal(f->bytes[12] + 256 * f->bytes[13], f->size);
  assert_int_equal(f->bytes[20], REGAL_POLICY_GNN);
  assert_int_equal(f->bytes[36], 3);    /* width */
  assert_int_equal(f->bytes[54], 0xc0); /* 1.5f is 0x3fc00000 */
  assert_int_equal(f->bytes[55], 0x3f);
  assert_string_equal((char *)f->bytes + 64, "paper");
}

static void test_foreign(void **state) {
  file *f = *state;
  check_fails(f, (const unsigned char *)"", 0,
              "x.policy: found an empty file, expected a policy");
  check_fails(f, (const unsigned char *)"PK\3\4", 4,
              "x.policy: found a file that begins with \"PK..\", expected a "
              "policy (\"REGALPOL\")");
  check_fails(f, (const unsigned char *)"node {\n id: 1 }", 15,
              "x.policy: found a file that begins with \"node {. \", expected "
              "a policy (\"REGALPOL\")");
  regal_policy *policy;
  assert_int_equal(regal_policy_load(f->context, "none.policy", &policy),
                   REGAL_IO);
  assert_string_equal(regal_error(f->context),
                      "none.policy: No such file or directory");
}

static void test_newer(void **state) {
  file *f = *state;
  f->bytes[8] = 4;
  check_fails(f, f->bytes, f->size,
              "x.policy: found a policy file of version 4, expected 1 to 3: "
              "made by a newer regal");
  f->bytes[8] = 0;
  check_fails(f, f->bytes, f->size,
              "x.policy: found a policy file of version 0, expected 1 to 3");
}

static void test_truncated(void **state) {
  file *f = *state;
  char message[200];
  for (size_t size = 0; size < f->size; size++)
    check_fails(f, f->bytes, size, NULL);
  check_fails(f, f->bytes, 10,
              "x.policy: found 10 bytes, expected 28: the file is truncated");
  snprintf(message, sizeof message,
           "x.policy: found 1000 bytes, expected %zu: the file is truncated",
           f->size);
  check_fails(f, f->bytes, 1000, message);
  snprintf(message, sizeof message,
           "x.policy: found %zu bytes, expected %zu: the file is too long",
           f->size + 1, f->size);
  check_fails(f, f->bytes, f->size + 1, message);
}

/* No bit may flip unseen. */
static void test_corrupted(void **state) {
  file *f = *state;
  for (size_t i = 0; i < f->size; i++) {
    unsigned char bit = (unsigned char)(1 << i % 8);
    f->bytes[i] ^= bit;
    check_fails(f, f->bytes, f->size, NULL);
    f->bytes[i] ^= bit;
  }
  uint64_t right = regal_hash_bytes(REGAL_HASH_BASIS, f->bytes, f->size - 8);
  f->bytes[f->size / 2] ^= 1;
  uint64_t wrong = regal_hash_bytes(REGAL_HASH_BASIS, f->bytes, f->size - 8);
  char message[200];
  snprintf(message, sizeof message,
           "x.policy: found checksum %016llx, expected %016llx: the file is "
           "corrupted",
           (unsigned long long)wrong, (unsigned long long)right);
  check_fails(f, f->bytes, f->size, message);
}

/* -- Files that lie, with a checksum that is right ------------------------- */

static void seal(file *f) {
  uint64_t sum = regal_hash_bytes(REGAL_HASH_BASIS, f->bytes, f->size - 8);
  for (size_t i = 0; i < 8; i++)
    f->bytes[f->size - 8 + i] = (unsigned char)(sum >> 8 * i);
}

static void check_lie(file *f, size_t at, unsigned char byte,
                      const char *message) {
  unsigned char before = f->bytes[at];
  f->bytes[at] = byte;
  seal(f);
  check_fails(f, f->bytes, f->size, message);
  f->bytes[at] = before;
}

/* A width whose weights the file has no room for: none are made. */
static void check_room_lie(file *f) {
  size_t peak = f->context->bytes_peak;
  f->bytes[37] = 3;
  seal(f);
  check_fails(f, f->bytes, f->size, NULL);
  assert_non_null(
      strstr(regal_error(f->context), " weights, expected 594441 at least"));
  assert_true(f->context->bytes_peak <= peak + 1000);
  f->bytes[37] = 0;
}

static void test_lies(void **state) {
  file *f = *state;
  check_lie(f, 20, 9, "x.policy: found kind 9, expected 0 to 4");
  check_lie(f, 24, 3, "x.policy: found update 3, expected 0 to 2");
  check_lie(f, 36, 0, "x.policy: found width 0, expected 1 to 1024");
  check_room_lie(f);
  check_lie(f, 44, 12, "x.policy: found node features 12, expected 11");
  check_lie(f, 56, 3, "x.policy: found node features 11, expected 12");
  check_lie(f, 56, 65, "x.policy: found devices 65, expected 1 to 64");
  check_lie(f, 60, 2, "x.policy: found objective 2, expected 0 to 1");
  check_lie(f, 65, '\n',
            "x.policy: found a name with byte 10, expected letters");
  check_lie(f, 88, 0, "x.policy: found heads 0, expected 1 to 8");
  check_lie(f, 88, 9, "x.policy: found heads 9, expected 1 to 8");
  check_lie(f, 116, 3, "x.policy: found domain 3, expected 0 to 2");
  check_lie(f, 120, 3, "x.policy: found genes of an item 3, expected 1 to 2");
  check_lie(f, 124, 1, "x.policy: found mean levels 1, expected 2 to 255");
}

/* Weights that are finite one by one, and too large together. */
static void test_overflow(void **state) {
  file *f = *state;
  for (int kind = 0; kind < 5; kind++) {
    regal_policy_config config = small_config();
    regal_network *network;
    regal_text text;
    config.kind = (regal_policy_kind)kind;
    config.experts = 2;
    assert_int_equal(regal_network_create(f->context, &config, 5, &network),
                     REGAL_OK);
    for (size_t i = 0; i < network->parameter_count; i++)
      network->parameters[i] = i % 3 ? 3e38f : -3e38f;
    regal_text_init(&text, f->context);
    regal_policy_write(network, &provenance, &text);
    check_fails(f, (unsigned char *)text.bytes, text.size,
                "x.policy: found weights with which the policy's output "
                "overflows, expected finite outputs");
    regal_text_free(&text);
    regal_network_free(f->context, network);
  }
}

/* -- Features -------------------------------------------------------------- */

#define FEATURES_AT 180 /* their number; the names follow, 24 bytes each */

static void test_features(void **state) {
  file *f = *state;
  const char *name = (char *)f->bytes + FEATURES_AT + 4;
  assert_int_equal(f->bytes[FEATURES_AT],
                   regal_features_of(REGAL_FEATURES_PAPER).count);
  assert_string_equal(name, "input_bytes");
  check_lie(f, FEATURES_AT, 0, "x.policy: found features 0, expected 1 to 32");
  check_lie(f, FEATURES_AT, 33,
            "x.policy: found features 33, expected 1 to 32");
  check_lie(f, FEATURES_AT + 4, 'o',
            "x.policy: found a policy that reads feature \"onput_bytes\", "
            "expected features that this version of regal has");
  check_lie(f, 48, 0, "x.policy: found edge features 0, expected 1 to 4096");
}

/* A list of its own is kept, and only it. */
static void test_own_features(void **state) {
  file *f = *state;
  regal_policy_config config = small_config();
  regal_network *network;
  regal_policy *policy;
  config.features = (regal_feature_list){0};
  assert_true(regal_features_add(&config.features, "tensor_bytes"));
  assert_true(regal_features_add(&config.features, "placement"));
  config.node_features = 2;
  config.edge_features = 1;
  assert_int_equal(regal_network_create(f->context, &config, 5, &network),
                   REGAL_OK);
  assert_int_equal(
      regal_policy_save(f->context, network, &provenance, "own.policy"),
      REGAL_OK);
  assert_int_equal(regal_policy_load(f->context, "own.policy", &policy),
                   REGAL_OK);
  assert_memory_equal(&policy->network->config.features, &config.features,
                      sizeof config.features);
  regal_policy_free(policy);
  regal_network_free(f->context, network);
}

/* Makes the file one of an older version: without `bytes` of what stands from
 * `at` on. */
static void make_older(file *f, unsigned char version, size_t at,
                       size_t bytes) {
  memmove(f->bytes + at, f->bytes + at + bytes, f->size - at - bytes);
  f->size -= bytes;
  f->bytes[8] = version;
  f->bytes[12] = (unsigned char)f->size;
  f->bytes[13] = (unsigned char)(f->size >> 8);
  seal(f);
}

static size_t names_bytes(void) {
  return 4 + 24 * regal_features_of(REGAL_FEATURES_PAPER).count;
}

static void check_older(file *f) {
  regal_policy *policy;
  assert_int_equal(
      regal_policy_read(f->context, "x", f->bytes, f->size, &policy), REGAL_OK);
  regal_policy_config made = small_config();
  assert_memory_equal(&policy->network->config.features, &made.features,
                      sizeof made.features);
  assert_memory_equal(policy->network->parameters, f->network->parameters,
                      f->network->parameter_count * sizeof(regal_real));
  regal_policy_free(policy);
}

/* A file of version 1 has no list: it reads the paper's features. */
static void test_version_one(void **state) {
  file *f = *state;
  make_older(f, 1, FEATURES_AT,
             names_bytes() + 4 * (size_t)f->network->config.head_count);
  check_older(f);
}

/* One of version 2 has no relative heads. */
static void test_version_two(void **state) {
  file *f = *state;
  make_older(f, 2, FEATURES_AT + names_bytes(),
             4 * (size_t)f->network->config.head_count);
  check_older(f);
}

/* A relative head is kept, and needs a draft. */
static void test_relative(void **state) {
  file *f = *state;
  regal_policy_config config = small_config();
  regal_network *network;
  regal_policy *policy;
  check_lie(f, FEATURES_AT + names_bytes(), 1,
            "x.policy: found relative levels 1, expected 0");
  config.features = regal_features_of(REGAL_FEATURES_DRAFT);
  config.node_features = regal_features_width(
      &config.features, REGAL_FEATURE_NODE, config.devices);
  config.edge_features = regal_features_width(
      &config.features, REGAL_FEATURE_EDGE, config.devices);
  config.heads[0].relative = true;
  assert_int_equal(regal_network_create(f->context, &config, 5, &network),
                   REGAL_OK);
  assert_int_equal(
      regal_policy_save(f->context, network, &provenance, "relative.policy"),
      REGAL_OK);
  assert_int_equal(regal_policy_load(f->context, "relative.policy", &policy),
                   REGAL_OK);
  assert_true(policy->network->config.heads[0].relative);
  assert_false(policy->network->config.heads[1].relative);
  regal_policy_free(policy);
  regal_network_free(f->context, network);
}

/* Every byte of what stands before the weights, changed: an error or a policy,
 * never a crash. */
static void test_any_lie(void **state) {
  file *f = *state;
  size_t end = f->size - 8 - 4 * f->network->parameter_count;
  for (size_t i = 20; i < end; i++) {
    unsigned char before = f->bytes[i];
    for (int change = 1; change < 256; change += 127) {
      regal_policy *policy = NULL;
      f->bytes[i] = (unsigned char)(before + change);
      seal(f);
      regal_status status =
          regal_policy_read(f->context, "x", f->bytes, f->size, &policy);
      assert_true(status == REGAL_OK || status == REGAL_BAD_INPUT);
      regal_policy_free(policy);
    }
    f->bytes[i] = before;
  }
}

static void test_infinite_weight(void **state) {
  file *f = *state;
  size_t last = f->network->parameter_count - 1;
  f->bytes[f->size - 9] = 0x7f;
  f->bytes[f->size - 10] = 0x80;
  f->bytes[f->size - 11] = f->bytes[f->size - 12] = 0;
  seal(f);
  char message[200];
  snprintf(message, sizeof message,
           "x.policy: found weight %zu to be inf, expected a finite number",
           last);
  check_fails(f, f->bytes, f->size, message);
}

/* -- Use ------------------------------------------------------------------- */

static void check_use(file *f, uint32_t objective, const char *decoder,
                      const char *message) {
  regal_policy_config config = small_config();
  regal_status status =
      regal_policy_check(f->context, "x.policy", &config, objective, decoder);
  assert_int_equal(status, message ? REGAL_BAD_INPUT : REGAL_OK);
  if (message)
    assert_string_equal(regal_error(f->context), message);
}

static void test_use(void **state) {
  file *f = *state;
  check_use(f, 0, "paper", NULL);
  check_use(f, 0, NULL, NULL);
  check_use(f, 1, "paper",
            "x.policy: found a policy for objective runtime, expected one for "
            "memory");
  check_use(f, 0, "clock",
            "x.policy: found a policy for decoder paper, expected one for "
            "clock");
}

/* A file that cannot be written leaves what was there. */
static void test_whole_or_not(void **state) {
  file *f = *state;
  assert_int_equal(regal_policy_save(f->context, f->network, &provenance,
                                     "nowhere/small.policy"),
                   REGAL_IO);
  for (size_t n = 1;; n++) {
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_policy *policy = NULL;
    regal_status status = regal_context_create(&context, &allocator);
    if (status == REGAL_OK) {
      status = regal_policy_load(context, "small.policy", &policy);
      if (status == REGAL_OK)
        status = regal_policy_save(context, policy->network, &provenance,
                                   "small.policy");
      regal_policy_free(policy);
      regal_context_free(context);
    }
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      break;
    assert_int_equal(status, REGAL_NO_MEMORY);
    assert_true(n < 200);
  }
  regal_text text;
  assert_int_equal(regal_read_file(f->context, "small.policy", &text),
                   REGAL_OK);
  assert_memory_equal(text.bytes, f->bytes, f->size);
  regal_text_free(&text);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      FILE_TEST(test_round_trip),
      FILE_TEST(test_bytes),
      FILE_TEST(test_foreign),
      FILE_TEST(test_newer),
      FILE_TEST(test_truncated),
      FILE_TEST(test_corrupted),
      FILE_TEST(test_lies),
      FILE_TEST(test_overflow),
      FILE_TEST(test_features),
      FILE_TEST(test_own_features),
      FILE_TEST(test_version_one),
      FILE_TEST(test_version_two),
      FILE_TEST(test_relative),
      FILE_TEST(test_any_lie),
      FILE_TEST(test_infinite_weight),
      FILE_TEST(test_use),
      FILE_TEST(test_whole_or_not),
  };
  return cmocka_run_group_tests_name("policy_file", tests, files_enter,
                                     files_leave);
}
