# Builds the contents of a Python wheel: one shared library that also has the command, and a small program that starts it.
# With a library and a command of their own, the wheel would have two copies of the built-in model.
set_source_files_properties(src/cli/main.c PROPERTIES
  COMPILE_DEFINITIONS "main=whichtool_main" COMPILE_OPTIONS "-fvisibility=default;-Wno-missing-prototypes")
add_library(whichtool_wheel MODULE ${WT_LIBRARY_OBJECTS} ${WT_ROOM_OBJECTS})
set_target_properties(whichtool_wheel PROPERTIES OUTPUT_NAME whichtool
  LIBRARY_OUTPUT_DIRECTORY wheel LINK_FLAGS "-Wl,--no-undefined -s")
target_link_libraries(whichtool_wheel PRIVATE wt_settings PkgConfig::EVENT)
add_executable(whichtool_start python/start.c)
set_target_properties(whichtool_start PROPERTIES OUTPUT_NAME whichtool RUNTIME_OUTPUT_DIRECTORY wheel LINK_FLAGS "-s")
target_link_libraries(whichtool_start PRIVATE wt_settings)
install(TARGETS whichtool_wheel LIBRARY DESTINATION whichtool/lib)
install(TARGETS whichtool_start RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
install(PROGRAMS readers/python_api.py readers/aws_api.py DESTINATION whichtool/readers)
file(GLOB manifests models/*.json)
install(FILES ${manifests} DESTINATION whichtool/models)
if(WT_LIBRARIES) # their licences, and the list of them
  install(DIRECTORY ${WT_LIBRARIES}/licences DESTINATION ${SKBUILD_METADATA_DIR}/licenses)
  install(FILES ${WT_LIBRARIES}/whichtool.cdx.json DESTINATION ${SKBUILD_METADATA_DIR}/sboms)
endif()
