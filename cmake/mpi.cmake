# SPDX-License-Identifier: Apache-2.0
# The optional component that trains on several processes: MPI (Debian:
# libopenmpi-dev) behind one file, src/base/parallel/ranks_mpi.c.
#
# Sets REGAL_HAS_MPI; adds to REGAL_DEPENDENCIES, REGAL_PC_LIBRARIES.
set(REGAL_MPI AUTO CACHE STRING
  "Train on several processes: ON, OFF or AUTO (where MPI is found)")
set_property(CACHE REGAL_MPI PROPERTY STRINGS AUTO ON OFF)
set(REGAL_HAS_MPI OFF)

if(REGAL_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI COMPONENTS C QUIET)
  if(MPI_C_FOUND)
    set(REGAL_HAS_MPI ON)
    list(APPEND REGAL_DEPENDENCIES MPI::MPI_C)
    list(JOIN MPI_C_LIBRARIES " " mpi_libraries)
    string(APPEND REGAL_PC_LIBRARIES " ${mpi_libraries}")
  elseif(REGAL_MPI STREQUAL "AUTO")
    message(STATUS "Training on one process only: MPI was not found")
  else()
    message(FATAL_ERROR "REGAL_MPI=ON: MPI (libopenmpi-dev) was not found")
  endif()
endif()
