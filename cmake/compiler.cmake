# SPDX-License-Identifier: Apache-2.0
# How everything of ours is compiled.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()

# What makes mistakes with memory harder to exploit. Sanitizers have better
# checks of their own, and _FORTIFY_SOURCE needs optimisation. Searches run less
# than 1% more instructions; most of that is the start, where all symbols are
# bound. To measure, count those of two builds, one with -DREGAL_HARDEN=OFF:
#   valgrind --tool=cachegrind --cache-sim=no regal optimize GRAPH --threads 1
#     --method anneal --evaluations 10000
option(REGAL_HARDEN "Harden release builds (RELRO, stack protector, fortify)" ON)
if(REGAL_SANITIZE OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  set(REGAL_HARDEN OFF)
endif()
if(REGAL_HARDEN)
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
    -fstack-protector-strong)
  add_link_options(LINKER:-z,relro,-z,now)
endif()

if(REGAL_SANITIZE)
  add_compile_options(-fsanitize=${REGAL_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${REGAL_SANITIZE})
endif()
if(REGAL_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "REGAL_FUZZ needs Clang: use the preset 'fuzz'")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(REGAL_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

function(regal_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(REGAL_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Tests, benchmarks and examples keep their asserts in every build.
function(regal_keep_asserts target)
  target_compile_options(${target} PRIVATE -UNDEBUG)
endfunction()
