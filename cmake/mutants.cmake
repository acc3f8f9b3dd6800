# Settings of tools/mutate (CMAKE_PROJECT_INCLUDE). All rooms except the command become one shared library. The tests are
# linked with an empty library before it. tools/mutate replaces the empty library by one that has the mutated object. The
# loader takes a function from the first library that defines it, so all calls go to the mutant, and nothing else has to be
# linked again. Mutated rooms, base/ and the tests use AddressSanitizer, to notice leaks and reads beyond an end. The other
# rooms do without it, for speed.
unset(CMAKE_C_COMPILE_OPTIONS_VISIBILITY) # tests call internal functions
add_link_options(-Wl,--enable-new-dtags)  # so that LD_LIBRARY_PATH selects the mutant instead of the empty library

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
