/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of src/cli/cmd_train*.c share. */
#ifndef REGAL_CLI_CMD_TRAIN_H
#define REGAL_CLI_CMD_TRAIN_H

#include "cli/cli.h"

/* Draws the log's curves into options->plot, by gnuplot. */
regal_exit regal_cli_plot_training(regal_cli *cli);

#endif
