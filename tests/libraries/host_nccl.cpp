// Stands in for NCCL where the memory of cards is that of the host: ranks are threads that wait for each other.
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace {

// Ranks of one group, in one call at a time.
struct Group {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const void*> from;
  size_t arrived = 0, left = 0, number = 0;

  // Lets each rank read what all have, when all are there.
  void meet(size_t rank, const void* mine, const std::function<void()>& read) {
    std::unique_lock lock(mutex);
    const size_t own = number;
    from[rank] = mine;
    if (++arrived == from.size()) changed.notify_all();
    changed.wait(lock, [&] { return arrived == from.size(); });
    lock.unlock();
    read();
    lock.lock();
    if (++left == from.size()) {
      arrived = left = 0;
      ++number;
      changed.notify_all();
    }
    changed.wait(lock, [&] { return number != own; });
  }
};

struct Member {
  std::shared_ptr<Group> group;
  size_t rank = 0;
};

size_t size_of(int type) {
  constexpr size_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return kSizes[type];
}

void sum(const Member& member, const void* from, void* to, size_t begin, size_t count) {
  std::vector<float> sums(count);
  member.group->meet(member.rank, from, [&] {
    for (const void* const part : member.group->from) {
      for (size_t i = 0; i < count; ++i) sums[i] += static_cast<const float*>(part)[begin + i];
    }
  });
  std::memcpy(to, sums.data(), count * sizeof(float));
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  const char* const told = std::getenv("ASSAY_HOST_NCCL_VERSION");
  *version = told == nullptr ? 22703 : std::atoi(told);
  return 0;
}
int ncclCommInitAll(Member** made, int count, const int*) {
  const char* const multicast = std::getenv("NCCL_NVLS_ENABLE");
  if (multicast == nullptr || std::strcmp(multicast, "0") != 0) return 5;
  const auto group = std::make_shared<Group>();
  group->from.resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) made[i] = new Member{group, static_cast<size_t>(i)};
  return 0;
}
int ncclCommDestroy(Member* member) {
  delete member;
  return 0;
}
const char* ncclGetErrorString(int) { return "an error of NCCL"; }
int ncclAllReduce(const void* from, void* to, size_t count, int type, int reduction, Member* member, void*) {
  if (type != 7 || reduction != 0) return 4;
  sum(*member, from, to, 0, count);
  return 0;
}
int ncclReduceScatter(const void* from, void* to, size_t count, int type, int reduction, Member* member, void*) {
  if (type != 7 || reduction != 0) return 4;
  sum(*member, from, to, member->rank * count, count);
  return 0;
}
int ncclAllGather(const void* from, void* to, size_t count, int type, Member* member, void*) {
  member->group->meet(member->rank, from, [&] {
    const size_t bytes = count * size_of(type);
    for (size_t i = 0; i < member->group->from.size(); ++i)
      std::memcpy(static_cast<char*>(to) + i * bytes, member->group->from[i], bytes);
  });
  return 0;
}
int ncclBroadcast(const void* from, void* to, size_t count, int type, int root, Member* member, void*) {
  member->group->meet(member->rank, from,
                      [&] { std::memcpy(to, member->group->from[static_cast<size_t>(root)], count * size_of(type)); });
  return 0;
}
}
