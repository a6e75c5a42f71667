/* SPDX-License-Identifier: Apache-2.0 */
/* Settings files: JSON, one per training set and objective; docs/formats.md has
 * the schema. Some come with regal (settings/, embedded at build time).
 */
#ifndef REGAL_EVOLVE_SETTINGS_FILE_H
#define REGAL_EVOLVE_SETTINGS_FILE_H

#include "evolve/settings.h"

/* Where settings come from; written for people, not read. Texts may be "". */
typedef struct regal_settings_origin {
  const char *command, *objective;
  size_t graphs;
  uint64_t checksum; /* of them all */
  uint32_t devices;
  uint64_t evaluations, seed;
  size_t tried; /* settings */
  bool halving;
  double improvement, error; /* over standard BRKGA, in percent; its error */
} regal_settings_origin;

/* `name` stands for the file in messages. */
regal_status regal_settings_read(regal_context *context, const char *name,
                                 const char *bytes, size_t size,
                                 regal_settings *settings);
regal_status regal_settings_load(regal_context *context, const char *path,
                                 regal_settings *settings);
regal_status regal_settings_save(regal_context *context, const char *path,
                                 const regal_settings *settings,
                                 const regal_settings_origin *origin);

/* Those that the options name: a file, or one that comes with regal; by default
 * the synthetic set's for the objective. *name is what to call them. */
regal_status regal_settings_open(regal_context *context,
                                 const regal_options *options,
                                 regal_settings *settings, const char **name);

typedef struct regal_shipped_settings {
  const char *name;
  const unsigned char *bytes;
  size_t size;
} regal_shipped_settings;

extern const regal_shipped_settings regal_shipped_settings_table[]; /* ends with
                                                                 a NULL name */

#endif
