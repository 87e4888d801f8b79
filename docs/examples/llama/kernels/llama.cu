// The decoder's kernels. A row is a token at a position of a sequence, or the token that an earlier step chose. The
// cache has the rotated key and the value of each sequence, position and head of keys of this rank.
//
//   embed    rows of the embedding, and their norm by the first layer's
//   gate     SwiGLU of a product that makes gates and what they let through
//   best     the greatest logit of each row on this rank, and of equal ones the lowest token
//   store    rotates keys, and puts keys and values into the cache
//   decode   stores keys and values, and is attention of rows of any sequences, over stretches of the context
//   prefill  attention of rows that follow each other in one sequence, by tiles
//
// Every kernel takes one struct by value, and does nothing by a struct of zeros. Grid and blocks have one dimension; a
// block takes items of work until none is left.

#include "../generated/device/ptx.h"
#include "../generated/device/bf16.h"
#include "../generated/device/fp32.h"
#include "../generated/device/blocksum.h"
#include "../generated/device/units.h"

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
  float *parts;     // [count, queries, most_stretches, 4 + size]
  unsigned *ended;  // [count, queries]: parts of a row's work that have ended; 0 between launches
  struct pair *found;  // [count, pieces]: the best of each piece of a row's logits
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

template <typename E>
DEVICE void embed_of(const struct params &p)
{
  SHARED(float, sums, most_threads);
  const unsigned n = together(p.hidden);
  each_item(i, p.count) {
    const u64 from = token(p, p.rows[i].token) * p.hidden, to = i * p.hidden;
    float squares = 0.0f;
    each_thread(at, p.hidden / n) {
      const unit<E> v = load_some<E>(p.embedding, from + at * n, n);
      save_some(p.x, to + at * n, n, v);
      for (unsigned k = 0; k < 8; k++) {
        squares += element(v, k) * element(v, k);
      }
    }
    const float scale = 1.0f / square_root(sum_of_block(sums, squares) / (float)p.hidden + p.epsilon);
    each_thread(at, p.hidden / n) {
      const unit<E> v = load_some<E>(p.embedding, from + at * n, n), w = load_some<E>(p.norm, at * n, n);
      unit<E> y = {};
      for (unsigned k = 0; k < 8; k++) {
        set_element(y, k, E::narrow(element(v, k) * scale * element(w, k)));
      }
      save_some(p.normed, to + at * n, n, y);
    }
  }
}

template <typename E>
DEVICE void gate_of(const struct params &p)
{
  const unsigned n = together(p.width);
  const u64 units = p.width / n;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < p.count * units; i += gridDim.x * (u64)blockDim.x) {
    const u64 from = i / units * 2 * p.width + i % units * n;
    const unit<E> x = load_some<E>(p.gates, from, n), y = load_some<E>(p.gates, from + p.width, n);
    unit<E> z = {};
    for (unsigned k = 0; k < 8; k++) {
      set_element(z, k, E::narrow(element(x, k) / (1.0f + exponential(-element(x, k))) * element(y, k)));
    }
    save_some(p.gated, i * n, n, z);
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

// ----------------------------------------------------------------------------
// prefill takes R rows of a query head in one sequence, and their keys by tiles. A warp has 16 rows; its threads have
// the elements of products as mma.sync spreads them.

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
DEVICE void prefill_of(const struct params &p)
{
  typedef typename E::bits bits;
  enum { R = 128 / sizeof(bits), tile = 64 / sizeof(bits), threads = 2 * R };  // keys of a tile
  enum { unit = 16 / sizeof(bits), units = head_most / unit, batch = 4 };
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
  each_item(i, (p.count + R - 1) / R * p.queries) {
    const unsigned query = (unsigned)i % (unsigned)p.queries, first = (unsigned)i / (unsigned)p.queries * R;
    const u64 head = (query + p.offset) / p.group, from = first * p.wide_query + query * p.size;
    const int sequence = p.rows[first].sequence;
    __syncthreads();
    if (thread < R) {
      const u64 row = first + thread;
      where[thread] = row < p.count && p.rows[row].sequence == sequence ? p.rows[row].position : -1;
    }
    __syncthreads();
    int last = 0;
    for (unsigned r = 0; r < R; r++) {
      last = greater(where[r], last);
    }
    for (unsigned e = thread; e < R * head_most; e += 8 * threads) {
      bits x[8];  // all are loaded, then all are stored: so the loads are on their way at once
      for (unsigned j = 0; j < 8; j++) {
        const unsigned r = (e + j * threads) / head_most, c = (e + j * threads) % head_most;
        x[j] = where[r] < 0 || c >= size
          ? 0 : (bits)E::narrow(rotated<E>(p.query, from + r * p.wide_query, c, where[r], p));
      }
      for (unsigned j = 0; j < 8; j++) {
        q[(e + j * threads) / head_most * deep_most + (e + j * threads) % head_most] = x[j];
      }
    }
    float sums[head_most / 8][4] = {}, most = MINUS_INFINITY, sum = 0.0f;  // most and sum of row threadIdx.x
    for (int at = 0; at <= last; at += tile) {
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
      shrink[thread] = sum > 0.0f ? 1.0f / sum : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (unsigned n = 0; n < head_most / 8; n++) {
      for (unsigned j = 0; j < 4; j++) {
        const unsigned row = warp + g + j / 2 * 8, column = n * 8 + 2 * t + j % 2;
        if (column < size && first + row < p.count) {
          save<E>(p.to, ((first + row) * p.queries + query) * size + column, sums[n][j] * shrink[row]);
        }
      }
    }
  }
}

// ----------------------------------------------------------------------------
// decode takes at most 8 query heads of a row that read one head of keys, so that each key and value is read once. The
// warps of a block share out the positions of a stretch by tiles of 16, and read them from the cache into the registers
// that a product wants: in the operands of mma.sync thread 4g+t of a warp has elements 2t, 2t+1, 2t+8 and 2t+9 of what
// is summed over, but their order is free. So for scores it has 8 elements side by side of a key, for two products, and
// for results 8 elements side by side of the values of four positions, for eight. What the next tile needs is loaded as
// soon as its registers are free.
//
// The block whose stretch of a row and head ends last joins the stretches.

enum { few_queries = 8, decode_tile = 16, decode_warps = 4, decode_threads = 32 * decode_warps };
enum { most_stretches = 8, least_stretch = 128 };
enum { deep_query = head_most + 8, deep_sum = 4 + head_most, deep_weight = decode_tile + 2 };  // from row to row

// stretch_of is the length of a row's stretches. They depend on its position alone: so do the bits of its result.
DEVICE int stretch_of(int position)
{
  const int step = decode_warps * decode_tile;
  return greater(position / most_stretches / step * step + step, (int)least_stretch);
}

// part_of is the place of the result of a query head of a row for a stretch: the greatest score, the sum of the
// exponentials, and behind two more the weighted sum of the values.
DEVICE float *part_of(const struct params &p, u64 query, u64 part)
{
  return p.parts + (query * most_stretches + part) * (4 + p.size);
}

// first_query is the first query head of this rank that reads a head of keys or a later one.
DEVICE u64 first_query(const struct params &p, u64 head)
{
  const u64 query = head * p.group > p.offset ? head * p.group - p.offset : 0;
  return query < p.queries ? query : p.queries;
}

// two elements, which lie in one register where they have 16 bits.
template <typename E>
struct alignas(2 * sizeof(typename E::bits)) two { typename E::bits x, y; };

template <typename E>
DEVICE struct two<E> two_of(const unit<E> &v, unsigned k) { return {bits_of(v, k), bits_of(v, k + 1)}; }

// multiply adds to c, elements (g, 2t), (g, 2t+1), (g+8, 2t) and (g+8, 2t+1) of a [16, 8], the product of a [16, 16]
// and b [16, 8]. Threads exchange them in memory of the block.
template <typename E>
DEVICE void multiply(float (&c)[4], const two<E> (&a)[4], const two<E> (&b)[2])
{
  SHARED(struct two<E>, all, decode_threads * 6);
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  struct two<E> *const mine = all + threadIdx.x * 6, *const warp = all + threadIdx.x / 32 * 32 * 6;
  __syncwarp();  // all have read the operands before
  for (unsigned i = 0; i < 6; i++) {
    mine[i] = i < 4 ? a[i] : b[i - 4];
  }
  __syncwarp();
  for (unsigned i = 0; i < 4; i++) {
#pragma unroll 1
    for (unsigned k = 0; k < 8; k++) {
      const struct two<E> x = warp[(g * 4 + k % 4) * 6 + k / 4 * 2 + i / 2];
      const struct two<E> y = warp[((2 * t + i % 2) * 4 + k % 4) * 6 + 4 + k / 4];
      c[i] += E::widen(x.x) * E::widen(y.x) + E::widen(x.y) * E::widen(y.y);
    }
  }
}

#ifdef OVGEN_HOST

// across is x of the thread whose number differs in a bit.
DEVICE float across(float x, unsigned bit)
{
  SHARED(float, all, decode_threads);
  __syncwarp();
  all[threadIdx.x] = x;
  __syncwarp();
  return all[threadIdx.x ^ bit];
}

#else

DEVICE float across(float x, unsigned bit) { return __shfl_xor_sync(~0u, x, bit); }

DEVICE unsigned word(const two<bf16> &v) { return v.x | (unsigned)v.y << 16; }

DEVICE void multiply(float (&c)[4], const two<bf16> (&a)[4], const two<bf16> (&b)[2])
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(word(a[0])), "r"(word(a[1])), "r"(word(a[2])), "r"(word(a[3])), "r"(word(b[0])), "r"(word(b[1])));
}

#endif

// load_cached loads n units of 8 elements of a position of a head from an element on, so far apart; zeros where there
// are none. wide leads from position to position.
template <typename E, unsigned n, unsigned apart>
DEVICE void load_cached(unit<E> (&v)[n], const char *head, unsigned wide, unsigned size, unsigned first, int position,
                        int end)
{
  const u64 from = (unsigned)position * wide + first;
  for (unsigned i = 0; i < n; i++) {
    v[i] = position < end && first + i * apart < size ? load_unit<E>(head, from + i * apart) : unit<E>{};
  }
}

// load_keys loads the keys of a tile: of positions g and g+8 elements 32c+8t to 32c+8t+7.
template <typename E>
DEVICE void load_keys(unit<E> (&k)[2][4], const char *head, unsigned wide, unsigned size, int at, int end)
{
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned n = 0; n < 2; n++) {
    load_cached<E, 4, 32>(k[n], head, wide, size, t * 8, at + (int)(n * 8 + g), end);
  }
}

// load_values loads the values of a tile: of positions 2t, 2t+1, 2t+8 and 2t+9 elements 64h+8g to 64h+8g+7.
template <typename E>
DEVICE void load_values(unit<E> (&v)[4][2], const char *head, unsigned wide, unsigned size, int at, int end)
{
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned i = 0; i < 4; i++) {
    load_cached<E, 2, 64>(v[i], head, wide, size, g * 8, at + (int)(2 * t + i % 2 + i / 2 * 8), end);
  }
}

// look has a warp's queries look at its tiles of a stretch. Of queries 2t and 2t+1 a thread gets the greatest score,
// the sum of the exponentials, and sums, where element 64h+8g+e of query 2t+j is [e][2h+j].
template <typename E>
DEVICE void look(float (&sums)[8][4], float (&most)[2], float (&sum)[2], const typename E::bits *q,
                 const struct params &p, u64 cached, int begin, int end)
{
  typedef typename E::bits bits;
  SHARED(uint4, weights, decode_warps * few_queries * deep_weight * sizeof(bits) / 16);
  const unsigned warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  bits *const w = (bits *)weights + warp * few_queries * deep_weight;  // the exponentials by queries
  const int step = decode_warps * decode_tile, own = (int)warp * decode_tile;
  const char *const keys = p.cache_keys + cached * sizeof(bits), *const values = p.cache_values + cached * sizeof(bits);
  const unsigned size = (unsigned)p.size, wide = (unsigned)p.keys * size;
  unit<E> k[2][4], v[4][2];
  load_keys<E>(k, keys, wide, size, begin + own, end);
  load_values<E>(v, values, wide, size, begin + own, end);
  for (int at = begin + own; at - own < end; at += step) {
    float s[4] = {};  // of positions g and g+8
#pragma unroll
    for (unsigned c = 0; c < 4; c++) {
      const unit<E> x = load_unit<E>((const char *)q, g * deep_query + c * 32 + t * 8);
      for (unsigned e = 0; e < 8; e += 4) {
        const two<E> a[4] = {two_of(k[0][c], e), two_of(k[1][c], e), two_of(k[0][c], e + 2), two_of(k[1][c], e + 2)};
        const two<E> b[2] = {two_of(x, e), two_of(x, e + 2)};
        multiply(s, a, b);
      }
    }
    load_keys<E>(k, keys, wide, size, at + step, end);
    __syncwarp();  // all have read the exponentials before
    for (unsigned j = 0; j < 2; j++) {
      float x[2], greatest = most[j];
      for (unsigned i = 0; i < 2; i++) {
        x[i] = at + (int)(8 * i + g) < end ? s[2 * i + j] * p.scale : MINUS_INFINITY;
        greatest = greater(x[i], greatest);
      }
      for (unsigned bit = 4; bit < 32; bit *= 2) {
        greatest = greater(greatest, across(greatest, bit));
      }
      const float less = greatest == MINUS_INFINITY ? 0.0f : greatest, shrink = exponential(most[j] - less);
      most[j] = greatest;
      sum[j] *= shrink;
      for (unsigned i = 0; i < 2; i++) {
        const float weight = exponential(x[i] - less);
        sum[j] += weight;
        w[(2 * t + j) * deep_weight + 8 * i + g] = (bits)E::narrow(weight);
      }
      for (unsigned e = 0; e < 8; e++) {
        sums[e][j] *= shrink;
        sums[e][2 + j] *= shrink;
      }
    }
    __syncwarp();
    const two<E> b[2] = {*(const two<E> *)(w + g * deep_weight + 2 * t),
                         *(const two<E> *)(w + g * deep_weight + 2 * t + 8)};
#pragma unroll
    for (unsigned e = 0; e < 8; e++) {
      two<E> a[4];
      for (unsigned i = 0; i < 4; i++) {
        a[i] = {bits_of(v[i / 2 * 2][i % 2], e), bits_of(v[i / 2 * 2 + 1][i % 2], e)};
      }
      multiply(sums[e], a, b);
    }
    load_values<E>(v, values, wide, size, at + step, end);
  }
  for (unsigned j = 0; j < 2; j++) {
    for (unsigned bit = 4; bit < 32; bit *= 2) {
      sum[j] += across(sum[j], bit);
    }
  }
}

// join makes a row's result for a query head of what its stretches have.
template <typename E>
DEVICE void join(const struct params &p, u64 query, unsigned heads, unsigned stretches)
{
  const unsigned fours = (unsigned)p.size / 4;
  each_thread(e, heads * fours) {
    const unsigned c = (unsigned)e % fours * 4, one = (unsigned)e / fours;
    uint4 first[most_stretches] = {}, values[most_stretches] = {};
    for (unsigned i = 0; i < most_stretches; i++) {
      if (i < stretches) {
        first[i] = *(const uint4 *)part_of(p, query + one, i);
        values[i] = *(const uint4 *)(part_of(p, query + one, i) + 4 + c);
      }
    }
    float most = MINUS_INFINITY, sum = 0.0f, x[4] = {};
    for (unsigned i = 0; i < most_stretches; i++) {
      most = i < stretches ? greater(__uint_as_float(first[i].x), most) : most;
    }
    for (unsigned i = 0; i < most_stretches; i++) {
      const float weight = i < stretches ? exponential(__uint_as_float(first[i].x) - most) : 0.0f;
      const unsigned words[4] = {values[i].x, values[i].y, values[i].z, values[i].w};
      sum += weight * __uint_as_float(first[i].y);
      for (unsigned j = 0; j < 4; j++) {
        x[j] += weight * __uint_as_float(words[j]);
      }
    }
    for (unsigned j = 0; j < 4; j++) {
      save<E>(p.to, (query + one) * p.size + c + j, x[j] / sum);
    }
  }
}

// add_up adds up what the warps of a block have, in turn: all gets a row for each query head, as parts have it.
DEVICE void add_up(float *all, const float (&sums)[8][4], const float (&most)[2], const float (&sum)[2])
{
  SHARED(float, mosts, decode_warps * few_queries);
  const unsigned warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (unsigned j = 0; j < 2; j++) {
    mosts[warp * few_queries + 2 * t + j] = most[j];
  }
  __syncthreads();
  float shrink[2], greatest[2];
  for (unsigned j = 0; j < 2; j++) {
    greatest[j] = MINUS_INFINITY;
    for (unsigned w = 0; w < decode_warps; w++) {
      greatest[j] = greater(mosts[w * few_queries + 2 * t + j], greatest[j]);
    }
    shrink[j] = exponential(most[j] - greatest[j]);
  }
  for (unsigned w = 0; w < decode_warps; w++) {
    for (unsigned j = 0; w == warp && j < 2; j++) {
      float *const to = all + (2 * t + j) * deep_sum;
      if (g == 0) {
        to[0] = greatest[j];
        to[1] = (w > 0 ? to[1] : 0.0f) + sum[j] * shrink[j];
      }
      for (unsigned i = 0; i < 16; i++) {
        float &x = to[4 + i / 8 * 64 + g * 8 + i % 8];
        x = (w > 0 ? x : 0.0f) + sums[i % 8][i / 8 * 2 + j] * shrink[j];
      }
    }
    __syncthreads();
  }
}

// put_queries puts so many query heads of a row, rotated, into memory of the block. All are loaded, then all are
// stored: so the loads are on their way at once.
template <typename E>
DEVICE void put_queries(typename E::bits *q, const struct params &p, u64 from, unsigned heads, int position)
{
  const unsigned e = threadIdx.x;
  typename E::bits x[few_queries];
  for (unsigned r = 0; r < few_queries; r++) {
    x[r] = r < heads && e < p.size ? (typename E::bits)E::narrow(rotated<E>(p.query, from + r * p.size, e, position, p))
                                   : 0;
  }
  for (unsigned r = 0; r < few_queries; r++) {
    q[r * deep_query + e] = x[r];
  }
}

template <typename E>
DEVICE void decode_of(const struct params &p)
{
  SHARED(uint4, queries, few_queries * deep_query * sizeof(typename E::bits) / 16);
  SHARED(uint4, block, few_queries * deep_sum / 4);
  SHARED(unsigned, ends, 1);
  typename E::bits *const q = (typename E::bits *)queries;
  float *const all = (float *)block;
  const unsigned size = (unsigned)p.size, fews = ((unsigned)p.group + few_queries - 1) / few_queries;
  const unsigned each = (unsigned)p.keys * fews, most_items = (unsigned)p.count * each;  // of a row, of a stretch
  each_item(i, most_items * most_stretches) {
    const unsigned of = (unsigned)i % most_items / each, part = (unsigned)i / most_items;
    const unsigned head = (unsigned)i % each / fews, few = (unsigned)i % fews * few_queries;
    const struct row row = p.rows[of];
    const int stretch = stretch_of(row.position), stretches = row.position / stretch + 1, begin = (int)part * stretch;
    const int end = begin + stretch > row.position ? row.position + 1 : begin + stretch;
    const u64 query = first_query(p, head) + few, behind = first_query(p, head + 1), result = of * p.queries + query;
    if (begin > row.position || query >= behind) {
      continue;
    }
    const unsigned heads = behind - query < few_queries ? (unsigned)(behind - query) : few_queries;
    __syncthreads();
    if (end > row.position) {
      store<E>(p, of, head);
    }
    put_queries<E>(q, p, of * p.wide_query + query * size, heads, row.position);
    __syncthreads();
    float sums[8][4] = {}, most[2] = {MINUS_INFINITY, MINUS_INFINITY}, sum[2] = {};
    look<E>(sums, most, sum, q, p, cached(row.sequence, 0, head, p), begin, end);
    add_up(all, sums, most, sum);
    if (stretches == 1) {
      each_thread(e, heads * size) {
        const float *const from = all + e / size * deep_sum;
        save<E>(p.to, result * size + e, from[4 + e % size] / from[1]);
      }
      continue;
    }
    for (unsigned r = 0; r < heads; r++) {
      each_thread(e, 1 + size / 4) {
        ((uint4 *)part_of(p, result + r, part))[e] = block[r * (deep_sum / 4) + e];
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      ends[0] = increment(p.ended + result, stretches - 1) == (unsigned)stretches - 1;
    }
    __syncthreads();
    if (ends[0]) {
      join<E>(p, result, heads, stretches);
    }
  }
}

// ----------------------------------------------------------------------------

// Each with the threads of a block, and how many blocks of bf16's a multiprocessor has registers for at the same time.
#define KERNELS(X) X(embed, 512, 1) X(gate, 256, 1) X(best, 256, 1) X(store, 64, 1) X(decode, 128, 3) \
  X(prefill, 128, 1)

#define PARAMS const __grid_constant__ struct params p
#define KERNEL(name, threads, blocks) \
  __global__ void __launch_bounds__(threads, blocks) name##_bf16(PARAMS) { name##_of<bf16>(p); } \
  __global__ void __launch_bounds__(threads) name##_fp32(PARAMS) { name##_of<fp32>(p); }

extern "C" { KERNELS(KERNEL) }
