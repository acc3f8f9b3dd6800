# bench/bench_*.c: one program each, linked with the whole library and free to use what is inside it; bench_http*.c with
# the room of the server alone.
# bench/run builds them (-DWT_BENCH=ON) and prints one table, ours and the peers' side by side.
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
