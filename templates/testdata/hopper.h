// Hopper's instructions on the host, by the text of the kernels: their inline PTX as calls of functions that are named
// by the mnemonics. Each thread is a fiber. Copies of boxes arrive late, and read and write late where nothing holds
// their thread; what is stored in one way is not seen in the other one before a fence.
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "numbers.h"

#define __fadd_rn(a, b) ((a) + (b))
#define __fsub_rn(a, b) ((a) - (b))
#define __fmul_rn(a, b) ((a) * (b))
#define __fdiv_rn(a, b) ((a) / (b))
#define __fsqrt_rn(a) sqrtf(a)

struct Dim { unsigned x, y, z; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
static Dim threadIdx, blockIdx, blockDim, gridDim;

// chance begins with a seed, by which copies arrive in another order.
static unsigned long long chance = getenv("OVGEN_SEED") == nullptr ? 1 : strtoull(getenv("OVGEN_SEED"), nullptr, 10);
static unsigned below(unsigned n)
{
  chance = chance * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(chance >> 33) % n;
}

[[noreturn]] static void fault(const char *what)
{
  printf("block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, what);
  fflush(stdout);
  _Exit(1);
}

// ----------------------------------------------------------------------------
// Memory of all ranks that boxes are copied from and to, as it is and as copies see it

static std::vector<char> arena(16 << 20);
static size_t arena_used;
typedef std::shared_ptr<const std::vector<char>> View;

static char *room(size_t bytes)
{
  char *const at = &arena[arena_used];
  arena_used = (arena_used + bytes + 127) / 128 * 128;
  if (arena_used > arena.size()) {
    fault("the tensors do not fit");
  }
  return at;
}

static View view() { return std::make_shared<std::vector<char>>(arena.begin(), arena.begin() + arena_used); }

// ----------------------------------------------------------------------------
// Blocks and threads

enum { stack_bytes = 256 << 10, shared_base = 1024, shared_bytes = 232448 };

// A barrier that threads and bytes arrive at.
struct Mbarrier {
  int arrivals, pending;
  long bytes;
  unsigned phase;
  bool shown, async;  // to the cluster, and to copies
  void look()
  {
    if (pending == 0 && bytes == 0) {
      pending = arrivals;
      phase++;
    }
  }
};

struct Meeting { unsigned here, turn; };

// What the lanes of a warp give each other, in turns.
struct Warp {
  Meeting all;
  struct { unsigned x[4], at; } given[2][32];
  std::vector<std::function<void()>> stored;  // in other blocks, by its lanes
};

struct Block {
  std::vector<char> generic, async;  // shared memory as threads and as copies see it
  std::map<unsigned, Mbarrier> barriers;
  Meeting named[16];
  Warp warps[32];
  unsigned left;
};

struct Launch {
  unsigned cluster, threads, left;
  unsigned slow;  // a warp that is held up, of all blocks'
  std::vector<Block> blocks;
  std::vector<Meeting> clusters;
  View start;  // memory as it was before
  const Launch *before;  // which it may start ahead of the end of, if any
  std::vector<std::function<void()>> late;  // copies that nothing has waited for
};

struct Written { unsigned at; char bytes[16]; };
typedef float Widen(unsigned bits);
struct Product { float *d; unsigned long long a, b; unsigned columns; Widen *widen; };

// A copy to a box of a tensor: first it has read, then it has written.
struct Store { unsigned long long to[5]; unsigned from, column, row, shard; bool read; std::vector<char> box; };

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  std::function<void()> run;
  std::function<bool()> ready;
  bool over;
  unsigned until;  // the turn that it waits for, or 0
  unsigned met;  // the turn of its cluster's meeting when it arrived
  Launch *launch;
  Block *block;
  unsigned thread, of, grid;
  View sees;
  std::vector<Written> stored;
  std::vector<std::shared_ptr<Store>> stores;
  unsigned open;  // of its stores, no group yet
  std::vector<Product> products;
  std::vector<std::vector<Product>> groups;
  bool multiplies;
};

static std::vector<std::unique_ptr<Fiber>> fibers;
static Fiber *me;
static ucontext_t scheduler;
static std::vector<std::function<void()>> flights;

static void here(Fiber *f)
{
  me = f;
  threadIdx = {f->thread, 0, 0};
  blockIdx = {f->of, 0, 0};
  blockDim = {f->launch->threads, 1, 1};
  gridDim = {f->grid, 1, 1};
}

template <typename Ready>
static void await(Ready ready)
{
  if (!ready()) {
    Fiber *const f = me;
    f->ready = ready;
    swapcontext(&f->context, &scheduler);
  }
}

static unsigned turns, paused;

// Lets others have a few turns.
static void pause_here(unsigned most = 40)
{
  Fiber *const f = me;
  f->until = turns + 1 + below(most);
  paused++;
  await([f] { return turns >= f->until; });
  f->until = 0;
  paused--;
}

static void join(Meeting &m, unsigned threads, bool stays = true)
{
  const unsigned turn = m.turn;
  if (++m.here == threads) {
    m.here = 0;
    m.turn++;
  } else if (stays) {
    await([&m, turn] { return m.turn != turn; });
  }
}

static Block &block_of_cluster(unsigned rank)
{
  Block &b = me->launch->blocks[me->of / me->launch->cluster * me->launch->cluster + rank];
  if (b.left == 0) {
    fault("a block of the cluster is gone");
  }
  return b;
}

static Mbarrier &barrier_at(Block &b, unsigned at)
{
  const auto found = b.barriers.find(at);
  if (found == b.barriers.end()) {
    fault("there is no barrier");
  }
  return found->second;
}

static void arrive_at(Block &b, unsigned at)
{
  Mbarrier &m = barrier_at(b, at);
  if (&b != me->block && !m.shown) {
    fault("a barrier that the cluster does not see");
  }
  if (m.pending-- == 0) {
    fault("too many arrive at a barrier");
  }
  m.look();
}

static char *of_shared(std::vector<char> &v, unsigned at, unsigned bytes)
{
  if (at < shared_base || at + bytes > shared_base + shared_bytes) {
    fault("an address outside of shared memory");
  }
  return &v[at - shared_base];
}

static unsigned swizzled(unsigned at) { return at ^ (at >> 7 & 7) << 4; }

// ----------------------------------------------------------------------------
// Threads

#define __global__ static
#define __device__
#define __shared__ __attribute__((weak))
#define __align__(bytes)
#define __forceinline__ inline __attribute__((always_inline, unused))
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __threadfence_system()
#define __cvta_generic_to_shared(p) ((void)(p), shared_base)
#define __float_as_uint(x) same_bits<unsigned>(static_cast<float>(x))
#define __uint_as_float(x) same_bits<float>(static_cast<unsigned>(x))
#define HERE [[maybe_unused]] static
#define sreg_cluster_ctarank (me->of % me->launch->cluster)

template <typename To, typename From>
static To same_bits(From from)
{
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

HERE void __syncthreads() { join(me->block->named[0], me->launch->threads); }

// What the lanes give each other, once all of them are here.
static auto &given(unsigned at, const unsigned (&x)[4])
{
  Warp &w = me->block->warps[me->thread / 32];
  auto &all = w.given[w.all.turn % 2];
  auto &own = all[me->thread % 32];
  own.at = at;
  memcpy(own.x, x, sizeof x);
  join(w.all, 32);
  return all;
}

HERE void __syncwarp() { given(0, {}); }
HERE unsigned __shfl_sync(unsigned, unsigned x, int lane) { return given(0, {x})[lane].x[0]; }

// ----------------------------------------------------------------------------
// Words and numbers

HERE void ptx_ld_acquire_sys_u32(unsigned &out, const unsigned *word)
{
  if (*word != 1) {
    await([word] { return *word == 1; });
  }
  out = *word;
}
HERE void ptx_st_release_sys_u32(unsigned *word, unsigned value)
{
  *word = value;
  pause_here();
}
HERE void __nanosleep(unsigned) { pause_here(); }
HERE void ptx_st_relaxed_sys_u32(unsigned *word, unsigned value) { *word = value; }
HERE void ptx_atom_acq_rel_gpu_inc_u32(unsigned &old, unsigned *word, unsigned last)
{
  old = *word;
  *word = old >= last ? 0 : old + 1;
}

static unsigned bfloat(float x)
{
  const unsigned bits = same_bits<unsigned>(x);
  return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
HERE void ptx_cvt_rn_bf16_f32(unsigned short &out, float x) { out = (unsigned short)bfloat(x); }
HERE void ptx_cvt_rn_bf16x2_f32(unsigned &out, float high, float low) { out = bfloat(high) << 16 | bfloat(low); }

HERE float of_bf16(unsigned bits) { return same_bits<float>(bits << 16); }

// Of finite numbers; others become finite ones.
static unsigned half(float x) { return bits_of(2, rounded(2, x)); }
HERE void ptx_cvt_rn_f16_f32(unsigned short &out, float x) { out = (unsigned short)half(x); }
HERE void ptx_cvt_rn_f16x2_f32(unsigned &out, float high, float low) { out = half(high) << 16 | half(low); }
HERE float of_f16(unsigned bits)
{
  const float x = same_bits<float>((bits & 0x7fff) << 13) * 0x1p112f;
  return bits & 0x8000 ? -x : x;
}
HERE void ptx_cvt_f32_f16(float &out, unsigned short bits) { out = of_f16(bits); }

// ----------------------------------------------------------------------------
// Fences, barriers and clusters

HERE void ptx_fence_proxy_async_shared__cta()
{
  for (const Written &w : me->stored) {
    memcpy(of_shared(me->block->async, w.at, 16), w.bytes, 16);
  }
  me->stored.clear();
  for (auto &b : me->block->barriers) {
    b.second.async = true;
  }
}
HERE void ptx_fence_proxy_async()
{
  ptx_fence_proxy_async_shared__cta();
  me->sees = view();
}
HERE void ptx_fence_mbarrier_init_release_cluster()
{
  for (auto &b : me->block->barriers) {
    b.second.shown = true;
  }
}
HERE void ptx_mov_u32(unsigned &out, unsigned x) { out = x; }
HERE void ptx_setp_eq_u32(unsigned &out, unsigned a, unsigned b) { out = a == b; }
HERE void ptx_selp_u32(unsigned &out, unsigned a, unsigned b, unsigned p) { out = p ? a : b; }
HERE void ptx_mapa_shared__cluster_u32(unsigned &out, unsigned at, unsigned rank) { out = at | rank << 24; }
HERE void ptx_barrier_cluster_arrive_relaxed_aligned()
{
  Launch &l = *me->launch;
  Meeting &m = l.clusters[me->of / l.cluster];
  me->met = m.turn;
  join(m, l.cluster * l.threads, false);
}
HERE void ptx_griddepcontrol_wait()
{
  const Launch *const before = me->launch->before;
  if (before != nullptr) {
    await([before] { return before->left == 0; });
    me->sees = view();
  }
}
HERE void ptx_griddepcontrol_launch_dependents() {}
HERE void ptx_barrier_cluster_wait_aligned()
{
  const Launch &l = *me->launch;
  const Meeting &m = l.clusters[me->of / l.cluster];
  await([&m, met = me->met] { return m.turn != met; });
}
HERE void ptx_mbarrier_init_shared__cta_b64(unsigned at, unsigned arrivals)
{
  me->block->barriers[at] = {(int)arrivals, (int)arrivals, 0, 0, false, false};
}
HERE void ptx_mbarrier_arrive_expect_tx_shared__cta_b64(unsigned at, unsigned bytes)
{
  barrier_at(*me->block, at).bytes += bytes;
  arrive_at(*me->block, at);
}
HERE void ptx_mbarrier_arrive_shared__cluster_b64(unsigned at)
{
  arrive_at(block_of_cluster(at >> 24), at & 0xffffff);
}
HERE void ptx_mbarrier_try_wait_parity_shared__cta_b64(unsigned &over, unsigned at, unsigned parity)
{
  Mbarrier &m = barrier_at(*me->block, at);
  await([&m, parity] { return (m.phase & 1) != parity; });
  over = 1;
}

// Numbers that a thread stores in a block of the cluster land late, or with a release of its warp.
HERE void ptx_st_shared__cluster_v4_f32(unsigned at, float a, float b, float c, float d)
{
  Block *const to = &block_of_cluster(at >> 24);
  const std::array<float, 4> x = {a, b, c, d};
  const auto landed = std::make_shared<bool>(false);
  const auto land = [to, at, x, landed] {
    if (!*landed) {
      *landed = true;
      memcpy(of_shared(to->generic, at & 0xffffff, 16), x.data(), 16);
    }
  };
  flights.push_back(land);
  me->block->warps[me->thread / 32].stored.push_back(land);
}
HERE void ptx_mbarrier_arrive_release_cluster_shared__cluster_b64(unsigned at)
{
  auto &stored = me->block->warps[me->thread / 32].stored;
  for (const auto &land : stored) {
    land();
  }
  stored.clear();
  arrive_at(block_of_cluster(at >> 24), at & 0xffffff);
}
HERE void ptx_mbarrier_try_wait_parity_acquire_cluster_shared__cta_b64(unsigned &over, unsigned at, unsigned parity)
{
  ptx_mbarrier_try_wait_parity_shared__cta_b64(over, at, parity);
}
HERE void ptx_ld_shared_v4_f32(float &a, float &b, float &c, float &d, unsigned at)
{
  float x[4];
  memcpy(x, of_shared(me->block->generic, at, 16), 16);
  a = x[0], b = x[1], c = x[2], d = x[3];
}
HERE void ptx_bar_sync(unsigned number, unsigned threads) { join(me->block->named[number], threads); }
HERE void ptx_bar_arrive(unsigned number, unsigned threads) { join(me->block->named[number], threads, false); }
HERE void ptx_setmaxnreg_dec_sync_aligned_u32(unsigned) {}
HERE void ptx_setmaxnreg_inc_sync_aligned_u32(unsigned) {}

// ----------------------------------------------------------------------------
// Copies of boxes. A map is the tensor's address, shards, rows, columns, and the rows of a box, in one word each.

// Calls f with each unit of 16 bytes of a box: where it lies in the box, and in the tensor or nowhere.
template <typename Unit>
static void units(const unsigned long long (&map)[5], unsigned column, unsigned row, unsigned shard, Unit f)
{
  for (unsigned r = 0; r < map[4]; r++) {
    for (unsigned u = 0; u < 8; u++) {
      const bool in = shard < map[1] && row + r < map[2] && column + 8 * u < map[3];
      f(r * 128 + u * 16, in ? (char *)map[0] + ((shard * map[2] + row + r) * map[3] + column + 8 * u) * 2 : nullptr);
    }
  }
}

static void load(unsigned to, const void *from, unsigned column, unsigned row, unsigned shard, unsigned barrier,
                 unsigned mask)
{
  unsigned long long map[5];
  memcpy(map, from, sizeof map);
  const View sees = me->sees;
  std::vector<char> box(map[4] * 128);
  units(map, column, row, shard, [&](unsigned at, char *x) {
    if (x != nullptr) {
      memcpy(&box[at], &(*sees)[x - arena.data()], 16);
    }
  });
  if (to % 1024 != 0) {
    fault("a box that is not aligned");
  }
  Launch *const l = me->launch;
  for (unsigned rank = 0; rank < l->cluster; rank++) {
    if ((mask >> rank & 1) == 0) {
      continue;
    }
    Block *const b = &l->blocks[me->of / l->cluster * l->cluster + rank];
    flights.push_back([b, to, box, barrier] {
      Mbarrier &m = barrier_at(*b, barrier);
      if (b->left == 0 || !m.async) {
        fault("a copy arrives where none can");
      }
      for (unsigned at = 0; at < box.size(); at += 16) {
        memcpy(of_shared(b->generic, swizzled(to + at), 16), &box[at], 16);
        memcpy(of_shared(b->async, swizzled(to + at), 16), &box[at], 16);
      }
      m.bytes -= (long)box.size();
      m.look();
    });
  }
}

HERE void ptx_cp_async_bulk_tensor_3d_shared__cluster_global_mbarrier__complete_tx__bytes(
    unsigned to, const void *from, unsigned column, unsigned row, unsigned shard, unsigned barrier)
{
  load(to, from, column, row, shard, barrier, 1u << sreg_cluster_ctarank);
}
HERE void ptx_cp_async_bulk_tensor_3d_shared__cluster_global_mbarrier__complete_tx__bytes_L2__cache_hint(
    unsigned to, const void *from, unsigned column, unsigned row, unsigned shard, unsigned barrier, unsigned long long)
{
  load(to, from, column, row, shard, barrier, 1u << sreg_cluster_ctarank);
}
HERE void ptx_cp_async_bulk_tensor_3d_shared__cluster_global_mbarrier__complete_tx__bytes_multicast__cluster(
    unsigned to, const void *from, unsigned column, unsigned row, unsigned shard, unsigned barrier, unsigned mask)
{
  load(to, from, column, row, shard, barrier, mask);
}

static void read(Block &b, Store &s)
{
  if (!s.read) {
    s.read = true;
    s.box.resize(s.to[4] * 128);
    for (unsigned at = 0; at < s.box.size(); at += 16) {
      memcpy(&s.box[at], of_shared(b.async, swizzled(s.from + at), 16), 16);
    }
  }
}

static void write(Block &b, Store &s)
{
  read(b, s);
  units(s.to, s.column, s.row, s.shard, [&](unsigned at, char *x) {
    if (x != nullptr) {
      memcpy(x, &s.box[at], 16);
    }
  });
}

HERE void ptx_cp_async_bulk_tensor_3d_global_shared__cta_bulk_group(const void *to, unsigned column, unsigned row,
                                                                    unsigned shard, unsigned from)
{
  auto s = std::make_shared<Store>();
  memcpy(s->to, to, sizeof s->to);
  s->from = from, s->column = column, s->row = row, s->shard = shard;
  me->stores.push_back(s);
  me->open++;
}
HERE void ptx_cp_async_bulk_commit_group()
{
  if (me->open != 1) {
    fault("a group is not of one copy");
  }
  me->open = 0;
}
HERE void ptx_cp_async_bulk_wait_group_read(unsigned left)
{
  for (size_t i = 0; i + left + me->open < me->stores.size(); i++) {
    read(*me->block, *me->stores[i]);
  }
}
HERE void ptx_cp_async_bulk_wait_group(unsigned left)
{
  while (me->stores.size() > left + me->open) {
    write(*me->block, *me->stores[0]);
    me->stores.erase(me->stores.begin());
  }
}

// ----------------------------------------------------------------------------
// What warps and warpgroups do together

// Holds up the launch's slow warp, by its first lane.
static void hold_up()
{
  if (me->of * me->launch->threads + me->thread == 32 * me->launch->slow) {
    pause_here(below(2) == 0 ? 1000 : 40);
  }
}

HERE void ptx_stmatrix_sync_aligned_m8n8_x4_shared_b16(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d)
{
  const unsigned lane = me->thread % 32;
  const auto &all = given(to, {a, b, c, d});
  Written w = {to, {}};
  for (unsigned i = 0; i < 4; i++) {
    memcpy(w.bytes + 4 * i, &all[lane % 8 * 4 + i].x[lane / 8], 4);
  }
  memcpy(of_shared(me->block->generic, to, 16), w.bytes, 16);
  me->stored.push_back(w);
}

HERE void ptx_ldmatrix_sync_aligned_m8n8_x4_shared_b16(unsigned &a, unsigned &b, unsigned &c, unsigned &d,
                                                       unsigned from)
{
  hold_up();
  const unsigned lane = me->thread % 32;
  const auto &all = given(from, {});
  unsigned *const x[4] = {&a, &b, &c, &d};
  for (unsigned i = 0; i < 4; i++) {
    memcpy(x[i], of_shared(me->block->generic, all[8 * i + lane / 4].at, 16) + lane % 4 * 4, 4);
  }
}

HERE void ptx_wgmma_fence_sync_aligned() { me->multiplies = true; }
HERE void ptx_wgmma_commit_group_sync_aligned()
{
  me->groups.push_back(std::move(me->products));
  me->products.clear();
  me->multiplies = false;
}

// 16 elements of a row of an operand.
static void row_of(float (&to)[16], unsigned long long operand, unsigned row, Widen *widen)
{
  if (operand >> 62 != 1 || (operand >> 16 & 0x3fff) != 1) {
    fault("an operand that is not swizzled by 128 bytes");
  }
  const unsigned at = (unsigned)(operand & 0x3fff) << 4, apart = (unsigned)(operand >> 32 & 0x3fff) << 4;
  for (unsigned half = 0; half < 2; half++) {
    unsigned short bits[8];
    memcpy(bits, of_shared(me->block->async, swizzled(at + row / 8 * apart + row % 8 * 128 + half * 16), 16), 16);
    for (unsigned i = 0; i < 8; i++) {
      to[half * 8 + i] = widen(bits[i]);
    }
  }
}

static void multiply_now(const Product &p)
{
  const unsigned warp = me->thread % 128 / 32, lane = me->thread % 32;
  float a[2][16], b[16];
  for (unsigned h = 0; h < 2; h++) {
    row_of(a[h], p.a, warp * 16 + lane / 4 + 8 * h, p.widen);
  }
  for (unsigned column = lane % 4 * 2; column < p.columns; column += column % 2 == 0 ? 1 : 7) {
    row_of(b, p.b, column, p.widen);
    for (unsigned h = 0; h < 2; h++) {
      float sum = 0;
      for (unsigned k = 0; k < 16; k++) {
        sum += a[h][k] * b[k];
      }
      p.d[column / 8 * 4 + 2 * h + column % 2] += sum;
    }
  }
}

// A warp waits for its own part of a product: the other warps of its warpgroup may still read the operands.
HERE void ptx_wgmma_wait_group_sync_aligned(unsigned left)
{
  hold_up();
  while (me->groups.size() > left) {
    for (const Product &p : me->groups[0]) {
      multiply_now(p);
    }
    me->groups.erase(me->groups.begin());
  }
  __syncwarp();
}

// The accumulators lie side by side; behind them are the operands.
template <unsigned columns, Widen *widen, typename... All>
static void ptx_wgmma(float &first, const All &...all)
{
  const auto rest = std::tie(all...);
  if (!me->multiplies) {
    fault("a product without a fence before it");
  }
  me->products.push_back({&first, std::get<columns / 2 - 1>(rest), std::get<columns / 2>(rest), columns, widen});
}

// ----------------------------------------------------------------------------
// Launches

static void fiber_main()
{
  Fiber *const f = me;
  f->run();
  f->over = true;
  Launch *const l = f->launch;
  Block *const b = f->block;
  for (const auto &s : f->stores) {
    l->late.push_back([b, s] { write(*b, *s); });
  }
  if (--b->left == 0) {
    std::fill(b->generic.begin(), b->generic.end(), (char)0xff);
    std::fill(b->async.begin(), b->async.end(), (char)0xff);
  }
  if (--l->left == 0) {
    for (const auto &late : l->late) {
      late();
    }
  }
  swapcontext(&f->context, &scheduler);
}

static std::shared_ptr<Launch> start(unsigned grid, unsigned cluster, unsigned threads, std::function<void()> kernel)
{
  auto l = std::make_shared<Launch>();
  l->cluster = cluster, l->threads = threads, l->left = grid * threads, l->slow = below(grid * threads / 32);
  l->blocks.resize(grid);
  l->clusters.resize(grid / cluster);
  l->start = view();
  l->before = nullptr;
  for (unsigned b = 0; b < grid; b++) {
    const unsigned from = turns + below(200);
    l->blocks[b] = {};
    l->blocks[b].generic.assign(shared_bytes, (char)0xff);
    l->blocks[b].async = l->blocks[b].generic;
    l->blocks[b].left = threads;
    for (unsigned t = 0; t < threads; t++) {
      auto f = std::make_unique<Fiber>();
      paused++;  // until its block is there
      f->run = [kernel] {
        paused--;
        me->until = 0;
        kernel();
      };
      f->ready = [from] { return turns >= from; };
      f->over = false, f->until = from, f->open = 0, f->multiplies = false;
      f->launch = l.get(), f->block = &l->blocks[b], f->thread = t, f->of = b, f->grid = grid;
      f->sees = l->start;
      f->stack.reset(new char[stack_bytes]);
      getcontext(&f->context);
      f->context.uc_stack.ss_sp = f->stack.get();
      f->context.uc_stack.ss_size = stack_bytes;
      f->context.uc_link = nullptr;
      makecontext(&f->context, fiber_main, 0);
      fibers.push_back(std::move(f));
    }
  }
  return l;
}

// Lets each thread that can go on; false where none can.
static bool turn()
{
  bool moved = false;
  turns++;
  const size_t n = fibers.size(), first = below((unsigned)n);
  for (size_t i = 0; i < n; i++) {
    Fiber *const f = fibers[(first + i) % n].get();
    if (f->over || !f->ready()) {
      continue;
    }
    moved = true;
    if (i % 32 != 0 || below(8) != 0) {  // else it is late
      here(f);
      swapcontext(&scheduler, &f->context);
    }
  }
  for (size_t i = flights.size(); i-- > 0;) {  // copies arrive in any order
    if (!moved || below(4) == 0) {
      const auto land = flights[i];
      flights.erase(flights.begin() + (long)i);
      land();
      moved = true;
    }
  }
  if (!moved && paused > 0) {  // nobody can go on before the next one has waited long enough
    unsigned next = ~0u;
    for (const auto &f : fibers) {
      if (!f->over && f->until != 0 && f->until < next) {
        next = f->until;
      }
    }
    turns = next - 1;
  }
  return moved || paused > 0;
}
