# SPDX-License-Identifier: Apache-2.0
# What the library links. The same list is in regal.pc, for static linking.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

set(REGAL_DEPENDENCY_MODULES libprotobuf-c zlib libzstd libzip)
set(REGAL_DEPENDENCIES Threads::Threads m ${CMAKE_DL_LIBS})
foreach(module IN LISTS REGAL_DEPENDENCY_MODULES)
  pkg_check_modules(${module} REQUIRED IMPORTED_TARGET ${module})
  list(APPEND REGAL_DEPENDENCIES PkgConfig::${module})
endforeach()
