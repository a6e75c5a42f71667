/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: all that a run needs to go on as if it had not been stopped.
 *
 * Little-endian, as policy files are (policy/policy_bytes.h):
 *
 *   "REGALCKP"       magic
 *   u32 version      1
 *   u64 dataset      checksum of the dataset
 *   text options     see regal_train_fingerprint
 *   state            u64 step, evaluations, next_validation; u32 has_best; u64
 *                    best_valid (the bits of a double), best_step
 *   optimiser        u64 steps; u64 count of parameters; so many reals each for
 *                    parameters, Adam's mean and deviation, and the best policy
 *   u64 checksum     of all bytes before it
 */
#ifndef REGAL_LEARN_CHECKPOINT_H
#define REGAL_LEARN_CHECKPOINT_H

#include "learn/trainer.h"

/* Written whole or not at all. */
regal_status regal_checkpoint_save(const regal_trainer *trainer,
                                   uint64_t dataset, const char *path);
/* Fails, and leaves the trainer as it was, when the file is damaged or was made
 * with other options or of another dataset. */
regal_status regal_checkpoint_load(regal_trainer *trainer, uint64_t dataset,
                                   const char *path);

#endif
