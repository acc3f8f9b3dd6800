# Builds the model models/whichtool-static-v1 into the library. tools/pack_model.c packs the folder into one file, and the
# assembler includes this file (cmake/built_in.c).
set(model ${CMAKE_SOURCE_DIR}/models/whichtool-static-v1)
set(image ${CMAKE_BINARY_DIR}/built_in.wtm)
add_executable(pack_model EXCLUDE_FROM_ALL tools/pack_model.c)
target_link_libraries(pack_model PRIVATE $<TARGET_OBJECTS:encoder_objects> room_nn room_text room_net room_base)
file(GLOB files CONFIGURE_DEPENDS ${model}/*.json ${model}/*.txt ${model}/*.safetensors)
add_custom_command(OUTPUT ${image} COMMAND pack_model ${model} ${image} DEPENDS pack_model ${files} VERBATIM)
add_library(built_in_objects OBJECT cmake/built_in.c ${image})
target_link_libraries(built_in_objects PUBLIC wt_settings)
target_compile_definitions(built_in_objects PRIVATE WT_BUILT_IN_IMAGE="${image}")
set_source_files_properties(cmake/built_in.c PROPERTIES OBJECT_DEPENDS ${image})
target_sources(room_encoder PRIVATE $<TARGET_OBJECTS:built_in_objects>)
list(APPEND WT_ROOM_OBJECTS $<TARGET_OBJECTS:built_in_objects>)
