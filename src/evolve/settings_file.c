/* SPDX-License-Identifier: Apache-2.0 */
/* Settings files: JSON, read and written by `regal tune` and method `tuned`
 * (docs/formats.md), and the settings that come with regal, which are the same
 * files, embedded.
 */
#include "evolve/settings.h"

#include <inttypes.h>
#include <string.h>

#include "format/json/json.h"
#include "settings.embedded.h"

enum {
  KEY_VERSION,
  KEY_DECODER,
  KEY_POPULATION,
  KEY_ELITES,
  KEY_MUTANTS,
  KEY_ELITE_BIAS,
  KEY_ISLANDS,
  KEY_BETAS,
  KEY_PROVENANCE,
  KEYS
};

static const char *const keys[KEYS + 1] = {
    [KEY_VERSION] = "regal_settings", [KEY_DECODER] = "decoder",
    [KEY_POPULATION] = "population",  [KEY_ELITES] = "elites",
    [KEY_MUTANTS] = "mutants",        [KEY_ELITE_BIAS] = "elite_bias",
    [KEY_ISLANDS] = "islands",        [KEY_BETAS] = "betas",
    [KEY_PROVENANCE] = "provenance"};

/* -- Reading --------------------------------------------------------------- */

/* Options and settings files have the same ranges. */
static const regal_option_info *range_of(const char *option) {
  return regal_option_at(regal_option_find(option));
}

static regal_status read_whole(const regal_json *json, uint32_t node,
                               const char *option, uint32_t *value) {
  const regal_option_info *range = range_of(option);
  int64_t read;
  REGAL_TRY(regal_json_integer(json, node, (int64_t)range->low,
                               (int64_t)range->high, &read));
  *value = (uint32_t)read;
  return REGAL_OK;
}

static regal_status read_real(const regal_json *json, uint32_t node,
                              const char *option, double *value) {
  const regal_option_info *range = range_of(option);
  return regal_json_real(json, node, range->low, range->high, value);
}

static regal_status read_decoder(const regal_json *json, uint32_t node,
                                 regal_settings *settings) {
  REGAL_TRY(regal_json_expect(json, node, REGAL_JSON_STRING));
  const regal_decoder *decoder = regal_decoder_find(json->nodes[node].text);
  if (!decoder)
    return regal_json_fail(json, node,
                           "there is no decoder \"%.60s\"; 'regal methods' "
                           "lists them",
                           json->nodes[node].text);
  *settings = regal_settings_standard(decoder);
  return REGAL_OK;
}

static regal_status read_beta(const regal_json *json, uint32_t node,
                              regal_beta_shape *shape) {
  REGAL_TRY(regal_json_expect(json, node, REGAL_JSON_ARRAY));
  uint32_t length = regal_json_length(json, node);
  if (length != 2)
    return regal_json_fail(json, node, "found a list of length %u, expected 2",
                           length);
  uint32_t first = json->nodes[node].child;
  REGAL_TRY(regal_json_real(json, first, REGAL_BETA_SMALLEST,
                            REGAL_BETA_LARGEST, &shape->a));
  return regal_json_real(json, json->nodes[first].next, REGAL_BETA_SMALLEST,
                         REGAL_BETA_LARGEST, &shape->b);
}

/* Classes that are not there are uniform. */
static regal_status read_betas(const regal_json *json, uint32_t node,
                               regal_settings *settings) {
  const char *classes[REGAL_MOST_CLASSES + 1] = {NULL};
  uint32_t found[REGAL_MOST_CLASSES];
  size_t count = regal_decoder_class_count(settings->brkga.decoder);
  for (size_t c = 0; c < count; c++)
    classes[c] = settings->brkga.decoder->classes[c].name;
  REGAL_TRY(regal_json_members(json, node, true, classes, found));
  for (size_t c = 0; c < count; c++)
    if (found[c])
      REGAL_TRY(read_beta(json, found[c], &settings->beta[c]));
  return REGAL_OK;
}

static regal_status check_sizes(const regal_json *json,
                                const regal_settings *settings) {
  if (settings->brkga.elites + settings->brkga.mutants < 1)
    return REGAL_OK;
  return regal_json_fail(json, 0,
                         "elites %g and mutants %g leave no room for children",
                         settings->brkga.elites, settings->brkga.mutants);
}

static regal_status read_document(const regal_json *json,
                                  regal_settings *settings) {
  uint32_t found[KEYS];
  int64_t version;
  regal_settings read;
  REGAL_TRY(regal_json_members(json, 0, false, keys, found));
  if (!found[KEY_VERSION])
    return regal_json_fail(json, 0,
                           "not a settings file: it has no \"regal_settings\"");
  REGAL_TRY(regal_json_integer(json, found[KEY_VERSION], 1, 1, &version));
  REGAL_TRY(regal_json_members(json, 0, true, keys, found));
  for (int key = 0; key < KEY_PROVENANCE; key++)
    if (!found[key])
      return regal_json_fail(json, 0, "the settings have no \"%s\"", keys[key]);
  REGAL_TRY(read_decoder(json, found[KEY_DECODER], &read));
  REGAL_TRY(read_whole(json, found[KEY_POPULATION], "population",
                       &read.brkga.population));
  REGAL_TRY(
      read_whole(json, found[KEY_ISLANDS], "islands", &read.brkga.islands));
  REGAL_TRY(read_real(json, found[KEY_ELITES], "elites", &read.brkga.elites));
  REGAL_TRY(
      read_real(json, found[KEY_MUTANTS], "mutants", &read.brkga.mutants));
  REGAL_TRY(read_real(json, found[KEY_ELITE_BIAS], "elite-bias",
                      &read.brkga.elite_bias));
  REGAL_TRY(read_betas(json, found[KEY_BETAS], &read));
  REGAL_TRY(check_sizes(json, &read));
  *settings = read;
  return REGAL_OK;
}

regal_status regal_settings_read(regal_context *context, const char *name,
                                 const char *bytes, size_t size,
                                 regal_settings *settings) {
  regal_json json;
  REGAL_TRY(regal_json_parse(context, name, bytes, size, &json));
  regal_status status = read_document(&json, settings);
  regal_json_free(&json);
  return status;
}

regal_status regal_settings_load(regal_context *context, const char *path,
                                 regal_settings *settings) {
  regal_text text;
  REGAL_TRY(regal_read_file(context, path, &text));
  const char *name = strcmp(path, "-") ? path : "stdin";
  regal_status status =
      regal_settings_read(context, name, text.bytes, text.size, settings);
  regal_text_free(&text);
  return status;
}

/* -- Writing --------------------------------------------------------------- */

static void put_real(regal_text *text, const char *before, double value) {
  char number[64];
  regal_print_real(number, sizeof number, value);
  regal_text_format(text, "%s%s", before, number);
}

static void put_betas(regal_text *text, const regal_settings *settings) {
  const regal_decoder *decoder = settings->brkga.decoder;
  regal_text_format(text, ",\n \"betas\": {");
  for (size_t c = 0; c < regal_decoder_class_count(decoder); c++) {
    regal_text_format(text, "%s", c ? ", " : "");
    regal_text_json(text, decoder->classes[c].name);
    put_real(text, ": [", settings->beta[c].a);
    put_real(text, ", ", settings->beta[c].b);
    regal_text_format(text, "]");
  }
  regal_text_format(text, "}");
}

static void put_origin(regal_text *text, const regal_settings_origin *origin) {
  regal_text_format(text, ",\n \"provenance\": {\n  \"command\": ");
  regal_text_json(text, origin->command);
  regal_text_format(text,
                    ",\n  \"graphs\": %zu, \"checksum\": \"%016" PRIx64
                    "\",\n  \"objective\": ",
                    origin->graphs, origin->checksum);
  regal_text_json(text, origin->objective);
  regal_text_format(
      text,
      ", \"devices\": %u, \"evaluations\": %" PRIu64 ", \"seed\": %" PRIu64
      ",\n  \"settings_tried\": %zu, \"halving\": %s,\n"
      "  \"improvement_percent\": %.4f, "
      "\"standard_error\": %.4f}",
      origin->devices, origin->evaluations, origin->seed, origin->tried,
      origin->halving ? "true" : "false", origin->improvement, origin->error);
}

regal_status regal_settings_save(regal_context *context, const char *path,
                                 const regal_settings *settings,
                                 const regal_settings_origin *origin) {
  regal_text text;
  regal_text_init(&text, context);
  regal_text_format(&text, "{\"regal_settings\": 1,\n \"decoder\": ");
  regal_text_json(&text, settings->brkga.decoder->name);
  regal_text_format(&text, ",\n \"population\": %u",
                    settings->brkga.population);
  put_real(&text, ", \"elites\": ", settings->brkga.elites);
  put_real(&text, ", \"mutants\": ", settings->brkga.mutants);
  put_real(&text, ", \"elite_bias\": ", settings->brkga.elite_bias);
  regal_text_format(&text, ", \"islands\": %u", settings->brkga.islands);
  put_betas(&text, settings);
  if (origin)
    put_origin(&text, origin);
  regal_text_format(&text, "}\n");
  regal_status status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}

/* -- Settings by name ------------------------------------------------------ */

const regal_shipped_settings regal_shipped_settings_table[] = {
    REGAL_EMBEDDED_SETTINGS{NULL, NULL, 0}};

static const regal_shipped_settings *shipped_by_name(const char *name) {
  const regal_shipped_settings *shipped = regal_shipped_settings_table;
  while (shipped->name && strcmp(shipped->name, name) != 0)
    shipped++;
  return shipped->name ? shipped : NULL;
}

/* Settings that were not asked for by name are better than none: their sizes
 * serve any decoder, their Betas do not. */
static regal_status fit_decoder(regal_context *context,
                                const regal_options *options, const char *name,
                                regal_settings *settings) {
  const char *wanted = options->decoder;
  if (!wanted[0] || !strcmp(wanted, settings->brkga.decoder->name))
    return REGAL_OK;
  if (options->settings[0])
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: found settings for decoder %s, expected %s", name,
                      settings->brkga.decoder->name, wanted);
  regal_brkga_settings sizes = settings->brkga;
  *settings = regal_settings_standard(regal_decoder_find(wanted));
  sizes.decoder = settings->brkga.decoder;
  settings->brkga = sizes;
  return REGAL_OK;
}

regal_status regal_settings_open(regal_context *context,
                                 const regal_options *options,
                                 regal_settings *settings, const char **name) {
  regal_settings opened;
  *name = options->settings[0]                 ? options->settings
          : options->objective == REGAL_MEMORY ? "synthetic_memory"
                                               : "synthetic_runtime";
  const regal_shipped_settings *shipped = shipped_by_name(*name);
  if (shipped)
    REGAL_TRY(regal_settings_read(context, *name, (const char *)shipped->bytes,
                                  shipped->size, &opened));
  else
    REGAL_TRY(regal_settings_load(context, *name, &opened));
  REGAL_TRY(fit_decoder(context, options, *name, &opened));
  *settings = opened;
  return REGAL_OK;
}
