/* SPDX-License-Identifier: Apache-2.0 */
/* bench_archive: an archive of many graphs: how fast it opens, and how fast its
 * graphs stream.
 *
 *   build/bench/bench_archive [GRAPHS [THREADS]]
 *
 * Makes GRAPHS (100000) graphs of the paper's recipe, packs them with an index
 * into one zip archive in a temporary folder, then opens it, reads every file,
 * and reads and decodes every graph, on one thread and on THREADS (2). Only a
 * few hundred of the graphs differ; each is packed under many names. The
 * archive is in the page cache, as a second epoch finds it.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/parallel/threads.h"
#include "dataset/archive/catalog.h"
#include "dataset/figures.h"
#include "dataset/synthetic/synthetic.h"

#define DISTINCT 256

typedef struct bench {
  regal_context *context;
  size_t graphs;
  regal_text files[DISTINCT];
  regal_figures figures[DISTINCT];
  char (*names)[32]; /* [graphs] */
} bench;

static void check(regal_context *context, regal_status status) {
  if (status == REGAL_OK)
    return;
  fprintf(stderr, "bench_archive: %s\n", regal_error(context));
  exit(2);
}

/* -- Making it ------------------------------------------------------------- */

static void make_graphs(bench *b, const char *path) {
  b->names = regal_alloc(b->context, b->graphs, sizeof *b->names);
  if (!b->names)
    check(b->context, regal_fail_memory(b->context));
  for (size_t i = 0; i < b->graphs; i++)
    snprintf(b->names[i], sizeof *b->names, "train/graph_%08zu.pb",
             i % 100000000);
  for (uint32_t i = 0; i < DISTINCT; i++) {
    regal_graph *graph;
    check(b->context,
          regal_synthetic_graph(b->context,
                                (regal_graph_model)(i % REGAL_GRAPH_MODELS), 0,
                                i, &graph));
    check(b->context,
          regal_graph_save(b->context, graph, path, REGAL_GRAPH_BINARY));
    check(b->context, regal_read_file(b->context, path, &b->files[i]));
    check(b->context, regal_figures_of(b->context, graph, &b->figures[i]));
    b->figures[i].file_bytes = b->files[i].size;
    regal_graph_free(graph);
  }
}

static const char *name_of(void *state, size_t file) {
  bench *b = state;
  if (!file)
    return REGAL_INDEX_FILE;
  return b->names[file - 1];
}

static regal_status write_index(bench *b, regal_text *text) {
  regal_index_write_header(text);
  for (size_t i = 0; i < b->graphs; i++) {
    char name[32];
    snprintf(name, sizeof name, "graph_%08zu", i);
    regal_entry entry = {.name = name,
                         .file = b->names[i],
                         .split = "train",
                         .family = "",
                         .reading = "",
                         .source = "synthetic",
                         .known = true,
                         .figures = b->figures[i % DISTINCT]};
    regal_index_write_row(text, &entry);
  }
  return text->failed ? REGAL_NO_MEMORY : REGAL_OK;
}

static regal_status read_file(void *state, size_t file, regal_text *text) {
  bench *b = state;
  regal_text_init(text, b->context);
  if (!file)
    return write_index(b, text);
  const regal_text *from = &b->files[(file - 1) % DISTINCT];
  regal_text_append(text, from->bytes, from->size);
  return text->failed ? REGAL_NO_MEMORY : REGAL_OK;
}

/* -- Reading it ------------------------------------------------------------ */

typedef struct stream {
  regal_catalog *catalog;
  regal_context *contexts[64];
  uint64_t bytes[64];
  bool decode;
} stream;

static void read_one(void *state, size_t item, int thread) {
  stream *s = state;
  regal_context *context = s->contexts[thread];
  size_t member = s->catalog->index.rows[item].member;
  regal_figures figures = {0};
  if (s->decode) {
    regal_graph *graph;
    check(context,
          regal_member_load(s->catalog->archive, context, member,
                            &regal_blank_entry, 0, NULL, &figures, &graph));
    regal_graph_free(graph);
  } else {
    regal_text text;
    check(context,
          regal_archive_read(s->catalog->archive, context, member, &text));
    figures.file_bytes = text.size;
    regal_text_free(&text);
  }
  s->bytes[thread] += figures.file_bytes;
}

/* Of all threads: what other processes do is not in it. */
static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void measure(bench *b, regal_catalog *catalog, int threads,
                    bool decode) {
  stream s = {.catalog = catalog, .decode = decode};
  regal_pool *pool;
  check(b->context, regal_pool_create(b->context, threads, &pool));
  for (int i = 0; i < threads; i++)
    check(b->context, regal_context_create(&s.contexts[i], NULL));
  double began = regal_seconds(), cpu = cpu_seconds();
  regal_pool_run(pool, b->graphs, read_one, &s);
  double took = regal_seconds() - began;
  cpu = cpu_seconds() - cpu;
  uint64_t bytes = 0;
  for (int i = 0; i < threads; i++) {
    bytes += s.bytes[i];
    regal_context_free(s.contexts[i]);
  }
  regal_pool_free(pool);
  printf("%-22s %d thread%s  %7.2f s  %7.1f MB/s  %7.2f s  %7.1f MB/s\n",
         decode ? "files and graphs" : "files", threads,
         threads > 1 ? "s" : " ", took, 1e-6 * (double)bytes / took, cpu,
         1e-6 * (double)bytes / cpu);
}

static void run(bench *b, const char *path, int threads) {
  regal_archive_files files = {b->graphs + 1, name_of, read_file, b};
  double began = regal_seconds();
  check(b->context, regal_archive_write(b->context, path, &files));
  struct stat info;
  if (stat(path, &info))
    exit(2);
  printf("%zu graphs packed in %.1f s: %.1f MB\n", b->graphs,
         regal_seconds() - began, 1e-6 * (double)info.st_size);
  regal_catalog *catalog;
  double cpu = cpu_seconds();
  began = regal_seconds();
  check(b->context, regal_catalog_open(b->context, path, &catalog));
  printf("%-33s %-20s  %s\n", "", "elapsed", "time of all threads");
  printf("%-33s %7.2f s                %7.2f s\n", "opened, with its index",
         regal_seconds() - began, cpu_seconds() - cpu);
  for (int decode = 0; decode < 2; decode++) {
    measure(b, catalog, 1, decode);
    if (threads > 1)
      measure(b, catalog, threads, decode);
  }
  regal_catalog_free(catalog);
}

int main(int argc, char **argv) {
  static bench b;
  int threads = argc > 2 ? atoi(argv[2]) : 2;
  char folder[] = "/tmp/regal-archive-XXXXXX", path[64];
  b.graphs = argc > 1 ? (size_t)atol(argv[1]) : 100000;
  if (threads < 1 || threads > 64 || !b.graphs || !mkdtemp(folder))
    return 1;
  check(NULL, regal_context_create(&b.context, NULL));
  snprintf(path, sizeof path, "%s/graphs.zip", folder);
  make_graphs(&b, path);
  run(&b, path, threads);
  unlink(path);
  rmdir(folder);
  for (int i = 0; i < DISTINCT; i++)
    regal_text_free(&b.files[i]);
  regal_release(b.context, b.names);
  regal_context_free(b.context);
  return 0;
}
