/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that several parts share: the table of options (regal_options.h), the
 * readers of files, and the arrays that are sized by them. */
#ifndef REGAL_LIMITS_H
#define REGAL_LIMITS_H

#define REGAL_MAX_DEVICES 64
#define REGAL_MOST_THREADS 1024

/* Bytes of an input, decompressed, unless regal_set_max_input says otherwise.
 * The default of --max-input. */
#define REGAL_DEFAULT_MAX_INPUT ((size_t)1 << 30)

/* Of a policy. Levels of an action are counted in a byte. */
#define REGAL_FEWEST_LEVELS 2
#define REGAL_MOST_LEVELS 255
#define REGAL_MOST_EXPERTS 16
#define REGAL_MOST_STATE_WIDTH 1024
#define REGAL_MOST_MESSAGE_ROUNDS 64

/* Of a step of training. */
#define REGAL_MOST_STEP_GRAPHS 4096
#define REGAL_MOST_STEP_SAMPLES 4096

#endif
