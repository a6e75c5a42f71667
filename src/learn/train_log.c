/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a run as CSV. Rows are written in order of steps, that of a
 * validation after that of its step. A resumed run first cuts off the rows of
 * what it will do again: a run that was killed has written rows after its last
 * checkpoint, and the last of them may be cut short. A row that cannot be
 * written, because the disk is full, is taken away again. */
#include "learn/train_log.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel/threads.h"
#include "base/plain.h"
#include "base/text.h"

static const char head[] =
    "step,seconds,reward,improvement,entropy,gradient_norm,learning_rate,"
    "evaluations,spread,valid\n";

/* Whether a row is of what was done before `state`; `end` is its newline. */
static bool is_done(const char *row, const char *end,
                    const regal_train_state *state) {
  uint64_t step = strtoull(row, NULL, 10);
  bool of_validation = end > row && end[-1] != ',';
  return step < state->step ||
         (step == state->step &&
          (!of_validation || state->next_validation > step));
}

/* How much of an old log is of what was done before `state`. */
static size_t kept_bytes(const regal_text *old,
                         const regal_train_state *state) {
  const char *at = old->bytes + sizeof head - 1, *end = old->bytes + old->size;
  if (old->size < sizeof head - 1)
    return 0;
  while (at < end) {
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line || !is_done(at, line, state))
      break;
    at = line + 1;
  }
  return (size_t)(at - old->bytes);
}

static regal_status trim(regal_context *context, const char *path,
                         const regal_train_state *state) {
  regal_text old;
  if (access(path, F_OK) != 0)
    return REGAL_OK; /* there is none: begin one */
  REGAL_TRY(regal_read_file(context, path, &old));
  size_t known = old.size < sizeof head - 1 ? old.size : sizeof head - 1;
  regal_status status = REGAL_OK;
  if (memcmp(old.bytes, head, known) != 0) {
    status = regal_fail(context, REGAL_BAD_INPUT,
                        "%s: this is no log of a training run", path);
  } else {
    old.size = kept_bytes(&old, state);
    status = regal_text_save(context, &old, path);
  }
  regal_text_free(&old);
  return status;
}

static regal_status open_log(regal_context *context, const char *path,
                             const char *mode, regal_train_log *log) {
  *log = (regal_train_log){.flushed = regal_seconds()};
  if (!path[0])
    return REGAL_OK;
  log->file = fopen(path, mode);
  if (!log->file)
    return regal_fail_system(context, path);
  log->whole = fseek(log->file, 0, SEEK_END) ? -1 : ftell(log->file);
  if (log->whole <= 0)
    fputs(head, log->file);
  return REGAL_OK;
}

regal_status regal_train_log_begin(regal_context *context, const char *path,
                                   regal_train_log *log) {
  return open_log(context, path, "w", log);
}

regal_status regal_train_log_continue(regal_context *context, const char *path,
                                      const regal_train_state *state,
                                      regal_train_log *log) {
  if (path[0])
    REGAL_TRY(trim(context, path, state));
  return open_log(context, path, "a", log);
}

/* Whether all rows so far are in the file. Keeps the reason if not: what the
 * next call leaves in errno is another one. */
static bool flush(regal_train_log *log) {
  if (!log->reason && fflush(log->file) != 0)
    log->reason = errno ? errno : EIO;
  if (!log->reason)
    log->whole = ftell(log->file);
  log->flushed = regal_seconds();
  return !log->reason;
}

static void end_row(regal_train_log *log, bool important) {
  if (!log->reason && ferror(log->file))
    log->reason = errno ? errno : EIO;
  if (important || regal_seconds() - log->flushed >= 1)
    flush(log);
}

static regal_status fail(regal_context *context, const char *path,
                         const regal_train_log *log) {
  errno = log->reason;
  return regal_fail_system(context, path);
}

/* As fprintf, with a decimal point. */
static void put(regal_train_log *log, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  regal_print_list(text, sizeof text, format, arguments);
  va_end(arguments);
  fputs(text, log->file);
}

void regal_train_log_step(regal_train_log *log, const regal_training *now) {
  if (!log->file)
    return;
  put(log, "%llu,%.3f,", (unsigned long long)now->step, now->seconds);
  if (now->imitating)
    put(log, ",,");
  else
    put(log, "%.6f,%.4f,", now->reward, now->improvement);
  put(log, "%.5f,%.5g,%.5g,%llu,", now->entropy, now->gradient_norm,
      now->learning_rate, (unsigned long long)now->evaluations);
  if (isfinite(now->spread))
    put(log, "%.4f", now->spread);
  put(log, ",\n");
  end_row(log, false);
}

void regal_train_log_valid(regal_train_log *log, const regal_training *now) {
  if (!log->file)
    return;
  put(log, "%llu,%.3f,,,,,,%llu,,%.4f\n", (unsigned long long)now->step,
      now->seconds, (unsigned long long)now->evaluations, now->valid);
  end_row(log, true);
}

/* What is no file on a disk, such as a pipe, cannot be synced: EINVAL. */
regal_status regal_train_log_sync(regal_context *context, const char *path,
                                  regal_train_log *log) {
  if (!log->file)
    return REGAL_OK;
  if (!flush(log))
    return fail(context, path, log);
  if (fsync(fileno(log->file)) != 0 && errno != EINVAL)
    return regal_fail_system(context, path);
  return REGAL_OK;
}

regal_status regal_train_log_close(regal_context *context, const char *path,
                                   regal_train_log *log) {
  if (!log->file)
    return REGAL_OK;
  FILE *file = log->file;
  log->file = NULL;
  if (fclose(file) != 0 && !log->reason)
    log->reason = errno;
  if (!log->reason)
    return REGAL_OK;
  regal_status status = fail(context, path, log);
  if (log->whole >= 0 && truncate(path, log->whole)) {
    /* the last row stays in part */
  }
  return status;
}
