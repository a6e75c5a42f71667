/* SPDX-License-Identifier: Apache-2.0 */
/* Policies against an independent implementation: logits, log-probabilities,
 * entropies, baselines, the loss and every gradient of the cases under
 * tests/parity/, which policy_reference.py made with PyTorch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/network.h"

#define GRAPHS 2
#define NODE_FEATURES 11
#define EDGE_FEATURES 3
#define MOST_ARRAYS 512

typedef struct array {
  char name[64];
  size_t count;
  double *numbers;
} array;

typedef struct parity {
  array arrays[MOST_ARRAYS];
  size_t array_count;
  regal_policy_config config;
  uint32_t samples;
  regal_context *context;
  regal_network *network;
  regal_network_workspace *work;
  regal_encoding graphs[GRAPHS];
  const regal_encoding *encodings[GRAPHS];
  uint8_t *actions[GRAPHS];
  const uint8_t *taken[GRAPHS];
  float *advantages, targets[GRAPHS];
} parity;

/* -- Reading a case -------------------------------------------------------- */

static void *zeros(size_t count, size_t size) {
  void *made = calloc(count + 1, size);
  assert_non_null(made);
  return made;
}

static void read_arrays(parity *p, const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/parity/%s.txt", REGAL_TEST_DATA, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  for (;; p->array_count++) {
    assert_true(p->array_count < MOST_ARRAYS);
    array *a = &p->arrays[p->array_count];
    int got = fscanf(file, "%63s %zu", a->name, &a->count);
    if (got == EOF)
      break;
    assert_int_equal(got, 2);
    a->numbers = zeros(a->count, sizeof *a->numbers);
    for (size_t i = 0; i < a->count; i++)
      assert_int_equal(fscanf(file, "%lf", &a->numbers[i]), 1);
  }
  fclose(file);
}

static const array *find(const parity *p, const char *format, ...) {
  char name[64];
  va_list rest;
  va_start(rest, format);
  vsnprintf(name, sizeof name, format, rest);
  va_end(rest);
  for (size_t i = 0; i < p->array_count; i++)
    if (!strcmp(p->arrays[i].name, name))
      return &p->arrays[i];
  fail_msg("no array %s", name);
  return NULL;
}

static void read_config(parity *p) {
  const double *c = find(p, "config")->numbers;
  p->config = (regal_policy_config){.kind = (regal_policy_kind)c[0],
                                    .update = (regal_node_update)c[1],
                                    .mean_aggregation = c[2] != 0,
                                    .rounds = (uint32_t)c[3],
                                    .width = (uint32_t)c[4],
                                    .experts = (uint32_t)c[5],
                                    .devices = REGAL_MAX_DEVICES,
                                    .node_features = NODE_FEATURES,
                                    .edge_features = EDGE_FEATURES};
  p->samples = (uint32_t)c[7];
  for (size_t i = 0; i < p->array_count; i++) {
    const array *a = &p->arrays[i];
    if (strncmp(a->name, "head/", 5))
      continue;
    regal_policy_head *head = &p->config.heads[p->config.head_count++];
    snprintf(head->gene_class, sizeof head->gene_class, "%.23s", a->name + 5);
    head->domain = (regal_head_domain)a->numbers[0];
    head->genes = (uint32_t)a->numbers[1];
    head->mean_levels = (uint32_t)a->numbers[2];
    head->variance_levels = (uint32_t)a->numbers[3];
    head->bias_levels = (uint32_t)a->numbers[4];
  }
  assert_int_equal(p->config.head_count, (int)c[6]);
}

static float *floats(const array *a) {
  float *made = zeros(a->count, sizeof *made);
  for (size_t i = 0; i < a->count; i++)
    made[i] = (float)a->numbers[i];
  return made;
}

static uint32_t *integers(const array *a) {
  uint32_t *made = zeros(a->count, sizeof *made);
  for (size_t i = 0; i < a->count; i++)
    made[i] = (uint32_t)a->numbers[i];
  return made;
}

static void read_graph(parity *p, int g) {
  const array *node = find(p, "%d/node", g), *from = find(p, "%d/from", g);
  const array *tensors = find(p, "%d/tensor_node", g);
  regal_encoding *e = &p->graphs[g];
  *e = (regal_encoding){.nodes = (uint32_t)(node->count / NODE_FEATURES),
                        .edges = (uint32_t)from->count,
                        .tensors = (uint32_t)tensors->count,
                        .node_features = NODE_FEATURES,
                        .edge_features = EDGE_FEATURES,
                        .node = floats(node),
                        .edge = floats(find(p, "%d/edge", g)),
                        .from = integers(from),
                        .to = integers(find(p, "%d/to", g)),
                        .tensor_node = integers(tensors),
                        .tensor_edge = integers(find(p, "%d/tensor_edge", g))};
  p->encodings[g] = e;
  const array *actions = find(p, "%d/actions", g);
  assert_int_equal(actions->count,
                   p->samples * regal_policy_actions(&p->config, e));
  p->taken[g] = p->actions[g] = zeros(actions->count, 1);
  for (size_t i = 0; i < actions->count; i++)
    p->actions[g][i] = (uint8_t)actions->numbers[i];
  for (uint32_t s = 0; s < p->samples; s++)
    p->advantages[g * p->samples + s] =
        (float)find(p, "%d/advantages", g)->numbers[s];
  p->targets[g] = (float)find(p, "%d/target", g)->numbers[0];
}

/* The blocks of the two implementations are the same, by name and size. */
static void read_weights(parity *p) {
  size_t values = 0;
  for (uint32_t i = 0; i < p->network->block_count; i++) {
    const regal_network_block *block = &p->network->blocks[i];
    const array *a = find(p, "value/%s", block->name);
    assert_int_equal(a->count, block->rows * block->columns);
    for (size_t j = 0; j < a->count; j++)
      p->network->parameters[block->at + j] = (float)a->numbers[j];
  }
  for (size_t i = 0; i < p->array_count; i++)
    values += !strncmp(p->arrays[i].name, "value/", 6);
  assert_int_equal(values, p->network->block_count);
}

static void start(parity *p, const char *name) {
  regal_network_sizes sizes = {0};
  read_arrays(p, name);
  read_config(p);
  p->advantages = zeros(GRAPHS * p->samples, sizeof *p->advantages);
  assert_int_equal(regal_context_create(&p->context, NULL), REGAL_OK);
  assert_int_equal(regal_network_create(p->context, &p->config, 1, &p->network),
                   REGAL_OK);
  read_weights(p);
  for (int g = 0; g < GRAPHS; g++) {
    read_graph(p, g);
    regal_network_add_sizes(&sizes, &p->graphs[g]);
  }
  assert_int_equal(
      regal_network_workspace_create(p->context, p->network, &sizes, &p->work),
      REGAL_OK);
}

static void finish(parity *p) {
  regal_network_workspace_free(p->context, p->work);
  regal_network_free(p->context, p->network);
  regal_context_free(p->context);
  for (int g = 0; g < GRAPHS; g++) {
    regal_encoding *e = &p->graphs[g];
    void *blocks[] = {e->node,        e->edge,        e->from,      e->to,
                      e->tensor_node, e->tensor_edge, p->actions[g]};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
      free(blocks[i]);
  }
  for (size_t i = 0; i < p->array_count; i++)
    free(p->arrays[i].numbers);
  free(p->advantages);
  free(p);
}

/* -- Comparing ------------------------------------------------------------- */

/* Within what float's rounding may do to sums of numbers of size `scale`. */
static void check_near(const char *what, size_t i, double got, double wanted,
                       double scale) {
  if (!(fabs(got - wanted) <= 1e-5 * (1 + scale)))
    fail_msg("%s[%zu] is %.9g, not %.9g", what, i, got, wanted);
}

static void check_close(const char *what, size_t i, double got, double wanted) {
  check_near(what, i, got, wanted, fabs(wanted));
}

static void check_outputs(const parity *p) {
  for (int g = 0; g < GRAPHS; g++) {
    check_close("baseline", g, regal_network_baseline(p->work, g),
                find(p, "%d/baseline", g)->numbers[0]);
    for (uint32_t h = 0; h < p->config.head_count; h++) {
      const regal_real *logits = regal_network_logits(p->work, g, h);
      if (p->config.kind == REGAL_POLICY_AUTOREGRESSIVE &&
          p->config.heads[h].domain == REGAL_HEAD_NODE) {
        assert_null(logits);
        continue;
      }
      const array *a =
          find(p, "%d/logits/%s", g, p->config.heads[h].gene_class);
      for (size_t i = 0; i < a->count; i++)
        check_close(a->name, i, logits[i], a->numbers[i]);
    }
  }
}

/* The loss's term of one sample alone gives its log-probability, or entropy. */
static void check_scores(const parity *p, float *unused) {
  for (int g = 0; g < GRAPHS; g++)
    for (uint32_t s = 0; s < p->samples; s++) {
      float *only = zeros(GRAPHS * p->samples, sizeof *only);
      only[g * p->samples + s] = -1;
      regal_network_loss loss;
      regal_network_terms terms = {.samples = p->samples,
                                   .actions = p->taken,
                                   .advantages = only,
                                   .batch_graphs = 1};
      regal_network_backward(p->network, p->work, &terms, unused, &loss);
      check_close("log_p", s, loss.policy * p->samples,
                  find(p, "%d/log_p", g)->numbers[s]);
      free(only);
    }
}

static void check_loss(const parity *p, float *gradient) {
  regal_network_loss loss;
  const double *weights = find(p, "weights")->numbers;
  const double *wanted = find(p, "loss")->numbers;
  regal_network_terms terms = {.samples = p->samples,
                               .actions = p->taken,
                               .advantages = p->advantages,
                               .entropy_weight = (float)weights[0],
                               .baseline_targets = p->targets,
                               .baseline_weight = (float)weights[1]};
  regal_network_backward(p->network, p->work, &terms, gradient, &loss);
  check_close("loss", 0, loss.policy, wanted[0]);
  check_close("loss", 1, loss.entropy, wanted[1]);
  check_close("loss", 2, loss.baseline, wanted[2]);
}

static void check_gradient(const parity *p, const float *gradient) {
  for (uint32_t i = 0; i < p->network->block_count; i++) {
    const regal_network_block *block = &p->network->blocks[i];
    const array *a = find(p, "gradient/%s", block->name);
    double largest = 0;
    for (size_t j = 0; j < a->count; j++)
      largest = fmax(largest, fabs(a->numbers[j]));
    for (size_t j = 0; j < a->count; j++)
      check_near(a->name, j, gradient[block->at + j], a->numbers[j], largest);
  }
}

static void test_case(void **state) {
  parity *p = zeros(1, sizeof *p);
  start(p, *state);
  float *gradient = zeros(p->network->parameter_count, sizeof *gradient);
  float *unused = zeros(p->network->parameter_count, sizeof *unused);
  assert_int_equal(regal_network_forward(p->context, p->network, p->work,
                                         p->encodings, GRAPHS, true),
                   REGAL_OK);
  check_outputs(p);
  check_scores(p, unused);
  check_loss(p, gradient);
  check_gradient(p, gradient);
  free(gradient);
  free(unused);
  finish(p);
}

#define CASE(name)                                                             \
  { name, test_case, NULL, NULL, name }

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE("gnn_gru_mean"), CASE("gnn_residual_sum"),
      CASE("gnn_mlp_mean"), CASE("gnn_no_rounds"),
      CASE("gas"),          CASE("autoregressive"),
      CASE("experts"),      CASE("blind")};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
