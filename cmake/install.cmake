# SPDX-License-Identifier: Apache-2.0
# cmake --install: program, libraries, headers, regal.pc, the CMake package, man
# page, completion. The target regal_install builds what that needs.
include(CMakePackageConfigHelpers)
set_target_properties(regal_shared PROPERTIES EXPORT_NAME regal)
install(TARGETS regal_shared EXPORT regalTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
add_custom_target(regal_install DEPENDS regal_shared regal_static)
install(TARGETS regal_static
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/regal.h include/regal_limits.h include/regal_options.h
  include/regal_data.h include/regal_train.h include/regal_tune.h
  include/regal_bench.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# The way back from regal.pc to the prefix: lib may be lib/x86_64-linux-gnu.
file(RELATIVE_PATH REGAL_PC_TO_PREFIX
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/regal.pc.in generated/regal.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/regal.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET regal)
  install(TARGETS regal RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(EXISTS ${CMAKE_SOURCE_DIR}/docs/regal.1)
  install(FILES docs/regal.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

# find_package(regal) and the target regal::regal, which is the shared library.
# For the static one regal.pc has what to link (pkg-config --static).
set(REGAL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/regal)
install(EXPORT regalTargets FILE regalTargets.cmake NAMESPACE regal::
  DESTINATION ${REGAL_PACKAGE_DIR})
configure_package_config_file(cmake/regalConfig.cmake.in
  ${CMAKE_BINARY_DIR}/generated/regalConfig.cmake
  INSTALL_DESTINATION ${REGAL_PACKAGE_DIR})
# While the major version is 0 a minor version may break the interface.
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/generated/regalConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/regalConfig.cmake
  ${CMAKE_BINARY_DIR}/generated/regalConfigVersion.cmake
  DESTINATION ${REGAL_PACKAGE_DIR})

# The program writes its completion scripts; each shell looks in a place of its
# own.
if(TARGET regal AND NOT CMAKE_CROSSCOMPILING)
  set(completion ${CMAKE_BINARY_DIR}/generated/completion)
  set(scripts)
  foreach(shell IN ITEMS bash zsh fish)
    add_custom_command(OUTPUT ${completion}/regal.${shell}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${completion}
      COMMAND regal completion ${shell} > ${completion}/regal.${shell}
      DEPENDS regal VERBATIM)
    list(APPEND scripts ${completion}/regal.${shell})
  endforeach()
  add_custom_target(regal_completion ALL DEPENDS ${scripts})
  add_dependencies(regal_install regal regal_completion)
  install(FILES ${completion}/regal.bash RENAME regal
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completion}/regal.zsh RENAME _regal
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completion}/regal.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
