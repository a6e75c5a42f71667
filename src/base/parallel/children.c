/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts for worker threads. A context is not thread-safe (it has one message
 * and one count of bytes), so every worker gets its own. Their allocator is the
 * parent's, behind a mutex; a stop request to the parent reaches all of them.
 */
#include "base/parallel/children.h"

#include <pthread.h>

struct regal_children {
  regal_context *parent; /* only used under the mutex while threads run */
  pthread_mutex_t mutex;
  int count;
  regal_context *child[]; /* [count] */
};

static void *resize(void *state, void *block, size_t old_bytes,
                    size_t new_bytes) {
  regal_children *children = state;
  void *made = NULL;
  (void)old_bytes;
  pthread_mutex_lock(&children->mutex);
  if (new_bytes)
    made = regal_grow(children->parent, block, new_bytes, 1);
  else
    regal_release(children->parent, block);
  pthread_mutex_unlock(&children->mutex);
  return made;
}

regal_status regal_children_create(regal_context *parent, int count,
                                   regal_children **children) {
  size_t bytes = sizeof(regal_children) + (size_t)count * sizeof(void *);
  regal_children *made = regal_alloc(parent, bytes, 1);
  if (!made)
    return regal_fail_memory(parent);
  made->parent = parent;
  pthread_mutex_init(&made->mutex, NULL);
  for (; made->count < count; made->count++) {
    regal_allocator allocator = {resize, made};
    regal_context **child = &made->child[made->count];
    if (regal_context_create(child, &allocator) != REGAL_OK) {
      regal_children_free(made);
      return regal_fail_memory(parent);
    }
    (*child)->parent = parent;
  }
  *children = made;
  return REGAL_OK;
}

void regal_children_free(regal_children *children) {
  if (!children)
    return;
  for (int i = 0; i < children->count; i++)
    regal_context_free(children->child[i]);
  pthread_mutex_destroy(&children->mutex);
  regal_release(children->parent, children);
}

regal_context *regal_children_at(const regal_children *children, int index) {
  return children->child[index];
}
