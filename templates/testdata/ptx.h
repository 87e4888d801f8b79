// The device as kernels see it where each of their threads is a thread of the host, without the headers of C++, so that
// it compiles quickly: order.h has what the functions do.
#pragma once
#include "sizes.h"

struct Dim {
  unsigned x, y, z;
};

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

// Where a thread runs.
struct Place {
  unsigned device, block;  // blocks are numbered over all launches
  unsigned slot;           // launches that run at the same time have memory of blocks in different ones
};

extern __thread Dim threadIdx, blockIdx, blockDim, gridDim;
extern __thread Place here;

enum Order { relaxed, acquire, release, acq_rel };
enum Scope { cta, gpu, sys };

void ptx_griddepcontrol_wait();
void ptx_griddepcontrol_launch_dependents();
void sync_threads();
void sync_warp();
void fence(Scope s);
unsigned load(const unsigned *word, Order order, Scope s);
void store(unsigned *word, unsigned value, Order order, Scope s);
unsigned count(unsigned *word, unsigned last, Order order, Scope s);  // adds 1, or goes from last to 0; what was there
unsigned add(unsigned *word, unsigned by, Order order, Scope s);      // what was there

// A packet, or 8 bytes beside one.
void store_packet(unsigned *to, unsigned x);
void store_packet(unsigned long long *to, unsigned long long x);
unsigned load_packet(const unsigned *from);
unsigned long long load_packet(const unsigned long long *from);

float from_half(unsigned short bits);
unsigned short to_half(float x), to_bfloat(float x);                // to the nearest
unsigned short towards_zero_half(float x), towards_zero_bfloat(float x);

#define expf __builtin_expf
#define sqrtf __builtin_sqrtf
#define tanhf __builtin_tanhf
#define erff __builtin_erff
#define logf __builtin_logf
#define fmaxf __builtin_fmaxf

#define __global__ static
#define __device__
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline, unused))
#define __grid_constant__
#define __launch_bounds__(...)
#define __syncthreads() ::sync_threads()
#define __syncwarp() ::sync_warp()
#define __fadd_rn(a, b) ((a) + (b))
#define __fsub_rn(a, b) ((a) - (b))
#define __fmul_rn(a, b) ((a) * (b))
#define __fdiv_rn(a, b) ((a) / (b))
#define __fsqrt_rn __builtin_sqrtf
#define __threadfence_system() ::fence(sys)
#define __threadfence() ::fence(gpu)
#define __threadfence_block() ::fence(cta)
#define __float_as_uint(x) __builtin_bit_cast(unsigned, static_cast<float>(x))
#define __uint_as_float(x) __builtin_bit_cast(float, static_cast<unsigned>(x))

// ----------------------------------------------------------------------------
// The instructions that the kernels have inline, and what one might write in their place

#define LOAD(order, scope) \
  [[maybe_unused]] static void ptx_ld_##order##_##scope##_u32(unsigned &out, const unsigned *word) \
  {                                                                                                \
    out = load(word, order, scope);                                                                \
  }
#define STORE(order, scope) \
  [[maybe_unused]] static void ptx_st_##order##_##scope##_u32(unsigned *word, unsigned value) \
  {                                                                                           \
    store(word, value, order, scope);                                                         \
  }
#define COUNT(order, scope)                                                                             \
  [[maybe_unused]] static void ptx_atom_##order##_##scope##_inc_u32(unsigned &old, unsigned *word, unsigned last) \
  {                                                                                                     \
    old = count(word, last, order, scope);                                                              \
  }                                                                                                     \
  [[maybe_unused]] static void ptx_atom_##order##_##scope##_add_u32(unsigned &old, unsigned *word, unsigned by) \
  {                                                                                                     \
    old = add(word, by, order, scope);                                                                  \
  }
#define SCOPES(what, order) what(order, cta) what(order, gpu) what(order, sys)

SCOPES(LOAD, relaxed)
SCOPES(LOAD, acquire)
SCOPES(STORE, relaxed)
SCOPES(STORE, release)
SCOPES(COUNT, relaxed)
SCOPES(COUNT, acquire)
SCOPES(COUNT, release)
SCOPES(COUNT, acq_rel)

[[maybe_unused]] static void ptx_st_relaxed_sys_v4_u32(unsigned *to, unsigned a, unsigned b, unsigned c, unsigned d)
{
  store_packet(to, a);
  store_packet(to + 1, b);
  store_packet(to + 2, c);
  store_packet(to + 3, d);
}

[[maybe_unused]] static void ptx_ld_relaxed_sys_v4_u32(unsigned &a, unsigned &b, unsigned &c, unsigned &d,
                                                       const unsigned *from)
{
  a = load_packet(from);
  b = load_packet(from + 1);
  c = load_packet(from + 2);
  d = load_packet(from + 3);
}

[[maybe_unused]] static void ptx_st_relaxed_sys_b32(unsigned *to, unsigned x) { store_packet(to, x); }
[[maybe_unused]] static void ptx_ld_relaxed_sys_b32(unsigned &x, const unsigned *from) { x = load_packet(from); }

[[maybe_unused]] static void ptx_st_relaxed_sys_u64(unsigned long long *to, unsigned long long x)
{
  store_packet(to, x);
}

[[maybe_unused]] static void ptx_ld_relaxed_sys_u64(unsigned long long &x, const unsigned long long *from)
{
  x = load_packet(from);
}

// Loads and stores that are weak, or strong for one GPU alone, where packets come from another one: ThreadSanitizer
// finds them beside those of the peer.
#define NOT_STRONG(of)                                                                                            \
  [[maybe_unused]] static void ptx_st_##of##v4_u32(volatile unsigned *to, unsigned a, unsigned b, unsigned c,     \
                                                   unsigned d)                                                    \
  {                                                                                                               \
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;                                                                   \
  }                                                                                                               \
  [[maybe_unused]] static void ptx_ld_##of##v4_u32(unsigned &a, unsigned &b, unsigned &c, unsigned &d,            \
                                                   const volatile unsigned *from)                                 \
  {                                                                                                               \
    a = from[0], b = from[1], c = from[2], d = from[3];                                                           \
  }                                                                                                               \
  [[maybe_unused]] static void ptx_st_##of##b32(volatile unsigned *to, unsigned x) { *to = x; }                   \
  [[maybe_unused]] static void ptx_ld_##of##b32(unsigned &x, const volatile unsigned *from) { x = *from; }        \
  [[maybe_unused]] static void ptx_st_##of##u64(volatile unsigned long long *to, unsigned long long x) { *to = x; } \
  [[maybe_unused]] static void ptx_ld_##of##u64(unsigned long long &x, const volatile unsigned long long *from)   \
  {                                                                                                               \
    x = *from;                                                                                                    \
  }
NOT_STRONG()
NOT_STRONG(relaxed_gpu_)

[[maybe_unused]] static void ptx_cvt_f32_f16(float &out, unsigned short bits) { out = from_half(bits); }
[[maybe_unused]] static void ptx_cvt_rn_f16_f32(unsigned short &out, float x) { out = to_half(x); }
[[maybe_unused]] static void ptx_cvt_rn_bf16_f32(unsigned short &out, float x) { out = to_bfloat(x); }
[[maybe_unused]] static void ptx_cvt_rz_f16_f32(unsigned short &out, float x) { out = towards_zero_half(x); }
[[maybe_unused]] static void ptx_cvt_rz_bf16_f32(unsigned short &out, float x) { out = towards_zero_bfloat(x); }
