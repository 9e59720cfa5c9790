# assay_module(name [BRIEF | KERNELS] [PARTS n] DEPS module...): compiles src/<name>/**/*.cpp into libassay and
# src/<name>/**/*_test.cpp into build/…/tests/test_<name>, with underscores for slashes. Files are found by listing the
# folder, so adding a file needs no edit here. BRIEF: as a module that does little itself. KERNELS: as kernels of the
# engine. PARTS: its tests are so many, which may run at once, unit/<name>/1 and so on.
function(assay_module name)
  cmake_parse_arguments(MODULE "BRIEF;KERNELS" "PARTS" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  set(target libassay)
  if(MODULE_BRIEF)
    set(target assay_brief)
  elseif(MODULE_KERNELS)
    set(target assay_kernels)
  endif()
  target_sources(${target} PRIVATE ${sources})
  if(ASSAY_TESTS AND tests)
    string(REPLACE "/" "_" program test_${name})
    add_executable(${program} ${tests})
    target_link_libraries(${program} PRIVATE libassay GTest::gtest_main)
    target_include_directories(${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    assay_test_headers(${program})
    if(NOT MODULE_PARTS)
      add_test(NAME unit/${name} COMMAND ${program})
      return()
    endif()
    foreach(part RANGE 1 ${MODULE_PARTS})
      math(EXPR index "${part} - 1")
      add_test(NAME unit/${name}/${part} COMMAND ${program})
      set_tests_properties(unit/${name}/${part} PROPERTIES ENVIRONMENT
        "GTEST_TOTAL_SHARDS=${MODULE_PARTS};GTEST_SHARD_INDEX=${index}")
    endforeach()
  endif()
endfunction()

# assay_test_headers(program): the program's sources start from GoogleTest's and our common headers, precompiled once for
# all programs of tests. They are compiled without -O2, which costs time and makes GCC 12 take joined strings for
# overflowing ones (its bug 105329).
function(assay_test_headers program)
  target_compile_options(${program} PRIVATE -O1)
  if(TARGET test_base AND NOT program STREQUAL test_base)
    target_precompile_headers(${program} REUSE_FROM test_base)
  else()
    target_precompile_headers(${program} PRIVATE <gtest/gtest.h> <precompiled.h>)
  endif()
endfunction()
