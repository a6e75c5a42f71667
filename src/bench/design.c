/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be run: variants and seeds from the options' lists, and the
 * numbers of runs.
 *
 * An entry of --methods is a name of the table of methods and options of its
 * own, "regal policy=real_runtime actions=sample"; the row of a run has it as
 * it was given. An entry with its own evaluations or time has one budget, that
 * one; a method without a budget has the budget "none"; all others have those
 * of --budgets.
 *
 * Two fingerprints keep rows apart that must not be compared. `settings` is of
 * the options that all runs share: the machine, reading, BRKGA and so on. What
 * the columns say (objective, method, budget, seed) is not in it. `input` is of
 * the graph and of the files that options name (a policy, settings of BRKGA):
 * their content, not their name. Those that come with the program are files,
 * too: a later build may have others of the same name.
 */
#include "bench/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "build_id.h"
#include "evolve/settings.h"
#include "learn/guide/policies.h"

const char *regal_bench_keep(regal_arena *arena, const char *text,
                             size_t length) {
  char *copy = regal_arena_alloc(arena, length + 1, 1);
  if (copy)
    memcpy(copy, text, length);
  return copy;
}

/* The next entry of a list with `separator`s, without spaces around it; false
 * at the end. `*at` moves behind it. */
static bool next_entry(const char **at, char separator, const char **begin,
                       size_t *length) {
  const char separators[] = {separator, 0};
  *begin = *at + strspn(*at, " ");
  if (!**begin)
    return false;
  *length = strcspn(*begin, separators);
  *at = *begin + *length + ((*begin)[*length] != 0);
  while (*length && (*begin)[*length - 1] == ' ')
    (*length)--;
  return true;
}

/* Copies an entry of `list`, an option's name, into `copy`. */
static regal_status copy_entry(regal_context *context, const char *list,
                               const char *begin, size_t length, char *copy,
                               size_t capacity) {
  if (length >= capacity)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--%s: found %zu characters, \"%.20s...\", expected "
                      "fewer than %zu",
                      list, length, begin, capacity);
  memcpy(copy, begin, length);
  copy[length] = 0;
  return REGAL_OK;
}

/* -- Fingerprints ---------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *words) {
  for (; *words; words++)
    if (!strcmp(word, *words))
      return true;
  return false;
}

/* Whether runs depend on it, other than by a column of the table. */
static bool is_setting(const regal_option_info *option) {
  static const char *const groups[] = {"reading", "machine", "search",
                                       "brkga",   "anneal",  NULL};
  static const char *const columns[] = {"method", "evaluations", "seed", NULL};
  return option->changes_result && is_one_of(option->group, groups) &&
         !is_one_of(option->name, columns);
}

/* Mixes in the policy, or the settings, of this name that are built in. */
static void hash_shipped(const char *option, const char *name, uint64_t *hash) {
  bool policy = !strcmp(option, "policy"), tuned = !strcmp(option, "settings");
  const regal_shipped_policy *p = regal_shipped_policies;
  for (; policy && p->name; p++)
    if (!strcmp(p->name, name))
      *hash = regal_hash_bytes(*hash, p->bytes, p->size);
  const regal_shipped_settings *s = regal_shipped_settings_table;
  for (; tuned && s->name; s++)
    if (!strcmp(s->name, name))
      *hash = regal_hash_bytes(*hash, s->bytes, s->size);
}

/* Mixes in the content of a file that an option names, if there is one. */
static regal_status hash_file(regal_context *context, const char *path,
                              uint64_t *hash) {
  struct stat info;
  regal_text text;
  if (stat(path, &info) || !S_ISREG(info.st_mode))
    return REGAL_OK;
  REGAL_TRY(regal_read_file(context, path, &text));
  *hash = regal_hash_bytes(*hash, text.bytes ? text.bytes : "", text.size);
  regal_text_free(&text);
  return REGAL_OK;
}

static bool names_file(const regal_option_info *option) {
  return option->type == REGAL_OPTION_TEXT &&
         (strstr(option->unit, "FILE") || strstr(option->unit, "PLAN"));
}

/* Of the files that the settings among the options name. */
static regal_status hash_files(regal_context *context,
                               const regal_options *options, uint64_t *hash) {
  for (size_t i = 0; i < regal_option_count(); i++) {
    const regal_option_info *option = regal_option_at(i);
    char value[REGAL_MOST_LIST];
    if (is_setting(option) && names_file(option) &&
        regal_option_text(options, i, value, sizeof value)) {
      hash_shipped(option->name, value, hash);
      REGAL_TRY(hash_file(context, value, hash));
    }
  }
  return REGAL_OK;
}

static regal_status make_settings(regal_bench_design *design,
                                  const regal_options *options) {
  uint64_t hash = REGAL_HASH_BASIS;
  regal_options defaults;
  regal_options_init(&defaults);
  for (size_t i = 0; i < regal_option_count(); i++) {
    char value[REGAL_MOST_LIST], usual[REGAL_MOST_LIST] = "";
    const regal_option_info *option = regal_option_at(i);
    if (!is_setting(option) ||
        !regal_option_text(options, i, value, sizeof value))
      continue;
    regal_option_text(&defaults, i, usual, sizeof usual);
    if (!strcmp(value, usual)) /* so that a new option changes nothing */
      continue;
    hash = regal_hash_text(hash, option->name);
    hash = regal_hash_text(hash, value);
  }
  REGAL_TRY(hash_files(design->context, options, &hash));
  snprintf(design->settings, sizeof design->settings, "%016" PRIx64, hash);
  return REGAL_OK;
}

void regal_bench_input(const regal_bench_design *design,
                       const regal_bench_run *run, char text[17]) {
  const regal_bench_graph *graph = &design->graphs[run->graph];
  uint64_t hash = graph->graph->checksum;
  if (run->copy)
    hash = regal_mix(hash ^ regal_mix(graph->seed + run->copy));
  hash = regal_mix(hash ^ design->variants[run->variant].files);
  snprintf(text, 17, "%016" PRIx64, hash);
}

/* -- Variants -------------------------------------------------------------- */

/* Sets "option=value"; the method's name is the only word without '='. */
static regal_status set_word(regal_bench_design *design, const char *word,
                             regal_options *options) {
  char name[64];
  const char *equals = strchr(word, '=');
  if (!equals)
    return regal_options_set(design->context, options, "method", word);
  snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
  return regal_options_set(design->context, options, name, equals + 1);
}

static regal_status read_words(regal_bench_design *design, const char *entry,
                               regal_options *options) {
  const char *at = entry, *begin;
  size_t length;
  char word[REGAL_MOST_TEXT];
  for (bool first = true; next_entry(&at, ' ', &begin, &length);
       first = false) {
    REGAL_TRY(copy_entry(design->context, "methods", begin, length, word,
                         sizeof word));
    if (first == (strchr(word, '=') != NULL))
      return regal_fail(design->context, REGAL_BAD_INPUT,
                        "--methods: found \"%s\", expected NAME "
                        "OPTION=VALUE...",
                        entry);
    REGAL_TRY(set_word(design, word, options));
  }
  return REGAL_OK;
}

/* Whether the method's budget is none; fails if there is no such method. */
static regal_status find_budget(regal_bench_design *design, const char *name,
                                bool *none) {
  for (size_t i = 0; i < regal_method_count(); i++) {
    regal_method_info method = regal_method_at(i);
    if (strcmp(method.name, name))
      continue;
    *none = !strncmp(method.budget, "none", 4);
    return REGAL_OK;
  }
  return regal_fail(design->context, REGAL_BAD_INPUT,
                    "--methods: there is no method '%s'; 'regal methods' "
                    "lists them",
                    name);
}

static regal_status add_variant(regal_bench_design *design, const char *method,
                                const char *budget, size_t length,
                                const regal_options *options, uint64_t files) {
  if (!REGAL_RESERVE(design->context, design->variants, design->variant_count,
                     design->variant_capacity))
    return regal_fail_memory(design->context);
  const char *kept = regal_bench_keep(&design->arena, budget, length);
  if (!kept)
    return regal_fail_memory(design->context);
  for (size_t i = 0; i < design->variant_count; i++)
    if (!strcmp(design->variants[i].method, method) &&
        !strcmp(design->variants[i].budget, kept))
      return regal_fail(design->context, REGAL_BAD_INPUT,
                        "found method \"%s\" with budget %s twice", method,
                        kept);
  design->variants[design->variant_count++] = (regal_bench_variant){
      .method = method, .budget = kept, .options = *options, .files = files};
  return REGAL_OK;
}

/* Digits are evaluations; anything else is a time. */
static regal_status set_budget(regal_bench_design *design, const char *budget,
                               regal_options *options) {
  bool evaluations = regal_is_number(budget);
  if (!*budget || (!evaluations && regal_is_digit(budget[strlen(budget) - 1])))
    return regal_fail(design->context, REGAL_BAD_INPUT,
                      "--budgets: found \"%s\", expected evaluations (5000) or "
                      "a time with its unit (0.1s)",
                      budget);
  return regal_options_set(design->context, options,
                           evaluations ? "evaluations" : "time", budget);
}

static regal_status add_budgets(regal_bench_design *design, const char *method,
                                const char *budgets,
                                const regal_options *options, uint64_t files) {
  const char *at = budgets, *begin;
  size_t length;
  while (next_entry(&at, ',', &begin, &length)) {
    char budget[64];
    regal_options changed = *options;
    REGAL_TRY(copy_entry(design->context, "budgets", begin, length, budget,
                         sizeof budget));
    REGAL_TRY(set_budget(design, budget, &changed));
    REGAL_TRY(
        add_variant(design, method, budget, strlen(budget), &changed, files));
  }
  return REGAL_OK;
}

/* The budget that an entry has itself, as text; false, and nothing changed, if
 * it has none. */
static bool own_budget(const char *entry, const char **budget, size_t *length) {
  const char *at = entry, *begin;
  size_t word;
  while (next_entry(&at, ' ', &begin, &word)) {
    const char *equals = memchr(begin, '=', word);
    size_t name = equals ? (size_t)(equals - begin) : 0;
    if ((name == 11 && !memcmp(begin, "evaluations", name)) ||
        (name == 4 && !memcmp(begin, "time", name))) {
      *budget = equals + 1;
      *length = word - name - 1;
      return true;
    }
  }
  return false;
}

static regal_status add_method(regal_bench_design *design, const char *entry,
                               const regal_options *base) {
  regal_options options = *base;
  const char *budget = "none";
  size_t length = 4;
  bool none = false;
  uint64_t files = 0;
  options.threads = 1; /* of each run */
  REGAL_TRY(read_words(design, entry, &options));
  REGAL_TRY(find_budget(design, options.method, &none));
  REGAL_TRY(hash_files(design->context, &options, &files));
  if (own_budget(entry, &budget, &length) || none)
    return add_variant(design, entry, budget, length, &options, files);
  return add_budgets(design, entry, base->budgets, &options, files);
}

static regal_status add_methods(regal_bench_design *design,
                                const regal_options *options) {
  const char *at = options->methods, *begin;
  size_t length;
  while (next_entry(&at, ',', &begin, &length)) {
    const char *entry = regal_bench_keep(&design->arena, begin, length);
    if (!entry)
      return regal_fail_memory(design->context);
    if (!*entry)
      return regal_fail(design->context, REGAL_BAD_INPUT,
                        "--methods: found nothing between two commas");
    REGAL_TRY(add_method(design, entry, options));
  }
  return REGAL_OK;
}

/* -- Seeds ----------------------------------------------------------------- */

static regal_status add_seed(regal_bench_design *design, const char *text) {
  regal_options options;
  regal_options_init(&options);
  REGAL_TRY(regal_options_set(design->context, &options, "seed", text));
  if (!REGAL_RESERVE(design->context, design->seeds, design->seed_count,
                     design->seed_capacity))
    return regal_fail_memory(design->context);
  for (size_t i = 0; i < design->seed_count; i++)
    if (design->seeds[i] == (uint64_t)options.seed)
      return regal_fail(design->context, REGAL_BAD_INPUT,
                        "--seeds: found seed %s twice", text);
  design->seeds[design->seed_count++] = (uint64_t)options.seed;
  return REGAL_OK;
}

static regal_status add_seeds(regal_bench_design *design, const char *list) {
  const char *at = list, *begin;
  size_t length;
  char text[32];
  while (next_entry(&at, ',', &begin, &length)) {
    REGAL_TRY(
        copy_entry(design->context, "seeds", begin, length, text, sizeof text));
    REGAL_TRY(add_seed(design, text));
  }
  return REGAL_OK;
}

/* -- The whole ------------------------------------------------------------- */

regal_status regal_bench_design_create(regal_context *context,
                                       const regal_options *options,
                                       regal_bench_design *design) {
  regal_options base = *options;
  *design = (regal_bench_design){.context = context,
                                 .copies = 1 + (size_t)options->augment,
                                 .memory = options->objective == 1};
  regal_arena_init(&design->arena, context);
  regal_names_init(&design->names, context);
  snprintf(design->build, sizeof design->build, "%s", REGAL_BUILD_COMMIT);
  if (!base.methods[0])
    snprintf(base.methods, sizeof base.methods, "brkga,auto");
  if (!base.budgets[0])
    snprintf(base.budgets, sizeof base.budgets, "5000");
  if (!base.seeds[0])
    snprintf(base.seeds, sizeof base.seeds, "1");
  REGAL_TRY(make_settings(design, &base));
  REGAL_TRY(add_methods(design, &base));
  REGAL_TRY(add_seeds(design, base.seeds));
  if (!design->variant_count || !design->seed_count)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "--methods, --budgets, --seeds: found a blank list, "
                      "expected an entry");
  return REGAL_OK;
}

void regal_bench_design_free(regal_bench_design *design) {
  for (size_t i = 0; i < design->graph_count; i++)
    regal_graph_free(design->graphs[i].graph);
  regal_names_free(&design->names);
  regal_release(design->context, design->graphs);
  regal_release(design->context, design->seeds);
  regal_release(design->context, design->variants);
  regal_arena_free(&design->arena);
}

size_t regal_bench_runs(const regal_bench_design *design) {
  return design->graph_count * design->copies * design->variant_count *
         design->seed_count;
}

regal_bench_run regal_bench_run_at(const regal_bench_design *design,
                                   size_t number) {
  regal_bench_run run;
  run.seed = number % design->seed_count;
  number /= design->seed_count;
  run.variant = number % design->variant_count;
  number /= design->variant_count;
  run.copy = (uint32_t)(number % design->copies);
  run.graph = number / design->copies;
  return run;
}
