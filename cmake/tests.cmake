# Builds the tests. tests/ has the folders of src/. The files tests/ROOM/test_*.c form one cmocka program, linked with the
# room and the rooms that it uses. tests/fuzz/fuzz_*.c are libFuzzer targets; without libFuzzer, one program replays their
# corpora.
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
if(NOT CMOCKA_FOUND)
  message(STATUS "cmocka not found: no tests")
  return()
endif()
# Tests use the manifests without the included models. A test that needs such a model copies it there.
file(GLOB manifests CONFIGURE_DEPENDS models/*.json)
file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/test-manifests)
file(COPY ${manifests} DESTINATION ${CMAKE_BINARY_DIR}/test-manifests)
set(WT_TEST_ENVIRONMENT "WT_TEST_SOURCE=${CMAKE_SOURCE_DIR};WT_TEST_BUILD=${CMAKE_BINARY_DIR}"
  "WHICHTOOL_MANIFESTS=${CMAKE_BINARY_DIR}/test-manifests")
if(WT_SANITIZE MATCHES address) # report leaks, and let an allocation of a hostile size fail
  string(APPEND WT_TEST_ENVIRONMENT ";ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1")
endif()

# wt_test_program(NAME FILE... LINKS library...) builds one program from several test files; `NAME STEM` runs the tests of
# test_STEM.c. A room has one program, because linking takes longer than compiling a test.
function(wt_test_program name)
  cmake_parse_arguments(PROGRAM "" "" "LINKS" ${ARGN})
  set(program ${name})
  set(declarations "")
  set(rows "")
  foreach(file IN LISTS PROGRAM_UNPARSED_ARGUMENTS)
    get_filename_component(stem ${file} NAME_WE)
    string(REPLACE "test_" "" stem ${stem})
    set_source_files_properties(${file} PROPERTIES COMPILE_DEFINITIONS main=run_${stem}_tests
      COMPILE_OPTIONS "-include;${CMAKE_BINARY_DIR}/${name}.h" OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/${name}.h)
    string(APPEND declarations "int run_${stem}_tests(void)\\;\n")
    string(APPEND rows "    {\"${stem}\", run_${stem}_tests},\n")
  endforeach()
  string(REPLACE "\\;" ";" declarations "${declarations}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.h CONTENT "${declarations}")
  configure_file(cmake/test_program.c.in ${CMAKE_BINARY_DIR}/${name}.c @ONLY)
  add_executable(${name} EXCLUDE_FROM_ALL ${PROGRAM_UNPARSED_ARGUMENTS} ${CMAKE_BINARY_DIR}/${name}.c)
  target_include_directories(${name} PRIVATE tests ${CMAKE_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${PROGRAM_LINKS} PkgConfig::CMOCKA)
endfunction()

# A test file has a program of its own if it replaces a function of libc (such as the allocator), or includes the frozen
# header of an older version.
set(WT_INTERPOSES "failing_allocator\\.h|^(int|ssize_t|void \\*) ?(kill|send|pthread_create|malloc)\\(|old_whichtool\\.h")

# Tests of engine/, query/, changes/ and the store use several of these rooms, through the public functions.
foreach(room base text nn net http encoder catalog store import schema index llm mcp setup retrieve rerank choose
    engine query changes tenants call generate audit eval learn wire replica serve gateway cli)
  set(linked room_${room})
  if(room MATCHES "^(engine|query|changes|call)$")
    set(linked room_call room_changes)
  elseif(room STREQUAL "tenants")
    set(linked room_tenants room_call room_changes)
  elseif(room MATCHES "^(catalog|store|import)$")
    set(linked room_import room_store)
  endif()
  file(GLOB files CONFIGURE_DEPENDS tests/${room}/test_*.c)
  set(together "")
  set(programs "")
  foreach(file IN LISTS files)
    get_filename_component(stem ${file} NAME_WE)
    string(REPLACE "test_" "" stem ${stem})
    file(STRINGS ${file} interposes REGEX "${WT_INTERPOSES}" LIMIT_COUNT 1)
    if(interposes)
      set(test test_${room}_${stem})
      wt_test_program(${test} ${file} LINKS ${linked})
      list(APPEND programs ${test})
    else()
      set(test test_${room})
      list(APPEND together ${file})
    endif()
    add_test(NAME ${room}/${stem} COMMAND ${test} ${stem})
    set_tests_properties(${room}/${stem} PROPERTIES ENVIRONMENT "${WT_TEST_ENVIRONMENT}" TIMEOUT 300)
    file(STRINGS ${file} backends REGEX "RUN_ON_BACKEND" LIMIT_COUNT 1)
    if(backends) # tests of the store run on each database
      add_test(NAME ${room}/${stem}_postgres COMMAND ${test} ${stem})
      set_tests_properties(${room}/${stem}_postgres PROPERTIES TIMEOUT 900
        ENVIRONMENT "${WT_TEST_ENVIRONMENT};WT_TEST_BACKEND=postgres")
    endif()
  endforeach()
  if(together)
    wt_test_program(test_${room} ${together} LINKS ${linked})
    list(APPEND programs test_${room})
  endif()
  add_custom_target(tests_${room} DEPENDS ${programs})
  list(APPEND WT_TEST_PROGRAMS ${programs})
endforeach()

# An MCP server for the conformance suite and other clients (bench/conformance.py).
add_executable(fixture_server EXCLUDE_FROM_ALL tests/serve/fixture_server.c)
target_include_directories(fixture_server PRIVATE tests)
target_link_libraries(fixture_server PRIVATE room_serve)
list(APPEND WT_TEST_PROGRAMS fixture_server)

# A command that reviews definitions, for tests/fault/test_review.sh.
add_executable(review_driver EXCLUDE_FROM_ALL tests/fault/review.c)
target_link_libraries(review_driver PRIVATE room_call room_changes)
list(APPEND WT_TEST_PROGRAMS review_driver)
# An MCP client for the conformance suite, and for trying servers (bench/mcp/client_conformance.py).
add_executable(client_test EXCLUDE_FROM_ALL tests/mcp/client_test.c)
target_include_directories(client_test PRIVATE tests)
target_link_libraries(client_test PRIVATE room_serve)
list(APPEND WT_TEST_PROGRAMS client_test)

# With libFuzzer, each target is a program. Without it, a single program replays all corpora.
file(GLOB targets CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
set(declarations "")
foreach(target IN LISTS targets)
  get_filename_component(name ${target} NAME_WE)
  string(REPLACE "fuzz_" "" stem ${name})
  if(WT_FUZZERS)
    add_executable(${name} EXCLUDE_FROM_ALL ${target})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    target_include_directories(${name} PRIVATE tests)
    target_link_libraries(${name} PRIVATE room_serve room_http room_replica whichtool_static)
    list(APPEND WT_TEST_PROGRAMS ${name})
  else()
    set_source_files_properties(${target} PROPERTIES COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=${name})
    string(APPEND declarations "TARGET(${name})\n")
    add_test(NAME fuzz/${stem} COMMAND fuzz_replay ${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${stem})
    set_tests_properties(fuzz/${stem} PROPERTIES TIMEOUT 600)
  endif()
endforeach()
if(NOT WT_FUZZERS)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/fuzz_targets.h CONTENT "${declarations}")
  add_executable(fuzz_replay EXCLUDE_FROM_ALL tests/fuzz/replay.c ${targets})
  target_include_directories(fuzz_replay PRIVATE tests ${CMAKE_BINARY_DIR})
  target_link_libraries(fuzz_replay PRIVATE room_serve room_http room_replica whichtool_static)
  list(APPEND WT_TEST_PROGRAMS fuzz_replay)
endif()

set_tests_properties(engine/mutants PROPERTIES TIMEOUT 1800) # starts a process for each mutant
# This test runs each use of the library once for each of its allocations, which takes over 300 s on a busy machine.
set_tests_properties(engine/memory PROPERTIES TIMEOUT 900)
set_tests_properties(audit/rules PROPERTIES TIMEOUT 900) # 150 s of work under TSan

# Each public header compiles alone, as pedantic C11 and C++17, without a warning.
file(GLOB headers CONFIGURE_DEPENDS include/*.h include/whichtool/*.h)
foreach(header IN LISTS headers)
  get_filename_component(stem ${header} NAME_WE)
  add_test(NAME header/${stem}/c11 COMMAND ${CMAKE_C_COMPILER} -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only
    -x c ${header})
  add_test(NAME header/${stem}/cxx17 COMMAND ${CMAKE_C_COMPILER} -std=c++17 -pedantic -Wall -Wextra -Werror
    -fsyntax-only -x c++ ${header})
endforeach()
add_test(NAME layers COMMAND ${CMAKE_SOURCE_DIR}/tools/check-layers)

# End to end: each script drives the built command as a user would.
file(GLOB scripts CONFIGURE_DEPENDS tests/e2e/test_*.sh tests/fault/test_*.sh)
foreach(script IN LISTS scripts)
  get_filename_component(stem ${script} NAME_WE)
  get_filename_component(folder ${script} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  string(REPLACE "test_" "" stem ${stem})
  add_test(NAME ${folder}/${stem} COMMAND bash ${script})
  set_tests_properties(${folder}/${stem} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT "${WT_TEST_ENVIRONMENT};WHICHTOOL=$<TARGET_FILE:whichtool>")
endforeach()

# Start the longest tests first, so that they do not run alone at the end.
foreach(test engine/memory engine/mutants call/call_oracle call/call_hostile fault/clients fault/gateway fault/learn
    fault/hub fault/generate learn/refiner_trainer learn/train e2e/processes e2e/toolbank e2e/real audit/rules
    encoder/encoder mcp/connection llm/hostile_server choose/ptr_hostile)
  set_tests_properties(${test} PROPERTIES COST 100)
endforeach()

set(WT_TEST_PATIENCE 1 CACHE STRING "Factor of the time-outs of tests, for an emulated processor")
get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS tests)
  get_test_property(${test} TIMEOUT seconds)
  if(seconds)
    math(EXPR seconds "${seconds} * ${WT_TEST_PATIENCE}")
    set_tests_properties(${test} PROPERTIES TIMEOUT ${seconds})
  endif()
endforeach()

add_custom_target(tests DEPENDS whichtool whichtool_shared ${WT_TEST_PROGRAMS})
