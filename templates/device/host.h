// Lets kernels compile for the host, where the engine of the simulator runs their threads. Included before the kernels,
// in the namespace that keeps the kernels of packages apart.

// The engine's functions, as verify/sim/engine.h has them, and the names by which kernels
// call them.
const struct Engine {
  struct { unsigned x, y, z; } threadIdx, blockIdx, blockDim, gridDim;
  void (*sync_threads)();
  float (*half_to_float)(unsigned bits);
  unsigned (*float_to_half)(float x);
  unsigned (*float_to_bfloat)(float x);
  unsigned long long (*globaltimer)();
  unsigned (*load_acquire)(const unsigned *word);
  void (*store_release)(unsigned *word, unsigned value);
  void (*store_relaxed)(unsigned *word, unsigned value);
  unsigned (*increment)(unsigned *word, unsigned last);
  void *(*shared)(const void *name, unsigned long long bytes);
  void (*store_packets)(unsigned *to, const unsigned *x);
  void (*load_packets)(const unsigned *from, unsigned *x);
  void (*store_packet)(unsigned *to, unsigned x);
  unsigned (*load_packet)(const unsigned *from);
  void (*store_beside)(unsigned long long *to, unsigned long long x);
  unsigned long long (*load_beside)(const unsigned long long *from);
  void (*outside)(const char *call, const char *tensor, int writes, long long offset, unsigned long long bytes);
} *engine;

#define threadIdx engine->threadIdx
#define blockIdx engine->blockIdx
#define blockDim engine->blockDim
#define gridDim engine->gridDim
#define __syncthreads engine->sync_threads
#define __syncwarp engine->sync_threads
#define half_bits_to_float engine->half_to_float
#define float_to_half_bits engine->float_to_half
#define float_to_bfloat_bits engine->float_to_bfloat
#define globaltimer engine->globaltimer
#define load_acquire engine->load_acquire
#define store_release engine->store_release
#define store_relaxed engine->store_relaxed
#define increment engine->increment
#define store_packets engine->store_packets
#define load_packets engine->load_packets
#define store_packet engine->store_packet
#define load_packet engine->load_packet
#define store_beside engine->store_beside
#define load_beside engine->load_beside
#define __float_as_uint(x) __builtin_bit_cast(unsigned, static_cast<float>(x))
#define __uint_as_float(x) __builtin_bit_cast(float, static_cast<unsigned>(x))
#define __threadfence_system() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define exponential __builtin_expf
#define square_root __builtin_sqrtf
#define hyperbolic_tangent __builtin_tanhf
#define error_function __builtin_erff
#define natural_logarithm __builtin_logf
#define __fadd_rn(a, b) ((a) + (b))
#define __fsub_rn(a, b) ((a) - (b))
#define __fmul_rn(a, b) ((a) * (b))
#define __fdiv_rn(a, b) ((a) / (b))
#define __fsqrt_rn __builtin_sqrtf
// Memory of a block.
#define SHARED(type, name, count) static char name##_name; \
  type *const name = static_cast<type *>(engine->shared(&name##_name, sizeof(type) * (count)))
#define __global__ static
#define __device__
#define __forceinline__ inline __attribute__((always_inline, unused))
#define __grid_constant__
#define __launch_bounds__(...)
#define OVGEN_HOST
enum : unsigned { warp = 32 };

struct alignas(16) uint4 { unsigned x, y, z, w; };

template <typename Params, void (*kernel)(Params)>
void thread(const void *params) { kernel(*static_cast<const Params *>(params)); }

// One kernel of a package's table, which ends with a null name.
struct Kernel {
  const char *name;
  unsigned long long bytes;
  void (*thread)(const void *params);
};
