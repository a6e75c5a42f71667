#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the C source of the extension module: make_binding.py HEADER OUTPUT

The declarations are those of the public header itself, so that there is no
second list of them. What cffi's parser does not read is taken out:
preprocessor lines, REGAL_API and extern "C". The compiler checks the rest
against the real header (cffi's API mode, out of line).
"""
import pathlib
import re
import sys

import cffi

# The struct of options is made by regal_options_create; these fields are read
# where the library has turned a text ("2us") into a number.
OPTIONS = """
typedef struct regal_options {
  int64_t latency, bandwidth, memory_limit, max_input;
  ...;
} regal_options;
"""

CONSTANTS = """
#define REGAL_RUN ...
#define REGAL_NEVER ...
#define REGAL_MAX_DEVICES ...
#define REGAL_MOST_LIST ...
"""

# Called by the library, written in Python; and what turns a report into a text.
BEYOND_HEADER = """
extern "Python" void regal_python_progress(void *state,
                                           const regal_progress *progress);
FILE *open_memstream(char **text, size_t *size);
int fclose(FILE *stream);
void free(void *block);
"""


def declarations(header: str) -> str:
    """What the header declares, as cffi reads it."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    text = text.replace("\\\n", "")
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r'^extern "C" \{$|^\}$', "", text, flags=re.MULTILINE)
    text = re.sub(r"\bREGAL_API\b", "", text)
    return text.replace("[REGAL_MAX_DEVICES]", "[...]")


def main(header_path: str, output_path: str) -> None:
    header = pathlib.Path(header_path).read_text(encoding="utf-8")
    builder = cffi.FFI()
    builder.cdef(OPTIONS + CONSTANTS + declarations(header) + BEYOND_HEADER)
    builder.set_source(
        "regal._regal",
        "#include <stdio.h>\n#include <stdlib.h>\n#include <regal.h>\n",
        py_limited_api=True)
    builder.emit_c_code(output_path)


if __name__ == "__main__":
    main(*sys.argv[1:])
