/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of BRKGA, and what `regal tune` finds on a training set: the same
 * settings with a Beta for each class of genes. They know nothing of a single
 * graph.
 */
#ifndef REGAL_EVOLVE_SETTINGS_H
#define REGAL_EVOLVE_SETTINGS_H

#include "evolve/proposal.h"
#include "search/search.h"

typedef struct regal_brkga_settings {
  const regal_decoder *decoder; /* NULL: not given; the paper's, or a better */
  uint32_t population, islands;
  double elites, mutants, elite_bias; /* shares; a probability */
  uint32_t exchange, restart;         /* generations; restart 0: never */
} regal_brkga_settings;

/* What the options say. */
regal_brkga_settings regal_brkga_settings_of(const regal_options *options);

static inline const regal_decoder *
regal_brkga_decoder(const regal_brkga_settings *settings) {
  return settings->decoder ? settings->decoder : &regal_decoder_paper;
}

typedef struct regal_settings {
  regal_brkga_settings brkga;                /* with a decoder */
  regal_beta_shape beta[REGAL_MOST_CLASSES]; /* of each class of the decoder */
} regal_settings;

/* Standard BRKGA: the options' defaults, uniform genes. */
regal_settings regal_settings_standard(const regal_decoder *decoder);

/* Its sizes and its bias, except where the options were given explicitly, and
 * what else the options say. */
regal_brkga_settings regal_settings_apply(const regal_settings *settings,
                                          const regal_options *options);

/* BRKGA with these settings, as a method runs. */
regal_status regal_settings_run(regal_search *search,
                                const regal_settings *settings);

/* The same without the plan: the fitness of what it finds. */
regal_status regal_settings_try(regal_search *search,
                                const regal_settings *settings,
                                regal_fitness *found);

/* -- Files: evolve/settings_file.c ----------------------------------------- */

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
