# Read by tools/mutate alone (CMAKE_PROJECT_INCLUDE): every room but the command as one shared library, and before it
# one that is empty, with which the tests are linked: put a changed object there, and all calls go to it, since the
# loader takes a name from the first library that has it. So a mutant costs one object and no other link. The rooms
# that are mutated, base/ with its arena, and the tests run under AddressSanitizer: a byte too far and a leak are
# noticed. The others are compiled plainly, for speed.
unset(CMAKE_C_COMPILE_OPTIONS_VISIBILITY) # tests see what is internal
add_link_options(-Wl,--enable-new-dtags)  # LD_LIBRARY_PATH says which mutant; the programs of tests know the empty one

function(wt_mutants)
  set(checked -fsanitize=address -fno-omit-frame-pointer)
  set(rooms "")
  foreach(room base text nn net encoder catalog store import schema index llm mcp setup retrieve rerank choose recipe
      engine query changes call learn generate eval audit http wire serve gateway)
    list(APPEND rooms $<TARGET_OBJECTS:${room}_objects>)
    if(room IN_LIST WT_MUTATED_ROOMS OR room STREQUAL base)
      target_compile_options(${room}_objects PRIVATE ${checked})
    endif()
  endforeach()
  add_library(mutated SHARED EXCLUDE_FROM_ALL ${rooms} $<TARGET_OBJECTS:built_in_objects>)
  target_link_libraries(mutated PRIVATE wt_settings PkgConfig::EVENT)
  target_link_options(mutated PRIVATE -fsanitize=address)
  target_link_options(pack_model PRIVATE -fsanitize=address)
  file(WRITE ${CMAKE_BINARY_DIR}/empty.c "")
  add_library(mutant SHARED EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/empty.c)
  foreach(test IN LISTS WT_TEST_PROGRAMS)
    set_target_properties(${test} PROPERTIES LINK_DEPENDS_NO_SHARED ON
      LINK_LIBRARIES "-Wl,--no-as-needed;mutant;mutated;wt_settings;PkgConfig::CMOCKA;PkgConfig::EVENT")
    target_compile_options(${test} PRIVATE ${checked})
    target_link_options(${test} PRIVATE -fsanitize=address)
  endforeach()
endfunction()
cmake_language(DEFER CALL wt_mutants)
