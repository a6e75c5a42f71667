/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic graphs against what the paper's recipe implies. Seeds are fixed;
 * tolerances of means are four standard errors or more. */
#include "dataset/synthetic/random_models.h"
#include "support/failing_allocator.h"
#include "support/graph_sketch.h"

#include <math.h>

static regal_graph *make(regal_context *context, regal_graph_model model,
                         uint32_t nodes, uint64_t seed) {
  regal_graph *graph = NULL;
  if (regal_synthetic_graph(context, model, nodes, seed, &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

static void assert_near(double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance))
    fail_msg("%g is not within %g of %g", value, tolerance, expected);
}

/* Running mean and deviation of many numbers. */
typedef struct sample {
  double count, sum, squares;
} sample;

static void observe(sample *sample, double value) {
  sample->count++;
  sample->sum += value;
  sample->squares += value * value;
}

static double mean_of(const sample *sample) {
  return sample->sum / sample->count;
}

static double deviation_of(const sample *sample) {
  double mean = mean_of(sample);
  return sqrt(sample->squares / sample->count - mean * mean);
}

/* -- Random graph models --------------------------------------------------- */

static uint32_t degree(const regal_pairs *pairs, uint32_t node) {
  uint32_t count = 0;
  for (uint32_t other = 0; other < pairs->nodes; other++) {
    bool has = regal_pairs_has(pairs, node, other);
    assert_true(has == regal_pairs_has(pairs, other, node));
    count += has;
  }
  assert_false(regal_pairs_has(pairs, node, node));
  return count;
}

static uint32_t pair_count(const regal_pairs *pairs) {
  uint32_t ends = 0;
  for (uint32_t node = 0; node < pairs->nodes; node++)
    ends += degree(pairs, node);
  return ends / 2;
}

static regal_pairs draw_pairs(regal_context *context, regal_graph_model model,
                              uint32_t nodes, uint64_t seed) {
  regal_pairs pairs;
  regal_random random = {regal_random_key(seed, REGAL_PURPOSE_TEST, model, 0),
                         0};
  assert_int_equal(regal_pairs_create(context, nodes, &pairs), REGAL_OK);
  regal_random_model(model, &pairs, &random);
  return pairs;
}

static void test_erdos_renyi_density(void **state) {
  sample pairs = {0};
  for (uint64_t seed = 0; seed < 300; seed++) {
    regal_pairs drawn = draw_pairs(*state, REGAL_ERDOS_RENYI, 100, seed);
    observe(&pairs, pair_count(&drawn));
    regal_release(*state, drawn.bits);
  }
  assert_near(mean_of(&pairs), 4950 * .05, 4 * 15.3 / sqrt(300));
  assert_near(deviation_of(&pairs), 15.3, 3);
}

static void test_barabasi_albert_degrees(void **state) {
  enum { NODES = 2000 };
  regal_pairs drawn = draw_pairs(*state, REGAL_BARABASI_ALBERT, NODES, 1);
  uint32_t twos = 0, threes = 0;
  for (uint32_t node = 0; node < NODES; node++) {
    uint32_t before = 0;
    for (uint32_t other = 0; other < node; other++)
      before += regal_pairs_has(&drawn, node, other);
    assert_int_equal(before, node < 2 ? 0 : 2);
    twos += degree(&drawn, node) == 2;
    threes += degree(&drawn, node) == 3;
  }
  /* P(k) = 12 / (k (k+1) (k+2)); without preference it would be 1/3, 2/9. */
  assert_near(twos / (double)NODES, .5, .045);
  assert_near(threes / (double)NODES, .2, .036);
  assert_int_equal(pair_count(&drawn), 2 * (NODES - 2));
  regal_release(*state, drawn.bits);
}

static void test_watts_strogatz_rewires(void **state) {
  enum { NODES = 1000 };
  regal_pairs drawn = draw_pairs(*state, REGAL_WATTS_STROGATZ, NODES, 1);
  assert_int_equal(pair_count(&drawn), 2 * NODES);
  for (uint32_t step = 1; step <= 2; step++) {
    uint32_t kept = 0;
    for (uint32_t node = 0; node < NODES; node++)
      kept += regal_pairs_has(&drawn, node, (node + step) % NODES);
    assert_near(kept / (double)NODES, .7, 4 * sqrt(.21 / NODES));
  }
  regal_release(*state, drawn.bits);
}

static void test_stochastic_blocks(void **state) {
  sample within = {0}, across = {0};
  for (uint64_t seed = 0; seed < 20; seed++) {
    regal_pairs drawn = draw_pairs(*state, REGAL_STOCHASTIC_BLOCK, 200, seed);
    for (uint32_t a = 0; a < 200; a++)
      for (uint32_t b = 0; b < a; b++)
        observe(a / 50 == b / 50 ? &within : &across,
                regal_pairs_has(&drawn, a, b));
    regal_release(*state, drawn.bits);
  }
  assert_near(mean_of(&within), .3, 4 * sqrt(.21 / within.count));
  assert_near(mean_of(&across), .01, 4 * sqrt(.0099 / across.count));
}

/* The smallest sizes have few nodes to draw from, but must end. */
static void test_smallest_models(void **state) {
  for (int model = 0; model < REGAL_GRAPH_MODELS; model++)
    for (uint32_t nodes = 5; nodes < 12; nodes++)
      for (uint64_t seed = 0; seed < 20; seed++) {
        regal_graph *graph = make(*state, model, nodes, seed);
        assert_int_equal(graph->ops, nodes + 2);
        regal_graph_free(graph);
      }
}

/* -- The recipe ------------------------------------------------------------ */

typedef struct survey {
  sample outputs[3];  /* share of ops with 0, 1, 2 outputs */
  sample control;     /* share of control edges, from ops with outputs */
  sample second_port; /* share of reads of port 1, where there are two */
  sample bytes, noise;
} survey;

static int64_t touched_bytes(const regal_graph *graph, uint32_t op) {
  int64_t bytes = 0;
  for (uint32_t i = graph->input_begin[op]; i < graph->input_begin[op + 1]; i++)
    bytes += graph->bytes[graph->input[i]];
  for (uint32_t t = graph->output_begin[op]; t < graph->output_begin[op + 1];
       t++)
    bytes += graph->bytes[t];
  return bytes;
}

static void survey_op(survey *survey, const regal_graph *graph, uint32_t op) {
  uint32_t sink = graph->ops - 1;
  uint32_t begin = graph->output_begin[op];
  uint32_t outputs = graph->output_begin[op + 1] - begin;
  assert_true(outputs <= 2);
  for (uint32_t count = 0; count < 3; count++)
    observe(&survey->outputs[count], count == outputs);
  for (uint32_t i = graph->control_out_begin[op];
       outputs && i < graph->control_out_begin[op + 1]; i++)
    if (graph->control_out[i] != sink)
      observe(&survey->control, 1);
  for (uint32_t port = 0; port < outputs; port++) {
    assert_true(graph->bytes[begin + port] >= 1);
    assert_false(graph->is_final[begin + port]);
    observe(&survey->bytes, (double)graph->bytes[begin + port]);
    for (uint32_t i = graph->use_begin[begin + port];
         i < graph->use_begin[begin + port + 1]; i++) {
      observe(&survey->control, 0);
      if (outputs == 2)
        observe(&survey->second_port, port);
    }
  }
  int64_t touched = touched_bytes(graph, op);
  assert_int_equal(graph->run_ns[op] % 1000, 0);
  if (touched)
    observe(&survey->noise, (double)graph->run_ns[op] / 1e3 / (double)touched);
  else
    assert_int_equal(graph->run_ns[op], 0);
}

static void test_outputs_edges_and_costs(void **state) {
  survey survey = {0};
  for (int model = 0; model < REGAL_GRAPH_MODELS; model++)
    for (uint64_t seed = 0; seed < 100; seed++) {
      regal_graph *graph = make(*state, model, 100, seed);
      for (uint32_t op = 1; op + 1 < graph->ops; op++)
        survey_op(&survey, graph, op);
      regal_graph_free(graph);
    }
  assert_near(mean_of(&survey.outputs[0]), .1, .006);
  assert_near(mean_of(&survey.outputs[1]), .8, .008);
  assert_near(mean_of(&survey.outputs[2]), .1, .006);
  assert_true(survey.control.count > 80000);
  assert_near(mean_of(&survey.control), .2, .0057);
  assert_near(mean_of(&survey.second_port), .5, .023);
  assert_near(mean_of(&survey.bytes), 50, .2);
  assert_near(deviation_of(&survey.bytes), 10, .15);
  assert_near(mean_of(&survey.noise), 1, .002);
  assert_near(deviation_of(&survey.noise), .1, .002);
}

/* Every pair of the model becomes one edge, of one kind. */
static void test_edges_of_the_models(void **state) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    static const struct {
      regal_graph_model model;
      uint32_t edges;
    } exact[] = {{REGAL_BARABASI_ALBERT, 2 * 98},
                 {REGAL_WATTS_STROGATZ, 2 * 100}};
    for (int i = 0; i < 2; i++) {
      regal_graph *graph = make(*state, exact[i].model, 100, seed);
      uint32_t sink = graph->ops - 1;
      uint32_t ends = graph->control_out_begin[1] +
                      graph->control_in_begin[sink + 1] -
                      graph->control_in_begin[sink];
      assert_int_equal(graph->uses + graph->controls - ends, exact[i].edges);
      regal_graph_free(graph);
    }
  }
}

static void check_end(const regal_graph *graph, uint32_t op, const char *name) {
  regal_op_info info;
  regal_graph_op(graph, op, &info);
  assert_string_equal(info.name, name);
  assert_int_equal(info.id, op);
  assert_int_equal(info.run_ns, 0);
  assert_int_equal(info.temporary_bytes + info.resident_bytes, 0);
  assert_int_equal(info.outputs + info.inputs, 0);
}

static uint32_t reader_count(const regal_graph *graph, uint32_t op) {
  return graph->use_begin[graph->output_begin[op + 1]] -
         graph->use_begin[graph->output_begin[op]];
}

/* Source and sink hold exactly the ops that nothing else precedes, or
 * follows. */
static void test_source_and_sink(void **state) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    regal_graph *graph = make(*state, seed % REGAL_GRAPH_MODELS, 0, seed);
    uint32_t sink = graph->ops - 1;
    check_end(graph, 0, "_SOURCE");
    check_end(graph, sink, "_SINK");
    for (uint32_t op = 1; op < sink; op++) {
      const uint32_t *in = graph->control_in_begin + op;
      const uint32_t *out = graph->control_out_begin + op;
      uint32_t inputs = graph->input_begin[op + 1] - graph->input_begin[op];
      bool from_source = in[1] > in[0] && graph->control_in[in[0]] == 0;
      bool to_sink = out[1] > out[0] && graph->control_out[out[1] - 1] == sink;
      uint32_t before = inputs + in[1] - in[0] - from_source;
      uint32_t after = reader_count(graph, op) + out[1] - out[0] - to_sink;
      assert_true(from_source == (before == 0));
      assert_true(to_sink == (after == 0));
      char name[32];
      snprintf(name, sizeof name, "op_%u", op - 1);
      assert_string_equal(regal_graph_name(graph, op), name);
    }
    regal_graph_free(graph);
  }
}

static void test_number_of_nodes(void **state) {
  sample nodes = {0};
  uint32_t least = UINT32_MAX, most = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    regal_graph *graph = make(*state, REGAL_BARABASI_ALBERT, 0, seed);
    uint32_t count = graph->ops - 2;
    observe(&nodes, count);
    least = count < least ? count : least;
    most = count > most ? count : most;
    regal_graph_free(graph);
  }
  assert_int_equal(least, 50);
  assert_int_equal(most, 200);
  assert_near(mean_of(&nodes), 125, 4 * 43.6 / sqrt(3000));
}

static void test_graphs_follow_from_the_seed(void **state) {
  uint64_t sums[REGAL_GRAPH_MODELS * 3];
  for (int i = 0; i < REGAL_GRAPH_MODELS * 3; i++) {
    regal_graph *once = make(*state, i / 3, 60, (uint64_t)(i % 3));
    regal_graph *again = make(*state, i / 3, 60, (uint64_t)(i % 3));
    sums[i] = once->checksum;
    assert_true(sums[i] == again->checksum);
    for (int j = 0; j < i; j++)
      assert_true(sums[i] != sums[j]);
    regal_graph_free(once);
    regal_graph_free(again);
  }
}

/* Published data sets are seeds: these must not change between versions. */
static void test_graphs_are_pinned(void **state) {
  static const uint64_t pinned[REGAL_GRAPH_MODELS] = {
      UINT64_C(0xf45da22f5c22246c), UINT64_C(0x5c66f92ba71f36b1),
      UINT64_C(0x3fe33e2f6285a4e9), UINT64_C(0x3607917ef885e3a7)};
  for (int model = 0; model < REGAL_GRAPH_MODELS; model++) {
    regal_graph *graph = make(*state, model, 0, 2020);
    if (graph->checksum != pinned[model])
      fail_msg("model %d: 0x%016llx", model,
               (unsigned long long)graph->checksum);
    regal_graph_free(graph);
  }
}

static void test_normal_numbers(void **state) {
  (void)state;
  regal_normal normal = {
      .random = {regal_random_key(7, REGAL_PURPOSE_TEST, 0, 0), 0}};
  sample value = {0}, cube = {0}, inside = {0}, product = {0};
  double last = 0;
  for (int i = 0; i < 200000; i++) {
    double x = regal_normal_next(&normal);
    observe(&value, x);
    observe(&cube, x * x * x);
    observe(&inside, fabs(x) < 1.959964);
    observe(&product, x * last);
    last = x;
  }
  assert_near(mean_of(&value), 0, .009);
  assert_near(deviation_of(&value), 1, .0065);
  assert_near(mean_of(&cube), 0, .035);
  assert_near(mean_of(&inside), .95, .002);
  assert_near(mean_of(&product), 0, .009);
}

/* -- Layered graphs -------------------------------------------------------- */

static regal_graph *layer(regal_context *context, uint32_t ops, uint32_t width,
                          uint32_t fan_in) {
  regal_graph *graph = NULL;
  if (regal_layered_graph(context, ops, width, fan_in, 5, &graph) != REGAL_OK)
    fail_msg("%s", regal_error(context));
  return graph;
}

static void check_layered(regal_context *context, uint32_t ops, uint32_t width,
                          uint32_t fan_in) {
  regal_graph *graph = layer(context, ops, width, fan_in);
  assert_int_equal(graph->ops, ops);
  assert_int_equal(graph->tensors, ops);
  assert_int_equal(graph->controls, 0);
  for (uint32_t op = 0; op < ops; op++) {
    uint32_t begin = graph->input_begin[op], end = graph->input_begin[op + 1];
    uint32_t depth = op / width, reach = depth < 3 ? depth : 3;
    uint32_t most = reach * width;
    assert_int_equal(graph->id[op], op);
    assert_int_equal(end - begin, fan_in < most ? fan_in : most);
    for (uint32_t i = begin; i < end; i++)
      assert_in_range(depth - graph->input[i] / width, 1, 3);
    if (end > begin)
      assert_int_equal(graph->input[end - 1] / width, depth - 1);
  }
  regal_graph_free(graph);
}

static void test_layered_graphs(void **state) {
  check_layered(*state, 1, 1, 1);
  check_layered(*state, 100, 1, 1);
  check_layered(*state, 100, 1, 5);
  check_layered(*state, 100, 7, 0);
  check_layered(*state, 100, 7, 1);
  check_layered(*state, 1000, 10, 2);
  check_layered(*state, 1000, 10, 3);
  check_layered(*state, 1000, 10, 29);
  check_layered(*state, 1000, 10, UINT32_MAX);
  check_layered(*state, 50, UINT32_MAX, 3);
  regal_graph *graph = layer(*state, 1000, 10, 3);
  assert_string_equal(regal_graph_name(graph, 473), "layer_47/op_3");
  assert_true(graph->critical_ns > 100 * 100 * 1000);
  regal_graph_free(graph);
}

static void test_a_million_layered_ops(void **state) {
  regal_graph *graph = layer(*state, 1000000, 1000, 3);
  assert_int_equal(graph->uses, 3 * (1000000 - 1000));
  assert_true(regal_bytes_peak(*state) < 400 * (size_t)1000000);
  regal_graph_free(graph);
}

/* -- Errors ---------------------------------------------------------------- */

static void test_errors(void **state) {
  regal_graph *graph = NULL;
  assert_int_equal(
      regal_synthetic_graph(*state, REGAL_GRAPH_MODELS, 0, 1, &graph),
      REGAL_MISUSE);
  assert_string_equal(regal_error(*state), "there is no random graph model 4");
  assert_int_equal(
      regal_synthetic_graph(*state, REGAL_ERDOS_RENYI, 4, 1, &graph),
      REGAL_MISUSE);
  assert_string_equal(regal_error(*state),
                      "a synthetic graph has 5 to 10000 nodes, not 4");
  assert_int_equal(
      regal_synthetic_graph(*state, REGAL_ERDOS_RENYI, 10001, 1, &graph),
      REGAL_MISUSE);
  assert_string_equal(regal_error(*state),
                      "a synthetic graph has 5 to 10000 nodes, not 10001");
  assert_int_equal(regal_layered_graph(*state, 0, 1, 1, 1, &graph),
                   REGAL_MISUSE);
  assert_int_equal(regal_layered_graph(*state, 1, 0, 1, 1, &graph),
                   REGAL_MISUSE);
  assert_string_equal(regal_error(*state),
                      "a layered graph needs at least one op in a layer");
  assert_null(graph);
}

static void fail_allocations(bool layered) {
  for (size_t n = 2;; n++) { /* the first makes the context */
    failing_allocator memory = {.fail_at = n};
    regal_allocator allocator = failing_allocator_of(&memory);
    regal_context *context;
    regal_graph *graph = NULL;
    assert_int_equal(regal_context_create(&context, &allocator), REGAL_OK);
    regal_status status =
        layered ? regal_layered_graph(context, 50, 5, 3, 1, &graph)
                : regal_synthetic_graph(context, REGAL_WATTS_STROGATZ, 50, 1,
                                        &graph);
    assert_int_equal(status, memory.failed ? REGAL_NO_MEMORY : REGAL_OK);
    assert_string_equal(regal_error(context),
                        memory.failed ? "out of memory" : "");
    regal_graph_free(graph);
    assert_int_equal(regal_bytes_in_use(context), 0);
    regal_context_free(context);
    assert_int_equal(memory.blocks, 0);
    if (!memory.failed)
      return assert_in_range(n, 30, 100);
  }
}

static void test_failing_allocations(void **state) {
  (void)state;
  fail_allocations(false);
  fail_allocations(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_erdos_renyi_density),
      CONTEXT_TEST(test_barabasi_albert_degrees),
      CONTEXT_TEST(test_watts_strogatz_rewires),
      CONTEXT_TEST(test_stochastic_blocks),
      CONTEXT_TEST(test_smallest_models),
      CONTEXT_TEST(test_outputs_edges_and_costs),
      CONTEXT_TEST(test_edges_of_the_models),
      CONTEXT_TEST(test_source_and_sink),
      CONTEXT_TEST(test_number_of_nodes),
      CONTEXT_TEST(test_graphs_follow_from_the_seed),
      CONTEXT_TEST(test_graphs_are_pinned),
      CONTEXT_TEST(test_normal_numbers),
      CONTEXT_TEST(test_layered_graphs),
      CONTEXT_TEST(test_a_million_layered_ops),
      CONTEXT_TEST(test_errors),
      CONTEXT_TEST(test_failing_allocations),
  };
  return cmocka_run_group_tests_name("synthetic", tests, NULL, NULL);
}
