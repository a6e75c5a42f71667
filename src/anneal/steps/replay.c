/* SPDX-License-Identifier: Apache-2.0 */
/* From a list of steps that a move has changed to a valid plan and its cost. */
#include "anneal/steps/steps.h"

REGAL_INLINE void send(regal_steps *s, uint32_t tensor, uint32_t home,
                       uint32_t to, bool memory, bool overlapped) {
  s->sent[tensor] |= UINT64_C(1) << to;
  regal_running_cost_send(&s->running, s->problem, s->placement, tensor, home,
                          to, memory, overlapped);
  s->trial.entries[s->trial.count++] =
      (regal_steps_entry){tensor, (uint16_t)to};
}

static bool is_read_on(const regal_steps *s, uint32_t tensor, uint32_t device) {
  const regal_problem *problem = s->problem;
  for (REGAL_ROW(u, problem->use_begin, tensor))
    if (s->placement[problem->consumer[u]] == device)
      return true;
  return false;
}

REGAL_INLINE void replay_send(regal_steps *s, regal_steps_entry entry,
                              bool memory, bool overlapped) {
  uint32_t producer = s->problem->producer[entry.what];
  uint32_t home = s->placement[producer];
  if (home != entry.to && s->ran[producer] &&
      !(s->sent[entry.what] >> entry.to & 1) &&
      is_read_on(s, entry.what, entry.to))
    send(s, entry.what, home, entry.to, memory, overlapped);
}

REGAL_INLINE void replay_run(regal_steps *s, regal_steps_entry entry,
                             bool memory, bool overlapped) {
  const regal_problem *problem = s->problem;
  uint32_t op = entry.what, device = s->placement[op];
  for (REGAL_ROW(i, problem->input_begin, op)) {
    uint32_t tensor = problem->input[i];
    uint32_t home = s->placement[problem->producer[tensor]];
    if (home != device && !(s->sent[tensor] >> device & 1))
      send(s, tensor, home, device, memory, overlapped);
  }
  regal_running_cost_run(&s->running, problem, op, device, memory, overlapped);
  s->ran[op] = 1;
  s->trial.entries[s->trial.count++] = entry;
}

REGAL_INLINE regal_fitness replay(regal_steps *s, int64_t most_ns, bool memory,
                                  bool overlapped) {
  const regal_problem *problem = s->problem;
  s->trial.count = 0;
  memset(s->sent, 0, problem->tensors * sizeof *s->sent);
  memset(s->ran, 0, problem->ops);
  regal_running_cost_begin(&s->running, problem, s->placement, memory,
                           overlapped);
  for (uint32_t i = 0; i < s->now.count; i++) {
    regal_steps_entry entry = s->now.entries[i];
    if (entry.to != REGAL_STEPS_RUN) {
      replay_send(s, entry, memory, overlapped);
      continue;
    }
    replay_run(s, entry, memory, overlapped);
    if (s->running.clock_ns[s->placement[entry.what]] > most_ns)
      break;
  }
  return regal_running_cost_fitness(&s->running, problem, memory);
}

regal_fitness regal_steps_replay(regal_steps *s, int64_t most_ns) {
  if (s->problem->machine->overlapped)
    return s->problem->limited ? replay(s, most_ns, true, true)
                               : replay(s, most_ns, false, true);
  return s->problem->limited ? replay(s, most_ns, true, false)
                             : replay(s, most_ns, false, false);
}
