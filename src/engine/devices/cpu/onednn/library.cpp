#include "engine/devices/cpu/onednn/library.h"

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "exec/foreign_library.h"

namespace assay::engine::cpu::onednn {
namespace {

constexpr int kMajor = 3;

}  // namespace

const exec::LibraryKind& Library::kind() {
  static const exec::LibraryKind kind = {.variable = "ASSAY_ONEDNN",
                                         .wheel_files = {"../../libdnnl.so.3*"},
                                         .distribution = "onednn_cpu_gomp",
                                         .system_names = {"libdnnl.so.3", "libdnnl.so.3.*"},
                                         .loader_name = "libdnnl.so.3",
                                         .title = "oneDNN",
                                         .hint = "`pip install onednn-cpu-gomp` brings one"};
  return kind;
}

const Library* Library::find(const exec::LibrarySearch& search, std::string& reason) {
  return exec::find_opened_library<Library>(kind(), search, reason);
}

Library::Library(SharedLibrary library) : library_(std::move(library)) {
  load_all();
  const Version* const version = api_.dnnl_version();
  if (version == nullptr || version->major != kMajor) {
    fail(ErrorCode::backend, "`{}` is not oneDNN 3", printable(library_.path().string()));
  }
  const SignalGuard guard;
  check(api_.dnnl_engine_create(&engine_, kCpu, 0), "its engine");
}

template <typename Function>
void Library::load(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(library_.find(name));
  if (function != nullptr) return;
  fail(ErrorCode::backend, "`{}` is not oneDNN, or too old: it has no `{}`", printable(library_.path().string()), name);
}

void Library::load_all() {
  load(api_.dnnl_version, "dnnl_version");
  load(api_.dnnl_engine_create, "dnnl_engine_create");
  load(api_.dnnl_stream_create, "dnnl_stream_create");
  load(api_.dnnl_stream_destroy, "dnnl_stream_destroy");
  load(api_.dnnl_memory_desc_create_with_strides, "dnnl_memory_desc_create_with_strides");
  load(api_.dnnl_memory_desc_create_with_tag, "dnnl_memory_desc_create_with_tag");
  load(api_.dnnl_memory_desc_clone, "dnnl_memory_desc_clone");
  load(api_.dnnl_memory_desc_destroy, "dnnl_memory_desc_destroy");
  load(api_.dnnl_memory_desc_get_size, "dnnl_memory_desc_get_size");
  load(api_.dnnl_memory_desc_query, "dnnl_memory_desc_query");
  load(api_.dnnl_memory_create, "dnnl_memory_create");
  load(api_.dnnl_memory_set_data_handle, "dnnl_memory_set_data_handle");
  load(api_.dnnl_memory_destroy, "dnnl_memory_destroy");
  load(api_.dnnl_primitive_attr_create, "dnnl_primitive_attr_create");
  load(api_.dnnl_primitive_attr_set_scratchpad_mode, "dnnl_primitive_attr_set_scratchpad_mode");
  load(api_.dnnl_primitive_attr_set_post_ops, "dnnl_primitive_attr_set_post_ops");
  load(api_.dnnl_primitive_attr_set_scales_mask, "dnnl_primitive_attr_set_scales_mask");
  load(api_.dnnl_primitive_attr_set_zero_points_mask, "dnnl_primitive_attr_set_zero_points_mask");
  load(api_.dnnl_primitive_attr_destroy, "dnnl_primitive_attr_destroy");
  load(api_.dnnl_post_ops_create, "dnnl_post_ops_create");
  load(api_.dnnl_post_ops_append_eltwise, "dnnl_post_ops_append_eltwise");
  load(api_.dnnl_post_ops_append_binary, "dnnl_post_ops_append_binary");
  load(api_.dnnl_post_ops_destroy, "dnnl_post_ops_destroy");
  load(api_.dnnl_convolution_forward_primitive_desc_create, "dnnl_convolution_forward_primitive_desc_create");
  load(api_.dnnl_deconvolution_forward_primitive_desc_create, "dnnl_deconvolution_forward_primitive_desc_create");
  load(api_.dnnl_matmul_primitive_desc_create, "dnnl_matmul_primitive_desc_create");
  load(api_.dnnl_reorder_primitive_desc_create, "dnnl_reorder_primitive_desc_create");
  load(api_.dnnl_primitive_desc_query, "dnnl_primitive_desc_query");
  load(api_.dnnl_primitive_desc_query_md, "dnnl_primitive_desc_query_md");
  load(api_.dnnl_primitive_desc_next_impl, "dnnl_primitive_desc_next_impl");
  load(api_.dnnl_primitive_desc_destroy, "dnnl_primitive_desc_destroy");
  load(api_.dnnl_primitive_create, "dnnl_primitive_create");
  load(api_.dnnl_primitive_execute, "dnnl_primitive_execute");
  load(api_.dnnl_primitive_destroy, "dnnl_primitive_destroy");
  // Builds for OpenMP bring it with them; others have no threads to take away.
  set_threads_ = reinterpret_cast<void (*)(int)>(library_.find("omp_set_num_threads"));
  get_threads_ = reinterpret_cast<int (*)()>(library_.find("omp_get_max_threads"));
}

Stream* Library::stream() const {
  thread_local std::map<const Library*, Owned<Stream>> streams;
  Owned<Stream>& stream = streams.try_emplace(this, nullptr, api_.dnnl_stream_destroy).first->second;
  if (stream == nullptr) {
    Stream* created = nullptr;
    check(api_.dnnl_stream_create(&created, engine_, kInOrder), "a stream");
    stream.reset(created);
  }
  return stream.get();
}

std::string Library::version() const {
  const Version* const version = api_.dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

void Library::check(Status status, std::string_view what) const {
  if (status != kSuccess) fail(ErrorCode::backend, "oneDNN refuses {} (status {})", what, status);
}

OneThread::OneThread(const Library& library) : library_(library) {
  if (library_.set_threads_ == nullptr || library_.get_threads_ == nullptr) return;
  threads_ = library_.get_threads_();
  if (threads_ != 1) library_.set_threads_(1);
}

OneThread::~OneThread() {
  if (threads_ > 1) library_.set_threads_(threads_);
}

}  // namespace assay::engine::cpu::onednn
