/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of policy files.
 *
 * The bytes are tried as they are, and once more with size and checksum made
 * right, so that what lies behind these is reached. A policy that loads is
 * written again and read once more, with the same weights.
 */
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "fuzz/fuzz.h"
#include "policy/policy_file.h"

static void check_rewritten(regal_context *context,
                            const regal_policy *policy) {
  regal_text text;
  regal_text_init(&text, context);
  regal_policy_write(policy->network, &policy->provenance, &text);
  FUZZ_CHECK(!text.failed);
  regal_policy *again;
  FUZZ_CHECK(regal_policy_read(context, "again", text.bytes, text.size,
                               &again) == REGAL_OK);
  FUZZ_CHECK(again->network->parameter_count ==
             policy->network->parameter_count);
  FUZZ_CHECK(!memcmp(again->network->parameters, policy->network->parameters,
                     again->network->parameter_count * sizeof(regal_real)));
  regal_policy_free(again);
  regal_text_free(&text);
}

static void try_bytes(regal_context *context, const uint8_t *bytes,
                      size_t size) {
  regal_policy *policy;
  regal_policy_config config;
  regal_policy_provenance provenance;
  regal_status peeked =
      regal_policy_peek(context, "fuzz", bytes, size, &config, &provenance);
  fuzz_check_status(context, peeked);
  regal_status status =
      regal_policy_read(context, "fuzz", bytes, size, &policy);
  fuzz_check_status(context, status);
  if (status != REGAL_OK)
    return;
  FUZZ_CHECK(peeked == REGAL_OK);
  fuzz_check_status(context,
                    regal_policy_check(context, "fuzz", &config, 0, "paper"));
  check_rewritten(context, policy);
  regal_policy_free(policy);
}

static void put(uint8_t *bytes, uint64_t value) {
  for (size_t i = 0; i < 8; i++)
    bytes[i] = (uint8_t)(value >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  regal_context *context;
  FUZZ_CHECK(regal_context_create(&context, NULL) == REGAL_OK);
  try_bytes(context, bytes, size);
  uint8_t *sealed = size >= 28 ? malloc(size) : NULL;
  if (sealed) {
    memcpy(sealed, bytes, size);
    memcpy(sealed, "REGALPOL\1\0\0\0", 12);
    put(sealed + 12, size);
    put(sealed + size - 8,
        regal_hash_bytes(REGAL_HASH_BASIS, sealed, size - 8));
    try_bytes(context, sealed, size);
    free(sealed);
  }
  fuzz_close(context);
  return 0;
}
