# SPDX-License-Identifier: Apache-2.0
# Writes generated/build_id.h: commit, compiler and flags. It is looked at in
# every build, and touched only when what it says has changed.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(flags "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}")
if(REGAL_SANITIZE)
  string(APPEND flags " -fsanitize=${REGAL_SANITIZE}")
endif()
string(STRIP "${flags}" flags)

add_custom_target(regal_build_id_header
  COMMAND ${CMAKE_COMMAND}
    -DSOURCE_DIR=${CMAKE_SOURCE_DIR}
    -DOUTPUT=${REGAL_GENERATED_INCLUDES}/build_id.h
    "-DCOMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
    "-DFLAGS=${flags}"
    -P ${CMAKE_SOURCE_DIR}/cmake/write_build_id.cmake
  BYPRODUCTS ${REGAL_GENERATED_INCLUDES}/build_id.h
  COMMENT "Checking the build id" VERBATIM)
