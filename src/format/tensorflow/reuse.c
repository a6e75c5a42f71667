/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs that may be written over an input that dies there: those that the
 * file marks with our own field, and what --aliases adds to them.
 *
 * reuse: outputs that are marked as the alias of an input. Which input is left
 * to the model, for another order may let another one die.
 *
 * xla: XLA's files have no marks, but most instructions are named by what they
 * do: add.7, wrapped_tanh, and a fusion by the first producer that went into it
 * and its root: broadcast_divide_fusion.3. XLA shares the buffer of an operand
 * of the same shape with an element-wise instruction, with a loop fusion that
 * uses it element by element, and with a scatter or dynamic-update-slice
 * (HloDataflowAnalysis::CanShareOperandBufferWithUser). A name does not list
 * all that a fusion does, and a size is not a shape: this is a good guess, not
 * what XLA did. docs/xla-peaks.md says how good.
 */
#include <string.h>

#include "format/tensorflow/cost_graph.h"

/* -- Names of XLA's instructions ------------------------------------------- */

/* A part of a name. */
typedef struct word {
  const char *text;
  size_t size;
} word;

static bool is_word(word word, const char *text) {
  return word.size == strlen(text) && !memcmp(word.text, text, word.size);
}

/* XLA's element-wise operations except copy: where it survives it mostly
 * changes the layout, and that moves the elements. */
static bool is_elementwise(word word) {
  /* clang-format off */
  static const char *const names[] = {
      "abs", "add", "and", "atan2", "bitcast-convert", "cbrt", "ceil", "clamp",
      "compare", "complex", "convert", "cosine", "count-leading-zeros",
      "divide", "erf", "exponential", "exponential-minus-one", "floor", "imag",
      "is-finite", "log", "log-plus-one", "logistic", "maximum", "minimum",
      "multiply", "negate", "not", "or", "popcnt", "power", "real",
      "reduce-precision", "remainder", "round-nearest-afz",
      "round-nearest-even", "rsqrt", "select", "shift-left",
      "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "sqrt",
      "subtract", "tan", "tanh", "xor"};
  /* clang-format on */
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (is_word(word, names[i]))
      return true;
  return false;
}

static void drop_suffix(word *name, const char *suffix) {
  size_t size = strlen(suffix);
  if (name->size > size &&
      !memcmp(name->text + name->size - size, suffix, size))
    name->size -= size;
}

/* Without the ".7" and ".clone" that make names unique. */
static word base_name(const char *text) {
  word name = {text, strlen(text)};
  size_t before;
  do {
    before = name.size;
    size_t end = before;
    while (end && text[end - 1] >= '0' && text[end - 1] <= '9')
      end--;
    if (end && end < before && text[end - 1] == '.')
      name.size = end - 1;
    drop_suffix(&name, ".clone");
  } while (name.size < before);
  return name;
}

/* Takes the next word off a list like add_multiply. */
static word next_word(word *list) {
  const char *end = memchr(list->text, '_', list->size);
  size_t size = end ? (size_t)(end - list->text) : list->size;
  word first = {list->text, size};
  list->text += size + (end != NULL);
  list->size -= size + (end != NULL);
  return first;
}

/* Whether the name says that an operand of the output's shape can be written
 * over. A broadcast before the last operation does not matter: what it reads is
 * smaller, and only inputs of the output's size count. */
static bool says_in_place(const char *text) {
  word list = base_name(text);
  if (list.size > 8 && !memcmp(list.text, "wrapped_", 8))
    list = (word){list.text + 8, list.size - 8};
  drop_suffix(&list, "_fusion");
  if (is_word(list, "scatter") || is_word(list, "dynamic-update-slice"))
    return true;
  do {
    word word = next_word(&list);
    if (!is_elementwise(word) && !(list.size && is_word(word, "broadcast")))
      return false;
  } while (list.size);
  return true;
}

/* -- Marks ----------------------------------------------------------------- */

static bool reads_as_many(const regal_cost_graph *cost, uint32_t node,
                          int64_t bytes) {
  for (REGAL_ROW(i, cost->input_begin, node)) {
    regal_source input = cost->input[i];
    if (input.node != REGAL_NONE &&
        cost->bytes[regal_cost_tensor(cost, input)] == bytes)
      return true;
  }
  return false;
}

/* The name of a fusion with several outputs describes only one of them. */
static bool may_reuse_in_xla(const regal_cost_graph *cost, uint32_t node,
                             size_t port) {
  const regal_cost_node *def = regal_cost_node_at(cost, node);
  return def->n_output_info == 1 && says_in_place(def->name) &&
         reads_as_many(cost, node,
                       cost->bytes[cost->output_begin[node] + port]);
}

static bool may_reuse(const regal_cost_graph *cost, uint32_t node,
                      size_t port) {
  switch (cost->options->aliases) {
  case REGAL_ALIASES_REUSE:
    return regal_cost_aliased_input(cost, node, port).node != REGAL_NONE;
  case REGAL_ALIASES_XLA:
    return may_reuse_in_xla(cost, node, port);
  default:
    return false;
  }
}

void regal_cost_mark_reuse(regal_cost_graph *cost) {
  for (uint32_t i = 0; i < cost->nodes; i++) {
    const regal_cost_node *node = regal_cost_node_at(cost, i);
    uint32_t begin = cost->output_begin[i];
    for (size_t port = 0; port < node->n_output_info; port++) {
      cost->may_reuse[begin + port] = node->output_info[port]->regal_may_reuse;
      if (cost->may_reuse[begin + port] || !cost->bytes[begin + port] ||
          cost->becomes[i] != i || !may_reuse(cost, i, port))
        continue;
      cost->may_reuse[begin + port] = true;
      cost->counts.reusing++;
      cost->counts.reusing_bytes += (uint64_t)cost->bytes[begin + port];
    }
  }
}
