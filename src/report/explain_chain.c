/* SPDX-License-Identifier: Apache-2.0 */
/* Why a plan takes as long as it does. Every step starts the moment that
 * something else has ended; going back from the last step to end gives a chain
 * without gaps that covers the whole run time. A faster plan must
 * break it.
 */
#include "report/explain.h"

#include <string.h>

#define SHORT_CHAIN 16 /* up to so many steps are all shown */
#define LONGEST_SHOWN 10

/* -- What each step waited for --------------------------------------------- */

/* The latest steps that held each device and each link. */
typedef struct holders {
  uint32_t device[REGAL_MAX_DEVICES];
  uint32_t link[REGAL_MAX_DEVICES][REGAL_MAX_DEVICES];
} holders;

/* `other` had to end before step `i`. What ends last counts; of several, the
 * first that is named. */
static void consider(regal_explanation *explanation, uint32_t i, uint32_t other,
                     regal_reason reason) {
  const int64_t *end = explanation->timeline.end_ns;
  uint32_t known = explanation->cause[i];
  if (other == REGAL_NONE || end[other] == 0 ||
      (known != REGAL_NONE && end[known] >= end[other]))
    return;
  explanation->cause[i] = other;
  explanation->reason[i] = (uint8_t)reason;
}

static void consider_needs(regal_explanation *explanation, uint32_t i) {
  const regal_reading *reading = &explanation->reading;
  const regal_graph *graph = reading->graph;
  const regal_step *step = &reading->plan->steps[i];
  uint32_t op = step->op;
  for (REGAL_ROW(k, graph->input_begin, op))
    consider(explanation, i,
             regal_verify_arrival(reading, graph->input[k], step->device),
             REGAL_REASON_INPUT);
  for (REGAL_ROW(k, graph->control_in_begin, op)) {
    uint32_t before = graph->control_in[k];
    consider(explanation, i,
             reading->machine->control_transfers
                 ? regal_verify_arrival(reading, graph->tensors + before,
                                        step->device)
                 : reading->run_step[before],
             REGAL_REASON_CONTROL);
  }
}

static void find_cause(regal_explanation *explanation, holders *last,
                       uint32_t i) {
  const regal_step *step = &explanation->reading.plan->steps[i];
  bool overlapped = explanation->reading.machine->overlapped;
  if (step->port == REGAL_RUN) {
    consider_needs(explanation, i);
    consider(explanation, i, last->device[step->device], REGAL_REASON_DEVICE);
    last->device[step->device] = i;
    return;
  }
  consider(explanation, i, explanation->reading.run_step[step->op],
           REGAL_REASON_INPUT);
  if (overlapped) {
    consider(explanation, i, last->link[step->device][step->to],
             REGAL_REASON_LINK);
    last->link[step->device][step->to] = i;
    return;
  }
  consider(explanation, i, last->device[step->device], REGAL_REASON_DEVICE);
  consider(explanation, i, last->device[step->to], REGAL_REASON_PARTNER);
  last->device[step->device] = last->device[step->to] = i;
}

void regal_explain_find_causes(regal_explanation *explanation) {
  holders last;
  memset(&last, 0xFF, sizeof last); /* REGAL_NONE everywhere */
  for (uint32_t i = 0; i < explanation->timeline.steps; i++) {
    explanation->cause[i] = REGAL_NONE;
    explanation->reason[i] = REGAL_REASON_START;
    find_cause(explanation, &last, i);
  }
}

/* -- The chain ------------------------------------------------------------- */

typedef struct chain {
  uint32_t *step; /* [count] first to last */
  uint32_t count;
  uint32_t ops, transfers;
  int64_t ops_ns, transfers_ns;
  uint32_t reasons[REGAL_REASONS];
} chain;

static int64_t takes(const regal_explanation *explanation, uint32_t step) {
  return explanation->timeline.end_ns[step] -
         explanation->timeline.start_ns[step];
}

static uint32_t last_to_end(const regal_explanation *explanation) {
  const regal_timeline *timeline = &explanation->timeline;
  uint32_t last = REGAL_NONE;
  for (uint32_t i = 0; i < timeline->steps; i++)
    if (last == REGAL_NONE || timeline->end_ns[i] > timeline->end_ns[last])
      last = i;
  return last;
}

static regal_status find_chain(const regal_explanation *explanation,
                               chain *chain) {
  uint32_t last = last_to_end(explanation);
  for (uint32_t i = last; i != REGAL_NONE; i = explanation->cause[i])
    chain->count++;
  chain->step =
      regal_alloc(explanation->context, chain->count, sizeof *chain->step);
  if (!chain->step)
    return regal_fail_memory(explanation->context);
  uint32_t place = chain->count;
  for (uint32_t i = last; i != REGAL_NONE; i = explanation->cause[i]) {
    bool runs = explanation->reading.plan->steps[i].port == REGAL_RUN;
    chain->step[--place] = i;
    chain->reasons[explanation->reason[i]]++;
    *(runs ? &chain->ops : &chain->transfers) += 1;
    *(runs ? &chain->ops_ns : &chain->transfers_ns) += takes(explanation, i);
  }
  return REGAL_OK;
}

static const char *reason_name(regal_reason reason) {
  static const char *const names[REGAL_REASONS] = {
      "-", "input", "control edge", "device", "receiver", "link"};
  return names[reason];
}

static void put_chain_step(regal_explanation *explanation, uint32_t i) {
  regal_text *text = &explanation->text;
  int64_t ns = takes(explanation, i);
  regal_text_format(text, "  %-7u %-10s %-10s %5.1f%%  %-12s  ", i,
                    regal_show_duration(explanation->timeline.start_ns[i]).text,
                    regal_show_duration(ns).text,
                    regal_layout_percent(ns, explanation->cost.runtime_ns),
                    reason_name((regal_reason)explanation->reason[i]));
  regal_explain_step(explanation, i);
  regal_text_format(text, "\n");
}

/* Keeps only the longest steps, the first of equals, still in order of time.
 * Returns their number. */
static uint32_t keep_longest(const regal_explanation *explanation,
                             chain *chain) {
  if (chain->count <= SHORT_CHAIN)
    return chain->count;
  uint32_t kept[LONGEST_SHOWN], count = 0;
  for (uint32_t k = 0; k < chain->count; k++) {
    uint32_t shortest = 0;
    if (count < LONGEST_SHOWN) {
      kept[count++] = chain->step[k];
      continue;
    }
    for (uint32_t m = 1; m < count; m++)
      if (takes(explanation, kept[m]) <= takes(explanation, kept[shortest]))
        shortest = m;
    if (takes(explanation, kept[shortest]) >=
        takes(explanation, chain->step[k]))
      continue;
    for (uint32_t m = shortest; m + 1 < count; m++)
      kept[m] = kept[m + 1];
    kept[count - 1] = chain->step[k];
  }
  for (uint32_t k = 0; k < count; k++)
    chain->step[k] = kept[k];
  return count;
}

static void put_totals(regal_explanation *explanation, const chain *chain) {
  regal_text *text = &explanation->text;
  int64_t runtime = explanation->cost.runtime_ns;
  regal_text_format(text,
                    "critical chain: %u of %u steps, %s: %.1f%% in %u op%s, "
                    "%.1f%% in %u transfer%s\n",
                    chain->count, explanation->timeline.steps,
                    regal_show_duration(runtime).text,
                    regal_layout_percent(chain->ops_ns, runtime), chain->ops,
                    chain->ops == 1 ? "" : "s",
                    regal_layout_percent(chain->transfers_ns, runtime),
                    chain->transfers, chain->transfers == 1 ? "" : "s");
  const char *before = "  its steps waited for: ";
  for (int k = REGAL_REASON_INPUT; k < REGAL_REASONS; k++)
    if (chain->reasons[k]) {
      regal_text_format(text, "%s%s (%u)", before, reason_name((regal_reason)k),
                        chain->reasons[k]);
      before = ", ";
    }
  if (chain->count > chain->reasons[REGAL_REASON_START])
    regal_text_format(text, "\n");
}

regal_status regal_explain_chain(regal_explanation *explanation) {
  chain chain = {0};
  REGAL_TRY(find_chain(explanation, &chain));
  put_totals(explanation, &chain);
  uint32_t all = chain.count, shown = keep_longest(explanation, &chain);
  if (shown < all)
    regal_text_format(&explanation->text, "  the %u longest of them:\n", shown);
  regal_text_format(&explanation->text, "  %-7s %-10s %-10s %6s  %-12s  %s\n",
                    "step", "start", "takes", "share", "waited for", "what");
  for (uint32_t k = 0; k < shown; k++)
    put_chain_step(explanation, chain.step[k]);
  regal_release(explanation->context, chain.step);
  return REGAL_OK;
}

/* -- Idle devices ---------------------------------------------------------- */

/* How a device spends the run time. */
typedef struct day {
  int64_t until; /* the end of its latest step */
  int64_t transfers, inputs, control, partner;
} day;

/* Adds step i, in which the device takes part, and the gap before it. */
static void spend(const regal_explanation *explanation, uint32_t i, day *day) {
  const regal_timeline *timeline = &explanation->timeline;
  int64_t gap = timeline->start_ns[i] - day->until;
  if (explanation->reading.plan->steps[i].port != REGAL_RUN) {
    day->partner += gap;
    day->transfers += takes(explanation, i);
  } else if (explanation->reason[i] == REGAL_REASON_CONTROL) {
    day->control += gap;
  } else {
    day->inputs += gap;
  }
  day->until = timeline->end_ns[i];
}

static void put_day(regal_explanation *explanation, uint32_t device,
                    uint32_t width, const day *day) {
  regal_device_label label =
      regal_machine_label(explanation->reading.machine, device);
  int64_t runtime = explanation->cost.runtime_ns;
  const int64_t shares[] = {explanation->timeline.busy_ns[device],
                            day->transfers,
                            day->inputs,
                            day->control,
                            day->partner,
                            runtime - day->until};
  regal_text_format(&explanation->text, "  %s%*s", label.text,
                    (int)(width - label.width), "");
  for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
    regal_text_format(&explanation->text, "%9.1f%%",
                      regal_layout_percent(shares[k], runtime));
  regal_text_format(&explanation->text, "\n");
}

void regal_explain_idle(regal_explanation *explanation) {
  const regal_reading *reading = &explanation->reading;
  uint32_t width = regal_machine_label_width(reading->machine, 10);
  day days[REGAL_MAX_DEVICES] = {{0}};
  for (uint32_t i = 0; i < explanation->timeline.steps; i++) {
    const regal_step *step = &reading->plan->steps[i];
    bool runs = step->port == REGAL_RUN;
    if (!runs && reading->machine->overlapped)
      continue;
    spend(explanation, i, &days[step->device]);
    if (!runs)
      spend(explanation, i, &days[step->to]);
  }
  regal_text_format(&explanation->text,
                    "\nhow each device spends the run time\n"
                    "  %*s%10s%10s%10s%10s%10s%10s\n",
                    (int)width, "", "ops", "transfers", "inputs*", "control*",
                    "partner*", "done");
  for (uint32_t d = 0; d < reading->machine->devices; d++)
    put_day(explanation, d, width, &days[d]);
  regal_text_format(&explanation->text,
                    "  * idle: an input has not arrived, a control edge holds "
                    "an op back, the\n    other device of a transfer is "
                    "busy\n");
}
