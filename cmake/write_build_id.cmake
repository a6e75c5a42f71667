# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE_DIR=.. -DOUTPUT=.. -DCOMPILER=.. -DFLAGS=.. -P this file
#
# The commit is "release" where the source is not a git work tree of its own: an
# archive, or an archive unpacked inside somebody else's repository.
set(ENV{GIT_OPTIONAL_LOCKS} 0)

function(git result)
  execute_process(COMMAND git -C ${SOURCE_DIR} ${ARGN}
    OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(text "")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

set(commit release)
git(top rev-parse --show-toplevel)
file(REAL_PATH ${SOURCE_DIR} here)
if(top STREQUAL here)
  git(head rev-parse --short=12 HEAD)
  git(changes status --porcelain --untracked-files=no)
  if(head)
    set(commit ${head})
  endif()
  if(head AND changes)
    string(APPEND commit "+changes")
  endif()
endif()

string(REPLACE "\\" "\\\\" FLAGS "${FLAGS}")
string(REPLACE "\"" "\\\"" FLAGS "${FLAGS}")
set(text "/* Written by cmake/write_build_id.cmake. */
#define REGAL_BUILD_COMMIT \"${commit}\"
#define REGAL_BUILD_COMPILER \"${COMPILER}\"
#define REGAL_BUILD_FLAGS \"${FLAGS}\"
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
