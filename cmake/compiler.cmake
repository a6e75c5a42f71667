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
