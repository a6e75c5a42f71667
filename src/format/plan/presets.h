/* SPDX-License-Identifier: Apache-2.0 */
/* Machines by name. */
#ifndef REGAL_FORMAT_PLAN_PRESETS_H
#define REGAL_FORMAT_PLAN_PRESETS_H

#include "cost/model/machine.h"

/* The preset of that name, or NULL. */
const regal_preset *regal_preset_find(const char *name);
/* Its machine; options that were given explicitly win. */
regal_status regal_preset_open(regal_context *context,
                               const regal_preset *preset,
                               const regal_options *options,
                               regal_machine **machine);
/* "; near: a100x4-pcie, ...", for a name that is neither preset nor file. */
void regal_preset_near(const char *name, char *text, size_t capacity);

#endif
