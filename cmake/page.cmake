# SPDX-License-Identifier: Apache-2.0
# Puts the page of `regal report` together, for src/report/page.c: the scripts of
# src/report/page become one module, and go with the style into page.html, whose
# Content-Security-Policy names both by their SHA-256. "@DATA@" stays.
#
# The scripts are modules that import from one another, which tools understand;
# in the page, where they are one, the lines that import go, and the word export.
# Order matters only for what runs while the page loads: constants before their
# first use, main.js last.
set(REGAL_PAGE_SCRIPTS format.js data.js live.js theme.js state.js rows.js
  draw_lanes.js draw_memory.js tip.js details.js chart.js find.js table.js text.js
  curve.js graph_layout.js graph_view.js
  keys.js main.js)

set(page_folder ${CMAKE_SOURCE_DIR}/src/report/page)

# The SHA-256 of a text, in base64 as browsers want it.
function(regal_page_hash text result)
  string(SHA256 hex "${text}")
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(APPEND hex 00) # 33 bytes: eleven groups of four letters
  set(base64 "")
  foreach(group RANGE 10)
    math(EXPR at "${group} * 6")
    string(SUBSTRING ${hex} ${at} 6 digits)
    foreach(shift IN ITEMS 18 12 6 0)
      math(EXPR letter "(0x${digits} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${letter} 1 letter)
      string(APPEND base64 ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${base64} 0 43 base64)
  set(${result} "sha256-${base64}=" PARENT_SCOPE)
endfunction()

function(regal_page_read name result)
  file(READ ${page_folder}/${name} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${page_folder}/${name})
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

set(page_script "")
foreach(name IN LISTS REGAL_PAGE_SCRIPTS)
  regal_page_read(${name} text)
  string(REGEX REPLACE "(^|\n)import [^;]*;" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  string(APPEND page_script "${text}")
endforeach()
regal_page_read(page.css page_style)
regal_page_read(page.html page)
regal_page_hash("${page_script}" page_script_hash)
regal_page_hash("${page_style}" page_style_hash)
foreach(part IN ITEMS script style script_hash style_hash)
  string(TOUPPER "@${part}@" place)
  string(REPLACE "${place}" "${page_${part}}" page "${page}")
endforeach()
file(WRITE ${REGAL_GENERATED_INCLUDES}/page.html.new "${page}")
file(READ ${REGAL_GENERATED_INCLUDES}/page.html.new page_bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," page_bytes "${page_bytes}")
file(CONFIGURE OUTPUT ${REGAL_GENERATED_INCLUDES}/page.embedded.h
  CONTENT "/* Made of src/report/page. */
static const unsigned char page_embedded[] = {${page_bytes}};
")
