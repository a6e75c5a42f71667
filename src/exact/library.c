/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen takes about .05 s: the library comes with a hundred others beside it.
 * It brings its own protobuf, of another version than the one that libonnx may
 * have loaded into this program, so its symbols must be looked up in it first
 * (RTLD_DEEPBIND). Sanitizers forbid that; they find the wrong one at worst in
 * a build with libonnx.
 */
#define _GNU_SOURCE
#include "exact/solve.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif
#if defined(SANITIZED) || !defined(RTLD_DEEPBIND)
#define OPEN_FLAGS (RTLD_LAZY | RTLD_LOCAL)
#else
#define OPEN_FLAGS (RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

#define PATH_ROOM 4096

/* Where the library is inside a folder: beside a program, in the Python
 * package, in site-packages, in a virtual environment. */
static const char *const inside[] = {
    "libortools.so*",
    "lib/libortools.so*",
    ".libs/libortools.so*",
    "ortools/.libs/libortools.so*",
    "lib/python3*/site-packages/ortools/.libs/libortools.so*",
};

static bool is_folder(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* The first that the loader takes. */
static void *open_in_folder(const char *folder) {
  void *handle = NULL;
  for (size_t i = 0; !handle && i < sizeof inside / sizeof *inside; i++) {
    char pattern[PATH_ROOM];
    glob_t found;
    int used = snprintf(pattern, sizeof pattern, "%s/%s", folder, inside[i]);
    if (used < 0 || (size_t)used >= sizeof pattern ||
        glob(pattern, 0, NULL, &found) != 0)
      continue;
    for (size_t k = 0; !handle && k < found.gl_pathc; k++)
      handle = dlopen(found.gl_pathv[k], OPEN_FLAGS);
    globfree(&found);
  }
  return handle;
}

/* Where scripts/setup.sh puts it. */
static void *open_in_cache(void) {
  char folder[PATH_ROOM];
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int used = -1;
  if (cache && cache[0])
    used = snprintf(folder, sizeof folder, "%s/regal/ortools", cache);
  else if (home && home[0])
    used = snprintf(folder, sizeof folder, "%s/.cache/regal/ortools", home);
  if (used < 0 || (size_t)used >= sizeof folder)
    return NULL;
  return open_in_folder(folder);
}

static void *open_named(const char *path) {
  return is_folder(path) ? open_in_folder(path) : dlopen(path, OPEN_FLAGS);
}

static void *open_anywhere(void) {
  void *handle = dlopen("libortools.so.9", OPEN_FLAGS);
  if (!handle)
    handle = dlopen("libortools.so", OPEN_FLAGS);
  return handle ? handle : open_in_cache();
}

/* The names of the calls around an interruptible solve differ by version. */
static const struct {
  const char *create, *stop, *destroy;
} dialects[] = {
    {"SolveCpNewEnv", "SolveCpStopSearch", "SolveCpDestroyEnv"}, /* 9.15 */
    {"SolveCpNewAtomicBool", "SolveCpStopSolve",
     "SolveCpDestroyAtomicBool"}, /* 9.12 */
};

/* POSIX lets an object pointer be a function's, ISO C does not know of it. */
static bool find(void *handle, const char *name, void *function) {
  void *symbol = dlsym(handle, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool bind(void *handle, regal_cp_library *library) {
  *library = (regal_cp_library){NULL, NULL, NULL, NULL, NULL};
  if (!find(handle, "SolveCpModelWithParameters", &library->solve))
    return false;
  bool stoppable = false;
  for (size_t i = 0; !stoppable && i < sizeof dialects / sizeof *dialects; i++)
    stoppable = find(handle, dialects[i].create, &library->create) &&
                find(handle, dialects[i].stop, &library->stop) &&
                find(handle, dialects[i].destroy, &library->destroy) &&
                find(handle, "SolveCpInterruptible", &library->interruptible);
  if (!stoppable)
    library->interruptible = NULL;
  return true;
}

/* The loader's message names the file. */
static regal_status fail_named(regal_context *context, const char *from,
                               const char *path) {
  const char *why = dlerror();
  if (why)
    return regal_fail(context, REGAL_BAD_INPUT, "%s: %s", from, why);
  return regal_fail(context, REGAL_BAD_INPUT,
                    "%s: %s: OR-tools' library, libortools.so, is not in this "
                    "folder",
                    from, path);
}

regal_status regal_cp_library_open(regal_context *context, const char *path,
                                   regal_cp_library *library) {
  const char *variable = getenv("REGAL_ORTOOLS"), *from = "--ortools";
  if (!path[0] && variable && variable[0]) {
    path = variable;
    from = "REGAL_ORTOOLS";
  }
  dlerror(); /* forgets what others failed at */
  void *handle = path[0] ? open_named(path) : open_anywhere();
  if (!handle && path[0])
    return fail_named(context, from, path);
  if (!handle)
    return regal_fail(
        context, REGAL_BAD_INPUT,
        "--method cp-sat: OR-tools' library is not there; get it by "
        "'scripts/setup.sh ortools', or name its file or folder with "
        "--ortools");
  if (!bind(handle, library))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%s: %s: has no SolveCpModelWithParameters, so it is "
                      "not OR-tools' library, or too old",
                      from, path[0] ? path : "libortools.so");
  return REGAL_OK;
}
