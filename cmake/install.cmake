# SPDX-License-Identifier: Apache-2.0
# cmake --install: program, libraries, headers, regal.pc, man page, completion.
install(TARGETS regal_shared
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS regal_static
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/regal.h include/regal_limits.h include/regal_options.h
  include/regal_data.h include/regal_train.h include/regal_tune.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# The way back from regal.pc to the prefix: lib may be lib/x86_64-linux-gnu.
file(RELATIVE_PATH REGAL_PC_TO_PREFIX
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REPLACE ";" ", " REGAL_PC_REQUIRES "${REGAL_DEPENDENCY_MODULES}")
configure_file(cmake/regal.pc.in generated/regal.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/regal.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET regal)
  install(TARGETS regal RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(EXISTS ${CMAKE_SOURCE_DIR}/docs/regal.1)
  install(FILES docs/regal.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(FILES scripts/completion.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME regal)
