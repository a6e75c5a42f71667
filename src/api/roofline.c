/* SPDX-License-Identifier: Apache-2.0 */
/* The public call for estimated times: whoever builds a graph in memory, in
 * whichever language, estimates as the ONNX reader does. */
#include "format/costs/roofline.h"
#include "regal.h"

regal_status regal_roofline_ns(regal_context *context, const char *device,
                               const char *number, double flops, double bytes,
                               int64_t *ns) {
  REGAL_TRY(
      regal_need(context, device && number && ns,
                 "a roofline needs a device, a number and a place for the "
                 "time"));
  if (!(flops >= 0) || !(bytes >= 0))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "flops are %g and bytes %g, expected 0 or more", flops,
                      bytes);
  regal_roofline roofline;
  REGAL_TRY(regal_roofline_load(context, device, &roofline));
  regal_number kind = regal_number_named(number);
  if (kind == REGAL_NUMBERS)
    return regal_fail(context, REGAL_BAD_INPUT,
                      "'%s' is no kind of number, expected fp64, fp32, fp16, "
                      "bf16 or int8",
                      number);
  if (!regal_roofline_time(&roofline, kind, flops, bytes, ns))
    return regal_fail(context, REGAL_BAD_INPUT,
                      "%g flops and %g bytes take longer than 2^62 ns on %s",
                      flops, bytes, roofline.name);
  return REGAL_OK;
}
