/* SPDX-License-Identifier: Apache-2.0 */
/* Method `tuned`: BRKGA with the settings that --settings names. */
#include <string.h>

#include "evolve/evolve.h"
#include "evolve/settings_file.h"
#include "settings.embedded.h"

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

regal_status regal_method_tuned(regal_search *search) {
  regal_settings settings;
  const char *name;
  char rest[sizeof search->account];
  REGAL_TRY(
      regal_settings_open(search->context, search->options, &settings, &name));
  REGAL_TRY(regal_settings_run(search, &settings));
  memcpy(rest, search->account, sizeof rest);
  regal_search_account(search, "settings %.80s: %.300s", name, rest);
  return REGAL_OK;
}
