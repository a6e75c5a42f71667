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
