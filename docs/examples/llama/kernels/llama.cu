// The decoder's kernels. A row is a token at a position of a sequence, or the token that an earlier step chose. The
// cache has the rotated key and the value of each sequence, position and head of keys of this rank.
//
//   embed    rows of the embedding, and their norm by the first layer's
//   gate     SwiGLU of a product that makes gates and what they let through
//   gatecodes  the same in eight bits, with a scale for each row
//   codes    what attention of a prompt made in eight bits, likewise
//   best     the greatest logit of each row on this rank, and of equal ones the lowest token
//   store    rotates keys, and puts keys and values into the cache
//   decode   stores keys and values, and is attention of rows of any sequences, over stretches of the context; it also
//            makes eight bits of its rows where it is told to
//   prefill  attention of rows that follow each other in one sequence, by tiles
//   decodefew  decode of few rows, which loads a part of the cache ahead
//   decodewide, prefillwide  the same of heads of more than 128 elements, and at most 256
//
// Every kernel takes one struct by value, and does nothing by a struct of zeros. Grid and blocks have one dimension; a
// block takes items of work until none is left. A launch lets the next one start before its end, and waits for the end
// of the one before it, decodefew by itself: kernels.go says which launches start early.

#include "../generated/device/ptx.h"
#include "../generated/device/early.h"
#include "../generated/device/arith.h"
#include "../generated/device/bf16.h"
#include "../generated/device/fp32.h"
#include "../generated/device/blocksum.h"
#include "../generated/device/eight.h"
#include "../generated/device/units.h"
#include "../generated/device/eightunits.h"
#include "../generated/device/scale.h"

#define each_item(i, n) for (u64 i = blockIdx.x; i < (n); i += gridDim.x)
#define each_thread(i, n) for (u64 i = threadIdx.x; i < (n); i += blockDim.x)
#define MINUS_INFINITY __uint_as_float(0xff800000u)

template <typename E>
DEVICE float load(const char *from, u64 i) { return E::widen(((const typename E::bits *)from)[i]); }

template <typename E>
DEVICE void save(char *to, u64 i, float x) { ((typename E::bits *)to)[i] = (typename E::bits)E::narrow(x); }

template <typename T>
DEVICE T greater(T x, T y) { return x > y ? x : y; }

// row is a token at a position of a sequence; -1 - n for a token is the choice of row n % 65536 of slot n / 65536.
// blocks, from 1 to most_stretches, share its positions in decode.
struct row { int token, sequence, position; unsigned blocks; };
struct pair { float logit; int token; };

// params are sizes and memory of the rank, the rows of a step, and of attention a layer's memory. Query head q of this
// rank reads head (q + offset) / group of its keys.
struct params {
  u64 count;  // rows
  const struct row *rows;
  u64 hidden;
  const char *embedding, *norm;
  char *x, *normed;
  char *codes;    // normed in eight bits, or none; or what is gated, or what attention makes, or none
  float *scales;  // [count]: of these
  u64 columns, first, tokens;  // of the logits, the first one's token, and how many are tokens
  const float *logits;
  struct pair *best;
  const struct pair *all;  // [2 slots, ranks, most]: the best of all ranks
  u64 ranks, most;
  u64 queries, keys, group, offset;
  u64 size;             // elements of a head
  u64 places, room;     // of the cache: sequences, and positions of each
  const float *angles;  // [room, size / 2, 2]: cosine and sine
  u64 wide_query, wide_key;  // elements from row to row of queries, and of keys and of values
  const char *query, *key, *value;
  char *to, *cache_keys, *cache_values;
  float *parts;     // [count, queries, most_stretches, 4 + size]
  unsigned *ended;  // [count, queries], and [count] of rows: parts of a row's work that have ended; 0 between launches
  struct pair *found;  // [count, pieces]: the best of each piece of a row's logits
  u64 width;     // of the MLP
  const char *gates;  // [count, 2, width]
  char *gated;        // [count, width]
  float scale, epsilon;
  float cap;            // of scores: tanh leaves none beyond it; 0: there is none
  float grows, beyond;  // the embedding by a factor, rounded to its type, and norm by what is added
};

// ----------------------------------------------------------------------------

DEVICE struct pair better(struct pair x, struct pair y)
{
  return x.logit > y.logit || (x.logit == y.logit && x.token < y.token) ? x : y;
}

// token is that of a row.
DEVICE u64 token(const struct params &p, int is)
{
  if (is >= 0) {
    return is;
  }
  const unsigned n = -1 - is;
  const struct pair *from = p.all + n / 65536 * p.ranks * p.most + n % 65536;
  struct pair best = from[0];
  for (u64 rank = 1; rank < p.ranks; rank++) {
    best = better(from[rank * p.most], best);
  }
  return best.token;
}

// together are the elements that a thread loads at once of rows of so many: rows that are no multiple of 8 are not
// aligned.
DEVICE unsigned together(u64 wide) { return wide % 8 == 0 ? 8 : 1; }

template <typename E>
DEVICE unit<E> load_some(const char *from, u64 at, unsigned n)
{
  if (n == 8) {
    return load_unit<E>(from, at);
  }
  unit<E> v = {};
  set_element(v, 0, ((const typename E::bits *)from)[at]);
  return v;
}

template <typename E>
DEVICE void save_some(char *to, u64 at, unsigned n, const unit<E> &v)
{
  if (n == 8) {
    store_unit(to, at, v);
  } else {
    ((typename E::bits *)to)[at] = bits_of(v, 0);
  }
}

// embedding is some elements of a token's row.
template <typename E>
DEVICE unit<E> embedding(const struct params &p, u64 at, unsigned n)
{
  const unit<E> v = load_some<E>(p.embedding, at, n);
  const float grows = E::widen(E::narrow(p.grows));
  unit<E> grown = {};
  for (unsigned k = 0; k < 8; k++) {
    set_element(grown, k, E::narrow(element(v, k) * grows));
  }
  return grown;
}

// most_of_block is the greatest number of a block's threads, a power of two of them.
DEVICE float most_of_block(float *numbers, float mine)
{
  __syncthreads();  // all have read the number before
  numbers[threadIdx.x] = mine;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      numbers[threadIdx.x] = greater(numbers[threadIdx.x], numbers[threadIdx.x + half]);
    }
  }
  __syncthreads();
  return numbers[0];
}

// codes_of_row makes eight bits of a row of so many elements, and their scale, as schedule.Quantise does. row(at) are
// the elements from at on: what their thread has made, or makes.
template <typename F>
DEVICE void codes_of_row(float *sums, const struct params &p, u64 i, u64 wide, F row)
{
  const unsigned n = together(wide);
  float most = 0.0f;
  each_thread(at, wide / n) {
    const auto v = row(at * n);
    for (unsigned k = 0; k < n; k++) {
      most = greater(most, f_abs(f_finite(element(v, k))));
    }
  }
  const float scale = f_power(f_div(most_of_block(sums, most), 448.0f));
  if (threadIdx.x == 0) {
    p.scales[i] = scale;
  }
  each_thread(at, wide / n) {
    const auto v = row(at * n);
    unit<e4m3> codes = {};
    for (unsigned k = 0; k < n; k++) {
      set_element(codes, k, e4m3::narrow(f_over_power(element(v, k), scale)));
    }
    save_some(p.codes, i * wide + at * n, n, codes);
  }
}

template <typename E>
DEVICE void embed_of(const struct params &p)
{
  SHARED(float, sums, most_threads);
  const unsigned n = together(p.hidden);
  each_item(i, p.count) {
    const u64 from = token(p, p.rows[i].token) * p.hidden, to = i * p.hidden;
    float squares = 0.0f;
    each_thread(at, p.hidden / n) {
      const unit<E> v = embedding<E>(p, from + at * n, n);
      save_some(p.x, to + at * n, n, v);
      for (unsigned k = 0; k < 8; k++) {
        squares += element(v, k) * element(v, k);
      }
    }
    const float scale = 1.0f / square_root(sum_of_block(sums, squares) / (float)p.hidden + p.epsilon);
    each_thread(at, p.hidden / n) {
      const unit<E> v = embedding<E>(p, from + at * n, n), w = load_some<E>(p.norm, at * n, n);
      unit<E> y = {};
      for (unsigned k = 0; k < 8; k++) {
        set_element(y, k, E::narrow(element(v, k) * scale * (p.beyond + element(w, k))));
      }
      save_some(p.normed, to + at * n, n, y);
    }
    if (p.codes != nullptr) {
      codes_of_row(sums, p, i, p.hidden, [&](u64 at) { return load_some<E>(p.normed, to + at, n); });
    }
  }
}

// gated is some elements of a row behind the gate.
template <typename E>
DEVICE unit<E> gated(const struct params &p, u64 row, u64 at, unsigned n)
{
  const u64 from = row * 2 * p.width + at;
  const unit<E> x = load_some<E>(p.gates, from, n), y = load_some<E>(p.gates, from + p.width, n);
  unit<E> z = {};
  for (unsigned k = 0; k < 8; k++) {
    set_element(z, k, E::narrow(element(x, k) / (1.0f + exponential(-element(x, k))) * element(y, k)));
  }
  return z;
}

template <typename E>
DEVICE void gate_of(const struct params &p)
{
  const unsigned n = together(p.width), units = (unsigned)p.width / n;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < p.count * units; i += gridDim.x * (u64)blockDim.x) {
    save_some(p.gated, i * n, n, gated<E>(p, (unsigned)i / units, (unsigned)i % units * n, n));
  }
}

template <typename E>
DEVICE void gatecodes_of(const struct params &p)
{
  SHARED(float, most, most_threads);
  each_item(i, p.count) {
    codes_of_row(most, p, i, p.width, [&](u64 at) { return gated<E>(p, i, at, together(p.width)); });
  }
}

// A row has as many blocks as it has pieces. The last one to end takes the best of them all.
template <typename E>
DEVICE void best_of(const struct params &p)
{
  enum { threads = 256, pieces = 32 };
  SHARED(struct pair, found, threads);
  SHARED(unsigned, ends, 1);
  each_item(i, p.count * pieces) {
    const u64 of = i / pieces, piece = i % pieces;
    struct pair mine = {MINUS_INFINITY, (int)p.first};
#pragma unroll 4
    for (u64 e = 4 * (piece * threads + threadIdx.x); e < p.tokens; e += 4 * threads * pieces) {
      const uint4 bits = *(const uint4 *)(p.logits + of * p.columns + e);
      const float logits[4] = {__uint_as_float(bits.x), __uint_as_float(bits.y), __uint_as_float(bits.z),
                               __uint_as_float(bits.w)};
      for (unsigned j = 0; j < 4; j++) {
        mine = e + j < p.tokens ? better({logits[j], (int)(p.first + e + j)}, mine) : mine;
      }
    }
    __syncthreads();
    found[threadIdx.x] = mine;
    for (unsigned half = threads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) {
        found[threadIdx.x] = better(found[threadIdx.x], found[threadIdx.x + half]);
      }
    }
    if (threadIdx.x == 0) {
      p.found[i] = found[0];
      ends[0] = increment(p.ended + of, pieces - 1) == pieces - 1;
    }
    __syncthreads();
    if (ends[0] && threadIdx.x < pieces) {
      found[threadIdx.x] = p.found[of * pieces + threadIdx.x];
    }
    __syncthreads();
    for (unsigned at = 1; ends[0] && threadIdx.x == 0 && at < pieces; at++) {
      found[0] = better(found[0], found[at]);
    }
    if (ends[0] && threadIdx.x == 0) {
      p.best[of] = found[0];
    }
  }
}

// ----------------------------------------------------------------------------
// Attention.

// bring has the second cache load the line of an address.
#ifdef OVGEN_HOST
DEVICE void bring(const char *) {}
#else
DEVICE void bring(const char *from) { asm volatile("prefetch.global.L2 [%0];" : : "l"(from)); }
#endif

// store_kept stores 16 bytes that the second cache keeps longer than others (PTX createpolicy).
#ifdef OVGEN_HOST
DEVICE void store_kept(float *to, uint4 v) { *(uint4 *)to = v; }
#else
DEVICE void store_kept(float *to, uint4 v)
{
  u64 policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;"
               : : "l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(policy) : "memory");
}
#endif

// turned is the first of a pair of elements, which lie half a head apart, behind its turn; beyond is the second.
DEVICE float turned(float x, float y, const float *turn) { return x * turn[0] - y * turn[1]; }
DEVICE float beyond(float x, float y, const float *turn) { return y * turn[0] + x * turn[1]; }

// rotated is element i of the head that begins at an element, turned by its position.
template <typename E>
DEVICE float rotated(const char *from, u64 head, u64 i, u64 position, const struct params &p)
{
  const u64 half = p.size / 2, pair = i < half ? i : i - half;
  const float *const turn = p.angles + (position * half + pair) * 2;
  const float x = load<E>(from, head + pair), y = load<E>(from, head + pair + half);
  return i < half ? turned(x, y, turn) : beyond(x, y, turn);
}

// score is that of a query and a key, by their product.
DEVICE float score(float product, const struct params &p)
{
  const float x = product * p.scale;
  return p.cap > 0.0f ? p.cap * hyperbolic_tangent(x / p.cap) : x;
}

// cached is the place of a head in the cache.
DEVICE u64 cached(u64 sequence, u64 position, u64 head, const struct params &p)
{
  return ((sequence * p.room + position) * p.keys + head) * p.size;
}

// store puts a head of keys of a row, rotated, and of values into the cache.
template <typename E>
DEVICE void store(const struct params &p, u64 i, u64 head)
{
  const struct row row = p.rows[i];
  const u64 from = i * p.wide_key + head * p.size, to = cached(row.sequence, row.position, head, p);
  each_thread(e, p.size) {
    save<E>(p.cache_keys, to + e, rotated<E>(p.key, from, e, row.position, p));
    save<E>(p.cache_values, to + e, load<E>(p.value, from + e));
  }
}

template <typename E>
DEVICE void store_of(const struct params &p)
{
  each_item(i, p.count * p.keys) {
    store<E>(p, i / p.keys, i % p.keys);
  }
}

#include "decode.h"
#include "prefill.h"

// ----------------------------------------------------------------------------

// Each with the threads of a block, how many blocks of bf16's a multiprocessor has registers for at the same time, and
// how it begins.
#define KERNELS(X) X(embed, 512, 1, start_early) X(gate, 256, 1, start_early) X(gatecodes, 512, 1, start_early) \
  X(best, 256, 1, start_early) X(store, 64, 1, start_early) X(codes, 512, 1, start_early) \
  X(decode, 128, 3, start_early) X(decodefew, 128, 2, next_may_start) X(prefill, 128, 1, start_early) \
  X(decodewide, 128, 2, start_early) X(prefillwide, 128, 1, start_early)

#define PARAMS const __grid_constant__ struct params p
#define KERNEL(name, threads, blocks, begin) \
  __global__ void __launch_bounds__(threads, blocks) name##_bf16(PARAMS) { begin(); name##_of<bf16>(p); } \
  __global__ void __launch_bounds__(threads) name##_fp32(PARAMS) { begin(); name##_of<fp32>(p); }

extern "C" { KERNELS(KERNEL) }
