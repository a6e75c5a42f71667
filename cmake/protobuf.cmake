# SPDX-License-Identifier: Apache-2.0
# NAME.proto anywhere under src/ becomes "NAME.pb-c.h" and code, when it is built.
#
# Sets REGAL_GENERATED_INCLUDES, REGAL_PROTOBUF_OBJECTS, REGAL_PROTOBUF_TARGETS.
set(REGAL_GENERATED_INCLUDES ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${REGAL_GENERATED_INCLUDES})
set(REGAL_PROTOBUF_OBJECTS "")
set(REGAL_PROTOBUF_TARGETS "")

find_program(REGAL_PROTOC_C protoc-c REQUIRED)
# Where protobuf-c/protobuf-c.proto is.
pkg_get_variable(protobuf_c_includes libprotobuf-c includedir)
file(GLOB_RECURSE protocols CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.proto)
set(generated "")
foreach(protocol IN LISTS protocols)
  cmake_path(GET protocol STEM name)
  cmake_path(GET protocol PARENT_PATH folder)
  set(base ${REGAL_GENERATED_INCLUDES}/${name}.pb-c)
  add_custom_command(
    OUTPUT ${base}.c ${base}.h
    COMMAND ${REGAL_PROTOC_C} --c_out=${REGAL_GENERATED_INCLUDES}
      --proto_path=${folder}
      --proto_path=${protobuf_c_includes} ${protocol}
    DEPENDS ${protocol}
    COMMENT "Generating ${name}.pb-c.c")
  list(APPEND generated ${base}.c)
endforeach()

if(generated)
  add_library(regal_protobuf OBJECT ${generated})
  # Not our code: not our warnings.
  target_compile_options(regal_protobuf PRIVATE -w)
  target_link_libraries(regal_protobuf PRIVATE PkgConfig::libprotobuf-c)
  set(REGAL_PROTOBUF_OBJECTS $<TARGET_OBJECTS:regal_protobuf>)
  set(REGAL_PROTOBUF_TARGETS regal_protobuf)
endif()
