# make install: the program, both libraries, the header, a pkg-config file and a CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS pess RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS pess_static pess_shared EXPORT pessimist
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/pess.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/pess DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
# The players that experiments with games collect their data with; the program looks for them beside itself.
install(DIRECTORY policies DESTINATION ${CMAKE_INSTALL_DATADIR}/pessimist FILES_MATCHING PATTERN "*.pessnet")
install(EXPORT pessimist NAMESPACE pess:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pessimist)

configure_package_config_file(cmake/pessimist-config.cmake.in pessimist-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pessimist)
write_basic_package_version_file(pessimist-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pessimist-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/pessimist-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pessimist)

configure_file(cmake/pess.pc.in pess.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pess.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
