/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in two versions: for any processor and for those with AVX2 and FMA,
 * chosen when called. Both come from one inline body. On one machine always
 * the same one runs, so results do not depend on threads or batches.
 *
 *   REGAL_INLINE void add_body(size_t n, regal_real *y) { ... }
 *   REGAL_KERNEL(regal_add, add, (size_t n, regal_real *y), (n, y))
 *
 * (Not target_clones: its resolvers run before ThreadSanitizer is ready.)
 */
#ifndef REGAL_NN_TARGET_H
#define REGAL_NN_TARGET_H

#include "base/context.h"

#if defined(__x86_64__)
#define REGAL_KERNEL(name, stem, parameters, arguments)                        \
  __attribute__((target("avx2,fma"))) static void stem##_wide parameters {     \
    stem##_body arguments;                                                     \
  }                                                                            \
  static void stem##_plain parameters {                                        \
    stem##_body arguments;                                                     \
  }                                                                            \
  void name parameters {                                                       \
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))       \
      stem##_wide arguments;                                                   \
    else                                                                       \
      stem##_plain arguments;                                                  \
  }
#else
#define REGAL_KERNEL(name, stem, parameters, arguments)                        \
  void name parameters {                                                       \
    stem##_body arguments;                                                     \
  }
#endif

#endif
