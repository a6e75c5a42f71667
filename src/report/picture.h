/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a plan: what the two formats share. */
#ifndef REGAL_REPORT_PICTURE_H
#define REGAL_REPORT_PICTURE_H

#include "base/text.h"
#include "cost/verify/verify.h"

typedef struct regal_picture {
  regal_context *context;
  const regal_result *result;
  const regal_graph *graph;
  regal_timeline timeline;
  uint32_t *run_step; /* [ops] */
  uint32_t *column;   /* [ops] how deep the op is in the graph */
  uint32_t *row;      /* [ops] its place in the column */
  uint32_t columns, rows;
  regal_text text;
} regal_picture;

/* A colour for each device, "#rrggbb"; the ninth is the first again. */
const char *regal_picture_color(uint32_t device);
/* The device that runs the op. */
uint32_t regal_picture_device(const regal_picture *picture, uint32_t op);
/* Appends a name: bytes that are no UTF-8 become U+FFFD, control characters
 * '?', and each character in `special` what is at its place in `instead`. At
 * most `most` characters; 0: all. */
void regal_picture_name(regal_text *text, const char *name, const char *special,
                        const char *const *instead, size_t most);

/* Columns and rows: columns by depth, rows in the order of what is before. */
regal_status regal_picture_place(regal_picture *picture);

/* Append the picture. */
void regal_picture_dot(regal_picture *picture);
void regal_picture_svg(regal_picture *picture);

#endif
