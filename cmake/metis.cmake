# SPDX-License-Identifier: Apache-2.0
# The optional component behind `--partitioner metis`: METIS (Debian:
# libmetis-dev).
#
# Sets REGAL_HAS_METIS; adds to REGAL_DEPENDENCIES, REGAL_PC_LIBRARIES.
set(REGAL_METIS AUTO CACHE STRING
  "Partition graphs by METIS: ON, OFF or AUTO (where libmetis is found)")
set_property(CACHE REGAL_METIS PROPERTY STRINGS AUTO ON OFF)
set(REGAL_HAS_METIS OFF)

if(REGAL_METIS)
  find_path(REGAL_METIS_INCLUDES metis.h)
  find_library(REGAL_METIS_LIBRARY metis)
  mark_as_advanced(REGAL_METIS_INCLUDES REGAL_METIS_LIBRARY)
  if(REGAL_METIS_INCLUDES AND REGAL_METIS_LIBRARY)
    set_source_files_properties(src/heuristic/partition/metis.c PROPERTIES
      INCLUDE_DIRECTORIES "${REGAL_METIS_INCLUDES}")
    list(APPEND REGAL_DEPENDENCIES ${REGAL_METIS_LIBRARY})
    string(APPEND REGAL_PC_LIBRARIES " -lmetis")
    set(REGAL_HAS_METIS ON)
  elseif(NOT REGAL_METIS STREQUAL "AUTO")
    message(FATAL_ERROR "REGAL_METIS=ON: libmetis (libmetis-dev) was not found")
  else()
    message(STATUS "Without METIS: libmetis was not found")
  endif()
endif()
