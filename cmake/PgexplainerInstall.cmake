include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pgexplainer)

install(DIRECTORY pgexplainer/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pgexplainer
        FILES_MATCHING PATTERN "*.h")
install(TARGETS pgexplainer_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT pgexplainer_targets NAMESPACE pgexplainer:: DESTINATION ${package_dir})
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/pgexplainerConfig.cmake
"set(PGEXPLAINER_WITH_MPI ${PGEXPLAINER_WITH_MPI})
include(\${CMAKE_CURRENT_LIST_DIR}/PgexplainerDependencies.cmake)
include(\${CMAKE_CURRENT_LIST_DIR}/pgexplainer_targets.cmake)
")
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/pgexplainerConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pgexplainerConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/pgexplainerConfigVersion.cmake
              ${CMAKE_CURRENT_SOURCE_DIR}/cmake/PgexplainerDependencies.cmake
        DESTINATION ${package_dir})
