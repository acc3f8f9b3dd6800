# Installs the command, both libraries, headers, pkg-config file, man page, completions, models and manifests.
# tools/install keeps a list of the installed files. Packages install components: the command with its files, or one
# model.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
install(TARGETS whichtool_shared whichtool_static
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/whichtool.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/whichtool DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
# If the loader does not search the library's folder, the pkg-config file adds it to a program's rpath.
if(NOT CMAKE_INSTALL_FULL_LIBDIR IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
  set(WT_PC_RPATH "-Wl,-rpath,\${libdir} ")
endif()
# List the static library's dependencies as linker flags. With Requires.private, a program that links the shared library
# would get the flags of all dependencies, and need their pkg-config files.
string(REPLACE ";" " " WT_PC_LIBS_PRIVATE "${DEPS_LDFLAGS} -lstemmer -lpthread -ldl -lm")
if(CMAKE_BUILD_TYPE STREQUAL "Coverage")
  string(APPEND WT_PC_LIBS_PRIVATE " -lgcov")
endif()
configure_file(cmake/whichtool.pc.in whichtool.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/whichtool.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# Install only the card of the built-in model, because the library contains its weights.
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/whichtool/models COMPONENT models
  PATTERN "packed-*" EXCLUDE PATTERN ".*" EXCLUDE PATTERN "*.unfinished-*" EXCLUDE PATTERN "whichtool-static-v1" EXCLUDE)
file(GLOB configurations RELATIVE ${CMAKE_SOURCE_DIR}/models CONFIGURE_DEPENDS models/whichtool-*/config.json)
foreach(configuration IN LISTS configurations)
  get_filename_component(folder ${configuration} DIRECTORY)
  install(DIRECTORY models/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/whichtool/models COMPONENT ${folder}
    EXCLUDE_FROM_ALL PATTERN "packed-*" EXCLUDE)
endforeach()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME command)
install(TARGETS whichtool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
file(GLOB manifests CONFIGURE_DEPENDS models/*.json)
install(FILES ${manifests} DESTINATION ${CMAKE_INSTALL_DATADIR}/whichtool/models)
install(FILES models/whichtool-static-v1/README.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/whichtool/models/whichtool-static-v1 OPTIONAL)
install(PROGRAMS readers/python_api.py readers/aws_api.py DESTINATION ${CMAKE_INSTALL_DATADIR}/whichtool/readers)
install(FILES man/whichtool.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completions/whichtool.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME whichtool)
install(FILES completions/_whichtool DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES completions/whichtool.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
if(WT_LIBRARIES) # the licences of what the program contains, and the list of it
  install(DIRECTORY ${WT_LIBRARIES}/licences DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${WT_LIBRARIES}/whichtool.cdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
