/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints, written and read (the layout is in checkpoint.h). A checkpoint
 * of another run is refused: the options that change a result and the dataset's
 * checksum are in it, and the first option that differs is named. The checksum
 * of the file finds damage, not intent: numbers are checked one by one before
 * the trainer takes them. */
#include "learn/checkpoint.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "policy/policy_bytes.h"

#define MAGIC "REGALCKP"
#define MAGIC_BYTES 8
#define VERSION 1
#define CHECKSUM_BYTES 8
#define FINGERPRINT_CAPACITY 65536

/* -- Writing --------------------------------------------------------------- */

static void put_reals(regal_text *text, const regal_real *reals, size_t count) {
  for (size_t i = 0; i < count; i++)
    regal_put_real(text, reals[i]);
}

static void put_state(regal_text *text, const regal_train_state *state) {
  uint64_t bits;
  memcpy(&bits, &state->best_valid, sizeof bits);
  regal_put(text, state->step, 8);
  regal_put(text, state->evaluations, 8);
  regal_put(text, state->next_validation, 8);
  regal_put(text, state->has_best, 4);
  regal_put(text, bits, 8);
  regal_put(text, state->best_step, 8);
}

static void put_all(const regal_trainer *t, uint64_t dataset,
                    const char *fingerprint, regal_text *text) {
  size_t count = t->network->parameter_count;
  regal_text_append(text, MAGIC, MAGIC_BYTES);
  regal_put(text, VERSION, 4);
  regal_put(text, dataset, 8);
  regal_put_text(text, fingerprint);
  put_state(text, &t->state);
  regal_put(text, t->adam.steps, 8);
  regal_put(text, count, 8);
  put_reals(text, t->network->parameters, count);
  put_reals(text, t->adam.mean, count);
  put_reals(text, t->adam.deviation, count);
  put_reals(text, t->best, count);
  if (!text->failed)
    regal_put(text, regal_hash_bytes(REGAL_HASH_BASIS, text->bytes, text->size),
              CHECKSUM_BYTES);
}

regal_status regal_checkpoint_save(const regal_trainer *t, uint64_t dataset,
                                   const char *path) {
  regal_text text;
  char *fingerprint = regal_alloc(t->context, FINGERPRINT_CAPACITY, 1);
  if (!fingerprint)
    return regal_fail_memory(t->context);
  regal_train_fingerprint(&t->options, fingerprint, FINGERPRINT_CAPACITY);
  regal_text_init(&text, t->context);
  put_all(t, dataset, fingerprint, &text);
  regal_status status = regal_text_save(t->context, &text, path);
  regal_text_free(&text);
  regal_release(t->context, fingerprint);
  return status;
}

/* -- Reading --------------------------------------------------------------- */

/* Says which line of the options differs. */
static regal_status fail_options(regal_context *context, const char *path,
                                 const char *before, const char *now) {
  for (;;) {
    size_t a = strcspn(before, "\n"), b = strcspn(now, "\n");
    if (a != b || memcmp(before, now, a) || !before[a] || !now[b])
      return regal_fail(context, REGAL_BAD_INPUT,
                        "%s: was made with --%.*s, found --%.*s; a run goes on "
                        "with its own options",
                        path, (int)(a < 200 ? a : 200), before,
                        (int)(b < 200 ? b : 200), now);
    before += a + 1;
    now += b + 1;
  }
}

static regal_status check_frame(regal_context *context, const char *path,
                                const regal_text *text) {
  size_t body = text->size - CHECKSUM_BYTES;
  if (text->size < MAGIC_BYTES + 4 + CHECKSUM_BYTES ||
      memcmp(text->bytes, MAGIC, MAGIC_BYTES) != 0)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: this is no checkpoint of a training run", path);
  regal_cursor end = {(const unsigned char *)text->bytes, text->size, body,
                      false};
  if (regal_get(&end, CHECKSUM_BYTES) !=
      regal_hash_bytes(REGAL_HASH_BASIS, text->bytes, body))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: the checkpoint is damaged or cut short", path);
  return REGAL_OK;
}

/* -- Values ---------------------------------------------------------------- */

static regal_status check_range(regal_context *context, const char *path,
                                const char *what, uint64_t found,
                                uint64_t high) {
  if (found <= high)
    return REGAL_OK;
  return regal_fail(context, REGAL_BAD_INPUT,
                    "%s: found %s %llu, expected at most %llu", path, what,
                    (unsigned long long)found, (unsigned long long)high);
}

/* No step is validated before it is taken, and none after the last. */
static regal_status check_state(const regal_trainer *t, const char *path,
                                const regal_train_state *state) {
  const regal_train_settings *s = &t->settings;
  uint64_t next = state->step + s->valid_every;
  REGAL_TRY(check_range(t->context, path, "step", state->step, s->steps));
  REGAL_TRY(check_range(t->context, path, "a validation at step",
                        state->next_validation, next));
  REGAL_TRY(check_range(t->context, path, "a best policy of step",
                        state->best_step, state->step));
  if (!state->has_best || isfinite(state->best_valid))
    return REGAL_OK;
  return regal_fail(t->context, REGAL_BAD_INPUT,
                    "%s: found a best validation of %g%%, expected a finite "
                    "number",
                    path, state->best_valid);
}

/* `least`: 0 for what is a square. */
static regal_status check_reals(const regal_trainer *t, const char *path,
                                const char *what, float least,
                                regal_cursor *cursor) {
  for (size_t i = 0; i < t->network->parameter_count; i++) {
    float found = regal_get_real(cursor);
    if (!isfinite(found) || found < least)
      return regal_fail(t->context, REGAL_BAD_INPUT,
                        "%s: found %s %zu to be %g, expected a finite number%s",
                        path, what, i, (double)found,
                        least == 0 ? ", 0 or more" : "");
  }
  return REGAL_OK;
}

/* The cursor is a copy: it is at the first real. */
static regal_status check_values(const regal_trainer *t, const char *path,
                                 const regal_train_state *state,
                                 uint64_t adam_steps, regal_cursor cursor) {
  REGAL_TRY(check_state(t, path, state));
  REGAL_TRY(check_range(t->context, path, "an optimiser of step", adam_steps,
                        state->step));
  REGAL_TRY(check_reals(t, path, "parameter", -INFINITY, &cursor));
  REGAL_TRY(check_reals(t, path, "mean gradient", -INFINITY, &cursor));
  REGAL_TRY(check_reals(t, path, "squared gradient", 0, &cursor));
  return check_reals(t, path, "parameter of the best policy", -INFINITY,
                     &cursor);
}

/* -- Taking ---------------------------------------------------------------- */

static void get_reals(regal_cursor *cursor, regal_real *reals, size_t count) {
  for (size_t i = 0; i < count; i++)
    reals[i] = regal_get_real(cursor);
}

static regal_train_state get_state(regal_cursor *cursor) {
  regal_train_state state = {0};
  state.step = regal_get(cursor, 8);
  state.evaluations = regal_get(cursor, 8);
  state.next_validation = regal_get(cursor, 8);
  state.has_best = regal_get32(cursor) != 0;
  uint64_t bits = regal_get(cursor, 8);
  memcpy(&state.best_valid, &bits, sizeof bits);
  state.best_step = regal_get(cursor, 8);
  return state;
}

static regal_status take(regal_trainer *t, const char *path,
                         regal_cursor *cursor) {
  size_t count = t->network->parameter_count;
  regal_train_state state = get_state(cursor);
  uint64_t steps = regal_get(cursor, 8);
  if (regal_get(cursor, 8) != count ||
      cursor->size - cursor->at != 16 * count + CHECKSUM_BYTES)
    return regal_fail(t->context, REGAL_BAD_INPUT,
                      "%s: found another number of parameters, expected %zu",
                      path, count);
  REGAL_TRY(check_values(t, path, &state, steps, *cursor));
  t->state = state;
  t->adam.steps = steps;
  get_reals(cursor, t->network->parameters, count);
  get_reals(cursor, t->adam.mean, count);
  get_reals(cursor, t->adam.deviation, count);
  get_reals(cursor, t->best, count);
  return REGAL_OK;
}

static regal_status check_origin(regal_trainer *t, uint64_t dataset,
                                 const char *path, regal_cursor *cursor,
                                 char *before, char *now) {
  cursor->at = MAGIC_BYTES;
  uint32_t version = regal_get32(cursor);
  if (version != VERSION)
    return regal_fail(t->context, REGAL_BAD_INPUT,
                      "%s: found version %u, expected %d", path, version,
                      VERSION);
  uint64_t made_of = regal_get(cursor, 8);
  regal_get_text(cursor, before, FINGERPRINT_CAPACITY);
  regal_train_fingerprint(&t->options, now, FINGERPRINT_CAPACITY);
  if (strcmp(before, now) != 0)
    return fail_options(t->context, path, before, now);
  if (made_of != dataset)
    return regal_fail(t->context, REGAL_BAD_INPUT,
                      "%s: was made of another dataset", path);
  return REGAL_OK;
}

regal_status regal_checkpoint_load(regal_trainer *t, uint64_t dataset,
                                   const char *path) {
  regal_text text;
  REGAL_TRY(regal_read_file(t->context, path, &text));
  char *texts = regal_alloc(t->context, 2, FINGERPRINT_CAPACITY);
  regal_status status = texts ? check_frame(t->context, path, &text)
                              : regal_fail_memory(t->context);
  regal_cursor cursor = {(const unsigned char *)text.bytes, text.size, 0,
                         false};
  if (status == REGAL_OK)
    status = check_origin(t, dataset, path, &cursor, texts,
                          texts + FINGERPRINT_CAPACITY);
  if (status == REGAL_OK)
    status = take(t, path, &cursor);
  regal_release(t->context, texts);
  regal_text_free(&text);
  return status;
}
