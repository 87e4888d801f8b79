// Products of e4m3 by kernels of tiles as packages have them for 16 bits, to be timed beside cuBLASLt's: C = A Bᵀ of
// [rows, depth] and [columns, depth], by scales of rows, or by those of blocks of 128 along the depth and of squares of
// B. Tensor cores keep few digits of sums of eight bits, so sums are promoted: threads add the numbers of a stage,
// which is 128 deep, in fp32. A fast kernel leaves them in the tensor cores.
//
// A block makes tiles of 128 rows, one after another. Of its first warpgroup one thread copies operands to a ring of
// stages; the other two multiply 64 rows each. Two codes are an element of 16 bits for the copies.
//
// Launch: a block for each multiprocessor, of 384 threads.

#include "../../templates/device/ptx.h"
#include "../../templates/device/bf16.h"
#include "../../templates/device/fp16.h"
#include "../../templates/device/tiles.h"
#include "../../templates/device/hopper.h"
#include "../../templates/device/product.h"

struct tiles {
  struct Map a, b, c;
  const float *a_scales;  // of [rows], or of [depth / 128, rows]
  const float *b_scales;  // of [columns], or of [columns / 128, depth / 128]
  u64 rows, depth, columns;
};

enum { by_rows, by_blocks };

// multiply adds the product of 64 rows, and of twice as many columns as d has numbers, 32 codes deep, to d, or to 0.
//PRODUCTS

template <unsigned columns, unsigned ring, unsigned scales, bool promotes>
struct tiles_code {
  enum {
    wide = columns, stages = ring,
    a_bytes = tall * deep * 2, b_bytes = wide * deep * 2, stage_bytes = a_bytes + b_bytes,
    sweep = 2048 / tall,  // tiles, one below the other, that share what the cache holds of B
  };

  DEVICE unsigned tiles_of(const struct tiles &p)
  {
    return ((unsigned)p.rows + tall - 1) / tall * (((unsigned)p.columns + wide - 1) / wide);
  }

  DEVICE struct Tile tile_at(const struct tiles &p, unsigned i)
  {
    const unsigned high = ((unsigned)p.rows + tall - 1) / tall, across = ((unsigned)p.columns + wide - 1) / wide;
    const unsigned first = i / (sweep * across) * sweep, at = i - first * across;
    const unsigned band = high - first < sweep ? high - first : (unsigned)sweep;
    return {0, 0, (first + at % band) * tall, at / band * wide};
  }

  // produce is the thread that copies the operands of all tiles of the block.
  DEVICE void produce(const struct tiles &p, const struct Memory &m, unsigned steps)
  {
    struct Ring<stages> at = {};
    for (unsigned i = blockIdx.x; i < tiles_of(p); i += gridDim.x) {
      const struct Tile tile = tile_at(p, i);
      for (unsigned k = 0; k < steps; k++) {
        const unsigned to = m.ring + at.stage * stage_bytes, full = m.full + 8 * at.stage;
        barrier_wait(m.empty + 8 * at.stage, at.round ^ 1);
        barrier_expect(full, stage_bytes);
        load_box(to, &p.a, full, k * deep, tile.row, 0);
        load_box(to + a_bytes, &p.b, full, k * deep, tile.column, 0);
        at.next();
      }
    }
  }

  // scale_of is the scale of a row in a block of columns, of rows that there are.
  DEVICE float scale_of(const struct tiles &p, unsigned k, unsigned row)
  {
    return row < (unsigned)p.rows ? p.a_scales[k * (unsigned)p.rows + row] : 0.0f;
  }

  // consume is a warpgroup that multiplies and stores 64 rows of each tile.
  DEVICE void consume(const struct tiles &p, const struct Memory &m, unsigned steps)
  {
    const unsigned half = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
    struct Ring<stages> at = {};
    unsigned turn = 0;
    for (unsigned i = blockIdx.x; i < tiles_of(p); i += gridDim.x) {
      struct Tile tile = tile_at(p, i);
      tile.row += half * 64;
      const unsigned row = tile.row + thread / 32 * 16 + thread % 32 / 4;  // and the one 8 below
      float d[wide / 2], sums[promotes ? wide / 2 : 1];
#pragma unroll
      for (unsigned j = 0; j < wide / 2; j++) {
        d[j] = 0.0f;
        sums[promotes ? j : 0] = 0.0f;
      }
      unsigned before = 0;
      for (unsigned k = 0; k < steps; k++) {
        float upper = 1.0f, lower = 1.0f;
        if (scales == by_blocks) {
          const float square = p.b_scales[tile.column / 128 * steps + k];
          upper = scale_of(p, k, row) * square;
          lower = scale_of(p, k, row + 8) * square;
        }
        barrier_wait(m.full + 8 * at.stage, at.round);
        const unsigned a = m.ring + at.stage * stage_bytes + half * (64 * deep * 2);
        const unsigned b = m.ring + at.stage * stage_bytes + a_bytes;
        multiply_begin();
#pragma unroll
        for (unsigned j = 0; j < 4; j++) {
          multiply(d, operand(a + j * 32), operand(b + j * 32), !promotes || j > 0);
        }
        multiply_end();
        if (promotes) {
          multiplied<0>();
          if (thread % 32 == 0) {
            barrier_arrive(m.empty + 8 * at.stage, 0);
          }
#pragma unroll
          for (unsigned j = 0; j < wide / 2; j++) {
            asm volatile("" : "+f"(d[j]));  // the numbers are final from here on
            sums[promotes ? j : 0] += scales == by_blocks ? d[j] * (j / 2 % 2 == 0 ? upper : lower) : d[j];
          }
        } else {
          multiplied<1>();
          if (k > 0 && thread % 32 == 0) {
            barrier_arrive(m.empty + 8 * before, 0);
          }
        }
        before = at.stage;
        at.next();
      }
      if (!promotes) {
        multiplied<0>();
        if (thread % 32 == 0) {
          barrier_arrive(m.empty + 8 * before, 0);
        }
      }
#pragma unroll
      for (unsigned j = 0; j < wide / 2; j++) {
        asm volatile("" : "+f"(d[j]));
        d[j] = promotes ? sums[promotes ? j : 0] : d[j];
      }
      if (scales == by_rows) {
        const float upper = scale_of(p, 0, row), lower = scale_of(p, 0, row + 8);
#pragma unroll
        for (unsigned j = 0; j < wide / 2; j += 4) {
          const unsigned column = tile.column + 2 * j + thread % 4 * 2;
          const bool there = column < (unsigned)p.columns;
          const float first = there ? p.b_scales[column] : 0.0f, second = there ? p.b_scales[column + 1] : 0.0f;
          d[j] = d[j] * upper * first;
          d[j + 1] = d[j + 1] * upper * second;
          d[j + 2] = d[j + 2] * lower * first;
          d[j + 3] = d[j + 3] * lower * second;
        }
      }
      store<bf16, 1, false>(&p.c, 0, d, tile, m.box + half * box_bytes, box_bytes, false, turn);
    }
    if (thread == 0) {
      boxes_left<0>();
    }
  }

  DEVICE void run(const struct tiles &p)
  {
    const struct Memory m = memory_of_block(stages, stage_bytes, 1);
    const unsigned steps = (unsigned)p.depth / (2 * deep);
    if (threadIdx.x == 0) {
      init(m, stages, 8);  // warps multiply
    }
    __syncthreads();
    if (threadIdx.x < 128) {
      fewer_registers<40>();
      if (threadIdx.x == 0) {
        produce(p, m, steps);
      }
    } else {
      more_registers<232>();
      consume(p, m, steps);
    }
  }
};

extern "C" {
__global__ void BLOCK(384) rows_promoted(const __grid_constant__ struct tiles p)
{
  tiles_code<128, 6, by_rows, true>::run(p);
}
__global__ void BLOCK(384) rows_fast(const __grid_constant__ struct tiles p)
{
  tiles_code<256, 4, by_rows, false>::run(p);
}
__global__ void BLOCK(384) blocks_promoted(const __grid_constant__ struct tiles p)
{
  tiles_code<128, 6, by_blocks, true>::run(p);
}
}
