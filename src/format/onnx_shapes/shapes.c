/* SPDX-License-Identifier: Apache-2.0 */
/* Runs ONNX's shape inference in a process of its own and reads the model with
 * its shapes back through a pipe.
 *
 * libonnx trusts its input: mutated models make it read through null pointers,
 * recurse without end (functions that call themselves) or double its memory
 * with every node (Concat of what it has propagated). A child with limits,
 * which can be given up, keeps all that away from the caller; nor can it keep
 * memory or print. The child reports in shared memory, since a caller that
 * ignores SIGCHLD leaves no exit status to wait for. What another thread forks
 * meanwhile, such as its own inference, holds the pipe open: it may have no
 * end, but the child has.
 *
 * All attempts for a model share one budget of seconds. A child ends with it,
 * and with its parent, whatever ends that.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parallel/threads.h"
#include "format/onnx_shapes/inference.h"

#define MOST_BYTES_OVERHEAD (UINT64_C(1) << 28)
#define MOST_BYTES_PER_BYTE 64
#define MILLISECONDS_BETWEEN_LOOKS 20

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
  uint64_t most_more; /* bytes of memory for the child, beyond our own */
  uint64_t most_used; /* the same, with our own */
  bool in_time;       /* before the deadline, and nobody asked to stop */
  bool too_large;     /* more memory than that */
  regal_onnx_budget budget;
  report *report; /* shared with the child */
  int pipe[2];    /* read by us, written by the child */
} inference;

/* The bytes that a process has reserved, and those in use. */
static bool read_memory(pid_t process, uint64_t *reserved, uint64_t *in_use) {
  char text[64], *at = text;
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  snprintf(text, sizeof text, "/proc/%ld/statm", (long)process);
  int file = open(text, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0)
    close(file);
  if (length <= 0)
    return false;
  text[length] = 0;
  *reserved = strtoull(at, &at, 10) * page;
  *in_use = strtoull(at, &at, 10) * page;
  return true;
}

/* -- The child ------------------------------------------------------------ */

static void limit(int resource, rlim_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) == 0 && most < now.rlim_cur) {
    now.rlim_cur = most;
    setrlimit(resource, &now);
  }
}

/* Memory beyond what the process has now. Sanitizers reserve terabytes, which
 * no limit can tell from use: under them only the parent watches. */
static void limit_memory(uint64_t most_more) {
  uint64_t now, in_use;
  if (read_memory(getpid(), &now, &in_use) && now < UINT64_C(1) << 40)
    limit(RLIMIT_AS, now + most_more);
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

/* A parent that is killed takes the child with it. */
static void die_with(pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent)
    _exit(0);
}

/* What the caller does about signals is not for the child to do. */
static void forget_handlers(void) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                SIGABRT, SIGINT, SIGTERM};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    signal(signals[i], SIG_DFL);
}

static _Noreturn void run_child(inference *inference, pid_t parent) {
  report *report = inference->report;
  die_with(parent);
  forget_handlers();
  close(inference->pipe[0]);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, (rlim_t)inference->budget.seconds + 1);
  limit_memory(inference->most_more);
  silence();
  report->status = regal_onnx_run_inference(
      inference->model, inference->size, inference->follow_sizes,
      inference->pipe[1], report->message, sizeof report->message);
  report->done = true;
  _exit(0);
}

/* -- The parent ----------------------------------------------------------- */

static bool is_too_large(inference *inference, pid_t child) {
  uint64_t reserved, in_use;
  inference->too_large = inference->most_used &&
                         read_memory(child, &reserved, &in_use) &&
                         in_use > inference->most_used;
  return inference->too_large;
}

/* It remains to be waited for, so that its number is not another's. */
static bool has_ended(pid_t child) {
  siginfo_t info = {.si_pid = 0};
  return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == child;
}

/* Reads until the pipe ends, or the child has ended and the pipe is empty;
 * false when it takes too long or too much memory, or the caller has asked to
 * stop. */
static bool read_model(inference *inference, pid_t child,
                       regal_text *inferred) {
  char bytes[1 << 14];
  bool ended = false;
  for (;;) {
    struct pollfd input = {.fd = inference->pipe[0], .events = POLLIN};
    int ready = poll(&input, 1, ended ? 0 : MILLISECONDS_BETWEEN_LOOKS);
    inference->in_time = regal_seconds() <= inference->budget.deadline &&
                         !regal_stop_requested(inference->context);
    if (!inference->in_time || is_too_large(inference, child))
      return false;
    if (ready == 0 && ended)
      return true;
    if (ready <= 0) {
      ended = has_ended(child);
      continue;
    }
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

static regal_status judge(const inference *inference, bool failed) {
  regal_context *context = inference->context;
  report *report = inference->report;
  report->message[sizeof report->message - 1] = 0;
  make_one_line(report->message);
  if (regal_stop_requested(context))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: stopped while its shapes were inferred",
                      inference->name);
  if (!inference->in_time)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: ONNX's shape inference did not end within %g s; a "
                      "model that carries all its shapes needs none",
                      inference->name, inference->budget.seconds);
  if (inference->too_large || report->status == REGAL_NO_MEMORY)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: ONNX's shape inference needs too much memory; a "
                      "model that carries all its shapes needs none",
                      inference->name);
  if (!report->done)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: ONNX's shape inference (libonnx) crashed on this "
                      "model; a model that carries all its shapes needs none",
                      inference->name);
  if (failed)
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
  bool whole = read_model(inference, child, inferred);
  close(inference->pipe[0]);
  if (!whole)
    kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
    continue;
  regal_status status = judge(inference, inferred->failed);
  if (status != REGAL_OK && inferred->size > before) {
    inferred->size = before;
    inferred->bytes[before] = 0;
  }
  return status;
}

static regal_status start(inference *inference, regal_text *inferred) {
  uint64_t reserved, in_use;
  *inference->report = (report){.done = false};
  if (read_memory(getpid(), &reserved, &in_use))
    inference->most_used = in_use + inference->most_more;
  if (pipe(inference->pipe) != 0)
    return regal_fail(inference->context, REGAL_IO,
                      "%s: no pipe for shape inference: %s", inference->name,
                      strerror(errno));
  pid_t parent = getpid(), child = fork();
  if (child == 0)
    run_child(inference, parent);
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
                                     regal_onnx_budget *budget,
                                     regal_text *inferred) {
  report *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return regal_fail_memory(context);
  if (!budget->deadline)
    budget->deadline = regal_seconds() + budget->seconds;
  inference inference = {.context = context,
                         .name = name,
                         .model = model,
                         .size = size,
                         .most_more = MOST_BYTES_OVERHEAD +
                                      (uint64_t)size * MOST_BYTES_PER_BYTE,
                         .follow_sizes = true,
                         .budget = *budget,
                         .report = shared};
  regal_status status = start(&inference, inferred);
  /* It is in following sizes that libonnx crashes, or takes all memory, on
   * models that are fine. */
  bool broke = !shared->done || shared->status == REGAL_NO_MEMORY;
  if (status == REGAL_BAD_INPUT && broke && inference.in_time) {
    inference.follow_sizes = false;
    status = start(&inference, inferred);
  }
  munmap(shared, sizeof *shared);
  return status;
}
