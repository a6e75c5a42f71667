/* SPDX-License-Identifier: Apache-2.0 */
/* Names that an op of a captured graph and its event have in common.
 *
 *   graph  "5:relu_1"          relu    its position, the name of the FX node
 *   trace  "aten::relu_"       relu    the namespace, and that it is in place
 *   graph  "3:triton_poi_7"    triton_poi_7 is what the trace has as well
 *
 * Normalisation has one name for all its forms, for tracing replaces the one
 * that PyTorch calls by another.
 */
#include <string.h>

#include "base/text.h"
#include "format/costs/trace.h"

static const char *const families[][2] = {
    {"_native_batch_norm_legit", "batch_norm"},
    {"_native_batch_norm_legit_functional", "batch_norm"},
    {"_native_batch_norm_legit_no_training", "batch_norm"},
    {"_batch_norm_with_update", "batch_norm"},
    {"_batch_norm_with_update_functional", "batch_norm"},
    {"_batch_norm_no_update", "batch_norm"},
    {"native_batch_norm", "batch_norm"},
    {"cudnn_batch_norm", "batch_norm"},
    {"miopen_batch_norm", "batch_norm"},
    {"cudnn_batch_norm_backward", "native_batch_norm_backward"},
    {"miopen_batch_norm_backward", "native_batch_norm_backward"},
};

/* "5:relu" without the position. */
static const char *without_position(const char *name) {
  const char *at = name;
  while (regal_is_digit(*at))
    at++;
  return at > name && *at == ':' && at[1] != ':' ? at + 1 : name;
}

static const char *without_namespace(const char *name) {
  const char *found;
  while ((found = strstr(name, "::")))
    name = found + 2;
  return name;
}

/* "relu_1" without the number that tells nodes apart. */
static size_t length_without_number(const char *name, size_t length) {
  size_t end = length;
  while (end && regal_is_digit(name[end - 1]))
    end--;
  return end < length && end > 1 && name[end - 1] == '_' ? end - 1 : length;
}

void regal_trace_plain_name(const char *name, bool numbered,
                            char plain[REGAL_TRACE_NAME]) {
  name = without_namespace(without_position(name));
  size_t length = strlen(name);
  if (!numbered)
    length = length_without_number(name, length);
  if (length > 1 && name[length - 1] == '_')
    length--;
  if (length >= REGAL_TRACE_NAME)
    length = REGAL_TRACE_NAME - 1;
  memcpy(plain, name, length);
  plain[length] = 0;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (!strcmp(plain, families[i][0]))
      strcpy(plain, families[i][1]);
}
