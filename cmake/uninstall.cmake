# SPDX-License-Identifier: Apache-2.0
# Removes what the last cmake --install has installed, and folders that are then
# empty and regal's own: cmake -D MANIFEST=build/install_manifest.txt -P FILE
if(NOT EXISTS "${MANIFEST}")
  message(FATAL_ERROR "nothing to remove: there is no ${MANIFEST}, which "
    "'make install' writes")
endif()
file(STRINGS "${MANIFEST}" files)
foreach(file IN LISTS files)
  set(path "$ENV{DESTDIR}${file}")
  if(EXISTS "${path}" OR IS_SYMLINK "${path}")
    message(STATUS "Removing: ${path}")
    file(REMOVE "${path}")
  endif()
  get_filename_component(folder "${path}" DIRECTORY)
  get_filename_component(name "${folder}" NAME)
  file(GLOB left "${folder}/*")
  if(name STREQUAL "regal" AND NOT left)
    file(REMOVE_RECURSE "${folder}")
  endif()
endforeach()
file(REMOVE "${MANIFEST}")
