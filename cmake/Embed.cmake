# What is embedded is no header: a compiler cache that knows sources by what they include would keep what they held.
add_library(assay_embedded OBJECT)
set_target_properties(assay_embedded PROPERTIES CXX_COMPILER_LAUNCHER "")

# assay_embed(file namespace::function): embeds a text file into libassay's read-only data, where it costs nothing until
# it is read, and defines `std::string_view namespace::function()`, which gives it.
function(assay_embed file function)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE EMBED_FILE)
  string(REGEX MATCH "^(.*)::([a-z0-9_]+)$" matched ${function})
  set(EMBED_NAMESPACE ${CMAKE_MATCH_1})
  set(EMBED_FUNCTION ${CMAKE_MATCH_2})
  set(source ${CMAKE_BINARY_DIR}/generated/${EMBED_FUNCTION}.cpp)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embed.cpp.in ${source} @ONLY)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${EMBED_FILE})
  target_sources(assay_embedded PRIVATE ${source})
endfunction()
