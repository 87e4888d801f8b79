// The decoder's kernels. A row is a token at a position of a sequence, or the token that an earlier step chose. The
// cache has the rotated key and the value of each sequence, position and head of keys of this rank.
//
//   embed    rows of the embedding, and their norm by the first layer's
//   gate     SwiGLU of a product that makes gates and what they let through
//   best     the greatest logit of each row on this rank, and of equal ones the lowest token
//   store    rotates keys, and puts keys and values into the cache
//   decode   stores keys and values, and is attention of rows of any sequences, over stretches of the context
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
#define MINUS_INFINITY __uint_as_float(0xff800000u)

enum { head_most = 128 };  // elements of a head

template <typename E>
DEVICE float load(const char *from, u64 i) { return E::widen(((const typename E::bits *)from)[i]); }

template <typename E>
DEVICE void save(char *to, u64 i, float x) { ((typename E::bits *)to)[i] = (typename E::bits)E::narrow(x); }

template <typename T>
DEVICE T greater(T x, T y) { return x > y ? x : y; }

struct row { int token, sequence, position; };  // -1 - n for a token: the choice of row n % 65536 of slot n / 65536
struct pair { float logit; int token; };

// params are sizes and memory of the rank, the rows of a step, and of attention a layer's memory. Query head q of this
// rank reads head (q + offset) / group of its keys.
struct params {
  u64 count;  // rows
  const struct row *rows;
  u64 hidden;
  const char *embedding, *norm;
  char *x, *normed;
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
  u64 stretches;
  float *parts;  // [count, queries, stretches, 2 + size]
  u64 width;     // of the MLP
  const char *gates;  // [count, 2, width]
  char *gated;        // [count, width]
  float scale, epsilon;
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

template <typename E>
DEVICE void embed_of(const struct params &p)
{
  SHARED(float, sums, most_threads);
  each_item(i, p.count) {
    const u64 from = token(p, p.rows[i].token) * p.hidden, to = i * p.hidden;
    float squares = 0.0f;
    each_thread(e, p.hidden) {
      const float x = load<E>(p.embedding, from + e);
      save<E>(p.x, to + e, x);
      squares += x * x;
    }
    const float scale = 1.0f / square_root(sum_of_block(sums, squares) / (float)p.hidden + p.epsilon);
    each_thread(e, p.hidden) {
      save<E>(p.normed, to + e, load<E>(p.embedding, from + e) * scale * load<E>(p.norm, e));
    }
  }
}

template <typename E>
DEVICE void gate_of(const struct params &p)
{
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < p.count * p.width; i += gridDim.x * (u64)blockDim.x) {
    const u64 from = i / p.width * 2 * p.width + i % p.width;
    const float x = load<E>(p.gates, from);
    save<E>(p.gated, i, x / (1.0f + exponential(-x)) * load<E>(p.gates, from + p.width));
  }
}

template <typename E>
DEVICE void best_of(const struct params &p)
{
  enum { threads = 1024 };
  SHARED(struct pair, found, threads);
  each_item(i, p.count) {
    struct pair mine = {MINUS_INFINITY, (int)p.first};
#pragma unroll 4
    for (u64 e = 4 * threadIdx.x; e < p.tokens; e += 4 * threads) {
      const uint4 bits = *(const uint4 *)(p.logits + i * p.columns + e);
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
      p.best[i] = found[0];
    }
  }
}

// ----------------------------------------------------------------------------
// Attention.

// rotated is element i of the head that begins at an element, turned by its position: elements half a head apart are a
// pair.
template <typename E>
DEVICE float rotated(const char *from, u64 head, u64 i, u64 position, const struct params &p)
{
  const u64 half = p.size / 2, pair = i % half;
  const float *const turn = p.angles + (position * half + pair) * 2;
  const float x = load<E>(from, head + pair), y = load<E>(from, head + pair + half);
  return i < half ? x * turn[0] - y * turn[1] : y * turn[0] + x * turn[1];
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

// ---------------------------------------------------------------------------- attend takes R queries that read one
// head of keys of a sequence, and the keys by tiles. For prefill they are rows of one query head. For decode they are
// the query heads of a row, so that each key and value is read once, and the keys are a stretch of the context. Its
// result for a stretch is the greatest score, the sum of the exponentials, and the weighted sum of the values. A warp
// has 16 queries; its threads have the elements of products as mma.sync spreads them.

enum { stretch = 128 };

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

// part_of is the place of decode's result for a query head of a row and a stretch.
DEVICE float *part_of(const struct params &p, u64 query, u64 part)
{
  return p.parts + (query * p.stretches + part) * (2 + p.size);
}

// first_query is the first query head of this rank that reads a head of keys or a later one.
DEVICE u64 first_query(const struct params &p, u64 head)
{
  const u64 query = head * p.group > p.offset ? head * p.group - p.offset : 0;
  return query < p.queries ? query : p.queries;
}

template <typename E, unsigned R, bool split>
DEVICE void attend(const struct params &p)
{
  typedef typename E::bits bits;
  enum { tile = 64 / sizeof(bits), threads = 2 * R };  // keys of a tile
  enum { unit = 16 / sizeof(bits), units = head_most / unit, batch = split ? 8 : 4 };
  enum { deep_most = head_most + 8, wide = tile + 4, lds = wide * 4 / sizeof(bits) };  // elements from row to row
  SHARED(uint4, queries, R * deep_most / unit);
  SHARED(uint4, keys, tile * deep_most / unit);
  SHARED(uint4, values, tile * deep_most / unit);
  bits *const q = (bits *)queries, *const k = (bits *)keys, *const v = (bits *)values;
  SHARED(float, s, R * wide);  // scores, then their exponentials in the tensors' type
  SHARED(float, shrink, R);    // factor of a query's sums so far, at the end 1 / sum
  SHARED(int, where, R);       // its position; -1: there is none
  const unsigned thread = threadIdx.x, warp = thread / 32 * 16, g = thread % 32 / 4, t = thread % 4;
  const unsigned size = (unsigned)p.size, deep = (size + 15) / 16 * 16;
  const unsigned heads = (unsigned)(split ? p.keys : p.queries);
  const unsigned tiles = (unsigned)(split ? p.count : (p.count + R - 1) / R);
  each_item(i, heads * tiles * (split ? p.stretches : 1)) {
    const unsigned item = (unsigned)i, one = item % heads, part = item / heads / tiles;
    const u64 first = item / heads % tiles * (split ? 1 : R);
    const u64 head = split ? one : (one + p.offset) / p.group, query = split ? first_query(p, head) : one;
    const u64 base = first * p.queries + query, step = split ? 1 : p.queries;  // of query heads of rows
    const u64 from = first * p.wide_query + query * p.size, apart = split ? p.size : p.wide_query;  // their elements
    const int begin = (int)(part * stretch), sequence = p.rows[first].sequence;
    if (split && (begin > p.rows[first].position || query >= first_query(p, head + 1))) {
      continue;
    }
    __syncthreads();
    if (thread < R) {
      const u64 row = split ? first : first + thread;
      const bool is = split ? query + thread < first_query(p, head + 1)
                            : row < p.count && p.rows[row].sequence == sequence;
      where[thread] = is ? p.rows[row].position : -1;
    }
    __syncthreads();
    int last = 0;
    for (unsigned r = 0; r < R; r++) {
      last = greater(where[r], last);
    }
    if (split && last < begin + stretch) {
      store<E>(p, first, head);
    }
    last = split && last >= begin + stretch ? begin + stretch - 1 : last;
    for (unsigned e = thread; e < R * head_most; e += 8 * threads) {
      bits x[8];  // all are loaded, then all are stored: so the loads are on their way at once
      for (unsigned j = 0; j < 8; j++) {
        const unsigned r = (e + j * threads) / head_most, c = (e + j * threads) % head_most;
        x[j] = where[r] < 0 || c >= size ? 0 : (bits)E::narrow(rotated<E>(p.query, from + r * apart, c, where[r], p));
      }
      for (unsigned j = 0; j < 8; j++) {
        q[(e + j * threads) / head_most * deep_most + (e + j * threads) % head_most] = x[j];
      }
    }
    float sums[head_most / 8][4] = {}, most = MINUS_INFINITY, sum = 0.0f;  // most and sum of row threadIdx.x
    for (int at = begin; at <= last; at += tile) {
      __syncthreads();
      for (unsigned e = thread; e < tile * units; e += batch * threads) {
        uint4 x[batch] = {}, y[batch] = {};
        for (unsigned j = 0; j < batch; j++) {
          const unsigned r = (e + j * threads) / units, c = (e + j * threads) % units * unit;
          const u64 byte = (cached(sequence, at + r, head, p) + c) * sizeof(bits);
          if (at + (int)r <= last && c < size) {
            x[j] = *(const uint4 *)(p.cache_keys + byte);
            y[j] = *(const uint4 *)(p.cache_values + byte);
          }
        }
        for (unsigned j = 0; j < batch; j++) {
          const unsigned to = (e + j * threads) / units * deep_most + (e + j * threads) % units * unit;
          *(uint4 *)(k + to) = x[j];
          *(uint4 *)(v + to) = y[j];
        }
      }
      __syncthreads();
      for (unsigned n = 0; n < tile; n += 8) {
        float c[4] = {};
        for (unsigned e = 0; e < deep; e += 16) {
          multiply(E(), c, q + warp * deep_most + e, deep_most, k + n * deep_most + e, 1, deep_most);
        }
        for (unsigned j = 0; j < 4; j++) {
          const unsigned row = warp + g + j / 2 * 8, column = n + 2 * t + j % 2;
          s[row * wide + column] = at + (int)column <= where[row] ? c[j] * p.scale : MINUS_INFINITY;
        }
      }
      __syncthreads();
      if (thread < R) {
        float x[tile], greatest = most;
        for (unsigned j = 0; j < tile; j++) {
          x[j] = s[thread * wide + j];
          greatest = greater(x[j], greatest);
        }
        const float less = greatest == MINUS_INFINITY ? 0.0f : greatest;
        shrink[thread] = exponential(most - less);
        sum *= shrink[thread];
        for (unsigned j = 0; j < tile; j++) {
          x[j] = exponential(x[j] - less);
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
          for (unsigned e = 0; e < tile; e += 16) {
            multiply(E(), sums[n], (const bits *)s + warp * lds + e, lds, v + e * deep_most + n * 8, deep_most, 1);
          }
        }
      }
    }
    __syncthreads();
    if (thread < R) {
      shrink[thread] = split ? 1.0f : sum > 0.0f ? 1.0f / sum : 0.0f;
      if (split && where[thread] >= 0) {
        part_of(p, base + thread, part)[0] = most;
        part_of(p, base + thread, part)[1] = sum;
      }
    }
    __syncthreads();
#pragma unroll
    for (unsigned n = 0; n < head_most / 8; n++) {
      for (unsigned j = 0; j < 4; j++) {
        const unsigned row = warp + g + j / 2 * 8, column = n * 8 + 2 * t + j % 2;
        const float x = sums[n][j] * shrink[row];
        if (split && column < size && where[row] >= 0) {
          part_of(p, base + row, part)[2 + column] = x;
        } else if (!split && column < size && first + row < p.count) {
          save<E>(p.to, (base + row * step) * size + column, x);
        }
      }
    }
  }
}

template <typename E>
DEVICE void prefill_of(const struct params &p) { attend<E, 128 / sizeof(typename E::bits), false>(p); }

template <typename E>
DEVICE void decode_of(const struct params &p) { attend<E, 16, true>(p); }

template <typename E>
DEVICE void merge_of(const struct params &p)
{
  each_item(i, p.count * p.queries) {
    const float *const parts = part_of(p, i, 0);
    const u64 n = p.rows[i / p.queries].position / stretch + 1, size = 2 + p.size;
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

#define KERNELS(X) X(embed) X(gate) X(best) X(store) X(decode) X(merge) X(prefill)

#define KERNEL(name) \
  __global__ void name##_bf16(const __grid_constant__ struct params p) { name##_of<bf16>(p); } \
  __global__ void name##_fp32(const __grid_constant__ struct params p) { name##_of<fp32>(p); }

extern "C" { KERNELS(KERNEL) }
