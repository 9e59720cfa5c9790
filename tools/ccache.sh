# ccache.sh FOLDER, sourced: compiles by ccache what lies in the folder. Files are known by what they depend on: by its
# preprocessed text, a header of which only a comment changed would still get the old precompiled header, whose `#pragma once`
# does not know the new file. The namespace keeps out entries that were made so. Without CCACHE_INODECACHE, the precompiled
# header of 120 MB is hashed for each file.
export CMAKE_CXX_COMPILER_LAUNCHER=ccache
export CCACHE_BASEDIR=$1 CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_INODECACHE=true
export CCACHE_DEPEND=true CCACHE_NAMESPACE=assay-by-dependencies
