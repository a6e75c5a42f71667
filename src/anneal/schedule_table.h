/* SPDX-License-Identifier: Apache-2.0 */
/* Written by bench/tune_auto.py write. Its runs were made by
 *   bench/tune_auto.py run --jobs 16 --seconds 540 --programs build-device
 *     --sizes 600,inf --budgets 0.1,1
 *   regal 0.1.0 (7c32526b7bc3+changes, GNU 12.2.0, -O2 -g -DNDEBUG);
 *     Intel(R) Xeon(R) Processor, 16 cores
 *   bench/tune_auto.py run --jobs 2 --seconds 2700 --clock cpu
 *     --programs build/programs --sizes 600,inf --budgets 0.1,1 --kinds
 *     CHEAP,DEAR,LINKS,FREE,MANY,ONE
 *   regal 0.1.0 (e6efc2b6a12b, GNU 12.2.0, -O2 -g -DNDEBUG); AMD EPYC,
 *     2 cores
 *   bench/tune_auto.py run --jobs 1 --seconds 330 --clock cpu
 *     --programs build/programs --sizes inf --budgets 0.05 --kinds WIDE
 *   regal 0.1.0 (28c8433540b7+changes, GNU 12.2.0, -O2 -g -DNDEBUG);
 *     AMD EPYC, 2 cores
 *   bench/tune_auto.py run --jobs 1 --seconds 400 --clock cpu
 *     --programs build/programs --sizes 200 --budgets 1 --kinds MEMORY
 *   regal 0.1.0 (28c8433540b7+changes, GNU 12.2.0, -O2 -g -DNDEBUG);
 *     AMD EPYC, 2 cores
 *   bench/tune_auto.py run --jobs 2 --seconds 1320 --clock cpu
 *     --programs build/programs --sizes 600,inf --budgets 0.1,1 --kinds
 *     LIMITED,DEAR,MEMORY
 *   regal 0.1.0 (28c8433540b7+changes, GNU 12.2.0, -O2 -g -DNDEBUG);
 *     AMD EPYC, 2 cores
 * on the training split. Sorted; the first row that fits is
 * used. Behind each: what it gained over the row before it, and
 * whether later runs changed it; "by hand": compared with the one
 * before by bench_quality on training graphs. */
/* clang-format off */
    {REGAL_KIND_FREE, 600, 0.32, "phase", 0.32, 0.0075, 0.41, 0, 100, 0.3}, /* 64 runs, 0.06% +- 0.03 gained; stayed after 32 runs more */
    {REGAL_KIND_FREE, 600, INFINITY, "phase", 0.5, 0.005, 0.87, 0, 100, 0.5}, /* 64 runs, 0.01% +- 0.01 gained; stayed after 8 runs more */
    {REGAL_KIND_FREE, UINT32_MAX, 0.32, "phase", 0.19, 0.0037, 0.46, 0, 29, 0}, /* 64 runs, 0.77% +- 0.46 gained; stayed after 64 runs more */
    {REGAL_KIND_FREE, UINT32_MAX, INFINITY, "phase", 0.5, 0.005, 0.46, 0, 29, 0}, /* 64 runs, 0.14% +- 0.08 gained; stayed after 8 runs more */
    {REGAL_KIND_WIDE, UINT32_MAX, INFINITY, "phase", 0.05, 0.0005, 0.5, 0, 100, 0}, /* by hand: 75 synthetic graphs; stayed after 64 runs more */
    {REGAL_KIND_MANY, 600, 0.32, "phase", 1.1, 0.00058, 0.35, 0, 174, 0.3}, /* 64 runs, 0.51% +- 0.14 gained; stayed after 64 runs more */
    {REGAL_KIND_MANY, 600, INFINITY, "phase", 0.26, 0.0038, 0.39, 0.68, 37, 0}, /* 32 runs, 0.15% +- 0.11 gained; stayed after 8 runs more */
    {REGAL_KIND_MANY, UINT32_MAX, 0.32, "phase", 0.55, 0.00018, 0.53, 0, 626, 0}, /* 64 runs, 0.72% +- 0.28 gained; stayed after 64 runs more */
    {REGAL_KIND_MANY, UINT32_MAX, INFINITY, "order", 1.1, 0.00098, 0.35, 0, 174, 0.5}, /* 32 runs, 0.15% +- 0.07 gained; stayed after 8 runs more */
    {REGAL_KIND_CHEAP, 600, 0.32, "phase", 4, 0.0016, 0.5, 0, 100, 0.5}, /* by hand: 32 runs, 0.20% gained; stayed after 64 runs more */
    {REGAL_KIND_CHEAP, 600, INFINITY, "phase", 4, 0.003, 0.5, 0, 100, 0.5}, /* by hand: 16 runs, 0.29% gained; stayed after 16 runs more */
    {REGAL_KIND_CHEAP, UINT32_MAX, 0.32, "phase", 6, 0.0015, 0.5, 0, 100, 0.4}, /* by hand: 32 runs, 0.17% gained; stayed after 64 runs more */
    {REGAL_KIND_CHEAP, UINT32_MAX, INFINITY, "phase", 5.2, 0.005, 0.5, 0.5, 100, 0}, /* 32 runs, 0.17% +- 0.24 gained; stayed after 8 runs more */
    {REGAL_KIND_EXPENSIVE, 600, 0.32, "order", 8, 0.005, 0.36, 0.6, 100, 0}, /* 64 runs, 0.30% +- 0.14 gained; stayed after 64 runs more */
    {REGAL_KIND_EXPENSIVE, 600, INFINITY, "order", 8, 0.0015, 0.5, 0.7, 100, 0}, /* 64 runs, 0.16% +- 0.08 gained; stayed after 16 runs more */
    {REGAL_KIND_EXPENSIVE, UINT32_MAX, 0.32, "phase", 40, 0.0015, 0.4, 0.6, 50, 0}, /* by hand: 32 runs, 0.64% gained; stayed after 64 runs more */
    {REGAL_KIND_EXPENSIVE, UINT32_MAX, INFINITY, "phase", 40, 0.0015, 0.4, 0.6, 50, 0}, /* by hand: 16 runs, 0.39% gained; stayed after 16 runs more */
    {REGAL_KIND_LINKS, 600, 0.32, "order", 2, 0.005, 0.5, 0.5, 164, 0}, /* 64 runs, 0.49% +- 0.19 gained; stayed after 64 runs more */
    {REGAL_KIND_LINKS, 600, INFINITY, "order", 2, 0.005, 0.5, 0.5, 63, 0}, /* 64 runs, 0.02% +- 0.10 gained; stayed after 8 runs more */
    {REGAL_KIND_LINKS, UINT32_MAX, 0.32, "order", 2, 0.005, 0.42, 0.5, 96, 0}, /* 64 runs, 2.47% +- 0.81 gained; stayed after 32 runs more */
    {REGAL_KIND_LINKS, UINT32_MAX, INFINITY, "order", 0.99, 0.0057, 0.37, 0.5, 100, 0}, /* 64 runs, 0.21% +- 0.19 gained; stayed after 8 runs more */
    {REGAL_KIND_LIMITED, 600, 0.32, "order", 0.11, 0.00077, 0.44, 0.17, 187, 0}, /* 36 runs, 0.56% +- 0.16 gained */
    {REGAL_KIND_LIMITED, 600, INFINITY, "order", 1, 0.0031, 0.5, 0, 100, 0.7}, /* 64 runs, 0.15% +- 0.66 gained; stayed after 8 runs more */
    {REGAL_KIND_LIMITED, UINT32_MAX, 0.32, "order", 1, 0.0031, 0.5, 0.26, 100, 0}, /* 64 runs, 8.14% +- 6.05 gained; stayed after 65 runs more */
    {REGAL_KIND_LIMITED, UINT32_MAX, INFINITY, "order", 1, 0.0031, 0.5, 0.75, 100, 0}, /* 64 runs, 7.28% +- 3.57 gained; stayed after 11 runs more */
    {REGAL_KIND_ONE, 600, 0.32, "memory", 0.009, 1.3e-06, 0.73, 0.34, 25, 0}, /* 64 runs, 0.35% +- 0.29 gained; stayed after 64 runs more */
    {REGAL_KIND_ONE, 600, INFINITY, "memory", 0.0009, 1.6e-06, 0.66, 0.48, 184, 0}, /* 64 runs, 0.00% +- 0.00 gained; stayed after 8 runs more */
    {REGAL_KIND_ONE, UINT32_MAX, 0.32, "memory", 0.0009, 3.8e-06, 0.35, 0.48, 129, 0}, /* 64 runs, 0.65% +- 0.30 gained; stayed after 64 runs more */
    {REGAL_KIND_ONE, UINT32_MAX, INFINITY, "memory", 0.001, 1.4e-05, 0.51, 0.65, 37, 0}, /* 64 runs, 0.08% +- 0.04 gained; stayed after 8 runs more */
    {REGAL_KIND_MEMORY, 200, INFINITY, "memory", 0.03, 3e-05, 0.5, 0, 100, 0}, /* by hand: 20 runs on synthetic graphs, 1.6% gained; 20 on real ones, 0.00%; stayed after 16 runs more */
    {REGAL_KIND_MEMORY, 600, 0.32, "memory", 0.056, 4.1e-05, 0.47, 0.18, 54, 0}, /* 64 runs, 1.47% +- 0.56 gained; stayed after 76 runs more */
    {REGAL_KIND_MEMORY, 600, INFINITY, "memory", 0.01, 3e-05, 0.5, 0, 100, 0}, /* 64 runs, 0.00% +- 0.00 gained; stayed after 7 runs more */
    {REGAL_KIND_MEMORY, UINT32_MAX, 0.32, "memory", 0.00019, 9.9e-05, 0.83, 0.29, 54, 0}, /* 64 runs, 2.38% +- 0.75 gained; stayed after 34 runs more */
    {REGAL_KIND_MEMORY, UINT32_MAX, INFINITY, "memory", 0.0023, 0.00027, 0.89, 0.29, 130, 0}, /* 64 runs, 0.56% +- 0.41 gained; stayed after 16 runs more */
    /* clang-format on */
