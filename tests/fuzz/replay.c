/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over all files of some folders: replay FOLDER... Each is
 * in a block of just its size, so that a sanitizer or valgrind sees a read past
 * its end. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <string.h>

#include "fuzz/fuzz.h"

static void replay(const char *path) {
  FILE *file = fopen(path, "rb");
  FUZZ_CHECK(file);
  FUZZ_CHECK(fseek(file, 0, SEEK_END) == 0);
  long size = ftell(file);
  FUZZ_CHECK(size >= 0 && fseek(file, 0, SEEK_SET) == 0);
  uint8_t *bytes = malloc(size ? (size_t)size : 1);
  FUZZ_CHECK(bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  LLVMFuzzerTestOneInput(bytes, (size_t)size);
  free(bytes);
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

/* The number of files replayed. */
static int replay_folder(const char *folder) {
  struct dirent **entries;
  int count = scandir(folder, &entries, NULL, by_name), replayed = 0;
  FUZZ_CHECK(count >= 0);
  for (int i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    if (entries[i]->d_type == DT_REG) {
      replay(path);
      replayed++;
    }
    free(entries[i]);
  }
  free(entries);
  return replayed;
}

int main(int argc, char **argv) {
  int replayed = 0;
  for (int i = 1; i < argc; i++)
    replayed += replay_folder(argv[i]);
  /* Not stdout: a target may have put that aside. */
  fprintf(stderr, "%d inputs replayed\n", replayed);
  return replayed == 0;
}
