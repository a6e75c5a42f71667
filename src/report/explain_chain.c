/* Why a plan takes as long as it does. Every step starts the moment that
 * something else has ended; going back from the last step to end gives a chain
 * without gaps that covers the whole run time. Whoever wants a faster plan has
 * to break it.
 */
#include "report/explain.h"

#define SHORT_CHAIN 16 /* up to so many steps are all shown */
#define LONGEST_SHOWN 10

/* -- What each step waited for ----------------------------------------------
 */

/* The latest steps that held each device and each link. */
typedef struct holders {
  uint32_t device[REGAL_MAX_DEVICES];
  uint32_t link[REGAL_MAX_DEVICES][REGAL_MAX_DEVICES];
} holders;

/* `other` had to end before step `i`. What ends last counts; of several, the
 * first that is named. */
static void consider(regal_story *story, uint32_t i, uint32_t other,
                     regal_reason reason) {
  const int64_t *end = story->timeline.end_ns;
  uint32_t known = story->cause[i];
  if (other == REGAL_NONE || end[other] == 0 ||
      (known != REGAL_NONE && end[known] >= end[other]))
    return;
  story->cause[i] = other;
  story->reason[i] = (uint8_t)reason;
}

static void consider_needs(regal_story *story, uint32_t i) {
  const regal_reading *reading = &story->reading;
  const regal_graph *graph = reading->graph;
  const regal_step *step = &reading->plan->steps[i];
  uint32_t op = step->op;
  for (uint32_t k = graph->input_begin[op]; k < graph->input_begin[op + 1]; k++)
    consider(story, i,
             regal_verify_arrival(reading, graph->input[k], step->device),
             REGAL_REASON_INPUT);
  for (uint32_t k = graph->control_in_begin[op];
       k < graph->control_in_begin[op + 1]; k++) {
    uint32_t before = graph->control_in[k];
    consider(story, i,
             reading->machine->control_transfers
                 ? regal_verify_arrival(reading, graph->tensors + before,
                                        step->device)
                 : reading->run_step[before],
             REGAL_REASON_CONTROL);
  }
}

static void find_cause(regal_story *story, holders *last, uint32_t i) {
  const regal_step *step = &story->reading.plan->steps[i];
  bool overlapped = story->reading.machine->overlapped;
  if (step->port == REGAL_RUN) {
    consider_needs(story, i);
    consider(story, i, last->device[step->device], REGAL_REASON_DEVICE);
    last->device[step->device] = i;
    return;
  }
  consider(story, i, story->reading.run_step[step->op], REGAL_REASON_INPUT);
  if (overlapped) {
    consider(story, i, last->link[step->device][step->to], REGAL_REASON_LINK);
    last->link[step->device][step->to] = i;
    return;
  }
  consider(story, i, last->device[step->device], REGAL_REASON_DEVICE);
  consider(story, i, last->device[step->to], REGAL_REASON_PARTNER);
  last->device[step->device] = last->device[step->to] = i;
}

void regal_explain_find_causes(regal_story *story) {
  holders last;
  for (uint32_t a = 0; a < REGAL_MAX_DEVICES; a++) {
    last.device[a] = REGAL_NONE;
    for (uint32_t b = 0; b < REGAL_MAX_DEVICES; b++)
      last.link[a][b] = REGAL_NONE;
  }
  for (uint32_t i = 0; i < story->timeline.steps; i++) {
    story->cause[i] = REGAL_NONE;
    story->reason[i] = REGAL_REASON_START;
    find_cause(story, &last, i);
  }
}

/* -- The chain --------------------------------------------------------------
 */

typedef struct chain {
  uint32_t *step; /* [count] first to last */
  uint32_t count;
  uint32_t ops, transfers;
  int64_t ops_ns, transfers_ns;
  uint32_t reasons[REGAL_REASONS];
} chain;

static int64_t takes(const regal_story *story, uint32_t step) {
  return story->timeline.end_ns[step] - story->timeline.start_ns[step];
}

static uint32_t last_to_end(const regal_story *story) {
  const regal_timeline *timeline = &story->timeline;
  uint32_t last = REGAL_NONE;
  for (uint32_t i = 0; i < timeline->steps; i++)
    if (last == REGAL_NONE || timeline->end_ns[i] > timeline->end_ns[last])
      last = i;
  return last;
}

static regal_status find_chain(const regal_story *story, chain *chain) {
  uint32_t last = last_to_end(story);
  for (uint32_t i = last; i != REGAL_NONE; i = story->cause[i])
    chain->count++;
  chain->step = regal_alloc(story->context, chain->count, sizeof *chain->step);
  if (!chain->step)
    return regal_fail_memory(story->context);
  uint32_t place = chain->count;
  for (uint32_t i = last; i != REGAL_NONE; i = story->cause[i]) {
    bool runs = story->reading.plan->steps[i].port == REGAL_RUN;
    chain->step[--place] = i;
    chain->reasons[story->reason[i]]++;
    *(runs ? &chain->ops : &chain->transfers) += 1;
    *(runs ? &chain->ops_ns : &chain->transfers_ns) += takes(story, i);
  }
  return REGAL_OK;
}

static const char *reason_name(regal_reason reason) {
  static const char *const names[REGAL_REASONS] = {
      "-", "input", "control edge", "device", "receiver", "link"};
  return names[reason];
}

static void put_chain_step(regal_story *story, uint32_t i) {
  regal_text *text = &story->text;
  size_t begin = text->size;
  regal_text_format(text, "  %u", i);
  regal_layout_pad(text, begin, 9);
  regal_text_format(text, " ");
  regal_text_duration(text, story->timeline.start_ns[i]);
  regal_layout_pad(text, begin, 20);
  regal_text_format(text, " ");
  regal_text_duration(text, takes(story, i));
  regal_layout_pad(text, begin, 31);
  regal_text_format(
      text, " %5.1f%%  %-12s  ",
      regal_layout_percent(takes(story, i), story->cost.runtime_ns),
      reason_name((regal_reason)story->reason[i]));
  regal_explain_step(story, i);
  regal_text_format(text, "\n");
}

/* Keeps only the longest steps, the first of equals, still in order of time.
 * Returns their number. */
static uint32_t keep_longest(const regal_story *story, chain *chain) {
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
      if (takes(story, kept[m]) <= takes(story, kept[shortest]))
        shortest = m;
    if (takes(story, kept[shortest]) >= takes(story, chain->step[k]))
      continue;
    for (uint32_t m = shortest; m + 1 < count; m++)
      kept[m] = kept[m + 1];
    kept[count - 1] = chain->step[k];
  }
  for (uint32_t k = 0; k < count; k++)
    chain->step[k] = kept[k];
  return count;
}

static void put_totals(regal_story *story, const chain *chain) {
  regal_text *text = &story->text;
  int64_t runtime = story->cost.runtime_ns;
  regal_text_format(text, "critical chain: %u of %u steps, ", chain->count,
                    story->timeline.steps);
  regal_text_duration(text, runtime);
  regal_text_format(text, ": %.1f%% in %u op%s, %.1f%% in %u transfer%s\n",
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

regal_status regal_explain_chain(regal_story *story) {
  chain chain = {0};
  REGAL_TRY(find_chain(story, &chain));
  put_totals(story, &chain);
  uint32_t all = chain.count, shown = keep_longest(story, &chain);
  if (shown < all)
    regal_text_format(&story->text, "  the %u longest of them:\n", shown);
  regal_text_format(&story->text, "  %-7s %-10s %-10s %6s  %-12s  %s\n", "step",
                    "start", "takes", "share", "waited for", "what");
  for (uint32_t k = 0; k < shown; k++)
    put_chain_step(story, chain.step[k]);
  regal_release(story->context, chain.step);
  return REGAL_OK;
}

/* -- Idle devices -----------------------------------------------------------
 */

/* How a device spends the run time. */
typedef struct day {
  int64_t until; /* the end of its latest step */
  int64_t transfers, inputs, control, partner;
} day;

/* Adds step i, in which the device takes part, and the gap before it. */
static void spend(const regal_story *story, uint32_t i, day *day) {
  const regal_timeline *timeline = &story->timeline;
  int64_t gap = timeline->start_ns[i] - day->until;
  if (story->reading.plan->steps[i].port != REGAL_RUN) {
    day->partner += gap;
    day->transfers += takes(story, i);
  } else if (story->reason[i] == REGAL_REASON_CONTROL) {
    day->control += gap;
  } else {
    day->inputs += gap;
  }
  day->until = timeline->end_ns[i];
}

static void put_day(regal_story *story, uint32_t device, const day *day) {
  int64_t runtime = story->cost.runtime_ns;
  const int64_t shares[] = {story->timeline.busy_ns[device],
                            day->transfers,
                            day->inputs,
                            day->control,
                            day->partner,
                            runtime - day->until};
  char label[32];
  snprintf(label, sizeof label, "  device %u", device);
  regal_layout_label(&story->text, label, 12);
  for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
    regal_text_format(&story->text, "%9.1f%%",
                      regal_layout_percent(shares[k], runtime));
  regal_text_format(&story->text, "\n");
}

void regal_explain_idle(regal_story *story) {
  const regal_reading *reading = &story->reading;
  day days[REGAL_MAX_DEVICES] = {{0}};
  for (uint32_t i = 0; i < story->timeline.steps; i++) {
    const regal_step *step = &reading->plan->steps[i];
    bool runs = step->port == REGAL_RUN;
    if (!runs && reading->machine->overlapped)
      continue;
    spend(story, i, &days[step->device]);
    if (!runs)
      spend(story, i, &days[step->to]);
  }
  regal_text_format(&story->text,
                    "\nhow each device spends the run time\n"
                    "  %-10s%10s%10s%10s%10s%10s%10s\n",
                    "", "ops", "transfers", "inputs*", "control*", "partner*",
                    "done");
  for (uint32_t d = 0; d < reading->machine->devices; d++)
    put_day(story, d, &days[d]);
  regal_text_format(&story->text,
                    "  * idle: an input has not arrived, a control edge holds "
                    "an op back, the\n    other device of a transfer is "
                    "busy\n");
}
