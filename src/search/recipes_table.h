/* Not yet written by bench/tune_auto.py: first guesses. */
/* clang-format off */
    {REGAL_KIND_FREE,    UINT32_MAX, INFINITY, "phase",  0.5,   0.005, 0.5, 0,   100},
    {REGAL_KIND_COSTLY,  UINT32_MAX, INFINITY, "order",  8,     0.005, 0.5, 0.6, 100},
    {REGAL_KIND_LINKS,   UINT32_MAX, INFINITY, "order",  2,     0.005, 0.5, 0.5, 100},
    {REGAL_KIND_LIMITED, UINT32_MAX, INFINITY, "order",  1,     0.005, 0.5, 0,   100},
    {REGAL_KIND_ONE,     UINT32_MAX, INFINITY, "memory", 0.01,  3e-5,  0.5, 0,   100},
    {REGAL_KIND_MEMORY,  UINT32_MAX, INFINITY, "memory", 0.01,  3e-5,  0.5, 0,   100},
/* clang-format on */
