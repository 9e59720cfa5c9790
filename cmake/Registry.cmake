# assay_registry(FOLDER f NAMESPACE n PREFIX p TYPE t HEADER h FUNCTION g OUT o): writes a source that defines
# `std::span<const Registered<t>> n::g()`, which lists one function for each f/<stem>.cpp and f/<group>/<stem>.cpp in
# path order: `t n::<p>_<group>_<stem>()`. A new file is registered by being there. HEADER declares t and g.
function(assay_registry)
  cmake_parse_arguments(REGISTRY "" "FOLDER;NAMESPACE;PREFIX;TYPE;HEADER;FUNCTION;OUT" "" ${ARGN})
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${REGISTRY_FOLDER} ${REGISTRY_FOLDER}/*.cpp ${REGISTRY_FOLDER}/*/*.cpp)
  list(FILTER files EXCLUDE REGEX "_test\\.cpp$")
  list(SORT files)
  set(REGISTRY_DECLARATIONS "")
  set(REGISTRY_ENTRIES "")
  foreach(file ${files})
    string(REGEX REPLACE "\\.cpp$" "" path ${file})
    string(REPLACE "/" "_" symbol ${path})
    string(APPEND REGISTRY_DECLARATIONS "${REGISTRY_TYPE} ${REGISTRY_PREFIX}_${symbol}();\n")
    string(APPEND REGISTRY_ENTRIES "    {\"${path}\", &${REGISTRY_PREFIX}_${symbol}},\n")
  endforeach()
  configure_file(${CMAKE_SOURCE_DIR}/cmake/registry.cpp.in ${REGISTRY_OUT} @ONLY)
endfunction()
