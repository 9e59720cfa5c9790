#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace assay {

// Bytes of memory that the process may still take: what the machine has available, within the limits of its control
// groups and of its own resources.
uint64_t available_memory_bytes();

// Bytes left to the control groups that `groups` names, as /proc/self/cgroup does, and to those around them, in both
// versions; UINT64_MAX if nothing limits them. `mount` is /sys/fs/cgroup.
uint64_t group_memory_left(const std::filesystem::path& mount, std::string_view groups);

// For a process that takes and gives back blocks of megabytes all the time: freed memory is kept for the next ones, up
// to some hundreds of megabytes, instead of being asked from the system again, which clears it.
void keep_freed_memory();

// Gives freed memory back to the system that lies between what is still used.
void return_freed_memory();

// From here on the process may take so much more; memory that maps files does not count.
void limit_memory(uint64_t bytes);

}  // namespace assay
