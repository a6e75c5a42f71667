# SPDX-License-Identifier: Apache-2.0
# The Python package's extension module, regal._regal: cffi's code and the whole
# library, without any symbol that another module could meet. `pip install .`
# builds it (pyproject.toml); the tests build it where cffi is found.
#
# The wheel has the shared libraries that the module needs, except those of the
# compiler and of libc, in regal/_libs. A DT_RPATH finds them, and theirs too;
# a DT_RUNPATH would not.
set(REGAL_PYTHON AUTO CACHE STRING
  "Build Python's extension module: ON, OFF or AUTO (where cffi is found)")
set_property(CACHE REGAL_PYTHON PROPERTY STRINGS AUTO ON OFF)
set(REGAL_HAS_PYTHON OFF)
if(NOT REGAL_PYTHON OR (REGAL_PYTHON STREQUAL "AUTO" AND
    (REGAL_SANITIZE OR REGAL_COVERAGE OR REGAL_FUZZ)))
  return()
endif()

# The tests' own Python (scripts/setup.sh python), if there is one.
set(cache $ENV{XDG_CACHE_HOME})
if(NOT cache)
  set(cache $ENV{HOME}/.cache)
endif()
if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${cache}/regal/python/bin/python)
  set(Python_EXECUTABLE ${cache}/regal/python/bin/python)
endif()
find_package(Python COMPONENTS Interpreter Development.Module QUIET)
set(cffi_missing 1)
if(Python_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import cffi"
    RESULT_VARIABLE cffi_missing ERROR_QUIET OUTPUT_QUIET)
endif()
if(NOT cffi_missing EQUAL 0)
  if(NOT REGAL_PYTHON STREQUAL "AUTO")
    message(FATAL_ERROR "REGAL_PYTHON=ON: Python's headers (python3-dev) or "
      "its package cffi were not found")
  endif()
  message(STATUS "Without Python: its headers or its package cffi were not "
    "found (scripts/setup.sh python)")
  return()
endif()
set(REGAL_HAS_PYTHON ON)

set(binding ${CMAKE_BINARY_DIR}/generated/python_binding.c)
add_custom_command(OUTPUT ${binding}
  COMMAND ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/python/make_binding.py
    ${CMAKE_SOURCE_DIR}/include/regal.h ${binding}
  DEPENDS ${CMAKE_SOURCE_DIR}/python/make_binding.py
    ${CMAKE_SOURCE_DIR}/include/regal.h
  COMMENT "Writing Python's binding" VERBATIM)

python_add_library(regal_python MODULE ${binding})
target_compile_definitions(regal_python PRIVATE Py_LIMITED_API=0x03090000
  _GNU_SOURCE=1) # as Python's own header says
target_link_libraries(regal_python PRIVATE regal_static)
target_link_options(regal_python PRIVATE LINKER:--disable-new-dtags
  LINKER:--version-script=${CMAKE_SOURCE_DIR}/cmake/python_exports.map)
set_target_properties(regal_python PROPERTIES
  OUTPUT_NAME _regal SUFFIX .abi3.so
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python
  INSTALL_RPATH "$ORIGIN/_libs" BUILD_WITH_INSTALL_RPATH ON)

install(TARGETS regal_python LIBRARY DESTINATION regal COMPONENT python
  EXCLUDE_FROM_ALL)
install(CODE "
  file(GET_RUNTIME_DEPENDENCIES MODULES \"$<TARGET_FILE:regal_python>\"
    RESOLVED_DEPENDENCIES_VAR libraries
    PRE_EXCLUDE_REGEXES [[^ld-linux]]
      [[^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so]])
  foreach(library IN LISTS libraries)
    get_filename_component(name \"\${library}\" NAME)
    get_filename_component(file \"\${library}\" REALPATH)
    file(MAKE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}/regal/_libs\")
    file(COPY_FILE \"\${file}\" \"\${CMAKE_INSTALL_PREFIX}/regal/_libs/\${name}\")
  endforeach()
  " COMPONENT python EXCLUDE_FROM_ALL)
