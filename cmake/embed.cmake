# regal_embed(FILE NAME): "NAME.embedded.h" defines NAME_embedded, the file's
# bytes, so that the installed program needs no file.
function(regal_embed file name)
  file(READ ${CMAKE_SOURCE_DIR}/${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  file(CONFIGURE OUTPUT ${REGAL_GENERATED_INCLUDES}/${name}.embedded.h
    CONTENT "/* Made of ${file}. */
static const unsigned char ${name}_embedded[] = {${bytes}};
")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/${file})
endfunction()

regal_embed(data/rooflines.json rooflines)

# Every policies/NAME.policy, as a table of rows for src/learn/policies.c.
function(regal_embed_policies)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/policies/*.policy)
  set(includes "")
  set(rows "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM LAST_ONLY name)
    string(MAKE_C_IDENTIFIER "policy_${name}" symbol)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR}
      OUTPUT_VARIABLE relative)
    regal_embed(${relative} ${symbol})
    string(APPEND includes "#include \"${symbol}.embedded.h\"\n")
    string(APPEND rows
      " {\"${name}\", ${symbol}_embedded, sizeof ${symbol}_embedded},")
  endforeach()
  file(CONFIGURE OUTPUT ${REGAL_GENERATED_INCLUDES}/policies.embedded.h
    CONTENT "/* Made of the files of policies/. */
${includes}
#define REGAL_EMBEDDED_POLICIES${rows}
")
endfunction()

regal_embed_policies()

# Every settings/NAME.json, likewise, for src/api/tuned.c.
function(regal_embed_settings)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/settings/*.json)
  set(includes "")
  set(rows "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM LAST_ONLY name)
    string(MAKE_C_IDENTIFIER "settings_${name}" symbol)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR}
      OUTPUT_VARIABLE relative)
    regal_embed(${relative} ${symbol})
    string(APPEND includes "#include \"${symbol}.embedded.h\"\n")
    string(APPEND rows
      " {\"${name}\", ${symbol}_embedded, sizeof ${symbol}_embedded},")
  endforeach()
  file(CONFIGURE OUTPUT ${REGAL_GENERATED_INCLUDES}/settings.embedded.h
    CONTENT "/* Made of the files of settings/. */
${includes}
#define REGAL_EMBEDDED_SETTINGS${rows}
")
endfunction()

regal_embed_settings()
