# SPDX-License-Identifier: Apache-2.0
# The optional component that infers shapes of ONNX models: libonnx (Debian:
# libonnx-dev) behind two files in C++.
#
# Sets REGAL_HAS_ONNX_SHAPES; adds to REGAL_DEPENDENCIES, REGAL_PC_LIBRARIES.
set(REGAL_ONNX_SHAPES AUTO CACHE STRING
  "Infer shapes of ONNX models: ON, OFF or AUTO (where libonnx is found)")
set_property(CACHE REGAL_ONNX_SHAPES PROPERTY STRINGS AUTO ON OFF)
set(REGAL_HAS_ONNX_SHAPES OFF)
set(onnx_missing "")

if(REGAL_ONNX_SHAPES)
  include(CheckLanguage)
  if(NOT CMAKE_CXX_COMPILER) # it may have been installed since
    unset(CMAKE_CXX_COMPILER CACHE)
  endif()
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang" AND NOT CMAKE_CXX_COMPILER)
    find_program(CMAKE_CXX_COMPILER clang++)
  endif()
  check_language(CXX)
  find_path(REGAL_ONNX_INCLUDES onnx/shape_inference/implementation.h)
  find_library(REGAL_ONNX_LIBRARY onnx)
  find_library(REGAL_ONNX_PROTO_LIBRARY onnx_proto)
  find_library(REGAL_PROTOBUF_LIBRARY protobuf)
  mark_as_advanced(REGAL_ONNX_INCLUDES REGAL_ONNX_LIBRARY
    REGAL_ONNX_PROTO_LIBRARY REGAL_PROTOBUF_LIBRARY)
  if(NOT CMAKE_CXX_COMPILER)
    set(onnx_missing "a C++ compiler")
  elseif(NOT REGAL_ONNX_INCLUDES OR NOT REGAL_ONNX_LIBRARY OR
      NOT REGAL_ONNX_PROTO_LIBRARY OR NOT REGAL_PROTOBUF_LIBRARY)
    set(onnx_missing "libonnx (libonnx-dev and libprotobuf-dev)")
  endif()
endif()

if(REGAL_ONNX_SHAPES AND NOT onnx_missing)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g -DNDEBUG" CACHE STRING "")
  enable_language(CXX)
  set(CMAKE_CXX_STANDARD 17)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_CXX_VISIBILITY_INLINES_HIDDEN ON)
  set(REGAL_ONNX_SHAPES_SOURCES src/format/onnx_shapes/inference.cc
    src/format/onnx_shapes/opsets.cc)
  set_source_files_properties(${REGAL_ONNX_SHAPES_SOURCES} PROPERTIES
    COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1"
    # Its runtime part is not there when a C compiler links.
    COMPILE_OPTIONS "-fno-sanitize=vptr")
  # CMake 4 makes /usr/include an -isystem here: #include_next <stdlib.h> would
  # find nothing after it.
  if(NOT REGAL_ONNX_INCLUDES IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set_source_files_properties(${REGAL_ONNX_SHAPES_SOURCES} PROPERTIES
      INCLUDE_DIRECTORIES "${REGAL_ONNX_INCLUDES}")
  endif()
  list(APPEND REGAL_DEPENDENCIES ${REGAL_ONNX_LIBRARY}
    ${REGAL_ONNX_PROTO_LIBRARY} ${REGAL_PROTOBUF_LIBRARY} stdc++)
  string(APPEND REGAL_PC_LIBRARIES " -lonnx -lonnx_proto -lprotobuf -lstdc++")
  set(REGAL_HAS_ONNX_SHAPES ON)
elseif(onnx_missing AND NOT REGAL_ONNX_SHAPES STREQUAL "AUTO")
  message(FATAL_ERROR "REGAL_ONNX_SHAPES=ON: ${onnx_missing} was not found")
elseif(onnx_missing)
  message(STATUS "Without shape inference of ONNX models: "
    "${onnx_missing} was not found")
endif()
