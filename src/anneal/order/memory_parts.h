/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two halves of order_memory.h: records and events of tensors
 * (order_memory_events.c), and the profile along the order (order_memory.c). */
#ifndef REGAL_ANNEAL_ORDER_MEMORY_PARTS_H
#define REGAL_ANNEAL_ORDER_MEMORY_PARTS_H

#include "anneal/order/memory.h"

/* All records and events, from the order and `early` alone. */
void regal_order_memory_rebuild(regal_order_memory *memory);
/* What is held before the first op; counts who holds what. */
void regal_order_memory_hold(regal_order_memory *memory, int64_t held[2]);
/* Records, events and residents follow the move at hand; `low` to `high` are
 * the positions where events changed. */
void regal_order_memory_begin(regal_order_memory *memory, uint32_t toggled);

#endif
