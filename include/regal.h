/* SPDX-License-Identifier: Apache-2.0 */
/* regal: places and schedules the ops of a neural network's computation graph.
 *
 * The shortest program (examples/optimize.c is the same with error checks; the
 * tests build and run it):
 *
 *   regal_context *context;
 *   regal_options options;
 *   regal_graph *graph;
 *   regal_result *result;
 *
 *   regal_context_create(&context, NULL);
 *   regal_options_init(&options);
 *   regal_options_set(context, &options, "devices", "2");
 *   regal_graph_load(context, "model.pb", &options, &graph);
 *   regal_solve(context, graph, &options, &result);
 *   regal_plan_save(context, result, "model.plan");
 *
 * Conventions
 *  - Every call that can fail returns a regal_status and refuses null pointers
 *    where nothing is said about them. If the status is not REGAL_OK,
 *    regal_error(context) returns a one-line message, and the outputs are
 *    unchanged. A call without a context has that of its object. Calls that
 *    cannot fail check neither pointers nor indices.
 *  - The library never prints, exits or aborts. Files are written under a
 *    temporary name and renamed, so no incomplete file is left behind. Numbers
 *    have a decimal point, whatever locale the program has set.
 *  - A context, and everything created from it, may be used by one thread at a
 *    time. Different contexts are independent. Only regal_stop_request may be
 *    called from any thread or signal handler. Graphs, problems, plans and
 *    results never change, nor does a machine while nobody sets anything of it:
 *    calls with contexts of other threads may be given them at the same time.
 *  - Every object is freed by its own function, before its context; NULL is
 *    accepted. A graph must outlive the problems made from it.
 *  - Times are nanoseconds and sizes are bytes, as 64-bit integers; overflow is
 *    checked.
 *
 * Legal order of calls: context, then options and graph (any order), then
 * problem, then solve / verify / save. What is marked "experimental" may change
 * between minor versions; the rest only between major versions. While the major
 * version is 0, all may.
 *
 * This one header has all that a program or a binding needs, in the order of
 * use; datasets, training, tuning and benchmarks have headers of their own.
 */
#ifndef REGAL_H
#define REGAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "regal_options.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REGAL_VERSION_MAJOR 0
#define REGAL_VERSION_MINOR 1
#define REGAL_VERSION_PATCH 0

#if defined(__GNUC__)
#define REGAL_API __attribute__((visibility("default")))
#define REGAL_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define REGAL_API
#define REGAL_FORMAT(f, a)
#endif

/* -- Status ---------------------------------------------------------------- */

/* The outcome of a call. Numbers are stable and never reused. */
typedef enum regal_status {
  REGAL_OK = 0,
  REGAL_NO_MEMORY = 1,    /* an allocation failed */
  REGAL_BAD_INPUT = 2,    /* a file or value is malformed */
  REGAL_IO = 3,           /* a file could not be read or written */
  REGAL_MISUSE = 4,       /* the call itself is wrong */
  REGAL_INVALID_PLAN = 5, /* a plan breaks a rule of the model */
  REGAL_INTERNAL = 6      /* a bug in regal: two parts of it disagree */
} regal_status;

/* Why a search ended; independent of the status of the call. */
typedef enum regal_stop {
  REGAL_STOP_DONE = 0,      /* the method ran to its natural end */
  REGAL_STOP_BUDGET = 1,    /* all evaluations were used */
  REGAL_STOP_TIME = 2,      /* the time limit was reached */
  REGAL_STOP_TARGET = 3,    /* the target cost was reached */
  REGAL_STOP_BOUND = 4,     /* cost equals the lower bound: optimal */
  REGAL_STOP_INTERRUPT = 5, /* regal_stop_request was called */
  REGAL_STOP_NO_FIT = 6,    /* no plan can be within the memory limits */
} regal_stop;

REGAL_API const char *regal_status_name(regal_status status);
REGAL_API const char *regal_stop_name(regal_stop stop);
REGAL_API const char *regal_version(void);
/* One line: version, commit, compiler and flags. */
REGAL_API const char *regal_build_id(void);

/* -- Context --------------------------------------------------------------- */

typedef struct regal_context regal_context;

/* Optional replacement for malloc. `resize` allocates when `block` is NULL,
 * frees (returning NULL) when `new_bytes` is 0, and otherwise reallocates. It
 * must return memory aligned for any type. It is called by one thread at a
 * time. */
typedef struct regal_allocator {
  void *(*resize)(void *state, void *block, size_t old_bytes, size_t new_bytes);
  void *state;
} regal_allocator;

REGAL_API regal_status regal_context_create(regal_context **context,
                                            const regal_allocator *allocator);
REGAL_API void regal_context_free(regal_context *context);

/* The message of the last failed call; "" if there is none. */
REGAL_API const char *regal_error(const regal_context *context);

/* Bytes currently allocated through this context, and their maximum. */
REGAL_API size_t regal_bytes_in_use(const regal_context *context);
REGAL_API size_t regal_bytes_peak(const regal_context *context);

/* Stops a running search, which then returns its best plan so far. Safe in
 * signal handlers. Remains set until regal_stop_clear. */
REGAL_API void regal_stop_request(regal_context *context);
REGAL_API void regal_stop_clear(regal_context *context);
/* How many of the threads that a call wanted could not be started. It continues
 * with the others, to the same result. */
REGAL_API int regal_refused_threads(const regal_context *context);
/* Whether a call waits for an input that may never come (a terminal, a pipe);
 * meanwhile it does not notice a stop request. May be called from a signal
 * handler. */
REGAL_API bool regal_waits_for_input(const regal_context *context);

/* -- Options ---------------------------------------------------------------
 * One table (regal_options.h) defines every option: type, default, range and
 * description. Values out of range are rejected, never clamped. */

REGAL_API void regal_options_init(regal_options *options);
/* The same on the heap, for languages that do not know the struct. */
REGAL_API regal_status regal_options_create(regal_context *context,
                                            regal_options **options);
REGAL_API void regal_options_free(regal_options *options);
/* Sets one option from text, as on the command line: ("bandwidth", "25GB/s").
 * A flag may have NULL: it is set. */
REGAL_API regal_status regal_options_set(regal_context *context,
                                         regal_options *options,
                                         const char *name, const char *value);

typedef enum regal_option_type {
  REGAL_OPTION_INTEGER,
  REGAL_OPTION_REAL,
  REGAL_OPTION_BYTES,   /* 16GiB, 25GB, 1000 */
  REGAL_OPTION_TIME,    /* 10us, 1ms, 250ns; nanoseconds */
  REGAL_OPTION_CHOICE,  /* one of `choices` */
  REGAL_OPTION_FLAG,    /* takes no value on the command line */
  REGAL_OPTION_TEXT,    /* a name or a path */
  REGAL_OPTION_LIST,    /* entries, with commas; setting it again adds some */
  REGAL_OPTION_RATE,    /* 25GB/s; bytes per second */
  REGAL_OPTION_SECONDS, /* 5, 5s, 500ms; seconds */
  REGAL_OPTION_COST     /* 2ms or 300MB; nanoseconds or bytes */
} regal_option_type;

typedef struct regal_option_info {
  const char *name;       /* "memory-limit" */
  regal_option_type type; /* how its text is read */
  const char *choices;    /* "runtime|memory" for REGAL_OPTION_CHOICE */
  double low, high;       /* range of a number */
  const char *unit;       /* placeholder in --help: "BYTES" */
  const char *group;      /* heading in --help: "machine" */
  const char *help;       /* one line */
  const char *fallback;   /* the default, as text */
  bool changes_result;    /* not only how or where it is made */
} regal_option_info;

REGAL_API size_t regal_option_count(void);
REGAL_API const regal_option_info *regal_option_at(size_t index);
/* The option's index, or regal_option_count() if it does not exist. Former
 * names are found too. */
REGAL_API size_t regal_option_find(const char *name);
/* Whether the default is a value, not a sign for "not given". */
REGAL_API bool regal_option_has_default(const regal_option_info *option);
/* Whether it has a value of its own: regal_options_set has set it, or its field
 * differs from the default. */
REGAL_API bool regal_option_given(const regal_options *options,
                                  const char *name);
/* Writes the option's current value as text; false if it is unset. */
REGAL_API bool regal_option_text(const regal_options *options, size_t index,
                                 char *text, size_t capacity);

/* -- Graph ------------------------------------------------------------------
 * Ops are numbered in topological order: the file's order if that is
 * topological, otherwise sorted (ties by position). An op's `id` is its
 * position in the file. */

typedef struct regal_graph regal_graph;

/* Reads a CostGraphDef (binary or text), a JSON graph, an ONNX model, an XLA
 * module or StableHLO text, plain or compressed with gzip or zstd. The format
 * is detected automatically; "-" is stdin. Uses the options of group "reading";
 * NULL is their defaults. */
REGAL_API regal_status regal_graph_load(regal_context *context,
                                        const char *path,
                                        const regal_options *options,
                                        regal_graph **graph);
/* The same from memory; `name` stands for the path in messages. */
REGAL_API regal_status regal_graph_load_bytes(regal_context *context,
                                              const char *name,
                                              const void *bytes, size_t size,
                                              const regal_options *options,
                                              regal_graph **graph);

typedef enum regal_graph_format {
  REGAL_GRAPH_BINARY = 0, /* CostGraphDef, binary protobuf */
  REGAL_GRAPH_TEXT = 1,   /* CostGraphDef, protobuf text format */
  REGAL_GRAPH_JSON = 2    /* docs/formats.md; one op per line */
} regal_graph_format;

/* The format that belongs to the ending of a path. */
REGAL_API regal_status regal_graph_format_of(regal_context *context,
                                             const char *path,
                                             regal_graph_format *format);
REGAL_API regal_status regal_graph_save(regal_context *context,
                                        const regal_graph *graph,
                                        const char *path,
                                        regal_graph_format format);

/* Builds a graph in memory: create, add, finish. Finish checks and sorts the
 * graph and frees the builder, whatever it returns; regal_builder_free discards
 * it. Ids count up from 0 in the order of adding. */
typedef struct regal_builder regal_builder;

REGAL_API regal_status regal_builder_create(regal_context *context,
                                            regal_builder **builder);
REGAL_API void regal_builder_free(regal_builder *builder);
/* `id` may be NULL, and so may `parameter` below. */
REGAL_API regal_status regal_builder_add_op(regal_builder *builder,
                                            const char *name, int64_t run_ns,
                                            int64_t temporary_bytes,
                                            int64_t resident_bytes,
                                            uint32_t *id);
/* Adds the op's next output. Ports count up from 0. */
REGAL_API regal_status regal_builder_add_output(regal_builder *builder,
                                                uint32_t op, int64_t bytes,
                                                bool is_final);
/* `consumer` reads output `port` of `producer`. Duplicates count once. The
 * producer may be added later. */
REGAL_API regal_status regal_builder_add_input(regal_builder *builder,
                                               uint32_t consumer,
                                               uint32_t producer,
                                               uint32_t port);
REGAL_API regal_status regal_builder_add_control(regal_builder *builder,
                                                 uint32_t before,
                                                 uint32_t after);
/* Adds a parameter that several ops may read, such as a weight. Each device
 * that runs at least one of its readers holds it once, during the whole plan.
 * Parameters are numbered from 0. (A parameter with one reader may also be part
 * of that op's resident bytes.) */
REGAL_API regal_status regal_builder_add_parameter(regal_builder *builder,
                                                   int64_t bytes,
                                                   uint32_t *parameter);
/* `op` reads `parameter`. Duplicates count once. Both may be added later. */
REGAL_API regal_status regal_builder_add_parameter_use(regal_builder *builder,
                                                       uint32_t op,
                                                       uint32_t parameter);
/* Output `port` of the op may be written over an input that is no longer needed
 * and at least as large (docs/model.md). Both may be added later. */
REGAL_API regal_status regal_builder_set_may_reuse(regal_builder *builder,
                                                   uint32_t op, uint32_t port);
/* The op must run on this device: its number ("0") or its name on the machine,
 * which is looked up when a problem is made. The last call counts. */
REGAL_API regal_status regal_builder_set_device(regal_builder *builder,
                                                uint32_t op,
                                                const char *device);
/* All ops with the same name of a group must run on one device. */
REGAL_API regal_status regal_builder_set_group(regal_builder *builder,
                                               uint32_t op, const char *group);
REGAL_API regal_status regal_builder_finish(regal_builder *builder,
                                            regal_graph **graph);
REGAL_API void regal_graph_free(regal_graph *graph);

/* The time of an op on a device of --roofline (a built-in name or a file):
 * launch + max(flops / rate, bytes / bandwidth). `number` is what it computes
 * with: "fp64", "fp32", "fp16", "bf16" or "int8". */
REGAL_API regal_status regal_roofline_ns(regal_context *context,
                                         const char *device, const char *number,
                                         double flops, double bytes,
                                         int64_t *ns);

/* From the training step of one microbatch to that of options->microbatches of
 * them, by the options of group "pipeline" (docs/pipelines.md): weights become
 * parameters that all microbatches read, gradients are added up, the optimizer
 * runs once. The notes of the new graph say what was found. Experimental. */
REGAL_API regal_status regal_graph_pipeline(regal_context *context,
                                            const regal_graph *step,
                                            const regal_options *options,
                                            regal_graph **pipeline);

typedef struct regal_graph_info {
  uint32_t ops, tensors;
  uint32_t data_edges; /* (producer, tensor, consumer) triples */
  uint32_t control_edges;
  uint32_t file_nodes;      /* nodes in the file; more than ops if merged */
  int64_t work_ns;          /* sum of run times */
  int64_t critical_ns;      /* longest chain of run times */
  int64_t tensor_bytes;     /* sum over tensors */
  int64_t resident_bytes;   /* sum over ops, and each parameter read, once */
  uint64_t checksum;        /* of all figures, names and edges */
  uint32_t parameters;      /* shared by ops */
  uint32_t reusing_tensors; /* outputs that may be written over an input */
  /* Of a module of XLA: whether the order of ops is its schedule, the peak of
   * that order on one device, and the peak that XLA reports (0: none). Both are
   * with resident bytes. */
  bool has_schedule;
  int64_t schedule_peak_bytes, reported_peak_bytes;
} regal_graph_info;

typedef struct regal_op_info {
  const char *name;
  uint32_t id; /* position in the file */
  int64_t run_ns, temporary_bytes, resident_bytes;
  uint32_t outputs;           /* ports 0 .. outputs-1 */
  uint32_t inputs;            /* distinct tensors read */
  const char *device, *group; /* that the graph asks for, or NULL */
} regal_op_info;

REGAL_API void regal_graph_describe(const regal_graph *graph,
                                    regal_graph_info *info);
REGAL_API void regal_graph_op(const regal_graph *graph, uint32_t op,
                              regal_op_info *info);

/* A whole graph as arrays, which belong to it. A row of an array X is X[i] from
 * X_begin[row] to X_begin[row + 1] - 1. The outputs of an op are consecutive
 * tensors: port p of op j is tensor output_begin[j] + p. */
typedef struct regal_graph_arrays {
  uint32_t ops, tensors, parameters;
  uint32_t ids;             /* most id + 1 */
  const uint32_t *id;       /* [ops] */
  const uint32_t *op_of_id; /* [ids] UINT32_MAX: joined or dropped */
  const int64_t *run_ns, *temporary_bytes, *resident_bytes; /* [ops] */
  const uint32_t *output_begin;                             /* [ops+1] */
  const uint32_t *producer;                                 /* [tensors] */
  const int64_t *bytes;                                     /* [tensors] */
  const uint8_t *is_final, *may_reuse;                      /* [tensors] */
  const uint32_t *input_begin, *input; /* [ops+1] tensors that an op reads */
  const uint32_t *control_begin, *control;     /* [ops+1] ops that end before */
  const int64_t *parameter_bytes;              /* [parameters] */
  const uint32_t *parameter_begin, *parameter; /* [ops+1] that an op reads */
} regal_graph_arrays;

REGAL_API void regal_graph_read(const regal_graph *graph,
                                regal_graph_arrays *arrays);

/* What the reader assumed, dropped or merged. */
typedef enum regal_note_kind {
  REGAL_NOTE_ASSUMED,
  REGAL_NOTE_DROPPED,
  REGAL_NOTE_JOINED,
  REGAL_NOTE_WARNING
} regal_note_kind;

typedef struct regal_note {
  regal_note_kind kind;
  const char *text;
} regal_note;

REGAL_API size_t regal_graph_note_count(const regal_graph *graph);
REGAL_API regal_note regal_graph_note(const regal_graph *graph, size_t index);

/* -- Machine ----------------------------------------------------------------
 * The options of group "machine" describe most machines. These calls describe
 * the others, everything that a machine file can express. Ops are identified by
 * their id. A graph must outlive its machines. */

typedef struct regal_machine regal_machine;

#define REGAL_NEVER                                                            \
  INT64_MAX /* time of an op on a device that cannot run it                    \
             */

/* The machine that regal_problem_create would use: the options, and the preset
 * or file that they name. Devices and groups that the graph itself asks for
 * apply where nothing else is given. They are added when a problem is made or
 * the machine is saved, because they may refer to devices by name. */
REGAL_API regal_status regal_machine_create(regal_context *context,
                                            const regal_graph *graph,
                                            const regal_options *options,
                                            regal_machine **machine);
REGAL_API void regal_machine_free(regal_machine *machine);
REGAL_API uint32_t regal_machine_devices(const regal_machine *machine);
/* The device with this number ("1") or name ("gpu1"); a string of digits is
 * always a number. */
REGAL_API regal_status regal_machine_find_device(const regal_machine *machine,
                                                 const char *text,
                                                 uint32_t *device);
/* The ids of all ops whose name matches a pattern: * any text, ? one character,
 * [a-z] one of a set. `ids` has room for all ops of the graph. Fails if none
 * does. */
REGAL_API regal_status regal_machine_find_ops(const regal_machine *machine,
                                              const char *pattern,
                                              uint32_t *ids, uint32_t *count);

REGAL_API regal_status regal_machine_set_transfers(regal_machine *machine,
                                                   bool overlapped);
/* Control edges: zero-byte transfers, or the consumer waits. */
REGAL_API regal_status regal_machine_set_control(regal_machine *machine,
                                                 bool transfers);
/* NULL or "": a device is only its number. */
REGAL_API regal_status regal_machine_set_name(regal_machine *machine,
                                              uint32_t device,
                                              const char *name);
/* Run times are divided by it: 0.000001 to 1000000. */
REGAL_API regal_status regal_machine_set_speed(regal_machine *machine,
                                               uint32_t device, double speed);
/* 0: no limit. */
REGAL_API regal_status regal_machine_set_memory_limit(regal_machine *machine,
                                                      uint32_t device,
                                                      int64_t bytes);
/* One direction; a bandwidth of 0 is infinite. */
REGAL_API regal_status regal_machine_set_link(regal_machine *machine,
                                              uint32_t from, uint32_t to,
                                              int64_t latency_ns,
                                              int64_t bytes_per_s);
REGAL_API regal_status regal_machine_get_link(const regal_machine *machine,
                                              uint32_t from, uint32_t to,
                                              int64_t *latency_ns,
                                              int64_t *bytes_per_s);
/* The time of an op on one device, which no speed changes; REGAL_NEVER: it
 * cannot run there. Its times on other devices stay as they are. */
REGAL_API regal_status regal_machine_set_op_time(regal_machine *machine,
                                                 uint32_t id, uint32_t device,
                                                 int64_t run_ns);
/* The op must run on the device. The last call counts. */
REGAL_API regal_status regal_machine_pin(regal_machine *machine, uint32_t id,
                                         uint32_t device);
/* The ops must share a device. Groups with a common op are one group. */
REGAL_API regal_status regal_machine_group(regal_machine *machine,
                                           const uint32_t *ids, size_t count);
/* The same for all ops whose name matches a pattern, as --pin and --together
 * do. The device is a number ("0") or a name. */
REGAL_API regal_status regal_machine_pin_matching(regal_machine *machine,
                                                  const char *pattern,
                                                  const char *device);
REGAL_API regal_status regal_machine_group_matching(regal_machine *machine,
                                                    const char *pattern);
/* Writes a machine file, which --machine reads. */
REGAL_API regal_status regal_machine_save(regal_context *context,
                                          const regal_machine *machine,
                                          const char *path);

/* Machines by name, for --machine and regal_options.machine. */
typedef struct regal_preset {
  const char *name;        /* "h100x8-nvlink" */
  const char *about;       /* one line */
  const char *device_name; /* "gpu": devices are gpu0, gpu1, ... */
  uint32_t devices;
  int64_t memory_bytes; /* of each device */
  int64_t bytes_per_s;  /* of each link, one direction */
  int64_t latency_ns;
  bool overlapped;
  const char *memory_source, *bandwidth_source, *latency_source;
} regal_preset;

REGAL_API size_t regal_preset_count(void);
REGAL_API const regal_preset *regal_preset_at(size_t index);
/* Writes a machine file with its numbers, to be edited. */
REGAL_API regal_status regal_preset_save(regal_context *context,
                                         const char *name, const char *path);

/* -- Problem: a graph, a machine and an objective -------------------------- */

typedef struct regal_problem regal_problem;

/* The options of groups "machine" and "objective" define the machine and the
 * objective; `machine` is the name of a preset or the path of a machine file.
 * The graph must outlive the problem. */
REGAL_API regal_status regal_problem_create(regal_context *context,
                                            const regal_graph *graph,
                                            const regal_options *options,
                                            regal_problem **problem);
/* The same with a machine from regal_machine_create, which is copied. Of the
 * options only the objective counts. */
REGAL_API regal_status regal_problem_create_on(regal_context *context,
                                               const regal_machine *machine,
                                               const regal_options *options,
                                               regal_problem **problem);
REGAL_API void regal_problem_free(regal_problem *problem);
REGAL_API uint32_t regal_problem_devices(const regal_problem *problem);
REGAL_API const regal_graph *regal_problem_graph(const regal_problem *problem);

/* Lower bounds: no plan costs less. They are zero if sizes of tensors were
 * assumed (--assume-unknown-bytes), because then nothing is proven. */
typedef struct regal_bound {
  int64_t runtime_ns;
  int64_t peak_bytes; /* of the device with the largest peak */
} regal_bound;

/* -- Plan -------------------------------------------------------------------*/

typedef struct regal_step {
  uint32_t op;  /* the op that runs, or that produced what is sent */
  int32_t port; /* REGAL_RUN, or the output sent; -1 for a control transfer */
  uint16_t device; /* where it runs, or the sender */
  uint16_t to;     /* the receiver; = device for a run */
} regal_step;

#define REGAL_RUN INT32_MIN

typedef struct regal_plan {
  regal_context *context;
  uint32_t step_count;
  regal_step *steps; /* in order */
} regal_plan;

typedef struct regal_cost {
  int64_t runtime_ns;
  int64_t peak_bytes[REGAL_MAX_DEVICES]; /* of each device */
  int64_t max_peak_bytes;                /* the largest of them */
  int64_t excess_bytes; /* sum over devices of bytes beyond the limit */
} regal_cost;

REGAL_API void regal_plan_free(regal_plan *plan);

/* Reads a plan file or a bare order (one id or name per line, optionally with a
 * device). For a bare order, transfers are inserted just before their first
 * reader. */
REGAL_API regal_status regal_plan_load(regal_context *context,
                                       const regal_problem *problem,
                                       const char *path, regal_plan **plan);

/* A plan of steps in memory, which are copied and verified. */
REGAL_API regal_status regal_plan_from_steps(regal_context *context,
                                             const regal_problem *problem,
                                             const regal_step *steps,
                                             size_t count, regal_plan **plan);
/* The same for a bare order in memory: op ids[i] runs on devices[i], or every
 * op on device 0 if `devices` is NULL. */
REGAL_API regal_status regal_plan_from_ids(regal_context *context,
                                           const regal_problem *problem,
                                           const uint32_t *ids,
                                           const uint16_t *devices,
                                           size_t count, regal_plan **plan);

/* Sets the options of groups "machine" and "objective" that were not given
 * explicitly to those recorded in the plan file, so that a plan is evaluated on
 * its own machine. A bare order changes nothing. */
REGAL_API regal_status regal_plan_options(regal_context *context,
                                          const char *path,
                                          regal_options *options);

/* Checks and simulates a plan with the slow, independent verifier. Returns
 * REGAL_INVALID_PLAN, with the rule and the step in the message, if the plan
 * breaks a rule of the model. */
REGAL_API regal_status regal_verify(regal_context *context,
                                    const regal_problem *problem,
                                    const regal_plan *plan, regal_cost *cost);
/* When each step begins and ends, by the verifier: two arrays of
 * plan->step_count nanoseconds. */
REGAL_API regal_status regal_plan_times(regal_context *context,
                                        const regal_problem *problem,
                                        const regal_plan *plan,
                                        int64_t *start_ns, int64_t *end_ns);

/* -- Search -----------------------------------------------------------------*/

/* One improvement of the best plan, for progress and for the report. */
typedef struct regal_progress {
  uint64_t evaluations;
  double seconds;
  int64_t best;      /* the objective: nanoseconds or bytes */
  int64_t bound;     /* its lower bound */
  bool fits;         /* within the memory limit */
  double share;      /* of the budget that is used, 0 to 1; 0: no limit */
  const char *stage; /* what the search does now, such as "annealing" */
  /* While a coarser graph is annealed: its ops, and its best cost so far. The
   * cost on the graph itself is known later. 0 otherwise. */
  uint32_t coarse_ops;
  int64_t coarse_best;
} regal_progress;

/* Copies a text for a terminal: control characters (also C1) and bytes that are
 * not UTF-8 are escaped, as in "\x1b". The copy is cut at the capacity and
 * zero-terminated. */
REGAL_API void regal_escape(const char *text, char *escaped, size_t capacity);

/* Writes a file as all calls of the library do: completely or not at all, and
 * through symbolic links; "-" is stdout. */
REGAL_API regal_status regal_file_save(regal_context *context, const char *path,
                                       const void *bytes, size_t size);

/* The most bytes that an input file may have, decompressed; 0 means no limit.
 * The default is 1 GiB. It holds for every file that calls with this context
 * read: graphs, plans, machines, policies, and each member of an archive. The
 * program sets it from the option max-input; the library ignores that option.
 */
REGAL_API void regal_set_max_input(regal_context *context, size_t bytes);

/* Called by the searching thread, at each improvement and a few times per
 * second. */
typedef void (*regal_progress_fn)(void *state, const regal_progress *progress);
REGAL_API void regal_set_progress(regal_context *context, regal_progress_fn fn,
                                  void *state);

/* A point of a search: an improvement, or the end of a stage. */
typedef struct regal_search_point {
  regal_progress at;
  char stage[64]; /* what the stage did; "": an improvement */
} regal_search_point;

typedef struct regal_result {
  regal_context *context;
  const regal_problem *problem;
  regal_problem *owned_problem; /* by regal_solve; else NULL */
  regal_plan *plan;
  regal_cost cost;   /* by the verifier */
  regal_cost before; /* everything on one device, in the file's order */
  regal_bound bound;
  regal_stop stop;
  bool fits;      /* within the memory limit */
  char *shortage; /* why no plan can be, in one line, or NULL: not proven */
  const char *method;
  char *account; /* one line: what the method did */
  uint64_t seed, evaluations;
  double seconds;
  int threads;
  /* The course of the search in order of time: every stage, and a selection of
   * the improvements. Empty for a plan that was given. */
  regal_search_point *history;
  size_t history_count;
  /* Set by the caller: a run time that was measured, or that another model
   * predicts. The page shows it beside regal's own. 0: none. */
  int64_t expected_ns;
} regal_result;

/* options->start: the order of the graph's file, if a compiler has scheduled
 * it. With one device it is offered to every search. */
#define REGAL_START_SCHEDULE "schedule"

/* Runs options->method. Every returned plan has passed the verifier. With a
 * budget of evaluations the result depends on the seed, not on the number of
 * threads. Returns REGAL_OK even if no plan fits the memory limit: see `fits`.
 */
REGAL_API regal_status regal_optimize(regal_context *context,
                                      const regal_problem *problem,
                                      const regal_options *options,
                                      regal_result **result);
/* The same from a plan in memory, in place of options->start. The result is
 * never worse than it. Without one, NULL, it is regal_optimize. */
REGAL_API regal_status regal_optimize_from(regal_context *context,
                                           const regal_problem *problem,
                                           const regal_options *options,
                                           const regal_plan *start,
                                           regal_result **result);
/* About how many seconds regal_optimize takes if the options give neither time
 * nor evaluations; 0 if they do, or if the method has no estimate. */
REGAL_API double regal_default_seconds(const regal_graph *graph,
                                       const regal_options *options);
/* regal_problem_create and regal_optimize in one call; the result owns the
 * problem. */
REGAL_API regal_status regal_solve(regal_context *context,
                                   const regal_graph *graph,
                                   const regal_options *options,
                                   regal_result **result);
/* A result for an existing plan: verified, with its cost and bound, for reports
 * and files. It holds a copy of the plan. No search runs: method is "given",
 * and seed, evaluations and threads are 0. */
REGAL_API regal_status regal_evaluate(regal_context *context,
                                      const regal_problem *problem,
                                      const regal_plan *plan,
                                      regal_result **result);
REGAL_API void regal_result_free(regal_result *result);

/* Of a plan for a pipeline graph (docs/pipelines.md); microbatches is 0 for
 * other graphs. */
typedef struct regal_rates {
  uint32_t microbatches;
  double bubble; /* share of all device time that no op runs */
  double microbatches_per_second;
} regal_rates;

/* O(ops + steps). */
REGAL_API regal_rates regal_result_rates(const regal_result *result);

typedef struct regal_method_info {
  const char *name, *help, *budget; /* what its budget means, or "none" */
} regal_method_info;

/* Beyond the last method all pointers are NULL, as with decoders. */
REGAL_API size_t regal_method_count(void);
REGAL_API regal_method_info regal_method_at(size_t index);

typedef struct regal_decoder_info {
  const char *name, *help;
  char genes[160]; /* its gene classes: "affinity (op, device), ..." */
} regal_decoder_info;

REGAL_API size_t regal_decoder_count(void);
REGAL_API regal_decoder_info regal_decoder_at(size_t index);

/* -- Proposals (experimental) ------------------------------------------------
 * One Beta distribution per gene for the initial population and the mutants of
 * BRKGA, uniform by default, and optionally a crossover bias per gene. Policies
 * predict proposals. Genes are addressed by class and by index in the class:
 * op, op*devices+device, or tensor*devices+device. */

typedef struct regal_proposal regal_proposal;

REGAL_API regal_status regal_proposal_create(regal_context *context,
                                             const regal_problem *problem,
                                             const char *decoder,
                                             regal_proposal **proposal);
REGAL_API void regal_proposal_free(regal_proposal *proposal);
REGAL_API size_t regal_proposal_genes(const regal_proposal *proposal,
                                      const char *gene_class);
/* index SIZE_MAX sets all genes of the class. */
REGAL_API regal_status regal_proposal_set_beta(regal_proposal *proposal,
                                               const char *gene_class,
                                               size_t index, double alpha,
                                               double beta);
/* Probability, in [0.5, 1], that a child takes the elite parent's gene. */
REGAL_API regal_status regal_proposal_set_bias(regal_proposal *proposal,
                                               const char *gene_class,
                                               size_t index, double bias);
/* regal_optimize with BRKGA on the proposal's decoder. */
REGAL_API regal_status regal_optimize_guided(regal_context *context,
                                             const regal_problem *problem,
                                             const regal_options *options,
                                             const regal_proposal *proposal,
                                             regal_result **result);

/* -- Files and reports ------------------------------------------------------
 * "-" is stdout. No file is left incomplete. */

/* A plan file; if the path ends with .order, a bare order: the names of ops,
 * one per line, with their devices if there are several. */
REGAL_API regal_status regal_plan_save(regal_context *context,
                                       const regal_result *result,
                                       const char *path);
/* The same with the start and the end of each step, by the verifier. */
REGAL_API regal_status regal_plan_save_times(regal_context *context,
                                             const regal_result *result,
                                             const char *path);
/* The plan object without its steps, as optimize --json prints. */
REGAL_API regal_status regal_result_save_json(regal_context *context,
                                              const regal_result *result,
                                              const char *path);
/* A graph's statistics and the reader's notes, as `inspect --json` prints. */
REGAL_API regal_status regal_graph_info_save_json(regal_context *context,
                                                  const regal_graph *graph,
                                                  const char *path);
/* Chrome / Perfetto trace: a track per device, transfers as flows, memory as
 * counters. */
REGAL_API regal_status regal_trace_save(regal_context *context,
                                        const regal_problem *problem,
                                        const regal_plan *plan,
                                        const char *path);
/* A picture of the graph with the devices and steps of a plan, of at most 2000
 * ops: DOT for Graphviz, or SVG. */
typedef enum regal_picture_format {
  REGAL_PICTURE_DOT = 0,
  REGAL_PICTURE_SVG = 1
} regal_picture_format;

REGAL_API regal_status regal_plan_draw(regal_context *context,
                                       const regal_result *result,
                                       regal_picture_format format,
                                       const char *path);
/* The ONNX model that the graph was read from, with its nodes in the plan's
 * order, and the device and step of each op as metadata of its node. */
REGAL_API regal_status regal_plan_save_onnx(regal_context *context,
                                            const regal_result *result,
                                            const char *model,
                                            const char *path);
/* Text for people, written to an open stream: the summary of a result; a
 * timeline of the devices, `columns` wide; where a plan's time and memory go; a
 * graph's statistics and the reader's notes. O(plan). */
REGAL_API regal_status regal_report_summary(regal_context *context,
                                            const regal_result *result,
                                            FILE *stream);
REGAL_API regal_status regal_report_timeline(regal_context *context,
                                             const regal_problem *problem,
                                             const regal_plan *plan,
                                             int columns, FILE *stream);
REGAL_API regal_status regal_report_explain(regal_context *context,
                                            const regal_problem *problem,
                                            const regal_plan *plan,
                                            FILE *stream);
REGAL_API regal_status regal_report_graph(regal_context *context,
                                          const regal_graph *graph,
                                          FILE *stream);
/* A page for a browser (docs/page.md): one HTML file that needs nothing else.
 * It shows the results, which are for one graph, and beside them the plan that
 * runs everything on one device in the file's order. `names` has a name for
 * each, or is NULL; `title` may be NULL. O(plans). */
REGAL_API regal_status regal_report_html(regal_context *context,
                                         const char *title,
                                         const regal_result *const *results,
                                         const char *const *names, size_t count,
                                         const char *path);

#ifdef __cplusplus
}
#endif

#endif
