/* SPDX-License-Identifier: Apache-2.0 */
/* What both readers of modules use. */
#include "format/hlo/module.h"

#include <stdarg.h>
#include <string.h>

#include "base/plain.h"
#include "base/text.h"
#include "graph/builder.h"

void regal_hlo_init(regal_hlo_module *module, regal_context *context,
                    const char *path) {
  *module = (regal_hlo_module){
      .context = context, .path = path, .reported_bytes = -1};
  regal_arena_init(&module->arena, context);
}

void regal_hlo_free(regal_hlo_module *module) {
  regal_arena_free(&module->arena);
}

regal_status regal_hlo_fail(const regal_hlo_module *module,
                            const regal_hlo_instruction *instruction,
                            const char *format, ...) {
  char message[REGAL_MESSAGE_CAPACITY / 2], line[16] = "";
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(message, sizeof message, format, arguments);
  va_end(arguments);
  if (instruction->line)
    snprintf(line, sizeof line, ":%u", instruction->line);
  return regal_fail(module->context, REGAL_BAD_INPUT,
                    "%s%s: instruction %s: %s", module->path, line,
                    regal_quote(instruction->name).text, message);
}

/* -- Attributes ------------------------------------------------------------ */

/* Where `what` is in the text; NULL: nowhere. */
static const char *find(const char *text, size_t size, const char *what) {
  size_t length = strlen(what);
  for (size_t i = 0; i + length <= size; i++)
    if (text[i] == *what && !memcmp(text + i, what, length))
      return text + i;
  return NULL;
}

/* The first number in the object that follows the key. Backends write it as
 * JSON, and as text inside of it: "known_trip_count":{"n":"8"}. */
int64_t regal_hlo_trips(const char *config, size_t size) {
  const char *end = config + size;
  const char *at = find(config, size, "known_trip_count");
  int64_t trips = 0;
  while (at && at < end && !regal_is_digit(*at))
    at = *at == '}' ? NULL : at + 1;
  for (; at && at < end && regal_is_digit(*at); at++)
    if (__builtin_mul_overflow(trips, 10, &trips) ||
        __builtin_add_overflow(trips, *at - '0', &trips))
      return INT64_MAX;
  return trips;
}

bool regal_hlo_is_product(const char *target) {
  return strstr(target, "gemm") || strstr(target, "matmul") ||
         strstr(target, "MatMul");
}
