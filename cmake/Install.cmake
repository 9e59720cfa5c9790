# What `cmake --install` puts where: the program, the library, its headers, and what find_package and pkg-config read.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The library that is installed is linked from the same objects as the one that tests and the Python package use, but
# shows only what include/assay declares. The program uses it in the build folder, too: with names to look up for
# everything, it starts 0.4 ms later. A wheel has one library for both.
set(exports ${CMAKE_SOURCE_DIR}/cmake/exports.map)
add_library(assay_library SHARED $<TARGET_OBJECTS:libassay> $<TARGET_OBJECTS:assay_brief> $<TARGET_OBJECTS:assay_kernels>
                                 $<TARGET_OBJECTS:assay_embedded>)
add_library(assay::assay ALIAS assay_library)
set_target_properties(assay_library PROPERTIES OUTPUT_NAME assay EXPORT_NAME assay VERSION ${PROJECT_VERSION} SOVERSION 0
  LINKER_LANGUAGE CXX LINK_DEPENDS ${exports})
target_link_libraries(assay_library PRIVATE fmt::fmt Threads::Threads ZLIB::ZLIB PNG::PNG yaml-cpp ${CMAKE_DL_LIBS})
target_link_options(assay_library PRIVATE -Wl,-Bsymbolic-functions -Wl,--as-needed -Wl,-z,defs
  -Wl,--version-script=${exports})
target_include_directories(assay_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(assay_library INTERFACE cxx_std_20)
if(SKBUILD)
  target_link_libraries(assay PRIVATE libassay)
else()
  target_link_libraries(assay PRIVATE assay_library)
endif()

# In the build folder too: the path that CMake writes there ends with a colon, for which the loader looks for libraries in
# the current folder.
if(NOT ASSAY_PROGRAM_RPATH)
  set(ASSAY_PROGRAM_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR} $ORIGIN/../lib)
  list(REMOVE_DUPLICATES ASSAY_PROGRAM_RPATH)
  set_target_properties(assay PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
endif()
set_target_properties(assay PROPERTIES INSTALL_RPATH "${ASSAY_PROGRAM_RPATH}")
install(TARGETS assay RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS assay_library EXPORT assay LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/assay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
install(EXPORT assay NAMESPACE assay:: FILE assayConfig.cmake DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/assayConfigVersion.cmake VERSION ${PROJECT_VERSION}
  COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/assay.pc.in ${CMAKE_BINARY_DIR}/assay.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/assayConfigVersion.cmake DESTINATION ${package_dir})
install(FILES ${CMAKE_BINARY_DIR}/assay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The manual page and the completions of shells, as the program prints them.
if(NOT SKBUILD)
  set(printed ${CMAKE_BINARY_DIR}/printed)
  install(CODE "
    function(print_and_install folder name)
      file(MAKE_DIRECTORY ${printed})
      execute_process(COMMAND $<TARGET_FILE:assay> \${ARGN} OUTPUT_FILE ${printed}/\${name} COMMAND_ERROR_IS_FATAL ANY)
      file(INSTALL DESTINATION \${CMAKE_INSTALL_PREFIX}/\${folder} TYPE FILE FILES ${printed}/\${name})
    endfunction()
    print_and_install(${CMAKE_INSTALL_MANDIR}/man1 assay.1 docs man)
    print_and_install(${CMAKE_INSTALL_DATADIR}/bash-completion/completions assay completion bash)
    print_and_install(${CMAKE_INSTALL_DATADIR}/zsh/site-functions _assay completion zsh)
    print_and_install(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d assay.fish completion fish)")
endif()
