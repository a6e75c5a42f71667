/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of roofline files; docs/onnx.md has their form. */
#include "format/costs/roofline.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "format/json/json.h"
#include "rooflines.embedded.h"

#define SLOWEST 1.0
#define FASTEST 1e24
#define BUILT_IN "built-in rooflines"

static const char *const number_keys[REGAL_NUMBERS + 1] = {
    [REGAL_NUMBER_FP64] = "fp64",
    [REGAL_NUMBER_FP32] = "fp32",
    [REGAL_NUMBER_FP16] = "fp16",
    [REGAL_NUMBER_BF16] = "bf16",
    [REGAL_NUMBER_INT8] = "int8"};

/* -- One device ------------------------------------------------------------ */

static regal_status read_rates(const regal_json *json, uint32_t object,
                               regal_roofline *roofline) {
  uint32_t found[REGAL_NUMBERS];
  double *rate = roofline->flops_per_s;
  REGAL_TRY(regal_json_members(json, object, true, number_keys, found));
  if (!found[REGAL_NUMBER_FP32])
    return regal_json_fail(json, object, "there is no \"fp32\"");
  REGAL_TRY(regal_json_real(json, found[REGAL_NUMBER_FP32], SLOWEST, FASTEST,
                            &rate[REGAL_NUMBER_FP32]));
  for (int i = 0; i < REGAL_NUMBERS; i++) {
    rate[i] = rate[REGAL_NUMBER_FP32];
    if (found[i])
      REGAL_TRY(regal_json_real(json, found[i], SLOWEST, FASTEST, &rate[i]));
  }
  return REGAL_OK;
}

static regal_status read_name(const regal_json *json, uint32_t node,
                              regal_roofline *roofline) {
  REGAL_TRY(regal_json_expect(json, node, REGAL_JSON_STRING));
  const char *name = json->nodes[node].text;
  if (!*name || strlen(name) >= sizeof roofline->name)
    return regal_json_fail(json, node, "the name needs 1 to %d characters",
                           REGAL_ROOFLINE_NAME - 1);
  snprintf(roofline->name, sizeof roofline->name, "%s", name);
  return REGAL_OK;
}

static regal_status read_device(const regal_json *json, uint32_t object,
                                regal_roofline *roofline) {
  enum { NAME, RATES, BANDWIDTH, LAUNCH, ABOUT, SOURCE, KEYS };
  static const char *const keys[KEYS + 1] = {
      "name", "flops_per_s", "bytes_per_s", "launch_ns", "about", "source"};
  uint32_t found[KEYS];
  REGAL_TRY(regal_json_members(json, object, true, keys, found));
  for (int i = 0; i <= LAUNCH; i++)
    if (!found[i])
      return regal_json_fail(json, object, "a device needs \"%s\"", keys[i]);
  REGAL_TRY(read_name(json, found[NAME], roofline));
  REGAL_TRY(read_rates(json, found[RATES], roofline));
  REGAL_TRY(regal_json_real(json, found[BANDWIDTH], SLOWEST, FASTEST,
                            &roofline->bytes_per_s));
  return regal_json_integer(json, found[LAUNCH], 0, INT32_MAX,
                            &roofline->launch_ns);
}

/* -- Files ----------------------------------------------------------------- */

static regal_status find_devices(const regal_json *json, uint32_t *list) {
  static const char *const keys[] = {"regal_rooflines", "devices", NULL};
  uint32_t found[2];
  int64_t version;
  REGAL_TRY(regal_json_members(json, 0, true, keys, found));
  if (!found[0] || !found[1])
    return regal_json_fail(json, 0, "not a roofline file: it has no \"%s\"",
                           keys[!found[0] ? 0 : 1]);
  REGAL_TRY(regal_json_integer(json, found[0], 1, 1, &version));
  *list = found[1];
  return regal_json_expect(json, *list, REGAL_JSON_ARRAY);
}

/* The device called `name`; without a name the only one. */
static regal_status choose(const regal_json *json, const char *name,
                           regal_roofline *roofline, bool *found) {
  uint32_t list = 0;
  REGAL_TRY(find_devices(json, &list));
  uint32_t length = regal_json_length(json, list);
  if (!name && length != 1)
    return regal_json_fail(json, list, "found %u devices, expected 1", length);
  *found = false;
  for (uint32_t node = json->nodes[list].child; node && !*found;
       node = json->nodes[node].next) {
    REGAL_TRY(read_device(json, node, roofline));
    *found = !name || !strcasecmp(roofline->name, name);
  }
  return REGAL_OK;
}

static regal_status parse(regal_context *context, const char *path,
                          const char *bytes, size_t size, const char *name,
                          regal_roofline *roofline, bool *found) {
  regal_json json;
  REGAL_TRY(regal_json_parse(context, path, bytes, size, &json));
  regal_status status = choose(&json, name, roofline, found);
  regal_json_free(&json);
  return status;
}

/* "h200, h100 or t4": what the message offers. */
static regal_status list_names(const regal_json *json, regal_text *names) {
  uint32_t list = 0;
  regal_roofline device;
  REGAL_TRY(find_devices(json, &list));
  for (uint32_t node = json->nodes[list].child; node;
       node = json->nodes[node].next) {
    REGAL_TRY(read_device(json, node, &device));
    regal_text_format(names, "%s%s", names->size ? ", " : "", device.name);
  }
  return names->failed ? regal_fail_memory(json->context) : REGAL_OK;
}

static regal_status fail_unknown(regal_context *context, const char *name) {
  regal_json json;
  regal_text names;
  REGAL_TRY(regal_json_parse(context, BUILT_IN,
                             (const char *)rooflines_embedded,
                             sizeof rooflines_embedded, &json));
  regal_text_init(&names, context);
  regal_status status = list_names(&json, &names);
  if (status == REGAL_OK)
    status = regal_fail(context, REGAL_IO,
                        "--roofline: no device \"%.200s\" is built in (there "
                        "are %s), and as a file it cannot be read",
                        name, names.bytes);
  regal_text_free(&names);
  regal_json_free(&json);
  return status;
}

regal_status regal_roofline_load(regal_context *context, const char *name,
                                 regal_roofline *roofline) {
  bool found;
  REGAL_TRY(parse(context, BUILT_IN, (const char *)rooflines_embedded,
                  sizeof rooflines_embedded, name, roofline, &found));
  if (found)
    return REGAL_OK;
  regal_text text;
  regal_status status = regal_read_file(context, name, &text);
  if (status == REGAL_IO)
    return fail_unknown(context, name);
  REGAL_TRY(status);
  status = parse(context, name, text.bytes, text.size, NULL, roofline, &found);
  regal_text_free(&text);
  return status;
}

regal_number regal_number_named(const char *name) {
  regal_number number = 0;
  while (number < REGAL_NUMBERS && strcmp(number_keys[number], name) != 0)
    number++;
  return number;
}

bool regal_roofline_time(const regal_roofline *roofline, regal_number number,
                         double flops, double bytes, int64_t *ns) {
  double computing = flops / roofline->flops_per_s[number];
  double moving = bytes / roofline->bytes_per_s;
  double time = ceil(fmax(computing, moving) * 1e9);
  if (!(time < 0x1p62 - INT32_MAX))
    return false;
  *ns = roofline->launch_ns + (int64_t)time;
  return true;
}
