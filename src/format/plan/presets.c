/* SPDX-License-Identifier: Apache-2.0 */
/* Machines by name: a row of the table is all that a new one takes.
 *
 * Memory and bandwidth are the vendors' figures. Vendors give the bandwidth of
 * a device in both directions together; a link of the model is one direction of
 * one pair, so that the table has half of it. Behind a switch every pair has
 * the whole bandwidth of its devices, as long as other pairs do not use it at
 * the same time, which the model does not know. Vendors do not publish
 * latencies: those of NVLink and PCIe are the constants by which NCCL predicts
 * a hop (its table hwLat, ring, Simple protocol).
 *
 * Speeds of devices are not here: a graph's times are those of its device.
 */
#include "format/plan/presets.h"

#include <string.h>

#include "base/options/options.h"
#include "base/text.h"
#include "graph/pattern.h"

#define GB INT64_C(1000000000)
#define GIB (INT64_C(1) << 30)

#define NVLINK_NS 3400
#define NVLINK_SOURCE "NCCL's constant for an NVLink hop (src/graph/tuning.cc)"
#define PCIE_NS 5700
#define PCIE_SOURCE "NCCL's constant for a PCIe hop (src/graph/tuning.cc)"

/* clang-format off */
static const regal_preset presets[] = {
    /* name, about, device,
     * devices, memory, bandwidth, latency, overlapped,
     * sources of memory, bandwidth and latency */
    {"b200x8-nvlink", "8 NVIDIA B200 behind NVSwitch (DGX B200)", "gpu",
     8, 180 * GB, 900 * GB, NVLINK_NS, true,
     "NVIDIA DGX B200 datasheet: 1440 GB for 8 GPUs",
     "NVIDIA DGX B200 datasheet: NVLink 1.8 TB/s for a GPU, both ways",
     NVLINK_SOURCE},
    {"h200x8-nvlink", "8 NVIDIA H200 SXM behind NVSwitch (HGX, DGX H200)", "gpu",
     8, 141 * GB, 450 * GB, NVLINK_NS, true,
     "NVIDIA H200 datasheet: 141 GB",
     "NVIDIA H200 datasheet: NVLink 900 GB/s, both ways", NVLINK_SOURCE},
    {"h100x8-nvlink", "8 NVIDIA H100 SXM behind NVSwitch (HGX, DGX H100)", "gpu",
     8, 80 * GB, 450 * GB, NVLINK_NS, true,
     "NVIDIA H100 datasheet: 80 GB",
     "NVIDIA H100 datasheet: NVLink 900 GB/s, both ways", NVLINK_SOURCE},
    {"h100x4-pcie", "4 NVIDIA H100 PCIe without NVLink bridges", "gpu",
     4, 80 * GB, 64 * GB, PCIE_NS, true,
     "NVIDIA H100 datasheet: 80 GB",
     "NVIDIA H100 datasheet: PCIe Gen5 128 GB/s, both ways", PCIE_SOURCE},
    {"a100x8-nvlink", "8 NVIDIA A100 80GB SXM behind NVSwitch (HGX, DGX A100)",
     "gpu", 8, 80 * GB, 300 * GB, NVLINK_NS, true,
     "NVIDIA A100 datasheet: 80 GB",
     "NVIDIA A100 datasheet: NVLink 600 GB/s, both ways", NVLINK_SOURCE},
    {"a100x4-pcie", "4 NVIDIA A100 80GB PCIe without NVLink bridges", "gpu",
     4, 80 * GB, 32 * GB, PCIE_NS, true,
     "NVIDIA A100 datasheet: 80 GB",
     "NVIDIA A100 datasheet: PCIe Gen4 64 GB/s, both ways", PCIE_SOURCE},
    {"v100x16-nvlink", "16 NVIDIA V100 32GB behind NVSwitch (DGX-2)", "gpu",
     16, 32 * GB, 150 * GB, NVLINK_NS, true,
     "NVIDIA V100 datasheet: 32 GB",
     "NVIDIA V100 datasheet: NVLink 300 GB/s, both ways", NVLINK_SOURCE},
    {"l4x4-pcie", "4 NVIDIA L4", "gpu",
     4, 24 * GB, 32 * GB, PCIE_NS, true,
     "NVIDIA L4 datasheet: 24 GB",
     "NVIDIA L4 datasheet: PCIe Gen4 x16, 64 GB/s both ways", PCIE_SOURCE},
    {"t4x4-pcie", "4 NVIDIA T4", "gpu",
     4, 16 * GB, 16 * GB, PCIE_NS, true,
     "NVIDIA T4 datasheet: 16 GB",
     "NVIDIA T4 datasheet: PCIe Gen3 x16, 32 GB/s both ways", PCIE_SOURCE},
    {"rtx4090x2-pcie", "2 NVIDIA RTX 4090: no peer access, through the host",
     "gpu", 2, 24 * GB, 13 * GB, 14000, true,
     "NVIDIA GeForce RTX 4090 specifications: 24 GB",
     "measured: 25.8 GB/s both ways without peer access "
     "(github.com/tinygrad/open-gpu-kernel-modules, issue 6)",
     "measured on RTX 3090 without peer access: 12 to 17 us "
     "(github.com/NVIDIA/nccl, issue 1127)"},
    {"tpu-v4x4", "4 Google TPU v4 of one board (2 x 2 mesh)", "tpu",
     4, 32 * GIB, 50 * GB, 1000, true,
     "Google Cloud TPU v4 documentation: 32 GiB",
     "Jouppi et al., TPU v4, ISCA 2023: links of 50 GB/s",
     "Austin et al., How to Scale Your Model: about 1 us for a hop"},
};
/* clang-format on */

#define PRESETS (sizeof presets / sizeof *presets)

size_t regal_preset_count(void) {
  return PRESETS;
}

const regal_preset *regal_preset_at(size_t index) {
  return index < PRESETS ? &presets[index] : NULL;
}

const regal_preset *regal_preset_find(const char *name) {
  for (size_t i = 0; i < PRESETS; i++)
    if (!strcmp(presets[i].name, name))
      return &presets[i];
  return NULL;
}

/* Of a name, or of the beginning of one. */
static uint32_t distance_of(const char *name, const char *preset) {
  char start[64];
  snprintf(start, sizeof start, "%.60s*", name);
  uint32_t whole = regal_pattern_distance(name, preset);
  uint32_t part = regal_pattern_distance(start, preset) + 1;
  return whole < part ? whole : part;
}

void regal_preset_near(const char *name, char *text, size_t capacity) {
  bool written[PRESETS] = {false};
  size_t used = 0;
  text[0] = 0;
  for (int count = 0; count < 3; count++) {
    size_t best = PRESETS;
    uint32_t distance = (uint32_t)strlen(name) / 3 + 2;
    for (size_t i = 0; i < PRESETS; i++) {
      uint32_t found = distance_of(name, presets[i].name);
      if (!written[i] && found < distance) {
        distance = found;
        best = i;
      }
    }
    if (best == PRESETS || used >= capacity)
      return;
    written[best] = true;
    used += (size_t)snprintf(text + used, capacity - used, "%s%s",
                             count ? ", " : "; near: ", presets[best].name);
  }
}

static void fill_options(const regal_preset *preset, regal_options *options) {
  if (!regal_option_given(options, "devices"))
    options->devices = preset->devices;
  if (!regal_option_given(options, "memory-limit"))
    options->memory_limit = preset->memory_bytes;
  if (!regal_option_given(options, "bandwidth"))
    options->bandwidth = preset->bytes_per_s;
  if (!regal_option_given(options, "latency"))
    options->latency = preset->latency_ns;
  if (!regal_option_given(options, "transfers"))
    options->transfers = preset->overlapped;
}

regal_status regal_preset_open(regal_context *context,
                               const regal_preset *preset,
                               const regal_options *options,
                               regal_machine **machine) {
  regal_options filled = *options;
  regal_machine *made;
  fill_options(preset, &filled);
  REGAL_TRY(regal_machine_from_options(context, &filled, &made));
  for (uint32_t a = 0; a < made->devices; a++) {
    char name[32];
    snprintf(name, sizeof name, "%s%u", preset->device_name, a);
    regal_status status = regal_machine_set_name(made, a, name);
    if (status != REGAL_OK) {
      regal_machine_free(made);
      return status;
    }
  }
  *machine = made;
  return REGAL_OK;
}

static void write_preset(regal_text *text, const regal_preset *preset) {
  regal_text_format(text, "{\"regal_machine\": 1,\n \"devices\": [");
  for (uint32_t a = 0; a < preset->devices; a++)
    regal_text_format(
        text, "%s\n  {\"name\": \"%s%u\", \"memory_bytes\": %lld}",
        a ? "," : "", preset->device_name, a, (long long)preset->memory_bytes);
  regal_text_format(text,
                    "],\n \"transfers\": \"%s\",\n \"latency_ns\": %lld,\n "
                    "\"bandwidth_bytes_per_s\": %lld}\n",
                    preset->overlapped ? "overlapped" : "blocking",
                    (long long)preset->latency_ns,
                    (long long)preset->bytes_per_s);
}

regal_status regal_preset_save(regal_context *context, const char *name,
                               const char *path) {
  if (!context)
    return REGAL_MISUSE;
  if (!name || !path)
    return regal_fail(context, REGAL_MISUSE,
                      "saving a preset needs a name and a path");
  const regal_preset *preset = regal_preset_find(name);
  char near[200];
  regal_preset_near(name, near, sizeof near);
  if (!preset)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "there is no machine \"%.100s\"%s; 'regal machines' "
                      "lists them",
                      name, near);
  regal_text text;
  regal_text_init(&text, context);
  write_preset(&text, preset);
  regal_status status = regal_text_save(context, &text, path);
  regal_text_free(&text);
  return status;
}
