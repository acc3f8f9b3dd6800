# Builds prompts/*.txt into the library: writes prompt_files.c in the build folder, with the table that src/llm/prompt.h
# declares. To write it, this file runs itself as a script (cmake -DOUT=FILE -DFILES=LIST -P prompts.cmake).
if(CMAKE_SCRIPT_MODE_FILE)
  set(rows "")
  set(arrays "")
  set(count 0)
  foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND arrays "static const char prompt_${count}[] = {${bytes}'\\0'};\n")
    string(APPEND rows "    {\"${name}\", prompt_${count}, sizeof prompt_${count} - 1},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  file(WRITE ${OUT} "/* Written by cmake/prompts.cmake. */\n#include \"llm/prompt.h\"\n\n${arrays}\n"
    "const struct prompt_file wt__prompt_files[] = {\n${rows}};\nconst size_t wt__prompt_file_count = ${count};\n")
  return()
endif()

file(GLOB prompts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/prompts/*.txt)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/prompt_files.c
  COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/prompt_files.c "-DFILES=${prompts}" -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${prompts} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
target_sources(llm_objects PRIVATE ${CMAKE_BINARY_DIR}/prompt_files.c)
