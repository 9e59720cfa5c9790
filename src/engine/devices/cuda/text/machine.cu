// What every kernel starts from: types, conversions, division by known numbers, exchange between lanes. A host that runs
// texts defines ASSAY_HOST_MACHINE and brings its own instructions.
typedef unsigned char uint8;
typedef signed char int8;
typedef unsigned short uint16;
typedef short int16;
typedef unsigned int uint32;
typedef int int32;
typedef unsigned long long uint64;
typedef long long int64;

struct half {
  uint16 bits;
};
struct bfloat {
  uint16 bits;
};
struct e4m3 {
  uint8 bits;
};

// An operand as the driver describes it for moves into shared memory.
struct alignas(64) Map {
  uint64 words[16];
};

#ifndef ASSAY_HOST_MACHINE
#define DEVICE __device__ __forceinline__
// A kernel may begin while the one before it runs (programmatic launches): it waits for the end of that one before it
// reads or writes what others do, and from then on lets the next one begin.
#if defined(ASSAY_KERNELS_TRAP)
DEVICE void delay() { asm volatile("trap;"); }
#elif defined(ASSAY_KERNELS_HANG)
DEVICE void delay() {
  for (uint32 still = 1; still != 0;) asm volatile("nanosleep.u32 1000;\n\tmov.u32 %0, 1;" : "=r"(still));
}
#elif defined(ASSAY_KERNELS_LATE)
// Warps sleep for times of their own, up to 4 us, so that what does not wait for others is seen.
DEVICE void delay() {
  uint32 clock;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(clock));
  const uint32 mixed = (clock ^ (blockIdx.x * 40503u + threadIdx.x / 32 * 9973u)) * 2654435761u;
  asm volatile("nanosleep.u32 %0;" ::"r"(mixed >> 20));
}
#else
DEVICE void delay() {}
#endif
#if __CUDA_ARCH__ >= 900
#define AFTER_THE_ONE_BEFORE()                                                                  \
  do {                                                                                          \
    delay();                                                                                    \
    asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");     \
    delay();                                                                                    \
  } while (false)
// Lets the launch behind this one begin at once, before this one has waited: where it has much to read that is constant.
#define LET_THE_NEXT_BEGIN() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define AFTER_THE_ONE_BEFORE()
#define LET_THE_NEXT_BEGIN()
#endif
// KERNEL waits at its begin; the body of EARLY_KERNEL does it itself.
#define EARLY_KERNEL(threads) \
  extern "C" __global__ void __launch_bounds__(threads) kernel(const __grid_constant__ Params p)
// Kernels of which `resident` blocks fit on a processor, and of blocks in clusters.
#define CLUSTER_KERNEL(threads, resident, blocks)                                               \
  extern "C" __global__ void __launch_bounds__(threads, resident) __cluster_dims__(1, 1, blocks) \
      kernel(const __grid_constant__ Params p)
#define RESIDENT_KERNEL(threads, resident) \
  extern "C" __global__ void __launch_bounds__(threads, resident) kernel(const __grid_constant__ Params p)
#define KERNEL(threads)                     \
  DEVICE void made_after(const Params& p);  \
  EARLY_KERNEL(threads) {                   \
    AFTER_THE_ONE_BEFORE();                 \
    made_after(p);                          \
  }                                         \
  DEVICE void made_after(const Params& p)
// A kernel that waits for those of other cards; what is behind it begins meanwhile, and waits for it in turn.
#define WAITING_KERNEL(threads)             \
  DEVICE void made_after(const Params& p);  \
  EARLY_KERNEL(threads) {                   \
    LET_THE_NEXT_BEGIN();                   \
    AFTER_THE_ONE_BEFORE();                 \
    made_after(p);                          \
  }                                         \
  DEVICE void made_after(const Params& p)
#define SHARED __shared__
#define DYNAMIC_SHARED(name) extern __shared__ __align__(1024) unsigned char name[]
#define kInfinity __int_as_float(0x7f800000)

DEVICE float float_of_half(uint16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
DEVICE uint16 half_of_float(float x) {
  uint16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
DEVICE uint16 bfloat_of_float(float x) {
  uint16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
// With errors of some units of 2^-23 of the result.
DEVICE float quick_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
DEVICE float quick_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
DEVICE float float_of_bits(uint32 bits) { return __uint_as_float(bits); }
DEVICE uint32 bits_of_float(float x) { return __float_as_uint(x); }
DEVICE uint32 high_product(uint32 a, uint32 b) { return __umulhi(a, b); }
DEVICE float rounded_product(float a, float b) { return __fmul_rn(a, b); }  // no sum takes it before it is rounded
DEVICE void meet() { __syncthreads(); }
DEVICE void meet_warp() { __syncwarp(); }
DEVICE float from_lane(float x, int distance) { return __shfl_xor_sync(0xffffffffu, x, distance); }
DEVICE int from_lane(int x, int distance) { return __shfl_xor_sync(0xffffffffu, x, distance); }
// The number of the warp, the same for all lanes as far as the compiler knows, and one lane of a warp that walks together.
DEVICE int warp_index() { return __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0); }
DEVICE bool is_elected() {
  uint32 is;
  asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(is));
  return is != 0;
}
// Copies 16 bytes into shared memory, done after wait_copies(); zeros from null.
DEVICE void copy_later(void* to, const void* from) {
  const uint32 target = (uint32)__cvta_generic_to_shared(to);
  const int bytes = from == nullptr ? 0 : 16;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from == nullptr ? to : from), "r"(bytes)
               : "memory");
}
// The same from memory that need not be there.
DEVICE void copy_or_zero(void* to, const void* from, bool is_there) {
  const uint32 target = (uint32)__cvta_generic_to_shared(to);
  const int bytes = is_there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from), "r"(bytes) : "memory");
}
// Copies 4 bytes likewise.
DEVICE void copy_word_or_zero(void* to, const void* from, bool is_there) {
  const uint32 target = (uint32)__cvta_generic_to_shared(to);
  const int bytes = is_there ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(from), "r"(bytes) : "memory");
}
// Ends a group of copies; wait_copies<n>() waits until at most n groups are under way.
DEVICE void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
DEVICE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
// Four matrices of eight rows of 16 bytes; lane i gives row i % 8 of matrix i / 8.
DEVICE void load_four(uint32* to, const void* row) {
  const uint32 at = (uint32)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(at));
}
// The same of elements of 16 bits with rows and columns exchanged.
DEVICE void load_four_turned(uint32* to, const void* row) {
  const uint32 at = (uint32)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(at));
}
// Products by groups of four warps, of operands in shared memory: begin, add, end, and wait until at most kLeft of those
// that were ended are under way.
DEVICE void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// A group of four warps that needs few registers leaves them to two others.
DEVICE void give_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 24;"); }
DEVICE void take_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 240;"); }
template <int kLeft>
DEVICE void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
// An operand whose rows of 128 bytes lie one behind the other, in exchanged chunks of 16, from a multiple of 1024 bytes
// on; and the one so many bytes, a multiple of 16, behind it.
typedef uint64 Operand;
DEVICE Operand operand_of(const void* first) {
  const uint64 at = (uint64)__cvta_generic_to_shared(first);
  return (at & 0x3ffff) >> 4 | (uint64)1 << 16 | (uint64)64 << 32 | (uint64)1 << 62;
}
DEVICE Operand moved(Operand operand, int bytes) { return operand + (uint64)(bytes / 16); }
// Barriers in shared memory: a round ends when all have arrived, and all bytes that were expected; rounds have parities.
DEVICE uint32 shared_address(const void* at) { return (uint32)__cvta_generic_to_shared(at); }
DEVICE void start_barrier(uint64* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
DEVICE void show_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::: "memory");
}
DEVICE void expect_bytes(uint64* barrier, uint32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
DEVICE void arrive(uint64* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
// At the barrier that lies at the same place of another block of the cluster. It orders nothing beyond this block: that
// would wait for all that was written to memory before.
DEVICE void arrive_at_block(int block, uint64* barrier) {
  asm volatile(
      "{\n\t.reg .b32 a;\n\tmapa.shared::cluster.u32 a, %0, %1;\n\tmbarrier.arrive.shared::cluster.b64 _, [a];\n\t}" ::"r"(
          shared_address(barrier)),
      "r"(block)
      : "memory");
}
DEVICE void wait_turn(uint64* barrier, uint32 parity) {
  asm volatile(
      "{\n\t.reg .pred done;\nagain:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra "
      "again;\n\t}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
// Brings a map itself near.
DEVICE void prepare_map(const Map* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }
// Move boxes of mapped operands into shared memory; their bytes arrive at the barrier.
DEVICE void move_box(void* to, const Map* map, uint64* barrier, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
// Moves a box to the same place of both blocks of a pair, where its bytes arrive at the barrier of each.
DEVICE void move_box_to_both(void* to, const Map* map, uint64* barrier, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
      "{%3, %4, %5}], [%2], %6;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z), "h"((uint16)3)
      : "memory");
}
DEVICE void move_windows(void* to, const Map* map, uint64* barrier, int channel, int x, int y, int image, int right,
                         int down) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
      "[%2], {%7, %8};" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(channel), "r"(x), "r"(y), "r"(image), "h"((uint16)right), "h"((uint16)down)
      : "memory");
}
// All threads of a cluster's blocks meet: what they wrote before they arrived is seen by those that waited.
DEVICE void arrive_at_cluster() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
DEVICE void wait_for_cluster() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
// 16 rows by 8 columns of sums, over 32 bytes of depth.
DEVICE void multiply_add(float* sum, const uint32* a, const uint32* b, half) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
DEVICE void multiply_add(float* sum, const uint32* a, const uint32* b, bfloat) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// Differences of two pairs of float16.
DEVICE uint32 pair_less(uint32 a, uint32 b) {
  uint32 y;
  asm("sub.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
// 16 rows by 8 columns, over 32 bytes of depth: float32 of which eleven bits count.
struct Tf32 {};
DEVICE void multiply_add(float* sum, const uint32* a, const uint32* b, Tf32) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
DEVICE uint32 rounded_to_tf32(uint32 x) {
  uint32 y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(__uint_as_float(x)));
  return y;
}
DEVICE void multiply_add(int32* sum, const uint32* a, const uint32* b, int8) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#if __CUDA_ARCH__ >= 890
DEVICE void multiply_add(float* sum, const uint32* a, const uint32* b, e4m3) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif
DEVICE void multiply_add(int32* sum, const uint32* a, const uint32* b, uint8) {  // of bytes by signed ones
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// Numbers that several threads change, so that their order does not matter; add_to gives the number before.
DEVICE int add_to(int* at, int x) { return atomicAdd(at, x); }
DEVICE void keep_least(int* at, int x) { atomicMin(at, x); }
DEVICE void keep_greatest(int* at, int x) { atomicMax(at, x); }
// Makes what this thread has written known to other blocks, before what it writes from now on.
DEVICE void publish() { __threadfence(); }
// The same for other cards and the host: what the threads of this block wrote before they met is known to whoever sees x.
DEVICE void store_for_all(uint64* at, uint64 x) {
  asm volatile("st.release.sys.global.b64 [%0], %1;" ::"l"(at), "l"(x) : "memory");
}
DEVICE uint64 load_of_all(const uint64* at) {
  uint64 x;
  asm volatile("ld.acquire.sys.global.b64 %0, [%1];" : "=l"(x) : "l"(at) : "memory");
  return x;
}
// Makes what other blocks wrote before this kernel known to other cards, and what those wrote known to this one.
DEVICE void publish_to_all() { __threadfence_system(); }
DEVICE uint64 nanoseconds() {
  uint64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
DEVICE void rest() {}  // while a thread waits
DEVICE uint32 blocks_y() { return gridDim.y; }
DEVICE uint32 thread_index() { return threadIdx.x; }
DEVICE uint32 block_x() { return blockIdx.x; }
DEVICE uint32 block_y() { return blockIdx.y; }
DEVICE uint32 block_z() { return blockIdx.z; }
DEVICE uint32 blocks_x() { return gridDim.x; }
#endif

DEVICE half to_half(float x) { return {half_of_float(x)}; }
DEVICE bfloat to_bfloat(float x) { return {bfloat_of_float(x)}; }
// The nearest number of float8, ties to even, at most `most`: `least` are the bits of the least normal one.
DEVICE float nearest_of_eight(float a, uint32 least, uint32 shift, float most) {
  const float near = a < -most ? -most : a > most ? most : a;
  const uint32 bits = bits_of_float(near), exponent = bits & 0x7f800000u;
  const float far = float_of_bits((exponent > least ? exponent : least) + (shift << 23)) * 1.5f;
  return float_of_bits(bits_of_float((near + far) - far) | (bits & 0x80000000u));
}
#if !defined(ASSAY_HOST_MACHINE) && __CUDA_ARCH__ >= 890
DEVICE e4m3 to_e4m3(float x) {
  uint16 two;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(two) : "f"(0.0f), "f"(x));
  return {(uint8)two};
}
DEVICE float widened(e4m3 x) {
  uint32 two;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(two) : "h"((uint16)x.bits));
  return float_of_half((uint16)two);
}
DEVICE float nearest_e4m3(float a) { return widened(to_e4m3(a)); }
#else
DEVICE float nearest_e4m3(float a) { return nearest_of_eight(a, 0x3c800000u, 20, 448.0f); }
DEVICE e4m3 to_e4m3(float x) {
  const float near = nearest_e4m3(x);
  const uint32 bits = bits_of_float(near), exponent = bits >> 23 & 0xffu;
  const uint32 normal = (exponent - 120u) << 3 | (bits >> 20 & 7u), small = (uint32)(fabsf(near) * 512.0f);
  return {(uint8)((bits >> 24 & 0x80u) | (x != x ? 0x7fu : exponent < 121u ? small : normal))};
}
DEVICE float float_of_e4m3(uint8 x) {
  const uint32 exponent = x >> 3 & 15u, mantissa = x & 7u;
  const float small = (float)mantissa * 0.001953125f, normal = float_of_bits((exponent + 120u) << 23 | mantissa << 20);
  const float size = exponent == 0 ? small : (x & 0x7fu) == 0x7fu ? float_of_bits(0x7fc00000u) : normal;
  return (x & 0x80u) != 0 ? -size : size;
}
DEVICE float widened(e4m3 x) { return float_of_e4m3(x.bits); }
#endif
DEVICE float widened(half x) { return float_of_half(x.bits); }
DEVICE float widened(bfloat x) { return float_of_bits((uint32)x.bits << 16); }
DEVICE float widened(float x) { return x; }
DEVICE double widened(double x) { return x; }
DEVICE float widened(uint8 x) { return (float)x; }
DEVICE float widened(int8 x) { return (float)x; }

// A register as an element in memory.
template <typename T>
struct Narrow {
  template <typename F>
  DEVICE static T of(F x) {
    return (T)x;
  }
};
template <>
struct Narrow<half> {
  DEVICE static half of(float x) { return to_half(x); }
};
template <>
struct Narrow<e4m3> {
  DEVICE static e4m3 of(float x) { return to_e4m3(x); }
};
template <>
struct Narrow<bfloat> {
  DEVICE static bfloat of(float x) { return to_bfloat(x); }
};

// Neighbours that are moved at once.
template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
  T e[N];
};

// Packets for other cards, and those that come from them: numbers of 64 bits, each of which comes as a whole.
#ifdef ASSAY_HOST_MACHINE
template <int N>
DEVICE void store_packets(uint64* to, const Pack<uint64, N>& made) {
  for (int i = 0; i < N; ++i) store_for_all(to + i, made.e[i]);
}
template <int N>
DEVICE void load_packets(const uint64* from, Pack<uint64, N>& seen) {
  for (int i = 0; i < N; ++i) seen.e[i] = load_of_all(from + i);
}
#else
DEVICE void store_packets(uint64* to, const Pack<uint64, 1>& made) {
  asm volatile("st.relaxed.sys.global.b64 [%0], %1;" ::"l"(to), "l"(made.e[0]) : "memory");
}
DEVICE void store_packets(uint64* to, const Pack<uint64, 2>& made) {
  asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(made.e[0]), "l"(made.e[1]) : "memory");
}
DEVICE void load_packets(const uint64* from, Pack<uint64, 1>& seen) {
  asm volatile("ld.relaxed.sys.global.b64 %0, [%1];" : "=l"(seen.e[0]) : "l"(from) : "memory");
}
DEVICE void load_packets(const uint64* from, Pack<uint64, 2>& seen) {
  asm volatile("ld.relaxed.sys.global.v2.b64 {%0, %1}, [%2];" : "=l"(seen.e[0]), "=l"(seen.e[1]) : "l"(from) : "memory");
}
// Writes into the memory of another block of the cluster, at the place that `at` is in this one's.
DEVICE void store_to_block(int block, float* at, const Pack<float, 2>& two) {
  asm volatile(
      "{\n\t.reg .b32 a;\n\tmapa.shared::cluster.u32 a, %0, %1;\n\tst.shared::cluster.v2.f32 [a], {%2, %3};\n\t}" ::"r"(
          shared_address(at)),
      "r"(block), "f"(two.e[0]), "f"(two.e[1])
      : "memory");
}
DEVICE void store_to_block(int block, uint32* at, const Pack<uint32, 4>& four) {
  asm volatile(
      "{\n\t.reg .b32 a;\n\tmapa.shared::cluster.u32 a, %0, %1;\n\tst.shared::cluster.v4.b32 [a], {%2, %3, %4, %5};\n\t}" ::"r"(
          shared_address(at)),
      "r"(block), "r"(four.e[0]), "r"(four.e[1]), "r"(four.e[2]), "r"(four.e[3])
      : "memory");
}
#endif
// Neighbours at once where they lie so, which those of a view may not: one by one otherwise.
template <typename T, int N>
DEVICE bool is_even(const T* at) {
  return ((uint64)at & (sizeof(Pack<T, N>) - 1)) == 0;
}
template <typename T, int N>
DEVICE Pack<T, N> load_pack(const T* from) {
  if (is_even<T, N>(from)) return *(const Pack<T, N>*)from;
  Pack<T, N> pack;
  for (int i = 0; i < N; ++i) pack.e[i] = from[i];
  return pack;
}
// What a thread has read, and not looked at: several can be on their way where packs, of elements that memory may hold
// unevenly, would be waited for one by one.
template <typename T, int N, bool kHasWords = sizeof(T) == 2 && N % 2 == 0>
struct Raw {
  Pack<T, N> pack;
};
template <typename T, int N>
struct alignas(N > 1 ? sizeof(T) * N : 4) Raw<T, N, true> {  // of one element it is only looked at
  uint32 words[(N + 1) / 2];
};
template <typename T, int N>
DEVICE Raw<T, N> load_raw(const T* from, bool is_known_even = false) {
  Raw<T, N> raw;
  if (is_known_even || is_even<T, N>(from)) return *(const Raw<T, N>*)from;
  if constexpr (sizeof(T) == 2 && N % 2 == 0) {
    const uint16* const bits = (const uint16*)from;
#pragma unroll
    for (int i = 0; i < N / 2; ++i) raw.words[i] = (uint32)bits[2 * i] | (uint32)bits[2 * i + 1] << 16;
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) raw.pack.e[i] = from[i];
  }
  return raw;
}
template <typename T, int N>
DEVICE Pack<T, N> unpacked(const Raw<T, N, true>& raw) {
  Pack<T, N> pack;
#pragma unroll
  for (int i = 0; i < N; ++i) pack.e[i].bits = (uint16)(raw.words[i / 2] >> i % 2 * 16);
  return pack;
}
template <typename T, int N>
DEVICE Pack<T, N> unpacked(const Raw<T, N, false>& raw) {
  return raw.pack;
}
template <typename T, int N>
DEVICE void store_pack(T* to, const Pack<T, N>& pack) {
  if (is_even<T, N>(to)) {
    *(Pack<T, N>*)to = pack;
    return;
  }
  for (int i = 0; i < N; ++i) to[i] = pack.e[i];
}

// A divisor of numbers below 2^31, as Launch::add_divisor gives it.
struct Divisor {
  uint32 divisor;
  uint32 factor;
  int shift;
};
#define DIVISOR(i) \
  Divisor { (uint32)p.n[i], (uint32)p.n[(i) + 1], p.n[(i) + 2] }
DEVICE uint32 quotient(uint32 x, Divisor d) { return d.factor == 0 ? x : high_product(x, d.factor) >> d.shift; }
#define NUMBER(i) float_of_bits((uint32)p.n[i])

// NaN stays.
#ifdef ASSAY_HOST_MACHINE
DEVICE float larger(float a, float b) { return a > b || a != a ? a : b; }
DEVICE float smaller(float a, float b) { return a < b || a != a ? a : b; }
DEVICE float near_inverse_root(float x) { return 1.0f / sqrtf(x); }
#else
DEVICE float larger(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
DEVICE float smaller(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
DEVICE float near_inverse_root(float x) {
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif
// What divides so many numbers, of which `share` is one, by the root of the mean of their squares. `is_near`: off by some
// units, which is less than 16 bits keep, and in half of the time.
DEVICE float norm_factor(float squares, float count, float share, float epsilon, bool is_near) {
  return is_near ? near_inverse_root(fmaf(squares, share, epsilon)) : 1.0f / sqrtf(squares / count + epsilon);
}

// What all lanes of a warp make together.
DEVICE float warp_sum(float x) {
  for (int distance = 16; distance > 0; distance /= 2) x += from_lane(x, distance);
  return x;
}
DEVICE float warp_largest(float x) {
  for (int distance = 16; distance > 0; distance /= 2) x = larger(x, from_lane(x, distance));
  return x;
}
// Copies 16 bytes into shared memory, done after wait_copies(); elements that are `otherwise` from null.
template <typename T>
DEVICE void copy_or_fill(T* to, const T* from, T otherwise) {
  constexpr int kCount = 16 / (int)sizeof(T);
  if (from != nullptr && is_even<T, kCount>(from)) return copy_later(to, from);
  Pack<T, kCount> pack;
  for (int e = 0; e < kCount; ++e) pack.e[e] = from == nullptr ? otherwise : from[e];
  *(Pack<T, kCount>*)to = pack;
}
template <typename T>
DEVICE void copy_pack(void* to, const T* from) {
  constexpr int kCount = 16 / (int)sizeof(T);
  if (is_even<T, kCount>(from)) return copy_later(to, from);
#pragma unroll 1
  for (int e = 0; e < kCount; ++e) ((T*)to)[e] = from[e];
}
