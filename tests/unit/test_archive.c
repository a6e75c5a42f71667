/* SPDX-License-Identifier: Apache-2.0 */
/* Folders and zip archives: round trips, hostile names, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <zip.h>

#include "dataset/archive/archive.h"
#include "support/failing_allocator.h"
#include "support/files.h"

typedef struct file {
  const char *name, *text;
} file;

typedef struct files {
  regal_context *context;
  const file *file;
  size_t fail_at; /* the read that fails, from 1; 0: none */
} files;

static int set_up(void **state) {
  return regal_context_create((regal_context **)state, NULL) != REGAL_OK;
}

static int tear_down(void **state) {
  bool leaked = regal_bytes_in_use(*state) != 0;
  regal_context_free(*state);
  return leaked;
}

static const char *name_of(void *state, size_t i) {
  return ((files *)state)->file[i].name;
}

static regal_status read_file(void *state, size_t i, regal_text *text) {
  files *f = state;
  if (f->fail_at == i + 1)
    return regal_fail(f->context, REGAL_IO, "no file %zu", i);
  regal_text_init(text, f->context);
  regal_text_append(text, f->file[i].text, strlen(f->file[i].text));
  return text->failed ? regal_fail_memory(f->context) : REGAL_OK;
}

static regal_status write_files(regal_context *context, const char *path,
                                const file *list, size_t count,
                                size_t fail_at) {
  files state = {context, list, fail_at};
  regal_archive_files files = {count, name_of, read_file, &state};
  return regal_archive_write(context, path, &files);
}

/* By libzip alone, which lets any name pass. */
static void write_plain_zip(const char *path, const file *list, size_t count) {
  int code;
  zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
  assert_non_null(zip);
  for (size_t i = 0; i < count; i++) {
    zip_source_t *source =
        zip_source_buffer(zip, list[i].text, strlen(list[i].text), 0);
    zip_int64_t index = zip_file_add(zip, list[i].name, source, 0);
    assert_true(index >= 0);
    assert_int_equal(
        zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0), 0);
  }
  assert_int_equal(zip_close(zip), 0);
}

static size_t size_of(const char *path) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  return (size_t)info.st_size;
}

/* Replaces every occurrence of `from` by `to`, of the same length. */
static void patch(const char *path, const void *from, const void *to,
                  size_t length) {
  size_t size = size_of(path), found = 0;
  char *bytes = files_read(path);
  for (size_t i = 0; i + length <= size; i++)
    if (!memcmp(bytes + i, from, length)) {
      memcpy(bytes + i, to, length);
      found++;
    }
  assert_true(found > 0);
  files_write(path, bytes, size);
  free(bytes);
}

static void assert_member(regal_archive *archive, regal_context *context,
                          size_t member, const char *name, const char *text) {
  regal_text read;
  assert_string_equal(regal_archive_name(archive, member), name);
  assert_int_equal(regal_archive_find(archive, name), member);
  assert_int_equal(regal_archive_read(archive, context, member, &read),
                   REGAL_OK);
  assert_int_equal(read.size, strlen(text));
  assert_string_equal(read.bytes, text);
  regal_text_free(&read);
}

#define LONG "a text that deflate makes shorter: aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const file three[] = {
    {"b.txt", LONG}, {"sub/deep/a.txt", ""}, {"a.txt", "short"}};

static void zip_round_trip(void **state) {
  regal_archive *archive;
  assert_false(regal_archive_is("three.zip"));
  assert_int_equal(write_files(*state, "three.zip", three, 3, 0), REGAL_OK);
  assert_true(regal_archive_is("three.zip"));
  assert_int_equal(regal_archive_open(*state, "three.zip", &archive), REGAL_OK);
  assert_string_equal(regal_archive_path(archive), "three.zip");
  assert_int_equal(regal_archive_count(archive), 3);
  for (size_t i = 0; i < 3; i++)
    assert_member(archive, *state, i, three[i].name, three[i].text);
  assert_int_equal(regal_archive_find(archive, "c.txt"), REGAL_NO_MEMBER);
  char where[64];
  regal_archive_locate(archive, 1, where, sizeof where);
  assert_string_equal(where, "three.zip:sub/deep/a.txt");
  regal_archive_free(archive);
}

/* No time is recorded, only the first one that a zip archive can hold. */
static void same_files_same_bytes(void **state) {
  size_t entries = 0;
  setenv("TZ", "Asia/Tokyo", 1);
  assert_int_equal(write_files(*state, "one.zip", three, 3, 0), REGAL_OK);
  setenv("TZ", "UTC", 1);
  assert_int_equal(write_files(*state, "two.zip", three, 3, 0), REGAL_OK);
  size_t size = size_of("one.zip");
  char *one = files_read("one.zip"), *two = files_read("two.zip");
  assert_int_equal(size_of("two.zip"), size);
  assert_memory_equal(one, two, size);
  for (size_t i = 0; i + 16 < size; i++)
    if (!memcmp(one + i, "PK\1\2", 4)) {
      assert_memory_equal(one + i + 12, "\0\0\x21\0", 4);
      entries++;
    }
  assert_int_equal(entries, 3);
  free(one);
  free(two);
}

static void folder_round_trip(void **state) {
  static const char *const sorted[] = {"a.txt", "b.txt", "sub/deep/a.txt"};
  static const char *const texts[] = {"short", LONG, ""};
  regal_archive *archive;
  assert_int_equal(write_files(*state, "folder", three, 3, 0), REGAL_OK);
  files_write_text("folder/.hidden", "x");
  assert_int_equal(symlink("..", "folder/loop"), 0);
  assert_int_equal(symlink("nowhere", "folder/broken"), 0);
  assert_int_equal(regal_archive_open(*state, "folder", &archive), REGAL_OK);
  assert_int_equal(regal_archive_count(archive), 3);
  for (size_t i = 0; i < 3; i++)
    assert_member(archive, *state, i, sorted[i], texts[i]);
  char where[64];
  regal_archive_locate(archive, 2, where, sizeof where);
  assert_string_equal(where, "folder/sub/deep/a.txt");
  regal_archive_free(archive);
  assert_int_equal(write_files(*state, "folder", three, 3, 0), REGAL_IO);
  assert_string_equal(regal_error(*state),
                      "folder: exists already, and is no empty folder");
}

static void single_file(void **state) {
  regal_archive *archive;
  files_write_text("alone", "x");
  assert_int_equal(regal_archive_open_file(*state, "alone", &archive),
                   REGAL_OK);
  assert_int_equal(regal_archive_count(archive), 1);
  assert_member(archive, *state, 0, "alone", "x");
  regal_archive_free(archive);
}

static void hostile_names(void **state) {
  static const struct {
    const char *name, *message;
  } cases[] = {
      {"../x", "bad.zip: the name of member \"../x\" is no plain path inside"},
      {"a/../../x",
       "bad.zip: the name of member \"a/../../x\" is no plain path inside"},
      {"/etc/x",
       "bad.zip: the name of member \"/etc/x\" is no plain path inside"},
      {"a//b", "bad.zip: the name of member \"a//b\" is no plain path inside"},
      {"./a", "bad.zip: the name of member \"./a\" is no plain path inside"},
      {"..\\x", "bad.zip: the name of member \"..\\x\" has a backslash"},
      {"a\nb", "bad.zip: the name of member \"a?b\" has control characters"},
  };
  regal_archive *archive;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    file bad[] = {{"good", "1"}, {cases[i].name, "2"}};
    write_plain_zip("bad.zip", bad, 2);
    assert_int_equal(regal_archive_open(*state, "bad.zip", &archive),
                     REGAL_BAD_INPUT);
    assert_string_equal(regal_error(*state), cases[i].message);
  }
}

static void no_hostile_writing(void **state) {
  file up[] = {{"../out", "x"}}, twice[] = {{"a", "1"}, {"a", "2"}};
  assert_int_equal(write_files(*state, "new", up, 1, 0), REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "new: the name of file '../out' is no plain path inside");
  assert_int_equal(write_files(*state, "new.zip", twice, 2, 0),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "new.zip: two files would be called 'a'");
  assert_int_not_equal(access("new", F_OK), 0);
  assert_int_not_equal(access("new.zip", F_OK), 0);
  assert_int_not_equal(access("out", F_OK), 0);
}

static void failed_writing_leaves_nothing(void **state) {
  for (size_t n = 1; n <= 3; n++) {
    assert_int_equal(write_files(*state, "half.zip", three, 3, n), REGAL_IO);
    assert_int_equal(write_files(*state, "half", three, 3, n), REGAL_IO);
  }
  assert_string_equal(regal_error(*state), "no file 2");
  assert_int_equal(system("test -z \"$(ls -d half* 2> /dev/null)\""), 0);
  assert_int_equal(write_files(*state, "no/such/x.zip", three, 3, 0), REGAL_IO);
  assert_non_null(strstr(regal_error(*state), "no/such/x.zip: "));
}

static void duplicate_names(void **state) {
  file two[] = {{"name1", "1"}, {"name2", "2"}};
  regal_archive *archive;
  write_plain_zip("twice.zip", two, 2);
  patch("twice.zip", "name2", "name1", 5);
  assert_int_equal(regal_archive_open(*state, "twice.zip", &archive),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "twice.zip: member \"name1\" occurs twice");
}

/* Whatever is cut off: an error, and nothing but an error. */
static void truncated(void **state) {
  assert_int_equal(write_files(*state, "whole.zip", three, 3, 0), REGAL_OK);
  size_t size = size_of("whole.zip");
  char *bytes = files_read("whole.zip");
  for (size_t length = 0; length < size; length++) {
    regal_archive *archive;
    files_write("cut.zip", bytes, length);
    regal_status status = regal_archive_open(*state, "cut.zip", &archive);
    assert_int_equal(status, REGAL_BAD_INPUT);
    assert_non_null(
        strstr(regal_error(*state), "cut.zip: cannot be read as a zip"));
  }
  free(bytes);
  regal_archive *archive;
  assert_int_equal(regal_archive_open(*state, "none.zip", &archive), REGAL_IO);
  assert_string_equal(
      regal_error(*state),
      "none.zip: cannot be read as a zip archive: No such file");
}

static void damaged(void **state) {
  file one[] = {{"a.txt", "ABCDEFGH"}};
  regal_archive *archive;
  regal_text text;
  write_plain_zip("damaged.zip", one, 1);
  patch("damaged.zip", "ABCDEFGH", "ABCDEFGX", 8);
  assert_int_equal(regal_archive_open(*state, "damaged.zip", &archive),
                   REGAL_OK);
  assert_int_equal(regal_archive_read(archive, *state, 0, &text),
                   REGAL_BAD_INPUT);
  assert_string_equal(regal_error(*state),
                      "damaged.zip:a.txt: the archive is damaged here");
  regal_archive_free(archive);
}

/* Every byte of an archive changed, one at a time: read or refused. */
static void changed_bytes(void **state) {
  assert_int_equal(write_files(*state, "whole.zip", three, 3, 0), REGAL_OK);
  size_t size = size_of("whole.zip");
  char *bytes = files_read("whole.zip");
  for (size_t at = 0; at < size; at++) {
    regal_archive *archive;
    regal_text text;
    bytes[at] = (char)(bytes[at] ^ 0xff);
    files_write("changed.zip", bytes, size);
    bytes[at] = (char)(bytes[at] ^ 0xff);
    if (regal_archive_open(*state, "changed.zip", &archive) != REGAL_OK)
      continue;
    for (size_t i = 0; i < regal_archive_count(archive); i++)
      if (regal_archive_read(archive, *state, i, &text) == REGAL_OK)
        regal_text_free(&text);
    regal_archive_free(archive);
  }
  free(bytes);
}

static void lying_sizes(void **state) {
  file one[] = {{"a.txt", LONG}};
  regal_archive *archive;
  uint32_t length = (uint32_t)strlen(LONG), large = 0x7fffffff;
  assert_int_equal(write_files(*state, "bomb.zip", one, 1, 0), REGAL_OK);
  patch("bomb.zip", &length, &large, 4); /* in all headers */
  assert_int_equal(regal_archive_open(*state, "bomb.zip", &archive),
                   REGAL_BAD_INPUT);
  assert_string_equal(
      regal_error(*state),
      "bomb.zip: member \"a.txt\" would inflate to more than 1000 times "
      "its size plus 64 MiB");
  for (int delta = -1; delta <= 1; delta += 2) {
    uint32_t off = length + (uint32_t)delta;
    regal_text text;
    assert_int_equal(write_files(*state, "off.zip", one, 1, 0), REGAL_OK);
    patch("off.zip", &length, &off, 4);
    assert_int_equal(regal_archive_open(*state, "off.zip", &archive), REGAL_OK);
    assert_int_equal(regal_archive_read(archive, *state, 0, &text),
                     REGAL_BAD_INPUT);
    assert_string_equal(regal_error(*state),
                        "off.zip:a.txt: the archive is damaged here");
    regal_archive_free(archive);
  }
}

/* A member is refused by its size in the directory, others are read. */
static void members_within_the_limit(void **state) {
  file two[] = {{"a.txt", LONG}, {"b.txt", "short"}};
  regal_archive *archive;
  regal_text text;
  assert_int_equal(write_files(*state, "set.zip", two, 2, 0), REGAL_OK);
  regal_set_max_input(*state, strlen(LONG) - 1);
  assert_int_equal(regal_archive_open(*state, "set.zip", &archive), REGAL_OK);
  assert_int_equal(regal_archive_read(archive, *state, 0, &text),
                   REGAL_BAD_INPUT);
  assert_memory_equal(regal_error(*state), "set.zip:a.txt: is larger than ",
                      30);
  assert_int_equal(regal_archive_read(archive, *state, 1, &text), REGAL_OK);
  regal_text_free(&text);
  regal_archive_free(archive);
}

/* Memory of ours; libzip's own cannot be made to fail from here. */
static void failing_memory(void **state) {
  static const char *const paths[] = {"memory.zip", "memory"};
  for (size_t p = 0; p < 2; p++)
    assert_int_equal(write_files(*state, paths[p], three, 3, 0), REGAL_OK);
  for (size_t p = 0; p < 2; p++)
    for (size_t n = 1;; n++) {
      failing_allocator memory = {.fail_at = n};
      regal_allocator allocator = failing_allocator_of(&memory);
      regal_context *context;
      regal_archive *archive = NULL;
      regal_text text;
      if (regal_context_create(&context, &allocator) != REGAL_OK)
        continue;
      regal_status status = regal_archive_open(context, paths[p], &archive);
      for (size_t i = 0; i < 3 && status == REGAL_OK; i++) {
        status = regal_archive_read(archive, context, i, &text);
        if (status == REGAL_OK)
          regal_text_free(&text);
      }
      regal_archive_free(archive);
      if (status == REGAL_OK) {
        unlink("again.zip");
        status = write_files(context, "again.zip", three, 3, 0);
      }
      regal_context_free(context);
      assert_int_equal(memory.blocks, 0);
      if (!memory.failed)
        break;
      assert_int_equal(status, REGAL_NO_MEMORY);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(zip_round_trip),
      TEST(same_files_same_bytes),
      TEST(folder_round_trip),
      TEST(single_file),
      TEST(hostile_names),
      TEST(no_hostile_writing),
      TEST(duplicate_names),
      TEST(failed_writing_leaves_nothing),
      TEST(truncated),
      TEST(damaged),
      TEST(changed_bytes),
      TEST(lying_sizes),
      TEST(members_within_the_limit),
      TEST(failing_memory),
  };
  return cmocka_run_group_tests_name("archive", tests, files_enter,
                                     files_leave);
}
