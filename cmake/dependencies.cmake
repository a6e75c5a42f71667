# SPDX-License-Identifier: Apache-2.0
# What the library links. The same list is in regal.pc, to link libregal.a.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

set(REGAL_DEPENDENCY_MODULES libprotobuf-c zlib libzstd libzip)
set(REGAL_PC_LIBRARIES)
set(REGAL_DEPENDENCIES Threads::Threads m ${CMAKE_DL_LIBS})
foreach(module IN LISTS REGAL_DEPENDENCY_MODULES)
  pkg_check_modules(${module} REQUIRED IMPORTED_TARGET ${module})
  list(APPEND REGAL_DEPENDENCIES PkgConfig::${module})
  # By name in regal.pc, not as Requires.private: that would ask for what a static
  # libzip needs (OpenSSL, LZMA, ...), which Debian has neither as such nor
  # installs with libzip-dev.
  set(folders ${${module}_LIBRARY_DIRS})
  list(REMOVE_ITEM folders ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
  list(TRANSFORM folders PREPEND "-L")
  list(TRANSFORM ${module}_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE names)
  string(JOIN " " REGAL_PC_LIBRARIES ${REGAL_PC_LIBRARIES} ${folders} ${names})
endforeach()
