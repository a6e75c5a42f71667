/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a run as CSV. A resumed run first cuts off the rows of steps that
 * it will take again. */
#include "learn/train_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel/threads.h"
#include "base/text.h"

static const char head[] =
    "step,seconds,reward,improvement,entropy,gradient_norm,learning_rate,"
    "evaluations,valid\n";

/* How much of an old log is of steps up to `step`. */
static size_t kept_bytes(const regal_text *old, uint64_t step) {
  const char *at = old->bytes, *end = old->bytes + old->size;
  if (old->size < sizeof head - 1 || memcmp(at, head, sizeof head - 1) != 0)
    return 0;
  at += sizeof head - 1;
  while (at < end) {
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line || strtoull(at, NULL, 10) > step)
      break;
    at = line + 1;
  }
  return (size_t)(at - old->bytes);
}

static regal_status trim(regal_context *context, const char *path,
                         uint64_t step) {
  regal_text old;
  if (regal_read_file(context, path, &old) != REGAL_OK)
    return REGAL_OK; /* there is none: begin one */
  old.size = kept_bytes(&old, step);
  if (old.size)
    old.bytes[old.size] = 0;
  regal_status status = regal_text_save(context, &old, path);
  regal_text_free(&old);
  return status;
}

regal_status regal_train_log_open(regal_context *context, const char *path,
                                  bool resume, uint64_t step,
                                  regal_train_log *log) {
  *log = (regal_train_log){.flushed = regal_seconds()};
  if (!path[0])
    return REGAL_OK;
  if (resume)
    REGAL_TRY(trim(context, path, step));
  log->file = fopen(path, resume ? "a" : "w");
  if (!log->file)
    return regal_fail_system(context, path);
  if (fseek(log->file, 0, SEEK_END) || ftell(log->file) == 0)
    fputs(head, log->file);
  return REGAL_OK;
}

static void flush_sometimes(regal_train_log *log) {
  double now = regal_seconds();
  if (now - log->flushed < 1)
    return;
  fflush(log->file);
  log->flushed = now;
}

void regal_train_log_step(regal_train_log *log, const regal_training *now) {
  if (!log->file)
    return;
  fprintf(log->file, "%llu,%.3f,", (unsigned long long)now->step, now->seconds);
  if (now->imitating)
    fputs(",,", log->file);
  else
    fprintf(log->file, "%.6f,%.4f,", now->reward, now->improvement);
  fprintf(log->file, "%.5f,%.5g,%.5g,%llu,\n", now->entropy, now->gradient_norm,
          now->learning_rate, (unsigned long long)now->evaluations);
  flush_sometimes(log);
}

void regal_train_log_valid(regal_train_log *log, const regal_training *now) {
  if (!log->file)
    return;
  fprintf(log->file, "%llu,%.3f,,,,,,%llu,%.4f\n",
          (unsigned long long)now->step, now->seconds,
          (unsigned long long)now->evaluations, now->valid);
  fflush(log->file);
}

regal_status regal_train_log_close(regal_context *context, const char *path,
                                   regal_train_log *log) {
  if (!log->file)
    return REGAL_OK;
  bool failed = ferror(log->file) != 0;
  if (fclose(log->file) != 0 || failed)
    return regal_fail_system(context, path);
  log->file = NULL;
  return REGAL_OK;
}
