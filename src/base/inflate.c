/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed input, recognised by its magic number.
 *
 * Output has two limits, whatever the headers promise: the limit on inputs
 * (regal_max_input), and 1000 times the compressed size + 4 MiB, so that memory
 * stays in proportion to the input. Room for output grows by doubling, up to
 * one byte beyond the limit: a bomb is refused when it writes that byte.
 * zlib allocates through the context; zstd's decoder state, of fixed size, is
 * its own.
 */
#include "base/text.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define BOMB_FACTOR 1000
#define BOMB_FLOOR ((size_t)4 << 20)

/* What the compressed size allows. */
static size_t ratio_limit(size_t size) {
  size_t limit;
  if (__builtin_mul_overflow(size, (size_t)BOMB_FACTOR, &limit) ||
      __builtin_add_overflow(limit, BOMB_FLOOR, &limit))
    return SIZE_MAX;
  return limit;
}

static size_t output_limit(const regal_context *context, size_t size) {
  size_t ratio = ratio_limit(size), most = regal_max_input(context);
  return ratio < most ? ratio : most;
}

static regal_status fail_bomb(regal_context *context, const char *name,
                              const char *format, size_t size) {
  char what[64];
  snprintf(what, sizeof what, "%s data inflates to more than", format);
  if (ratio_limit(size) > regal_max_input(context))
    return regal_fail_max_input(context, name, what);
  return regal_fail(context, REGAL_BAD_INPUT,
                    "%s: %s %d times its size plus %d MiB", name, what,
                    BOMB_FACTOR, (int)(BOMB_FLOOR >> 20));
}

static regal_status fail_truncated(regal_context *context, const char *name,
                                   const char *format) {
  return regal_fail(context, REGAL_BAD_INPUT, "%s: %s data is truncated", name,
                    format);
}

static regal_status fail_corrupt(regal_context *context, const char *name,
                                 const char *format, const char *why) {
  return regal_fail(context, REGAL_BAD_INPUT, "%s: %s data is corrupt: %s",
                    name, format, why);
}

/* Doubles the room for output, up to the limit and one byte more, so that what
 * fills it is known to be too much. */
static bool grow_output(regal_text *text, size_t limit) {
  size_t capacity = text->capacity ? text->capacity * 2 : 4096;
  if (capacity > limit + 2)
    capacity = limit + 2; /* one for the excess, one for the zero */
  char *grown = regal_grow(text->context, text->bytes, capacity, 1);
  if (!grown)
    return false;
  text->bytes = grown;
  text->capacity = capacity;
  return true;
}

/* -- gzip ------------------------------------------------------------------ */

static void *gzip_alloc(void *context, unsigned items, unsigned size) {
  return regal_alloc(context, items, size);
}

static void gzip_free(void *context, void *block) {
  regal_release(context, block);
}

typedef struct gzip_input {
  const unsigned char *bytes;
  size_t size, used;
} gzip_input;

/* Inflates one member; `used` ends behind it. */
static regal_status inflate_member(regal_context *context, const char *name,
                                   z_stream *z, gzip_input *in,
                                   regal_text *text) {
  size_t limit = output_limit(context, in->size);
  for (;;) {
    if (text->size + 1 >= text->capacity && !grow_output(text, limit))
      return regal_fail_memory(context);
    size_t left = in->size - in->used;
    size_t room = text->capacity - text->size - 1;
    uInt gave = left > INT_MAX ? INT_MAX : (uInt)left;
    uInt space = room > INT_MAX ? INT_MAX : (uInt)room;
    z->next_in = (Bytef *)(uintptr_t)(in->bytes + in->used);
    z->avail_in = gave;
    z->next_out = (Bytef *)text->bytes + text->size;
    z->avail_out = space;
    int code = inflate(z, Z_NO_FLUSH);
    in->used += gave - z->avail_in;
    text->size += space - z->avail_out;
    if (text->size > limit)
      return fail_bomb(context, name, "gzip", in->size);
    if (code == Z_STREAM_END)
      return REGAL_OK;
    if (code == Z_MEM_ERROR)
      return regal_fail_memory(context);
    if (code != Z_OK && code != Z_BUF_ERROR)
      return fail_corrupt(context, name, "gzip",
                          z->msg ? z->msg : "unknown method");
    if (in->used == in->size && z->avail_out)
      return fail_truncated(context, name, "gzip");
  }
}

static bool is_gzip(const unsigned char *bytes, size_t size) {
  return size >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

/* Tape drives and some tools pad the last member with zeros. */
static bool only_zeros(const gzip_input *in) {
  for (size_t i = in->used; i < in->size; i++)
    if (in->bytes[i])
      return false;
  return true;
}

static regal_status inflate_members(regal_context *context, const char *name,
                                    z_stream *z, gzip_input *in,
                                    regal_text *text) {
  do {
    if (!is_gzip(in->bytes + in->used, in->size - in->used))
      return fail_corrupt(context, name, "gzip", "something follows its end");
    inflateReset(z);
    REGAL_TRY(inflate_member(context, name, z, in, text));
  } while (!only_zeros(in));
  return REGAL_OK;
}

static regal_status inflate_gzip(regal_context *context, const char *name,
                                 const unsigned char *bytes, size_t size,
                                 regal_text *text) {
  z_stream z = {.zalloc = gzip_alloc, .zfree = gzip_free, .opaque = context};
  gzip_input in = {bytes, size, 0};
  if (inflateInit2(&z, 15 + 16) != Z_OK)
    return regal_fail_memory(context);
  regal_status status = inflate_members(context, name, &z, &in, text);
  inflateEnd(&z);
  return status;
}

/* -- zstd ------------------------------------------------------------------ */

/* A frame, or a skippable one, with which pzstd files begin. */
static bool is_zstd(const unsigned char *bytes, size_t size) {
  if (size < 4)
    return false;
  uint32_t magic = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
                   (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
  return magic == 0xFD2FB528u || (magic & ~15u) == 0x184D2A50u;
}

/* Decompresses all frames in one pass into ever larger room. That needs no
 * window buffer, whose size an input could lie about. */
static regal_status inflate_frames(regal_context *context, const char *name,
                                   ZSTD_DCtx *decoder, const void *bytes,
                                   size_t size, regal_text *text) {
  size_t limit = output_limit(context, size);
  text->capacity = size < limit / 4 ? size * 4 : size;
  for (;;) {
    if (!grow_output(text, limit))
      return regal_fail_memory(context);
    size_t made = ZSTD_decompressDCtx(decoder, text->bytes, text->capacity - 1,
                                      bytes, size);
    if (!ZSTD_isError(made)) {
      text->size = made;
      return made > limit ? fail_bomb(context, name, "zstd", size) : REGAL_OK;
    }
    switch (ZSTD_getErrorCode(made)) {
    case ZSTD_error_dstSize_tooSmall:
      if (text->capacity > limit)
        return fail_bomb(context, name, "zstd", size);
      break;
    case ZSTD_error_memory_allocation:
      return regal_fail_memory(context);
    case ZSTD_error_srcSize_wrong:
      return fail_truncated(context, name, "zstd");
    default:
      return fail_corrupt(context, name, "zstd", ZSTD_getErrorName(made));
    }
  }
}

static regal_status inflate_zstd(regal_context *context, const char *name,
                                 const void *bytes, size_t size,
                                 regal_text *text) {
  ZSTD_DCtx *decoder = ZSTD_createDCtx();
  if (!decoder)
    return regal_fail_memory(context);
  regal_status status =
      inflate_frames(context, name, decoder, bytes, size, text);
  ZSTD_freeDCtx(decoder);
  return status;
}

regal_status regal_inflate(regal_context *context, const char *name,
                           const void *bytes, size_t size, regal_text *text) {
  regal_text_init(text, context);
  regal_status status = REGAL_OK;
  if (is_gzip(bytes, size))
    status = inflate_gzip(context, name, bytes, size, text);
  else if (is_zstd(bytes, size))
    status = inflate_zstd(context, name, bytes, size, text);
  else
    regal_text_append(text, bytes, size);
  if (text->failed)
    status = regal_fail_memory(context);
  if (status != REGAL_OK) {
    regal_text_free(text);
    return status;
  }
  text->bytes[text->size] = 0;
  regal_text_drop_mark(text);
  return REGAL_OK;
}

bool regal_is_compressed(const void *bytes, size_t size) {
  return is_gzip(bytes, size) || is_zstd(bytes, size);
}
