/* SPDX-License-Identifier: Apache-2.0 */
/* Simultaneous perturbation (Spall 1992): a gradient from the rewards of
 * networks whose parameters were moved, all at once.
 *
 * Sampled actions are drawn for each op apart. On a graph of hundreds of ops
 * their effects cancel: all samples of a graph are about equally good, and what
 * is left of the differences is the luck of BRKGA (docs/policy-results.md has
 * the measurement). Moved parameters change the actions of like ops alike. And
 * they are tried as they are used, with the likeliest actions, so there is no
 * difference between what is trained and what is validated.
 *
 * With signs e of +1 or -1 for each parameter, a width sigma and a scale c for
 * each parameter, the pair of networks theta + sigma c e and theta - sigma c e
 * has rewards r+ and r-, and
 *
 *   (r+ - r-) / 2  *  e / (sigma c)
 *
 * estimates the gradient of the reward by theta: exactly so, in the mean over
 * e, where the reward is linear or quadratic; where it has steps, as that of
 * the likeliest actions has, it is the gradient of a smoothed reward. Samples
 * 2k and 2k + 1 of a graph are a pair, and their episodes have the same random
 * numbers. c is 1 / sqrt(rows) of the parameter's matrix, so that each layer's
 * sums move by about sigma times their inputs. The baseline's parameters are
 * left alone.
 */
#ifndef REGAL_LEARN_PERTURB_H
#define REGAL_LEARN_PERTURB_H

#include "learn/train_settings.h"
#include "policy/network.h"

/* Sets parameters [parameter_count] to those of sample `sample`. */
void regal_perturb(const regal_network *network, uint64_t key, uint32_t sample,
                   double sigma, regal_real *parameters);

/* Adds, to `gradient` [parameter_count], that of the loss: minus `share` times
 * the sum of the estimates of all samples. advantages are [samples]. */
void regal_perturb_gradient(const regal_network *network, uint64_t key,
                            uint32_t samples, double sigma,
                            const regal_real *advantages, double share,
                            regal_real *gradient);

/* Half the differences within each pair, scaled as `kind` says; a learned
 * baseline has nothing to add. All arrays are [graphs][samples]. */
void regal_pair_advantages(regal_advantage kind, uint32_t graphs,
                           uint32_t samples, const double *rewards,
                           regal_real *advantages);

#endif
