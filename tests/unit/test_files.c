/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files: read, inflated, limited in size, saved whole or not at all. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "base/text.h"
#include "support/failing_allocator.h"
#include "support/files.h"

static regal_context *context;

static int set_up(void **state) {
  return files_enter(state) || regal_context_create(&context, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  assert_int_equal(regal_bytes_in_use(context), 0);
  regal_context_free(context);
  return files_leave(state);
}

/* -- Reading and writing --------------------------------------------------- */

static void check_read(const char *path, const void *bytes, size_t size) {
  regal_text text;
  if (regal_read_file(context, path, &text) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  assert_int_equal(text.size, size);
  assert_memory_equal(text.bytes, bytes, size);
  assert_int_equal(text.bytes[size], 0);
  regal_text_free(&text);
}

static void check_refused(const char *path, regal_status status,
                          const char *message) {
  regal_text text;
  assert_int_equal(regal_read_file(context, path, &text), status);
  assert_string_equal(regal_error(context), message);
  assert_null(text.bytes);
}

static void reads_files(void **state) {
  (void)state;
  files_write("empty", "", 0);
  files_write("plain", "a\0b", 3);
  check_read("empty", "", 0);
  check_read("plain", "a\0b", 3);
  check_refused("none", REGAL_IO, "none: No such file or directory");
  check_refused(".", REGAL_IO, ".: is a directory, expected a file");
}

#define MARK "\xEF\xBB\xBF"

/* As editors and spreadsheets of Windows write it. */
static void drops_byte_order_marks(void **state) {
  (void)state;
  files_write("marked", MARK "name", 7);
  files_write("twice", MARK MARK, 6);
  files_write("part", "\xEF\xBB", 2);
  check_read("marked", "name", 4);
  check_read("twice", MARK, 3);
  check_read("part", "\xEF\xBB", 2);
  gzFile packed = gzopen("packed", "wb");
  assert_int_equal(gzwrite(packed, MARK "{}", 5), 5);
  assert_int_equal(gzclose(packed), Z_OK);
  check_read("packed", "{}", 2);
}

static void reads_standard_input(void **state) {
  (void)state;
  int keep = dup(STDIN_FILENO), ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], "piped", 5), 5);
  close(ends[1]);
  dup2(ends[0], STDIN_FILENO);
  check_read("-", "piped", 5);
  dup2(keep, STDIN_FILENO);
  close(ends[0]);
  close(keep);
}

static size_t count_entries(void) {
  FILE *list = popen("ls -A | wc -l", "r");
  size_t count = 0;
  assert_int_equal(fscanf(list, "%zu", &count), 1);
  pclose(list);
  return count;
}

static void save(const char *path, const char *bytes, regal_status expected) {
  regal_text text;
  regal_text_init(&text, context);
  regal_text_append(&text, bytes, strlen(bytes));
  assert_int_equal(regal_text_save(context, &text, path), expected);
  regal_text_free(&text);
}

static void saves_files_whole_or_not(void **state) {
  (void)state;
  struct stat info;
  size_t before = count_entries();
  save("new", "first", REGAL_OK);
  check_read("new", "first", 5);
  assert_int_equal(chmod("new", 0640), 0);
  save("new", "second", REGAL_OK);
  check_read("new", "second", 6);
  assert_int_equal(stat("new", &info), 0);
  assert_int_equal(info.st_mode & 0777, 0640);
  assert_int_equal(symlink("new", "link"), 0);
  save("link", "third", REGAL_OK);
  check_read("new", "third", 5);
  assert_int_equal(lstat("link", &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(symlink("made", "dangling"), 0);
  assert_int_equal(symlink("dangling", "chain"), 0);
  save("chain", "fourth", REGAL_OK);
  check_read("made", "fourth", 6);
  assert_int_equal(lstat("chain", &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(symlink("loop", "loop"), 0);
  save("loop", "fifth", REGAL_IO);
  assert_string_equal(regal_error(context),
                      "loop: Too many levels of symbolic links");
  save("/dev/null", "gone", REGAL_OK);
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
  save("no/such/folder", "x", REGAL_IO);
  assert_string_equal(regal_error(context),
                      "no/such/folder: No such file or directory");
  save(".", "x", REGAL_IO);
  assert_string_equal(regal_error(context),
                      ".: is a directory, expected a file");
  assert_int_equal(count_entries(), before + 6);
}

/* As long as a name may be; temporary names are not longer. */
static void saves_long_names(void **state) {
  (void)state;
  char name[257];
  memset(name, 'n', 256);
  for (size_t length = 200; length <= 255; length++) {
    name[length] = 0;
    save(name, "x", REGAL_OK);
    check_read(name, "x", 1);
    unlink(name);
    name[length] = 'n';
  }
  name[256] = 0;
  save(name, "x", REGAL_IO);
  assert_int_equal(regal_file_save(context, "whole", "a\0b", 3), REGAL_OK);
  check_read("whole", "a\0b", 3);
  assert_int_equal(regal_file_save(context, NULL, "a", 1), REGAL_MISUSE);
}

static void reports_full_disks(void **state) {
  (void)state;
  if (access("/dev/full", W_OK))
    skip();
  save("/dev/full", "x", REGAL_IO);
  assert_string_equal(regal_error(context),
                      "/dev/full: No space left on device");
}

/* -- Compressed input ------------------------------------------------------ */

static size_t gzip(const char *bytes, size_t size, unsigned char *out,
                   size_t capacity) {
  z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes,
                .avail_in = (uInt)size,
                .next_out = out,
                .avail_out = (uInt)capacity};
  assert_int_equal(
      deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  size_t made = z.total_out;
  deflateEnd(&z);
  return made;
}

static const char content[] = "node { name: \"a\" } node { name: \"b\" }";
#define SIZE (sizeof content - 1)

static void inflates_gzip(void **state) {
  (void)state;
  unsigned char out[512];
  char twice[2 * SIZE + 1];
  size_t one = gzip(content, SIZE, out, sizeof out);
  files_write("one.gz", out, one);
  check_read("one.gz", content, SIZE);
  size_t two = one + gzip(content, SIZE, out + one, sizeof out - one);
  memset(out + two, 0, 16);
  files_write("two.gz", out, two + 16);
  snprintf(twice, sizeof twice, "%s%s", content, content);
  check_read("two.gz", twice, 2 * SIZE);
  for (size_t size = 2; size < one; size++) {
    files_write("cut.gz", out, size);
    check_refused("cut.gz", REGAL_BAD_INPUT, "cut.gz: gzip data is truncated");
  }
  files_write("cut.gz", out, two - 1);
  check_refused("cut.gz", REGAL_BAD_INPUT, "cut.gz: gzip data is truncated");
  memcpy(out + one, "junk", 4);
  files_write("junk.gz", out, one + 4);
  check_refused("junk.gz", REGAL_BAD_INPUT,
                "junk.gz: gzip data is corrupt: something follows its end");
  out[one - 5] ^= 1; /* the checksum */
  files_write("bad.gz", out, one);
  check_refused("bad.gz", REGAL_BAD_INPUT,
                "bad.gz: gzip data is corrupt: incorrect data check");
}

static void inflates_zstd(void **state) {
  (void)state;
  unsigned char out[1024];
  char twice[2 * SIZE + 1];
  size_t one = ZSTD_compress(out, sizeof out, content, SIZE, 3);
  files_write("one.zst", out, one);
  check_read("one.zst", content, SIZE);
  size_t two =
      one + ZSTD_compress(out + one, sizeof out - one, content, SIZE, 3);
  files_write("two.zst", out, two);
  snprintf(twice, sizeof twice, "%s%s", content, content);
  check_read("two.zst", twice, 2 * SIZE);
  for (size_t size = 4; size < one; size++) {
    files_write("cut.zst", out, size);
    check_refused("cut.zst", REGAL_BAD_INPUT,
                  "cut.zst: zstd data is truncated");
  }
  out[4] |= 8; /* a reserved bit of the header */
  files_write("bad.zst", out, one);
  check_refused("bad.zst", REGAL_BAD_INPUT,
                "bad.zst: zstd data is corrupt: Unsupported frame parameter");
}

/* 4 MB and 200 MB of zeros: the first is within 4 MiB + 1000 times. */
static void refuses_bombs(void **state) {
  (void)state;
  size_t size = 200000000, fine = 4000000;
  char *zeros = calloc(size, 1);
  unsigned char *out = malloc(1 << 20);
  assert_non_null(zeros);
  files_write("bomb.zst", out, ZSTD_compress(out, 1 << 20, zeros, size, 1));
  check_refused("bomb.zst", REGAL_BAD_INPUT,
                "bomb.zst: zstd data inflates to more than 1000 times its size "
                "plus 4 MiB");
  files_write("fine.zst", out, ZSTD_compress(out, 1 << 20, zeros, fine, 1));
  check_read("fine.zst", zeros, fine);
  files_write("fine.gz", out, gzip(zeros, fine, out, 1 << 20));
  check_read("fine.gz", zeros, fine);
  free(zeros);
  free(out);
}

/* A million bytes pass a limit of a million, and not one of a byte less,
 * however they come; the limit is that of the context's parent, too. */
static void refuses_what_passes_the_limit(void **state) {
  (void)state;
  enum { BYTES = 1000000 };
  static const struct {
    const char *path, *message;
  } files[] = {
      {"plain", "plain: is larger than 976.6 KiB, the limit on inputs "
                "(--max-input)"},
      {"packed.gz", "packed.gz: gzip data inflates to more than 976.6 KiB, the "
                    "limit on inputs (--max-input)"},
      {"packed.zst", "packed.zst: zstd data inflates to more than 976.6 KiB, "
                     "the limit on inputs (--max-input)"}};
  char *zeros = calloc(BYTES, 1);
  unsigned char *out = malloc(1 << 16);
  assert_true(zeros && out);
  files_write("plain", zeros, BYTES);
  files_write("packed.gz", out, gzip(zeros, BYTES, out, 1 << 16));
  files_write("packed.zst", out, ZSTD_compress(out, 1 << 16, zeros, BYTES, 1));
  free(out);
  free(zeros);
  for (size_t i = 0; i < 3; i++)
    for (size_t limit = BYTES - 1; limit <= BYTES; limit++) {
      regal_context *parent, *context;
      regal_text text;
      assert_int_equal(regal_context_create(&parent, NULL), REGAL_OK);
      assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
      context->parent = parent;
      regal_set_max_input(parent, limit);
      regal_status status = regal_read_file(context, files[i].path, &text);
      if (limit < BYTES) {
        assert_int_equal(status, REGAL_BAD_INPUT);
        assert_string_equal(regal_error(context), files[i].message);
        assert_true(regal_bytes_peak(context) < 2 * BYTES);
      } else {
        assert_int_equal(status, REGAL_OK);
        assert_int_equal(text.size, BYTES);
        regal_text_free(&text);
      }
      assert_int_equal(regal_bytes_in_use(context), 0);
      regal_context_free(context);
      regal_context_free(parent);
    }
}

/* A device that never ends, read as far as the limit. */
static void refuses_endless_inputs(void **state) {
  (void)state;
  regal_context *context;
  regal_text text;
  assert_int_equal(regal_context_create(&context, NULL), REGAL_OK);
  regal_set_max_input(context, 1 << 20);
  assert_int_equal(regal_read_file(context, "/dev/zero", &text),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(context),
                      "/dev/zero: is larger than 1.0 MiB, the limit on inputs "
                      "(--max-input)");
  assert_true(regal_bytes_peak(context) < 3 << 20);
  regal_context_free(context);
}

/* -- Running out of memory ------------------------------------------------- */

static void survives_failing_allocations(void **state) {
  (void)state;
  unsigned char out[512];
  static const char *const paths[] = {"memory.txt", "memory.gz", "memory.zst"};
  files_write("memory.txt", content, SIZE);
  files_write("memory.gz", out, gzip(content, SIZE, out, sizeof out));
  files_write("memory.zst", out,
              ZSTD_compress(out, sizeof out, content, SIZE, 3));
  for (size_t i = 0; i < 3; i++)
    for (size_t n = 2;; n++) {
      failing_allocator memory = {.fail_at = n};
      regal_allocator allocator = failing_allocator_of(&memory);
      regal_context *frail;
      regal_text text, copy;
      assert_int_equal(regal_context_create(&frail, &allocator), REGAL_OK);
      regal_status status = regal_read_file(frail, paths[i], &text);
      if (status == REGAL_OK) {
        regal_text_init(&copy, frail);
        regal_text_json(&copy, text.bytes);
        regal_text_format(&copy, "%s%s", text.bytes, text.bytes);
        status = regal_text_save(frail, &copy, "memory.out");
        regal_text_free(&copy);
        regal_text_free(&text);
      }
      if (memory.failed)
        assert_string_equal(regal_error(frail), "out of memory");
      regal_context_free(frail);
      assert_int_equal(memory.blocks, 0);
      assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
      if (!memory.failed)
        break;
    }
}

/* A stop that was requested before: nobody would end the wait for a pipe.
 * A regular file is read all the same. */
static void stopped_before_a_pipe(void **state) {
  (void)state;
  regal_text text;
  assert_int_equal(mkfifo("never", 0600), 0);
  files_write_text("plain", "abc");
  regal_stop_request(context);
  assert_int_equal(regal_read_file(context, "never", &text), REGAL_IO);
  assert_string_equal(regal_error(context),
                      "never: interrupted before it was read");
  check_read("plain", "abc", 3);
  regal_stop_clear(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_files),
      cmocka_unit_test(stopped_before_a_pipe),
      cmocka_unit_test(drops_byte_order_marks),
      cmocka_unit_test(reads_standard_input),
      cmocka_unit_test(saves_files_whole_or_not),
      cmocka_unit_test(saves_long_names),
      cmocka_unit_test(reports_full_disks),
      cmocka_unit_test(inflates_gzip),
      cmocka_unit_test(inflates_zstd),
      cmocka_unit_test(refuses_bombs),
      cmocka_unit_test(refuses_what_passes_the_limit),
      cmocka_unit_test(refuses_endless_inputs),
      cmocka_unit_test(survives_failing_allocations),
  };
  return cmocka_run_group_tests_name("files", tests, set_up, tear_down);
}
