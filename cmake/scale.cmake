# pess-mpi: many machines, through PETSc over MPI (docs/scale.md). Built where PETSc and MPI are installed (make scale
# installs them); nothing else links either. PESS_PETSC names PETSc's pkg-config file: that of a PETSc with 64-bit indices
# where one process's matrix would have more than 2^31 entries.
set(PESS_SCALE ON CACHE STRING "Build pess-mpi where PETSc and MPI are installed; FORCE: with sanitizers too")
set(PESS_PETSC petsc CACHE STRING "The pkg-config name of PETSc")
if(NOT PESS_SCALE OR NOT PkgConfig_FOUND OR (PESS_SANITIZE AND NOT PESS_SCALE STREQUAL "FORCE"))
  return()
endif()
pkg_check_modules(PETSC ${PESS_PETSC})
find_package(MPI COMPONENTS C)
if(NOT PETSC_FOUND OR NOT MPI_C_FOUND)
  message(STATUS "PETSc or MPI is absent: no pess-mpi (make scale installs them)")
  return()
endif()

file(GLOB PESS_SCALE_SOURCES CONFIGURE_DEPENDS src/scale/*.c)
add_library(pess_scale STATIC ${PESS_SCALE_SOURCES})
target_compile_options(pess_scale PRIVATE -include ${PROJECT_SOURCE_DIR}/src/core/printing.h)
target_include_directories(pess_scale PRIVATE src)
target_include_directories(pess_scale SYSTEM PUBLIC ${PETSC_INCLUDE_DIRS} ${MPI_C_INCLUDE_DIRS})
target_link_directories(pess_scale PUBLIC ${PETSC_LIBRARY_DIRS})
target_link_libraries(pess_scale PRIVATE pess_flags PUBLIC pess_static ${PETSC_LIBRARIES} MPI::MPI_C)

file(GLOB PESS_MPI_SOURCES CONFIGURE_DEPENDS cli/mpi/*.c)
set(PESS_MPI_SHARED ${PESS_CLI_SOURCES})
list(FILTER PESS_MPI_SHARED EXCLUDE REGEX "cli/(main|cmd_[a-z]+)\\.c$")
add_executable(pess-mpi ${PESS_MPI_SOURCES} ${PESS_MPI_SHARED} cli/cmd_solve.c cli/cmd_evaluate.c cli/cmd_certify.c
                        cli/cmd_experiment.c cli/cmd_merge.c)
target_include_directories(pess-mpi PRIVATE cli src)
target_link_libraries(pess-mpi PRIVATE pess_flags pess_scale)
install(TARGETS pess-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

if(PESS_TESTS)
  add_executable(test_scale tests/mpi/test_scale.c tests/mpi/certificates.c)
  target_include_directories(test_scale PRIVATE src)
  target_link_libraries(test_scale PRIVATE pess_flags pess_scale)
  add_dependencies(test_scale pess-mpi)
endif()

# Timed by bench/run scale.
add_executable(mpi_torus EXCLUDE_FROM_ALL bench/mpi_torus.c)
target_include_directories(mpi_torus PRIVATE src)
target_link_libraries(mpi_torus PRIVATE pess_flags pess_scale)

# The peer of bench/run methods.
add_executable(peer_petsc EXCLUDE_FROM_ALL bench/peer_petsc.c)
target_include_directories(peer_petsc SYSTEM PRIVATE ${PETSC_INCLUDE_DIRS} ${MPI_C_INCLUDE_DIRS})
target_link_directories(peer_petsc PRIVATE ${PETSC_LIBRARY_DIRS})
target_link_libraries(peer_petsc PRIVATE ${PETSC_LIBRARIES} MPI::MPI_C m)
