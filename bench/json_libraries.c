/* SPDX-License-Identifier: Apache-2.0 */
/* bench_json_libraries: what reading a large JSON graph takes, by our parser
 * and by the C libraries of Debian 12 (docs/formats.md has the table).
 *
 *   build/bench/bench_json_libraries [OPS]     a million ops if not given
 *
 * Each library is loaded at run time if it is installed (libjansson4,
 * libjson-c5, libcjson1) and only makes its document of the file; regal also
 * makes the graph. Each runs in a process of its own, whose largest memory and
 * CPU time are printed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dataset/synthetic/synthetic.h"

static void *symbol_of(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_NOW);
  void *symbol = handle ? dlsym(handle, name) : NULL;
  if (!symbol)
    exit(3);
  return symbol;
}

static bool read_jansson(const char *path) {
  void *(*load)(const char *, size_t, void *);
  *(void **)&load = symbol_of("libjansson.so.4", "json_load_file");
  return load(path, 0, NULL) != NULL;
}

static bool read_json_c(const char *path) {
  void *(*load)(const char *);
  *(void **)&load = symbol_of("libjson-c.so.5", "json_object_from_file");
  return load(path) != NULL;
}

static bool read_cjson(const char *path) {
  void *(*parse)(const char *, size_t);
  *(void **)&parse = symbol_of("libcjson.so.1", "cJSON_ParseWithLength");
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0)
    return false;
  size_t size = (size_t)ftell(file);
  char *text = malloc(size);
  rewind(file);
  return text && fread(text, 1, size, file) == size && parse(text, size);
}

static bool read_regal(const char *path) {
  regal_context *context;
  regal_graph *graph;
  return regal_context_create(&context, NULL) == REGAL_OK &&
         regal_graph_load(context, path, NULL, &graph) == REGAL_OK;
}

/* Runs one reader in a child. What it made is left to the end of the child. */
static void measure(const char *name, bool (*read)(const char *),
                    const char *path) {
  struct rusage usage;
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0)
    _exit(read(path) ? 0 : 2);
  if (child < 0 || wait4(child, &status, 0, &usage) != child)
    return;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    bool absent = WIFEXITED(status) && WEXITSTATUS(status) == 3;
    printf("%-24s %s\n", name, absent ? "not installed" : "failed");
    return;
  }
  double seconds =
      (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
      1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  printf("%-24s %6.2f GB %6.1f s\n", name, (double)usage.ru_maxrss / 1e6,
         seconds);
}

static uint32_t ops = 1000000;

/* In a child, so that the memory of making the file is not inherited. */
static bool write_graph(const char *path) {
  regal_context *context;
  regal_graph *graph;
  return regal_context_create(&context, NULL) == REGAL_OK &&
         regal_layered_graph(context, ops, 100, 3, 1, &graph) == REGAL_OK &&
         regal_graph_save(context, graph, path, REGAL_GRAPH_JSON) == REGAL_OK;
}

int main(int argc, char **argv) {
  char folder[] = "/tmp/bench_json_XXXXXX", path[64];
  if (!mkdtemp(folder))
    return 2;
  if (argc > 1)
    ops = (uint32_t)strtoul(argv[1], NULL, 10);
  snprintf(path, sizeof path, "%s/graph.json", folder);
  measure("regal, writing the file", write_graph, path);
  measure("jansson, document", read_jansson, path);
  measure("json-c, document", read_json_c, path);
  measure("cJSON, document", read_cjson, path);
  measure("regal, graph", read_regal, path);
  unlink(path);
  rmdir(folder);
  return 0;
}
