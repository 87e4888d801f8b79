// Kernels of tiles: what a GPU and a host have under one name. On a host loops stand for the tensor cores.

#ifdef OVGEN_HOST
#define OVGEN_LOOPS
#endif

// Of a tile: its rows, and how deep a stage of operands is.
enum { tall = 128, deep = 64 };

// Tile is a place in C: rows of a shard. Its rank is ahead ranks after this one.
struct Tile { unsigned ahead, shard, row, column; };

// Groups are those that a tile has parts of, one beside the other: the number and the column of the first, how many.
struct Groups { unsigned first, column, count; };

// Puller is a thread's place in a warp that pulls: which of its lanes, how many such warps its block has, and whether
// it is the one of its block that begins.
struct Puller { unsigned lane, lanes, of_block; bool begins; };

// piece_of is the bytes that a warp pulls at a time: its share, but not too few and not too many.
DEVICE u64 piece_of(u64 bytes, unsigned warps)
{
  const u64 least = 2048, most = 8192, part = (bytes / warps + least - 1) / least * least;
  return part < least ? least : part > most ? most : part;
}

#ifdef OVGEN_LOOPS

// Attributes of structs, and of kernels: clusters of blocks, and the threads of a block that is alone on a
// multiprocessor.
#define ALIGNED(bytes)
#define CLUSTER(blocks)
#define BLOCK(threads)

// Each thread is a warp, and all but the first pull.
DEVICE struct Puller puller_of_warp() { return {0, 1, blockDim.x - 1, threadIdx.x == 1}; }
DEVICE unsigned of_leader(unsigned x) { return x; }
DEVICE void warp_meet() {}
DEVICE void copies_see() {}

// number_of is an element of a product by one thread: of a row of A, and of one of B.
template <typename E>
DEVICE float number_of(const typename E::bits *a, const typename E::bits *b, u64 depth)
{
  float sum = 0.0f;
  for (u64 k = 0; k < depth; k++) {
    sum += E::widen(a[k]) * E::widen(b[k]);
  }
  return sum;
}

#else

#define ALIGNED(bytes) alignas(bytes)
#define CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#define BLOCK(threads) __launch_bounds__(threads, 1)

// Of the first warpgroup, all but the first warp pull.
DEVICE struct Puller puller_of_warp() { return {threadIdx.x % 32, 32, 3, threadIdx.x == 32}; }
DEVICE unsigned of_leader(unsigned x) { return __shfl_sync(~0u, x, 0); }
DEVICE void warp_meet() { __syncwarp(); }

#endif

// copy_units copies units of 16 bytes by a warp, four loads of a thread at once.
DEVICE void copy_units(uint4 *to, const uint4 *from, unsigned units, struct Puller warp)
{
  enum { at_once = 4 };
  for (unsigned i = warp.lane; i < units; i += at_once * warp.lanes) {
    uint4 v[at_once] = {};
    for (unsigned u = 0; u < at_once; u++) {
      if (i + u * warp.lanes < units) {
        v[u] = from[i + u * warp.lanes];
      }
    }
    for (unsigned u = 0; u < at_once; u++) {
      if (i + u * warp.lanes < units) {
        to[i + u * warp.lanes] = v[u];
      }
    }
  }
}

// Map is a CUtensorMap: where a tensor of [shards, rows, columns] lies, and the box of it that one copy moves. On a
// host it begins with the tensor's address.
struct ALIGNED(64) Map { u64 bits[16]; };
