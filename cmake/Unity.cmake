# assay_unity(target...): lets the compiler read sources of a target together, in groups that tools/unity_groups.py finds.
function(assay_unity)
  set(sources)
  set(words)
  foreach(target ${ARGN})
    get_target_property(target_sources ${target} SOURCES)
    list(FILTER target_sources INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/src/.*\\.cpp$")
    list(APPEND sources ${target_sources})
    list(APPEND words ${target}: ${target_sources})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # takes a source in a group for a header
  endforeach()
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources}
               ${CMAKE_SOURCE_DIR}/tools/unity_groups.py)
  execute_process(COMMAND python3 ${CMAKE_SOURCE_DIR}/tools/unity_groups.py ${CMAKE_SOURCE_DIR} ${words}
                  OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  cmake_language(EVAL CODE "${groups}")
endfunction()
