# The Python package: the extension assay._native, beside links to the package's sources in build/<preset>/python, so that
# PYTHONPATH=build/<preset>/python is the package. Built where Python's headers and nanobind are there.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${CMAKE_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${CMAKE_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.10 COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
if(NOT Python_Development.Module_FOUND)
  message(STATUS "no headers of Python (python3-dev): the Python package is not built")
  return()
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(nanobind CONFIG QUIET)
if(NOT nanobind_FOUND)
  message(STATUS "no nanobind: the Python package is not built")
  return()
endif()

set(package ${CMAKE_BINARY_DIR}/python/assay)
file(GLOB binding_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/bindings/*.cpp)
nanobind_add_module(assay_python NB_STATIC STABLE_ABI NOMINSIZE ${binding_sources})
set_target_properties(assay_python PROPERTIES OUTPUT_NAME _native LIBRARY_OUTPUT_DIRECTORY ${package}
  INSTALL_RPATH $ORIGIN)
target_include_directories(assay_python PRIVATE ${CMAKE_SOURCE_DIR}/python/bindings)
target_include_directories(assay_python SYSTEM PRIVATE ${NB_DIR}/include ${Python_INCLUDE_DIRS})
foreach(library nanobind-static nanobind-static-abi3)
  if(TARGET ${library})
    target_compile_options(${library} PRIVATE -w)
    set_target_properties(${library} PROPERTIES UNITY_BUILD ${ASSAY_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  endif()
endforeach()
# Each source spends most of its time on nanobind's headers.
set_target_properties(assay_python PROPERTIES UNITY_BUILD ${ASSAY_UNITY} UNITY_BUILD_BATCH_SIZE 6)
target_link_libraries(assay_python PRIVATE libassay)
target_compile_definitions(assay_python PRIVATE ASSAY_VERSION="${PROJECT_VERSION}")

nanobind_add_stub(assay_python_stub MODULE _native OUTPUT ${package}/_native.pyi PYTHON_PATH ${package}
  PATTERN_FILE ${CMAKE_SOURCE_DIR}/python/bindings/stubs.txt DEPENDS assay_python)

# host.py and what it imports are part of the program.
file(GLOB package_entries CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/python/assay ${CMAKE_SOURCE_DIR}/python/assay/*)
list(FILTER package_entries EXCLUDE REGEX "^host(_[a-z_]+)?\\.py$|^__pycache__$")
file(MAKE_DIRECTORY ${package})
foreach(entry ${package_entries})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/assay/${entry} ${package}/${entry} SYMBOLIC)
endforeach()

file(CREATE_LINK ${CMAKE_BINARY_DIR}/bin/assay ${package}/assay SYMBOLIC)

# A wheel: all in the folder of the package, which the program's start file in bin/ knows.
if(SKBUILD)
  set_property(TARGET libassay PROPERTY VERSION)
  set_property(TARGET libassay PROPERTY SOVERSION)
  set(ASSAY_PROGRAM_RPATH $ORIGIN)
  install(TARGETS assay_python libassay LIBRARY DESTINATION assay COMPONENT python)
  install(TARGETS assay RUNTIME DESTINATION assay COMPONENT python)
  install(FILES ${package}/_native.pyi DESTINATION assay COMPONENT python)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/assay/ DESTINATION assay COMPONENT python
    PATTERN "host*.py" EXCLUDE PATTERN __pycache__ EXCLUDE)
endif()
