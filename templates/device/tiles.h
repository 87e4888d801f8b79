// Kernels of tiles: what a GPU and a host have under one name. On a host loops stand for the tensor cores.

#ifdef OVGEN_HOST
#define OVGEN_LOOPS
#endif

// Puller is the place of a thread among those of its block that pull: so many threads in so many warps, each of which
// one thread leads.
struct Puller { unsigned index, count, warps; bool leads; };

#ifdef OVGEN_LOOPS

// Of structs; of kernels with clusters of blocks, and with blocks of so many threads that have a multiprocessor each.
#define ALIGNED(bytes)
#define CLUSTER(blocks)
#define BLOCK(threads)

// Each thread is a warp, and all but the first pull.
DEVICE struct Puller puller_of_block() { return {threadIdx.x - 1, blockDim.x - 1, blockDim.x - 1, true}; }
DEVICE void warp_meet() {}
DEVICE void copies_see() {}

#else

#define ALIGNED(bytes) alignas(bytes)
#define CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#define BLOCK(threads) __launch_bounds__(threads, 1)

// Of the first warpgroup, all but the first warp pull.
DEVICE struct Puller puller_of_block() { return {threadIdx.x - 32, 96, 3, threadIdx.x % 32 == 0}; }
DEVICE void warp_meet() { __syncwarp(); }

#endif

// Map is a CUtensorMap: where a tensor of [shards, rows, columns] lies, and the box of it that one copy moves.
struct ALIGNED(64) Map { u64 bits[16]; };
