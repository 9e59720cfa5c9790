#pragma once

#include <cstddef>
#include <optional>

#include <sys/types.h>

namespace assay {

// Facts that the signal handlers need, in tables of fixed size that a handler may read at any moment. They are the one
// mutable state of the process: a handler can reach nothing else. An entry that finds its table full is left out.

// `path`, a file or a folder with all that is in it, is removed if a signal ends the program before
// forget_temporary(slot). -1 where the table is full.
int remember_temporary(const char* path);
void forget_temporary(int slot);
// Makes a folder that is remembered from the start, when there is nothing at its place: its slot. Nothing, with errno
// set, if it cannot be made.
std::optional<int> make_remembered_folder(const char* path, mode_t mode);

// The processes of this group are killed if a signal ends the program before forget_group(slot). -1 likewise.
int remember_group(pid_t group);
void forget_group(int slot);

// A fault in [begin, begin + size) is reported as a fault of the file `path`.
void remember_mapping(const void* begin, size_t size, const char* path);
void forget_mapping(const void* begin);

}  // namespace assay
