/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the explanation of a plan share. */
#ifndef REGAL_REPORT_EXPLAIN_H
#define REGAL_REPORT_EXPLAIN_H

#include "cost/verify/parts.h"
#include "report/layout.h"

/* What a step waited for: whatever ended last before it could start. */
typedef enum regal_reason {
  REGAL_REASON_START,   /* nothing: it starts at 0 */
  REGAL_REASON_INPUT,   /* an input, or for a transfer its producer */
  REGAL_REASON_CONTROL, /* an op it has a control edge from */
  REGAL_REASON_DEVICE,  /* the previous step of its device */
  REGAL_REASON_PARTNER, /* the previous step of the device that receives */
  REGAL_REASON_LINK,    /* the previous transfer on its link */
  REGAL_REASONS
} regal_reason;

typedef struct regal_explanation {
  regal_context *context;
  regal_reading reading;
  regal_timeline timeline;
  regal_cost cost;
  uint32_t *cause; /* [steps] the step that it waited for, or REGAL_NONE */
  uint8_t *reason; /* [steps] a regal_reason */
  regal_text text;
  int64_t limit; /* of the device that is explained; bytes are shown like it */
} regal_explanation;

/* Verifies the plan and finds what each step waited for. The caller ends it in
 * either case, and frees the text. */
regal_status regal_explain_begin(regal_explanation *explanation,
                                 regal_context *context,
                                 const regal_problem *problem,
                                 const regal_plan *plan);
void regal_explain_end(regal_explanation *explanation);
/* Appends the whole explanation to the text. */
regal_status regal_explain_tell(regal_explanation *explanation);

/* op "conv1" (id 17) on device 0; "conv1":0 (id 17) from device 0 to 1 */
void regal_explain_step(regal_explanation *explanation, uint32_t step);
/* "conv1":0 (id 17) */
void regal_explain_tensor(regal_explanation *explanation, uint32_t tensor);

/* Fills cause and reason; then each writes its section of the text. */
void regal_explain_find_causes(regal_explanation *explanation);
regal_status regal_explain_chain(regal_explanation *explanation);
void regal_explain_idle(regal_explanation *explanation);
void regal_explain_memory(regal_explanation *explanation);

#endif
