// The decoder's own kernels. A row is a token at a position of a sequence. The cache has the rotated key and the value
// of each sequence, position and head of keys of this rank.
//
//   embed    rows of the embedding
//   store    rotates keys, and puts keys and values into the cache
//   decode   attention of rows of any sequences, over stretches of the context
//   merge    joins the stretches
//   prefill  attention of rows that follow each other in one sequence, by tiles
//   last     the norm of chosen rows, in fp32
//   best     the greatest logit of each row on this rank, and of equal ones the lowest token
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

// load_unit is the elements of 16 bytes.
template <typename E>
DEVICE void load_unit(float *x, const char *from, u64 i)
{
  typedef typename E::bits bits;
  const uint4 v = *(const uint4 *)(from + i * sizeof(bits));
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
  for (unsigned j = 0; j < 16 / sizeof(bits); j++) {
    const unsigned word = words[j * sizeof(bits) / 4];
    x[j] = E::widen(sizeof(bits) == 4 ? word : j % 2 == 0 ? word & 0xffffu : word >> 16);
  }
}

struct rows {
  u64 count;
  const int *tokens, *sequences, *positions;
};

// Query head q of this rank reads head (q + offset) / group of its keys.
struct heads {
  u64 queries, keys, group, offset;
  u64 size;             // elements of a head
  u64 sequences, room;  // of the cache: sequences, and positions of each
  const float *angles;  // [room, size / 2, 2]: cosine and sine
};

// rotated is an element of a head, turned by its position: elements half a head apart are a pair.
template <typename E>
DEVICE float rotated(const char *from, u64 head, u64 i, u64 position, const struct heads &h)
{
  const u64 half = h.size / 2, pair = i % half;
  const float *const turn = h.angles + (position * half + pair) * 2;
  const float x = load<E>(from, head * h.size + pair), y = load<E>(from, head * h.size + pair + half);
  return i < half ? x * turn[0] - y * turn[1] : y * turn[0] + x * turn[1];
}

// cached is the place of a head in the cache.
DEVICE u64 cached(u64 sequence, u64 position, u64 head, const struct heads &h)
{
  return ((sequence * h.room + position) * h.keys + head) * h.size;
}

// ----------------------------------------------------------------------------

struct embed {
  u64 count, columns;
  const int *tokens;
  const char *table;
  char *dst;
};

template <typename E>
DEVICE void embed_of(const struct embed &p)
{
  each_item(row, p.count) {
    const u64 token = (u64)p.tokens[row];
    each_thread(i, p.columns) {
      save<E>(p.dst, row * p.columns + i, load<E>(p.table, token * p.columns + i));
    }
  }
}

// ----------------------------------------------------------------------------

struct store {
  struct rows rows;
  struct heads heads;
  const char *key, *value;
  char *keys, *values;
};

template <typename E>
DEVICE void store_of(const struct store &p)
{
  const struct heads &h = p.heads;
  each_item(i, p.rows.count * h.keys) {
    const u64 row = i / h.keys, position = p.rows.positions[row];
    const u64 to = cached(p.rows.sequences[row], position, i % h.keys, h);
    each_thread(e, h.size) {
      save<E>(p.keys, to + e, rotated<E>(p.key, i, e, position, h));
      save<E>(p.values, to + e, load<E>(p.value, i * h.size + e));
    }
  }
}

// ----------------------------------------------------------------------------
// decode takes a stretch of the context for all query heads of a head of keys, so that each key and value is read
// once. It leaves the greatest score of each query head, the sum of the exponentials, and that of the values.

enum { stretch = 256, decode_threads = 128 };

struct attend {
  struct rows rows;
  struct heads heads;
  const char *query, *keys, *values;
  char *dst;
  float *parts;  // [rows, queries, stretches, 2 + size]
  u64 stretches;
  float scale;
};

DEVICE float *part(const struct attend &p, u64 row, u64 query, u64 at)
{
  return p.parts + ((row * p.heads.queries + query) * p.stretches + at) * (2 + p.heads.size);
}

// of_block is the sum of a number of each thread for each of G heads, or the greatest: it is left in all[head][0].
template <unsigned G>
DEVICE void of_block(float (*all)[decode_threads], const float *mine, bool greatest)
{
  __syncthreads();
  each_head(k) {
    all[k][threadIdx.x] = mine[k];
  }
  for (unsigned half = decode_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < half * G; i += decode_threads) {
      float *const x = &all[i / half][i % half];
      x[0] = greatest ? (x[half] > x[0] ? x[half] : x[0]) : x[0] + x[half];
    }
  }
  __syncthreads();
}

// A rank has G query heads of a head of keys at most; those that it lacks have queries of zeros. q has the queries, s
// the scores, and r a number of each thread.
template <typename E, unsigned G>
DEVICE void decode_by(const struct attend &p, float *q, float *s, float *r)
{
  enum { unit = 16 / sizeof(typename E::bits) };  // elements that a thread loads at once
  const struct heads &h = p.heads;
  float(*const all)[decode_threads] = (float(*)[decode_threads])r;
  each_item(i, p.rows.count * h.keys * p.stretches) {
    const u64 at = i % p.stretches, head = i / p.stretches % h.keys, row = i / p.stretches / h.keys;
    const u64 position = p.rows.positions[row], first = at * stretch;
    const u64 from = head * h.group > h.offset ? head * h.group - h.offset : 0;  // query heads of this head
    u64 to = (head + 1) * h.group > h.offset ? (head + 1) * h.group - h.offset : 0;
    to = to < h.queries ? to : h.queries;
    if (first > position || from >= to) {
      continue;
    }
    const unsigned heads = (unsigned)(to - from), size = (unsigned)h.size;
    const unsigned keys = position - first < stretch ? (unsigned)(position - first) + 1 : stretch;
    const u64 apart = h.keys * h.size, start = cached(p.rows.sequences[row], first, head, h);
    __syncthreads();
    for (unsigned e = threadIdx.x; e < G * size; e += decode_threads) {
      q[e / size * head_most + e % size] = e / size >= heads ? 0.0f : p.scale *
          rotated<E>(p.query, row * h.queries + from + e / size, e % size, position, h);
    }
    __syncthreads();

    float x[G], most[G];
    each_head(k) {
      most[k] = MINUS_INFINITY;
    }
    for (unsigned key = threadIdx.x; key < keys; key += decode_threads) {
      each_head(k) {
        x[k] = 0.0f;
      }
      for (unsigned e = 0; e < size; e += unit) {
        float y[unit];
        load_unit<E>(y, p.keys, start + key * apart + e);
        each_head(k) {
          for (unsigned j = 0; j < unit; j++) {
            x[k] += q[k * head_most + e + j] * y[j];
          }
        }
      }
      each_head(k) {
        s[k * stretch + key] = x[k];
        most[k] = x[k] > most[k] ? x[k] : most[k];
      }
    }
    of_block<G>(all, most, true);
    each_head(k) {
      most[k] = all[k][0];
      x[k] = 0.0f;
    }
    for (unsigned key = threadIdx.x; key < keys; key += decode_threads) {
      each_head(k) {
        x[k] += s[k * stretch + key] = exponential(s[k * stretch + key] - most[k]);
      }
    }
    of_block<G>(all, x, false);
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
        const float y = load<E>(p.values, start + key * apart + threadIdx.x);
        each_head(k) {
          x[k] += s[k * stretch + key] * y;
        }
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
DEVICE void decode_of(const struct attend &p)
{
  SHARED(float, q, group_most * head_most);
  SHARED(float, s, group_most * stretch);
  SHARED(float, r, group_most * decode_threads);
  if (p.heads.group <= 4) {
    decode_by<E, 4>(p, q, s, r);
  } else {
    decode_by<E, group_most>(p, q, s, r);
  }
}

template <typename E>
DEVICE void merge_of(const struct attend &p)
{
  const struct heads &h = p.heads;
  each_item(i, p.rows.count * h.queries) {
    const float *const parts = part(p, i / h.queries, i % h.queries, 0);
    const u64 n = p.rows.positions[i / h.queries] / stretch + 1, size = 2 + h.size;
    float most = parts[0];
    for (u64 at = 1; at < n; at++) {
      most = parts[at * size] > most ? parts[at * size] : most;
    }
    each_thread(e, h.size) {
      float sum = 0.0f, values = 0.0f;
      for (u64 at = 0; at < n; at++) {
        const float weight = exponential(parts[at * size] - most);
        sum += weight * parts[at * size + 1];
        values += weight * parts[at * size + 2 + e];
      }
      save<E>(p.dst, i * h.size + e, values / sum);
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

// copy_rows copies rows of heads from the cache to shared memory, 16 bytes at a time, and zeros behind their elements
// and behind the last row.
template <typename E>
DEVICE void copy_rows(typename E::bits *to, const char *from, u64 first, u64 apart, unsigned rows, unsigned size,
                      unsigned deep)
{
  typedef tile<E> T;
  const uint4 zeros = {0, 0, 0, 0};
  for (unsigned i = threadIdx.x; i < T::keys * deep / T::unit; i += T::threads) {
    const unsigned r = i / (deep / T::unit), c = i % (deep / T::unit) * T::unit;
    const char *const at = from + (first + r * apart + c) * sizeof(typename E::bits);
    *(uint4 *)(to + r * T::deep + c) = r < rows && c < size ? *(const uint4 *)at : zeros;
  }
}

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
DEVICE void prefill_of(const struct attend &p)
{
  typedef tile<E> T;
  typedef typename E::bits bits;
  const struct heads &h = p.heads;
  SHARED(uint4, queries, T::rows * T::deep / T::unit);
  SHARED(uint4, keys, T::keys * T::deep / T::unit);
  SHARED(uint4, values, T::keys * T::deep / T::unit);
  bits *const q = (bits *)queries, *const k = (bits *)keys, *const v = (bits *)values;
  SHARED(float, s, T::rows * T::wide);  // scores, then their exponentials in the tensors' type
  SHARED(float, shrink, T::rows);       // of what a row has summed so far, or in the end 1 / sum
  SHARED(int, where, T::rows);          // position; -1: no row of this sequence
  const unsigned warp = threadIdx.x / 32 * 16, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const unsigned deep = (unsigned)(h.size + 15) / 16 * 16, lds = T::wide * (unsigned)(sizeof(float) / sizeof(bits));
  each_item(i, (p.rows.count + T::rows - 1) / T::rows * h.queries) {
    const u64 first = i / h.queries * T::rows, query = i % h.queries, head = (query + h.offset) / h.group;
    const int sequence = p.rows.sequences[first];
    __syncthreads();
    each_thread(r, T::rows) {
      const u64 row = first + r;
      where[r] = row < p.rows.count && p.rows.sequences[row] == sequence ? p.rows.positions[row] : -1;
    }
    __syncthreads();
    int last = 0;
    for (unsigned r = 0; r < T::rows; r++) {
      last = where[r] > last ? where[r] : last;
    }
    for (unsigned e = threadIdx.x; e < T::rows * deep; e += T::threads) {
      const unsigned r = e / deep, c = e % deep;
      q[r * T::deep + c] = where[r] < 0 || c >= h.size ? 0 : (bits)E::narrow(
          rotated<E>(p.query, (first + r) * h.queries + query, c, where[r], h));
    }
    float sums[head_most / 8][4] = {}, most = MINUS_INFINITY, sum = 0.0f;  // most and sum of row threadIdx.x
    for (int from = 0; from <= last; from += T::keys) {
      __syncthreads();
      const u64 at = cached(sequence, from, head, h);
      const unsigned real = (unsigned)(last - from) + 1;
      copy_rows<E>(k, p.keys, at, h.keys * h.size, real, (unsigned)h.size, deep);
      copy_rows<E>(v, p.values, at, h.keys * h.size, real, (unsigned)h.size, deep);
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
      float x[T::keys];
      if (threadIdx.x < T::rows) {
        float greatest = most;
        for (unsigned j = 0; j < T::keys; j++) {
          x[j] = s[threadIdx.x * T::wide + j];
          greatest = x[j] > greatest ? x[j] : greatest;
        }
        const float less = greatest == MINUS_INFINITY ? 0.0f : exponential(most - greatest);
        shrink[threadIdx.x] = less;
        sum *= less;
        for (unsigned j = 0; j < T::keys; j++) {
          x[j] = x[j] == MINUS_INFINITY ? 0.0f : exponential(x[j] - greatest);
          sum += x[j];
        }
        most = greatest;
      }
      __syncthreads();  // all scores have been read
      if (threadIdx.x < T::rows) {
        for (unsigned j = 0; j < T::keys; j++) {
          ((bits *)s)[threadIdx.x * lds + j] = (bits)E::narrow(x[j]);
        }
      }
      __syncthreads();
#pragma unroll
      for (unsigned n = 0; n < head_most / 8; n++) {
        if (n * 8 < h.size) {
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
    if (threadIdx.x < T::rows) {
      shrink[threadIdx.x] = sum > 0.0f ? 1.0f / sum : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (unsigned n = 0; n < head_most / 8; n++) {
      for (unsigned j = 0; j < 4; j++) {
        const u64 row = warp + g + j / 2 * 8, column = n * 8 + 2 * t + j % 2;
        if (column < h.size && first + row < p.rows.count) {
          save<E>(p.dst, ((first + row) * h.queries + query) * h.size + column, sums[n][j] * shrink[row]);
        }
      }
    }
  }
}

// ----------------------------------------------------------------------------

struct last {
  u64 count, columns;
  const int *rows;  // -1: none
  const char *src, *weight;
  float *dst;
  float epsilon;
};

template <typename E>
DEVICE void last_of(const struct last &p)
{
  SHARED(float, sums, most_threads);
  each_item(i, p.count) {
    const u64 from = p.rows[i] < 0 ? 0 : (u64)p.rows[i] * p.columns;
    float squares = 0.0f;
    each_thread(e, p.columns) {
      const float x = load<E>(p.src, from + e);
      squares += x * x;
    }
    const float scale = 1.0f / square_root(sum_of_block(sums, squares) / (float)p.columns + p.epsilon);
    each_thread(e, p.columns) {
      p.dst[i * p.columns + e] = p.rows[i] < 0 ? 0.0f : load<E>(p.src, from + e) * scale * load<E>(p.weight, e);
    }
  }
}

// ----------------------------------------------------------------------------

struct pair { float logit; int token; };

DEVICE bool better(const struct pair &x, const struct pair &y)
{
  return x.logit > y.logit || (x.logit == y.logit && x.token < y.token);
}

struct best {
  u64 rows, columns, first, tokens;  // the first column's token, and how many columns are tokens
  const float *logits;
  struct pair *dst;
};

enum { best_threads = 256 };

DEVICE void best_of(const struct best &p)
{
  SHARED(struct pair, found, best_threads);
  each_item(row, p.rows) {
    struct pair mine = {MINUS_INFINITY, 0x7fffffff};
    each_thread(i, p.tokens) {
      const struct pair x = {p.logits[row * p.columns + i], (int)(p.first + i)};
      mine = better(x, mine) ? x : mine;
    }
    __syncthreads();
    found[threadIdx.x] = mine;
    for (unsigned half = best_threads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half && better(found[threadIdx.x + half], found[threadIdx.x])) {
        found[threadIdx.x] = found[threadIdx.x + half];
      }
    }
    if (threadIdx.x == 0) {
      p.dst[row] = found[0];
    }
  }
}

// ----------------------------------------------------------------------------

extern "C" {
__global__ void embed_bf16(const __grid_constant__ struct embed p) { embed_of<bf16>(p); }
__global__ void embed_fp32(const __grid_constant__ struct embed p) { embed_of<fp32>(p); }
__global__ void store_bf16(const __grid_constant__ struct store p) { store_of<bf16>(p); }
__global__ void store_fp32(const __grid_constant__ struct store p) { store_of<fp32>(p); }
__global__ void decode_bf16(const __grid_constant__ struct attend p) { decode_of<bf16>(p); }
__global__ void decode_fp32(const __grid_constant__ struct attend p) { decode_of<fp32>(p); }
__global__ void merge_bf16(const __grid_constant__ struct attend p) { merge_of<bf16>(p); }
__global__ void merge_fp32(const __grid_constant__ struct attend p) { merge_of<fp32>(p); }
__global__ void prefill_bf16(const __grid_constant__ struct attend p) { prefill_of<bf16>(p); }
__global__ void prefill_fp32(const __grid_constant__ struct attend p) { prefill_of<fp32>(p); }
__global__ void last_bf16(const __grid_constant__ struct last p) { last_of<bf16>(p); }
__global__ void last_fp32(const __grid_constant__ struct last p) { last_of<fp32>(p); }
__global__ void best(const __grid_constant__ struct best p) { best_of(p); }
}
