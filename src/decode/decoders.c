/* SPDX-License-Identifier: Apache-2.0 */
/* The table of decoders, and what can be said of any of them. */
#include "decode/decoder.h"

#include "base/options/spelling.h"

#include <string.h>

#define ADDRESS(name) &regal_decoder_##name,
static const regal_decoder *const decoders[] = {REGAL_DECODERS(ADDRESS)};

size_t regal_decoder_count(void) {
  return sizeof decoders / sizeof *decoders;
}

const regal_decoder *regal_decoder_find(const char *name) {
  for (size_t i = 0; i < regal_decoder_count(); i++)
    if (strcmp(decoders[i]->name, name) == 0)
      return decoders[i];
  return NULL;
}

static const char *domain_name(regal_gene_domain domain) {
  static const char *const names[] = {"global", "op", "op, device",
                                      "tensor, device"};
  return names[domain];
}

regal_decoder_info regal_decoder_at(size_t index) {
  if (index >= regal_decoder_count())
    return (regal_decoder_info){.name = NULL};
  const regal_decoder *decoder = decoders[index];
  regal_decoder_info info = {.name = decoder->name, .help = decoder->help};
  size_t used = 0;
  for (size_t c = 0; c < regal_decoder_class_count(decoder); c++)
    used += (size_t)snprintf(
        info.genes + used, sizeof info.genes - used, "%s%s (%s)", c ? ", " : "",
        decoder->classes[c].name, domain_name(decoder->classes[c].domain));
  return info;
}

regal_status regal_decoder_require(regal_context *context, const char *name,
                                   const regal_decoder **decoder) {
  *decoder = regal_decoder_find(name);
  if (*decoder)
    return REGAL_OK;
  char hint[120];
  regal_suggestion nearest = regal_suggest(name);
  for (size_t i = 0; i < regal_decoder_count(); i++)
    regal_suggestion_consider(&nearest, regal_decoder_at(i).name);
  regal_suggestion_print(&nearest, "methods", hint, sizeof hint);
  return regal_fail(context, REGAL_BAD_INPUT,
                    "--decoder: there is no decoder \"%.100s\"; %s", name,
                    hint);
}

size_t regal_decoder_class_count(const regal_decoder *decoder) {
  size_t count = 0;
  while (count < REGAL_MOST_CLASSES && decoder->classes[count].name)
    count++;
  return count;
}

bool regal_decoders_share_genes(const regal_decoder *a,
                                const regal_decoder *b) {
  size_t count = regal_decoder_class_count(a);
  bool same = regal_decoder_class_count(b) == count;
  for (size_t c = 0; same && c < count; c++)
    same = !strcmp(a->classes[c].name, b->classes[c].name) &&
           a->classes[c].domain == b->classes[c].domain;
  return same;
}

size_t regal_decoder_class(const regal_decoder *decoder, const char *name) {
  size_t count = regal_decoder_class_count(decoder), c = 0;
  while (c < count && strcmp(decoder->classes[c].name, name) != 0)
    c++;
  return c;
}

size_t regal_class_genes(const regal_problem *problem,
                         regal_gene_domain domain) {
  switch (domain) {
  case REGAL_GENE_GLOBAL:
    return 1;
  case REGAL_GENE_OP:
    return problem->ops;
  case REGAL_GENE_OP_DEVICE:
    return (size_t)problem->ops * problem->devices;
  case REGAL_GENE_TENSOR_DEVICE:
    return (size_t)problem->tensors * problem->devices;
  }
  return 0;
}

size_t regal_class_begin(const regal_decoder *decoder,
                         const regal_problem *problem, size_t class_index) {
  size_t begin = 0;
  for (size_t c = 0; c < class_index; c++)
    begin += regal_class_genes(problem, decoder->classes[c].domain);
  return begin;
}

size_t regal_decoder_genes(const regal_decoder *decoder,
                           const regal_problem *problem) {
  return regal_class_begin(decoder, problem,
                           regal_decoder_class_count(decoder));
}
