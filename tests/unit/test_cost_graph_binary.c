/* SPDX-License-Identifier: Apache-2.0 */
/* The binary format: what protobuf allows besides what protobuf writes, how a
 * file's format is recognised, and files cut short anywhere.
 */
#include "support/graph_sketch.h"
#include "support/loaded_graph.h"

#include <stdlib.h>

#include "cost_graph.pb-c.h"
#include "format/proto/wire.h"
#include "format/tensorflow/cost_graph.h"

/* A message under construction. */
typedef struct packet {
  uint8_t bytes[512];
  size_t size;
} packet;

static void put(packet *packet, const void *bytes, size_t size) {
  assert_true(packet->size + size <= sizeof packet->bytes);
  memcpy(packet->bytes + packet->size, bytes, size);
  packet->size += size;
}

static void put_varint(packet *packet, uint64_t value) {
  do {
    uint8_t byte = (uint8_t)(value & 0x7F) | (value > 0x7F ? 0x80 : 0);
    put(packet, &byte, 1);
    value >>= 7;
  } while (value);
}

static void put_number(packet *packet, uint32_t field, int64_t value) {
  put_varint(packet, field << 3 | REGAL_WIRE_VARINT);
  put_varint(packet, (uint64_t)value);
}

static void put_bytes(packet *packet, uint32_t field, const void *bytes,
                      size_t size) {
  put_varint(packet, field << 3 | REGAL_WIRE_BYTES);
  put_varint(packet, size);
  put(packet, bytes, size);
}

static packet named(const char *name, int64_t id) {
  packet node = {.size = 0};
  put_bytes(&node, 1, name, strlen(name));
  put_number(&node, 3, id);
  return node;
}

static regal_graph *load_packet(regal_context *context, const packet *file) {
  regal_graph *graph;
  if (regal_graph_load_bytes(context, "t", file->bytes, file->size, NULL,
                             &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

static void test_packed_and_unpacked(void **state) {
  packet file = {.size = 0};
  for (int64_t id = 0; id < 4; id++) {
    packet node = named((const char *[]){"a", "b", "c", "d"}[id], id);
    if (id == 3) {
      put_number(&node, 8, 0);
      put_bytes(&node, 8, "\1\2", 2);
      put_bytes(&node, 8, "", 0);
      put_number(&node, 8, 1);
    }
    put_bytes(&file, 1, node.bytes, node.size);
  }
  regal_graph *graph = load_packet(*state, &file);
  assert_int_equal(graph->controls, 3);
  assert_true(loaded_waits(graph, "d", "a"));
  assert_true(loaded_waits(graph, "d", "b"));
  assert_true(loaded_waits(graph, "d", "c"));
  regal_graph_free(graph);
}

/* Negative numbers take ten bytes, also those of 32 bits; any number may take
 * more bytes than it needs. */
static void test_long_varints(void **state) {
  packet file = {.size = 0}, a = named("a", -5), b = named("b", 1), output;
  output = (packet){.size = 0};
  put_number(&output, 1, -1);
  put_number(&output, 4, -77);
  put_bytes(&a, 5, output.bytes, output.size);
  put(&b, "\x48\x87\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11);
  put_number(&b, 8, -5);
  put_bytes(&file, 1, a.bytes, a.size);
  put(&file, "\x8a\x80\x80\x80\x00", 5); /* field 1 in five bytes */
  put_varint(&file, b.size);
  put(&file, b.bytes, b.size);
  regal_graph *graph = load_packet(*state, &file);
  assert_int_equal(loaded_bytes(graph, "a", 0), 0);
  assert_int_equal(graph->run_ns[loaded_op(graph, "b")], 7000);
  assert_true(loaded_waits(graph, "b", "a"));
  regal_graph_free(graph);
}

/* Every wire type, inside and outside of nodes, groups with groups in them. */
static void test_unknown_fields_are_skipped(void **state) {
  packet unknown = {.size = 0};
  put_number(&unknown, 99, 1);
  put_bytes(&unknown, 100, "\xFF\x00", 2);
  put(&unknown,
      "\xad\x06"
      "1234",
      6); /* 101, 32 bits */
  put(&unknown,
      "\xb1\x06"
      "12345678",
      10); /* 102, 64 bits */
  for (int groups = 0; groups < 2; groups++) {
    packet file = {.size = 0}, a = named("a", 3);
    if (groups)
      put(&unknown, "\xbb\x06\x0b\x08\x05\x0c\x12\x01x\xbc\x06", 11);
    put(&file, unknown.bytes, unknown.size);
    put(&a, unknown.bytes, unknown.size);
    put_number(&a, 9, 5);
    put_bytes(&file, 1, a.bytes, a.size);
    put(&file, unknown.bytes, unknown.size);
    packet leading = {.size = 0};
    put_bytes(&leading, 2, "", 0);
    put(&leading, file.bytes, file.size);
    regal_graph *graph = load_packet(*state, &leading);
    assert_int_equal(graph->ops, 1);
    assert_int_equal(graph->run_ns[0], 5000);
    assert_string_equal(regal_graph_name(graph, 0), "a");
    regal_graph_free(graph);
  }
}

/* A shape in two parts is one shape; of other fields the last counts. */
static void test_parts_are_merged(void **state) {
  packet file = {.size = 0}, a = named("a", 3), output = {.size = 0};
  put_bytes(&output, 3, "\x12\x02\x08\x03", 4); /* dim { size: 3 } */
  put_number(&output, 4, 2);
  put_number(&output, 2, -1);
  put_bytes(&output, 3, "\x12\x02\x08\x05", 4);
  put_number(&output, 4, 1);
  put_bytes(&a, 1, "b", 1);
  put_bytes(&a, 5, output.bytes, output.size);
  put_bytes(&file, 1, a.bytes, a.size);
  regal_graph *graph = load_packet(*state, &file);
  assert_string_equal(regal_graph_name(graph, 0), "b");
  assert_int_equal(graph->bytes[0], 3 * 5 * 4);
  regal_graph_free(graph);
}

/* Merging by protobuf-c would take quadratic time: minutes. */
static void test_many_parts_take_linear_time(void **state) {
  enum { PARTS = 200000 };
  regal_text output, node, file;
  regal_text *all[] = {&output, &node, &file};
  for (int i = 0; i < 3; i++)
    regal_text_init(all[i], *state);
  for (int i = 0; i < PARTS; i++)
    regal_text_append(&output, "\x1a\x04\x12\x02\x08\x01", 6);
  regal_text_append(&output, "\x20\x01", 2);
  regal_text_append(&node, "\x2a", 1);
  regal_wire_append_varint(&node, output.size);
  regal_text_append(&node, output.bytes, output.size);
  regal_text_append(&file, "\x0a", 1);
  regal_wire_append_varint(&file, node.size);
  regal_text_append(&file, node.bytes, node.size);
  regal_graph *graph;
  assert_int_equal(
      regal_graph_load_bytes(*state, "t", file.bytes, file.size, NULL, &graph),
      REGAL_OK);
  assert_int_equal(graph->bytes[0], 4);
  assert_true(regal_bytes_peak(*state) < 100 * file.size);
  regal_graph_free(graph);
  for (int i = 0; i < 3; i++)
    regal_text_free(all[i]);
}

/* -- Which format ---------------------------------------------------------- */

static void expect_op(regal_context *context, const void *bytes, size_t size,
                      const char *name) {
  regal_graph *graph;
  if (regal_graph_load_bytes(context, "t", bytes, size, NULL, &graph))
    fail_msg("%s", regal_error(context));
  assert_string_equal(regal_graph_name(graph, 0), name);
  regal_graph_free(graph);
}

static void test_format_is_recognised(void **state) {
  static const char *const texts[] = {
      "node{name:'a'}", "\n\n\tnode { name: 'a' }",
      "# text\nnode { name: 'a' }", "\xEF\xBB\xBFnode { name: 'a' }",
      "novel: 1 node { name: 'a' }"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    expect_op(*state, texts[i], strlen(texts[i]), "a");
  /* All of it could be text: a line feed, '#', a line feed, '!', letters. */
  packet file = {.size = 0}, node = {.size = 0};
  put_bytes(&node, 1, "abcdefghijklmnopqrstuvwxyz_______", 33);
  put_bytes(&file, 1, node.bytes, node.size);
  assert_memory_equal(file.bytes, "\n#\n!abc", 7);
  expect_op(*state, file.bytes, file.size, "abcdefghijklmnopqrstuvwxyz_______");
  /* An unknown field first. */
  packet other = {.size = 0};
  put_bytes(&other, 999, "x", 1);
  put(&other, file.bytes, file.size);
  expect_op(*state, other.bytes, other.size,
            "abcdefghijklmnopqrstuvwxyz_______");
}

/* Cut anywhere, a file is an error or a smaller graph, and never read past its
 * end: each piece is a block of its own for the sanitizers to watch. */
static void test_every_prefix(void **state) {
  static const char text[] =
      "node { name: '_SOURCE' }"
      "node { name: 'a\\n\\303\\251' id: 1 output_info { size: 4"
      "  alias_input_port: -1 shape { dim { size: 2 } } dtype: DT_FLOAT }"
      "  control_input: [0] compute_cost: 0x10 }"
      "node { name: 'b' id: 2 input_info < preceding_node: 1 > novel: 1.5 }";
  regal_graph *graph = loaded_graph(*state, text, NULL);
  regal_text binary;
  regal_text_init(&binary, *state);
  assert_int_equal(regal_cost_graph_save_binary(*state, "t", graph, &binary),
                   REGAL_OK);
  regal_graph_free(graph);
  for (int kind = 0; kind < 2; kind++) {
    const char *whole = kind ? binary.bytes : text;
    size_t size = kind ? binary.size : sizeof text - 1;
    for (size_t cut = 0; cut < size; cut++) {
      char *piece = malloc(cut ? cut : 1);
      assert_non_null(piece);
      memcpy(piece, whole, cut);
      if (!regal_graph_load_bytes(*state, "t", piece, cut, NULL, &graph))
        regal_graph_free(graph);
      free(piece);
    }
  }
  regal_text_free(&binary);
}

/* The numbers are TensorFlow's: what it wrote, by hand. */
static void test_field_numbers(void **state) {
  static const struct {
    const char *name;
    uint32_t number;
  } fields[] = {{"name", 1},
                {"device", 2},
                {"id", 3},
                {"input_info", 4},
                {"output_info", 5},
                {"temporary_memory_size", 6},
                {"is_final", 7},
                {"control_input", 8},
                {"compute_cost", 9},
                {"host_temp_memory_size", 10},
                {"device_temp_memory_size", 11},
                {"persistent_memory_size", 12},
                {"compute_time", 14},
                {"memory_time", 15},
                {"device_persistent_memory_size", 16},
                {"inaccurate", 17},
                {"regal_run_ns", 1000},
                {"regal_parameter", 1001},
                {"regal_device", 1002},
                {"regal_group", 1003},
                {"op", 1999}};
  const ProtobufCMessageDescriptor *node =
      &regal__cost_graph_def__node__descriptor;
  (void)state;
  assert_string_equal(node->name, "tensorflow.CostGraphDef.Node");
  assert_int_equal(node->n_fields, sizeof fields / sizeof *fields);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(node, fields[i].number);
    assert_non_null(field);
    assert_string_equal(field->name, fields[i].name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_packed_and_unpacked),
      CONTEXT_TEST(test_long_varints),
      CONTEXT_TEST(test_unknown_fields_are_skipped),
      CONTEXT_TEST(test_parts_are_merged),
      CONTEXT_TEST(test_many_parts_take_linear_time),
      CONTEXT_TEST(test_format_is_recognised),
      CONTEXT_TEST(test_every_prefix),
      CONTEXT_TEST(test_field_numbers),
  };
  return cmocka_run_group_tests_name("cost graph, binary", tests, NULL, NULL);
}
