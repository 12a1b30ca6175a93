# make install: the program, both libraries, the header, a pkg-config file and a CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS pess RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS pess_static pess_shared EXPORT pessimist
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/pess.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/pess DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
# The players that experiments with games collect their data with; the program looks for them beside itself.
install(DIRECTORY policies DESTINATION ${CMAKE_INSTALL_DATADIR}/pessimist FILES_MATCHING PATTERN "*.pessnet"
        PATTERN "earlier" EXCLUDE)
install(EXPORT pessimist NAMESPACE pess:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pessimist)

configure_package_config_file(cmake/pessimist-config.cmake.in pessimist-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pessimist)
write_basic_package_version_file(pessimist-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pessimist-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/pessimist-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pessimist)

configure_file(cmake/pess.pc.in pess.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pess.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Man pages and completions, made by the program from its own tables.
set(PESS_MANUAL ${PROJECT_BINARY_DIR}/man)
set(PESS_COMPLETIONS ${PROJECT_BINARY_DIR}/completions)
file(MAKE_DIRECTORY ${PESS_COMPLETIONS})
add_custom_command(OUTPUT ${PESS_MANUAL}/pess.1 ${PESS_COMPLETIONS}/pess DEPENDS pess
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${PESS_MANUAL}
  COMMAND pess help --man ${PESS_MANUAL}
  COMMAND pess help --completion bash >${PESS_COMPLETIONS}/pess
  COMMAND pess help --completion zsh >${PESS_COMPLETIONS}/_pess
  COMMAND pess help --completion fish >${PESS_COMPLETIONS}/pess.fish)
add_custom_target(pess_manual ALL DEPENDS ${PESS_MANUAL}/pess.1)
install(DIRECTORY ${PESS_MANUAL}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(FILES ${PESS_COMPLETIONS}/pess DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PESS_COMPLETIONS}/_pess DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PESS_COMPLETIONS}/pess.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
