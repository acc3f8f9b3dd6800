# Builds a program from each bench/bench_*.c. It links the whole library, internal functions included; bench_http*.c link the
# HTTP server only. bench/run builds them (-DWT_BENCH=ON), and prints whichtool and its peers in one table.
file(GLOB programs CONFIGURE_DEPENDS bench/bench_*.c)
foreach(program IN LISTS programs)
  get_filename_component(stem ${program} NAME_WE)
  add_executable(${stem} ${program})
  target_include_directories(${stem} PRIVATE bench tests)
  if(stem MATCHES "^bench_http")
    target_link_libraries(${stem} PRIVATE room_http)
  else()
    target_link_libraries(${stem} PRIVATE room_serve whichtool_static)
  endif()
endforeach()

# The programs of tools/train-scorer link the library in the same way.
foreach(program scorer_lists scorer_fit)
  add_executable(${program} tools/${program}.c)
  target_include_directories(${program} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${program} PRIVATE whichtool_static)
endforeach()
