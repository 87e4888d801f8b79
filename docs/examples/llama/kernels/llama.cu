// The decoder's own kernels. A row is a token at a position of a sequence. The cache has the rotated key and the value
// of each sequence, position and head of keys of this rank.
//
//   embed    rows of the embedding
//   last     the norm of chosen rows, in fp32
//   best     the greatest logit of each row on this rank, and of equal ones the lowest token
//   store    rotates keys, and puts keys and values into the cache
//   decode   attention of rows of any sequences, over stretches of the context
//   merge    joins the stretches
//   prefill  attention of rows that follow each other in one sequence, by tiles
//
// Every kernel takes one struct by value, and does nothing by a struct of zeros. Grid and blocks have one dimension; a
// block takes items of work until none is left.

#include "../generated/device/ptx.h"
#include "../generated/device/bf16.h"
#include "../generated/device/fp32.h"
#include "../generated/device/blocksum.h"

#define each_item(i, n) for (u64 i = blockIdx.x; i < (n); i += gridDim.x)
#define each_thread(i, n) for (u64 i = threadIdx.x; i < (n); i += blockDim.x)
#define each_head(k) _Pragma("unroll") for (unsigned k = 0; k < G; k++)
#define MINUS_INFINITY __uint_as_float(0xff800000u)

enum { head_most = 128, group_most = 16 };  // elements of a head, query heads of a head of keys

template <typename E>
DEVICE float load(const char *from, u64 i) { return E::widen(((const typename E::bits *)from)[i]); }

template <typename E>
DEVICE void save(char *to, u64 i, float x) { ((typename E::bits *)to)[i] = (typename E::bits)E::narrow(x); }

template <typename T>
DEVICE T greater(T x, T y) { return x > y ? x : y; }

DEVICE float plus(float x, float y) { return x + y; }

// of_block joins a number of each thread, of each of G heads, in pairs. It leaves them in all[head][0].
template <unsigned G, typename T, unsigned threads>
DEVICE void of_block(T (*all)[threads], const T *mine, T join(T, T))
{
  __syncthreads();
  each_head(k) all[k][threadIdx.x] = mine[k];
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < half * G; i += threads) {
      T *const x = &all[i / half][i % half];
      x[0] = join(x[0], x[half]);
    }
  }
  __syncthreads();
}

// ----------------------------------------------------------------------------

struct rows {
  u64 count, columns;
  const int *index;  // of embed and last: which rows they take; -1: none
  const char *from, *weight;
  char *to;
  u64 first, tokens;  // of best: the first column's token, and how many columns are tokens
  float epsilon;
};

template <typename E>
DEVICE void embed_of(const struct rows &p)
{
  each_item(i, p.count) {
    const u64 from = (u64)p.index[i] * p.columns;
    each_thread(e, p.columns) {
      save<E>(p.to, i * p.columns + e, load<E>(p.from, from + e));
    }
  }
}

template <typename E>
DEVICE void last_of(const struct rows &p)
{
  SHARED(float, sums, most_threads);
  each_item(i, p.count) {
    const bool none = p.index[i] < 0;
    const u64 from = none ? 0 : (u64)p.index[i] * p.columns;
    float squares = 0.0f;
    each_thread(e, p.columns) {
      const float x = load<E>(p.from, from + e);
      squares += x * x;
    }
    const float scale = 1.0f / square_root(sum_of_block(sums, squares) / (float)p.columns + p.epsilon);
    each_thread(e, p.columns) {
      const float x = load<E>(p.from, from + e) * scale * load<E>(p.weight, e);
      ((float *)p.to)[i * p.columns + e] = none ? 0.0f : x;
    }
  }
}

struct pair { float logit; int token; };

DEVICE struct pair better(struct pair x, struct pair y)
{
  return x.logit > y.logit || (x.logit == y.logit && x.token < y.token) ? x : y;
}

template <typename E>
DEVICE void best_of(const struct rows &p)
{
  enum { threads = 256 };
  SHARED(struct pair, found, threads);
  each_item(i, p.count) {
    struct pair mine = {MINUS_INFINITY, 0x7fffffff};
    each_thread(e, p.tokens) {
      mine = better({((const float *)p.from)[i * p.columns + e], (int)(p.first + e)}, mine);
    }
    of_block<1>((struct pair(*)[threads])found, &mine, better);
    if (threadIdx.x == 0) {
      ((struct pair *)p.to)[i] = found[0];
    }
  }
}

// ----------------------------------------------------------------------------
// Attention. Query head q of this rank reads head (q + offset) / group of its keys.

struct attention {
  u64 rows;
  const int *sequences, *positions;
  u64 queries, keys, group, offset;
  u64 size;             // elements of a head
  u64 places, room;     // of the cache: sequences, and positions of each
  const float *angles;  // [room, size / 2, 2]: cosine and sine
  const char *query, *key, *value;
  char *to, *cache_keys, *cache_values;
  float *parts;  // [rows, queries, stretches, 2 + size]
  u64 stretches;
  float scale;
};

// rotated is an element of a head, turned by its position: elements half a head apart are a pair.
template <typename E>
DEVICE float rotated(const char *from, u64 head, u64 i, u64 position, const struct attention &p)
{
  const u64 half = p.size / 2, pair = i % half;
  const float *const turn = p.angles + (position * half + pair) * 2;
  const float x = load<E>(from, head * p.size + pair), y = load<E>(from, head * p.size + pair + half);
  return i < half ? x * turn[0] - y * turn[1] : y * turn[0] + x * turn[1];
}

// cached is the place of a head in the cache.
DEVICE u64 cached(u64 sequence, u64 position, u64 head, const struct attention &p)
{
  return ((sequence * p.room + position) * p.keys + head) * p.size;
}

template <typename E>
DEVICE void store_of(const struct attention &p)
{
  each_item(i, p.rows * p.keys) {
    const u64 row = i / p.keys, position = p.positions[row];
    const u64 to = cached(p.sequences[row], position, i % p.keys, p);
    each_thread(e, p.size) {
      save<E>(p.cache_keys, to + e, rotated<E>(p.key, i, e, position, p));
      save<E>(p.cache_values, to + e, load<E>(p.value, i * p.size + e));
    }
  }
}

// ----------------------------------------------------------------------------
// decode takes a stretch of the context for all query heads of a head of keys, so that each key and value is read
// once. It leaves the greatest score of each query head, the sum of the exponentials, and that of the values.

enum { stretch = 256, decode_threads = 128 };

DEVICE float *part(const struct attention &p, u64 row, u64 query, u64 at)
{
  return p.parts + ((row * p.queries + query) * p.stretches + at) * (2 + p.size);
}

// first_query is the first query head of this rank that reads a head of keys or a later one.
DEVICE u64 first_query(const struct attention &p, u64 head)
{
  const u64 query = head * p.group > p.offset ? head * p.group - p.offset : 0;
  return query < p.queries ? query : p.queries;
}

// A rank has G query heads of a head of keys at most; those that it lacks have queries of zeros. q has the queries, s
// the scores, and all a number of each thread.
template <typename E, unsigned G>
DEVICE void decode_by(const struct attention &p, float *q, float *s, float (*all)[decode_threads])
{
  typedef typename E::bits bits;
  enum { unit = 16 / sizeof(bits) };  // elements that a thread loads at once
  const unsigned stretches = (unsigned)p.stretches, heads_of_keys = (unsigned)p.keys;  // divisions by these are faster
  each_item(i, p.rows * p.keys * p.stretches) {
    const unsigned item = (unsigned)i, at = item % stretches, head = item / stretches % heads_of_keys;
    const u64 row = item / stretches / heads_of_keys, position = p.positions[row], first = at * stretch;
    if (first > position) {
      continue;
    }
    const u64 from = first_query(p, head), to = first_query(p, head + 1);
    if (from >= to) {
      continue;
    }
    const unsigned heads = (unsigned)(to - from), size = (unsigned)p.size;
    const unsigned keys = position - first < stretch ? (unsigned)(position - first) + 1 : stretch;
    const u64 apart = p.keys * p.size, start = cached(p.sequences[row], first, head, p);
    __syncthreads();
    for (unsigned e = threadIdx.x; e < G * size; e += decode_threads) {
      q[e / size * head_most + e % size] = e / size >= heads ? 0.0f : p.scale *
          rotated<E>(p.query, row * p.queries + from + e / size, e % size, position, p);
    }
    __syncthreads();

    float x[G], most[G];
    each_head(k) most[k] = MINUS_INFINITY;
    for (unsigned key = threadIdx.x; key < keys; key += decode_threads) {
      each_head(k) x[k] = 0.0f;
      for (unsigned e = 0; e < size; e += unit) {
        const uint4 y = *(const uint4 *)(p.cache_keys + (start + key * apart + e) * sizeof(bits));
        each_head(k) {
          for (unsigned j = 0; j < unit; j++) {
            x[k] += q[k * head_most + e + j] * E::widen(((const bits *)&y)[j]);
          }
        }
      }
      each_head(k) {
        s[k * stretch + key] = x[k];
        most[k] = greater(x[k], most[k]);
      }
    }
    of_block<G>(all, most, greater<float>);
    each_head(k) {
      most[k] = all[k][0];
      x[k] = 0.0f;
    }
    for (unsigned key = threadIdx.x; key < keys; key += decode_threads) {
      each_head(k) x[k] += s[k * stretch + key] = exponential(s[k * stretch + key] - most[k]);
    }
    of_block<G>(all, x, plus);
    each_head(k) {
      if (threadIdx.x == 0 && k < heads) {
        part(p, row, from + k, at)[0] = most[k];
        part(p, row, from + k, at)[1] = all[k][0];
      }
      x[k] = 0.0f;
    }
    if (threadIdx.x < size) {
#pragma unroll 8
      for (unsigned key = 0; key < keys; key++) {
        const float y = load<E>(p.cache_values, start + key * apart + threadIdx.x);
        each_head(k) x[k] += s[k * stretch + key] * y;
      }
      each_head(k) {
        if (k < heads) {
          part(p, row, from + k, at)[2 + threadIdx.x] = x[k];
        }
      }
    }
  }
}

template <typename E>
DEVICE void decode_of(const struct attention &p)
{
  SHARED(float, q, group_most * head_most);
  SHARED(float, s, group_most * stretch);
  SHARED(float, r, group_most * decode_threads);
  float(*const all)[decode_threads] = (float(*)[decode_threads])r;
  if (p.group <= 4) {
    decode_by<E, 4>(p, q, s, all);
  } else {
    decode_by<E, group_most>(p, q, s, all);
  }
}

template <typename E>
DEVICE void merge_of(const struct attention &p)
{
  each_item(i, p.rows * p.queries) {
    const float *const parts = part(p, i / p.queries, i % p.queries, 0);
    const u64 n = p.positions[i / p.queries] / stretch + 1, size = 2 + p.size;
    float most = parts[0];
    for (u64 at = 1; at < n; at++) {
      most = greater(parts[at * size], most);
    }
    each_thread(e, p.size) {
      float sum = 0.0f, values = 0.0f;
      for (u64 at = 0; at < n; at++) {
        const float weight = exponential(parts[at * size] - most);
        sum += weight * parts[at * size + 1];
        values += weight * parts[at * size + 2 + e];
      }
      save<E>(p.to, i * p.size + e, values / sum);
    }
  }
}

// ----------------------------------------------------------------------------
// prefill takes a tile of rows of one query head, and the keys before them by tiles too. A warp has 16 rows, and a
// thread of it the elements of products that mma.sync leaves it.

template <typename E>
struct tile {
  typedef typename E::bits bits;
  enum { rows = 128 / sizeof(bits), keys = 64 / sizeof(bits), threads = 2 * rows, unit = 16 / sizeof(bits) };
  enum { deep = head_most + 8, wide = 64 / sizeof(bits) + 4 };  // elements from row to row: of heads, of scores
};

// multiply adds to c, elements (g, 2t), (g, 2t+1), (g+8, 2t) and (g+8, 2t+1) of a [16, 8] in thread 4g+t of a warp, the
// product of a [16, 16] and b [16, 8]. ldb leads to b's next row, and of to its next column.
template <typename E>
DEVICE void multiply(E, float *c, const typename E::bits *a, unsigned lda, const typename E::bits *b, unsigned ldb,
                     unsigned of)
{
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned i = 0; i < 4; i++) {
    for (unsigned k = 0; k < 16; k++) {
      c[i] += E::widen(a[(g + i / 2 * 8) * lda + k]) * E::widen(b[k * ldb + (2 * t + i % 2) * of]);
    }
  }
}

#ifndef OVGEN_HOST

DEVICE void multiply(bf16, float *c, const unsigned short *a, unsigned lda, const unsigned short *b, unsigned ldb,
                     unsigned of)
{
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  unsigned x[4], y[2];
  for (unsigned i = 0; i < 4; i++) {
    x[i] = *(const unsigned *)(a + (g + i % 2 * 8) * lda + 2 * t + i / 2 * 8);
  }
  for (unsigned i = 0; i < 2; i++) {
    const unsigned short *const from = b + (2 * t + i * 8) * ldb + g * of;
    y[i] = ldb == 1 ? *(const unsigned *)from : from[0] | (unsigned)from[ldb] << 16;
  }
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}

#endif

template <typename E>
DEVICE void prefill_of(const struct attention &p)
{
  typedef tile<E> T;
  typedef typename E::bits bits;
  SHARED(uint4, queries, T::rows * T::deep / T::unit);
  SHARED(uint4, keys, T::keys * T::deep / T::unit);
  SHARED(uint4, values, T::keys * T::deep / T::unit);
  bits *const q = (bits *)queries, *const k = (bits *)keys, *const v = (bits *)values;
  SHARED(float, s, T::rows * T::wide);  // scores, then their exponentials in the tensors' type
  SHARED(float, shrink, T::rows);       // of what a row has summed so far, or in the end 1 / sum
  SHARED(int, where, T::rows);          // position; -1: no row of this sequence
  const unsigned thread = threadIdx.x, warp = thread / 32 * 16, g = thread % 32 / 4, t = thread % 4;
  const unsigned size = (unsigned)p.size, deep = (size + 15) / 16 * 16;
  const unsigned lds = T::wide * (unsigned)(sizeof(float) / sizeof(bits));
  each_item(i, (p.rows + T::rows - 1) / T::rows * p.queries) {
    const u64 first = i / p.queries * T::rows, query = i % p.queries, head = (query + p.offset) / p.group;
    const int sequence = p.sequences[first];
    __syncthreads();
    if (thread < T::rows) {
      const u64 row = first + thread;
      where[thread] = row < p.rows && p.sequences[row] == sequence ? p.positions[row] : -1;
    }
    __syncthreads();
    int last = 0;
    for (unsigned r = 0; r < T::rows; r++) {
      last = greater(where[r], last);
    }
    for (unsigned e = thread; e < T::rows * deep; e += T::threads) {
      const unsigned r = e / deep, c = e % deep;
      q[r * T::deep + c] = where[r] < 0 || c >= size ? 0 : (bits)E::narrow(
          rotated<E>(p.query, (first + r) * p.queries + query, c, where[r], p));
    }
    float sums[head_most / 8][4] = {}, most = MINUS_INFINITY, sum = 0.0f;  // most and sum of row threadIdx.x
    for (int from = 0; from <= last; from += T::keys) {
      __syncthreads();
      for (unsigned e = thread; e < T::keys * deep / T::unit; e += T::threads) {
        const unsigned r = e / (deep / T::unit), c = e % (deep / T::unit) * T::unit;
        const u64 at = (cached(sequence, from + r, head, p) + c) * sizeof(bits);
        const bool real = from + (int)r <= last && c < size;
        *(uint4 *)(k + r * T::deep + c) = real ? *(const uint4 *)(p.cache_keys + at) : uint4{};
        *(uint4 *)(v + r * T::deep + c) = real ? *(const uint4 *)(p.cache_values + at) : uint4{};
      }
      __syncthreads();
      for (unsigned n = 0; n < T::keys; n += 8) {
        float c[4] = {};
        for (unsigned e = 0; e < deep; e += 16) {
          multiply(E(), c, q + warp * T::deep + e, T::deep, k + n * T::deep + e, 1, T::deep);
        }
        for (unsigned j = 0; j < 4; j++) {
          const unsigned row = warp + g + j / 2 * 8, column = n + 2 * t + j % 2;
          s[row * T::wide + column] = from + (int)column <= where[row] ? c[j] * p.scale : MINUS_INFINITY;
        }
      }
      __syncthreads();
      if (thread < T::rows) {
        float x[T::keys], greatest = most;
        for (unsigned j = 0; j < T::keys; j++) {
          x[j] = s[thread * T::wide + j];
          greatest = greater(x[j], greatest);
        }
        const float base = greatest == MINUS_INFINITY ? 0.0f : greatest;
        shrink[thread] = exponential(most - base);
        sum *= shrink[thread];
        for (unsigned j = 0; j < T::keys; j++) {
          x[j] = exponential(x[j] - base);
          sum += x[j];
          ((bits *)s)[thread * lds + j] = (bits)E::narrow(x[j]);  // over scores that only this thread reads
        }
        most = greatest;
      }
      __syncthreads();
#pragma unroll
      for (unsigned n = 0; n < head_most / 8; n++) {
        if (n * 8 < size) {
          for (unsigned j = 0; j < 4; j++) {
            sums[n][j] *= shrink[warp + g + j / 2 * 8];
          }
          for (unsigned e = 0; e < T::keys; e += 16) {
            multiply(E(), sums[n], (const bits *)s + warp * lds + e, lds, v + e * T::deep + n * 8, T::deep, 1);
          }
        }
      }
    }
    __syncthreads();
    if (thread < T::rows) {
      shrink[thread] = sum > 0.0f ? 1.0f / sum : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (unsigned n = 0; n < head_most / 8; n++) {
      for (unsigned j = 0; j < 4; j++) {
        const u64 row = warp + g + j / 2 * 8, column = n * 8 + 2 * t + j % 2;
        if (column < size && first + row < p.rows) {
          save<E>(p.to, ((first + row) * p.queries + query) * size + column, sums[n][j] * shrink[row]);
        }
      }
    }
  }
}

// ----------------------------------------------------------------------------

// KERNELS has each kernel with its struct.
#define KERNELS(X) X(embed, rows) X(last, rows) X(best, rows) \
  X(store, attention) X(decode, attention) X(merge, attention) X(prefill, attention)

#define KERNEL(name, params) \
  __global__ void name##_bf16(const __grid_constant__ struct params p) { name##_of<bf16>(p); } \
  __global__ void name##_fp32(const __grid_constant__ struct params p) { name##_of<fp32>(p); }

extern "C" { KERNELS(KERNEL) }
