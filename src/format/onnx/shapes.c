/* SPDX-License-Identifier: Apache-2.0 */
/* Runs ONNX's shape inference in a process of its own and reads the model with
 * its shapes back through a pipe.
 *
 * libonnx trusts its input: mutated models make it read through null pointers,
 * recurse without end (functions that call themselves) or double its memory
 * with every node (Concat of what it has propagated). A child with limits,
 * which can be given up, keeps all that away from the caller; nor can it keep
 * memory or print. The child reports in shared memory, since a caller that
 * ignores SIGCHLD leaves no exit status to wait for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parallel/threads.h"
#include "format/onnx/inference.h"

#define MOST_SECONDS 120
#define MOST_BYTES_OVERHEAD (UINT64_C(1) << 29)
#define MOST_BYTES_PER_BYTE 64

/* What the child says in the end. */
typedef struct report {
  bool done; /* false: it did not come to its end */
  regal_status status;
  char message[REGAL_MESSAGE_CAPACITY / 2];
} report;

typedef struct inference {
  regal_context *context;
  const char *name;
  const void *model;
  size_t size;
  bool follow_sizes;
  report *report; /* shared with the child */
  int pipe[2];    /* read by us, written by the child */
} inference;

/* -- The child ------------------------------------------------------------ */

static void limit(int resource, rlim_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) == 0 && most < now.rlim_cur) {
    now.rlim_cur = most;
    setrlimit(resource, &now);
  }
}

/* Memory beyond what the process has now. Sanitizers reserve terabytes, which
 * no limit can tell from use: under them there is none. */
static void limit_memory(size_t model_size) {
  char text[64];
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0)
    close(file);
  if (length <= 0)
    return;
  text[length] = 0;
  uint64_t now = strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
  if (now < UINT64_C(1) << 40)
    limit(RLIMIT_AS, now + MOST_BYTES_OVERHEAD +
                         (uint64_t)model_size * MOST_BYTES_PER_BYTE);
}

/* What libonnx and the C++ runtime print when they abort is not for the
 * caller's terminal. */
static void silence(void) {
  int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere < 0)
    return;
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

static _Noreturn void run_child(inference *inference) {
  report *report = inference->report;
  close(inference->pipe[0]);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, MOST_SECONDS);
  limit_memory(inference->size);
  silence();
  report->status = regal_onnx_run_inference(
      inference->model, inference->size, inference->follow_sizes,
      inference->pipe[1], report->message, sizeof report->message);
  report->done = true;
  _exit(0);
}

/* -- The parent ----------------------------------------------------------- */

/* Reads until the child closes the pipe; false when it takes too long or the
 * caller has asked to stop. */
static bool read_model(inference *inference, regal_text *inferred) {
  char bytes[1 << 14];
  double deadline = regal_seconds() + MOST_SECONDS;
  for (;;) {
    struct pollfd input = {.fd = inference->pipe[0], .events = POLLIN};
    int ready = poll(&input, 1, 100);
    if (regal_seconds() > deadline || regal_stop_requested(inference->context))
      return false;
    if (ready <= 0)
      continue;
    ssize_t length = read(inference->pipe[0], bytes, sizeof bytes);
    if (length == 0)
      return true;
    if (length > 0)
      regal_text_append(inferred, bytes, (size_t)length);
    else if (errno != EINTR)
      return false;
  }
}

/* Control characters become spaces: a message is one line. */
static void make_one_line(char *message) {
  size_t length = strlen(message);
  while (length && (unsigned char)message[length - 1] <= ' ')
    message[--length] = 0;
  for (char *at = message; *at; at++)
    if ((unsigned char)*at < ' ' || *at == 127)
      *at = ' ';
}

static regal_status judge(inference *inference, bool in_time, bool failed) {
  regal_context *context = inference->context;
  report *report = inference->report;
  report->message[sizeof report->message - 1] = 0;
  make_one_line(report->message);
  if (regal_stop_requested(context))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: stopped while its shapes were inferred",
                      inference->name);
  if (!in_time)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: ONNX's shape inference did not end within %d s",
                      inference->name, MOST_SECONDS);
  if (!report->done)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: ONNX's shape inference (libonnx) crashed on this "
                      "model; a model that carries all its shapes needs none",
                      inference->name);
  if (failed || report->status == REGAL_NO_MEMORY)
    return regal_fail_memory(context);
  if (report->status != REGAL_OK)
    return regal_fail(context, report->status, "%s: shape inference: %s",
                      inference->name, report->message);
  return REGAL_OK;
}

static regal_status run_parent(inference *inference, pid_t child,
                               regal_text *inferred) {
  size_t before = inferred->size;
  close(inference->pipe[1]);
  bool in_time = read_model(inference, inferred);
  close(inference->pipe[0]);
  if (!in_time)
    kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
    continue;
  regal_status status = judge(inference, in_time, inferred->failed);
  if (status != REGAL_OK && inferred->size > before) {
    inferred->size = before;
    inferred->bytes[before] = 0;
  }
  return status;
}

static regal_status start(inference *inference, regal_text *inferred) {
  if (pipe(inference->pipe) != 0)
    return regal_fail(inference->context, REGAL_IO,
                      "%s: no pipe for shape inference: %s", inference->name,
                      strerror(errno));
  pid_t child = fork();
  if (child == 0)
    run_child(inference);
  if (child < 0) {
    close(inference->pipe[0]);
    close(inference->pipe[1]);
    return regal_fail(inference->context, REGAL_IO,
                      "%s: no process for shape inference: %s", inference->name,
                      strerror(errno));
  }
  return run_parent(inference, child, inferred);
}

int64_t regal_onnx_known_opset(void) {
  return regal_onnx_newest_opset();
}

regal_status regal_onnx_infer_shapes(regal_context *context, const char *name,
                                     const void *model, size_t size,
                                     regal_text *inferred) {
  report *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return regal_fail_memory(context);
  inference inference = {.context = context,
                         .name = name,
                         .model = model,
                         .size = size,
                         .follow_sizes = true,
                         .report = shared};
  regal_status status = start(&inference, inferred);
  /* It is in following sizes that libonnx crashes on models that are fine. */
  if (status == REGAL_BAD_INPUT && !shared->done &&
      !regal_stop_requested(context)) {
    inference.follow_sizes = false;
    status = start(&inference, inferred);
  }
  munmap(shared, sizeof *shared);
  return status;
}
