# SPDX-License-Identifier: Apache-2.0
# regal_embed(FILE NAME [BYTES]): "NAME.embedded.h" defines NAME_embedded, the
# file's bytes and those given, so that the installed program needs no file.
function(regal_embed file name)
  file(READ ${CMAKE_SOURCE_DIR}/${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  file(CONFIGURE OUTPUT ${REGAL_GENERATED_INCLUDES}/${name}.embedded.h
    CONTENT "/* Made of ${file}. */
static const unsigned char ${name}_embedded[] = {${bytes}${ARGN}};
")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/${file})
endfunction()

regal_embed(data/rooflines.json rooflines)

# regal_embed_folder(FOLDER ENDING PREFIX): "FOLDER.embedded.h" defines
# REGAL_EMBEDDED_FOLDER, a row {name, bytes, size} for each FOLDER/NAME.ENDING.
function(regal_embed_folder folder ending prefix)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.${ending})
  set(includes "")
  set(rows "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM LAST_ONLY name)
    string(MAKE_C_IDENTIFIER "${prefix}_${name}" symbol)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR}
      OUTPUT_VARIABLE relative)
    regal_embed(${relative} ${symbol})
    string(APPEND includes "#include \"${symbol}.embedded.h\"\n")
    string(APPEND rows
      " {\"${name}\", ${symbol}_embedded, sizeof ${symbol}_embedded},")
  endforeach()
  string(TOUPPER ${folder} upper)
  file(CONFIGURE OUTPUT ${REGAL_GENERATED_INCLUDES}/${folder}.embedded.h
    CONTENT "/* Made of the files of ${folder}/. */
${includes}
#define REGAL_EMBEDDED_${upper}${rows}
")
endfunction()

regal_embed_folder(policies policy policy) # for src/learn/guide/policies.c
regal_embed_folder(settings json settings) # for src/evolve/settings_file.c
regal_embed(src/bench/style.gp figure_style 0x00) # for src/bench/figures.c
