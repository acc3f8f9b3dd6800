# make install: command, both libraries, header, pkg-config file, man page, completions, model manifests.
install(TARGETS whichtool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS whichtool_shared whichtool_static
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/whichtool.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/whichtool.pc.in whichtool.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/whichtool.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/whichtool/models FILES_MATCHING PATTERN "*.json")
