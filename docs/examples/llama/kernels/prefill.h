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

// A block's memory of the launch: its queries, and a tile of keys and of values.
#ifdef OVGEN_HOST
#define LAUNCHED(type, name, count) SHARED(type, name, count)
#else
#define LAUNCHED(type, name, count) extern __shared__ type name[]
#endif

template <typename E, unsigned head_most>
DEVICE void prefill_heads(const struct params &p)
{
  typedef typename E::bits bits;
  enum { R = 128 / sizeof(bits), tile = 64 / sizeof(bits), threads = 2 * R };  // keys of a tile
  enum { unit = 16 / sizeof(bits), units = head_most / unit, batch = 4 };
  enum { deep_most = head_most + 8, wide = tile + 4, lds = wide * 4 / sizeof(bits) };  // elements from row to row
  LAUNCHED(uint4, rows, (R + 2 * tile) * deep_most / unit);
  bits *const q = (bits *)rows, *const k = q + R * deep_most, *const v = k + tile * deep_most;
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
          s[row * wide + column] = at + (int)column <= where[row] ? score(c[j], p) : MINUS_INFINITY;
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

template <typename E>
DEVICE void prefill_of(const struct params &p) { prefill_heads<E, 128>(p); }

template <typename E>
DEVICE void prefillwide_of(const struct params &p) { prefill_heads<E, 256>(p); }
