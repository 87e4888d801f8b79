// The engine of the simulator. A thread of a kernel runs on a fiber until it has to wait, for a
// word or for the rest of its block; the threads after it get other fibers. A launch's seed picks
// how many of its blocks are there at a time, which thread goes on when, and where the launch
// pauses for the other ranks. The orderings of PTX become the host processor's and are not tested
// here.

#include "fibers.h"

#include <time.h>

#include <algorithm>
#include <cstring>

namespace {

// ----------------------------------------------------------------------------
// Calls of kernels

// A thread that looks again at a word that was not 1 spins on it.
unsigned load_acquire(const unsigned *word)
{
  Fiber *f = current->current;
  if (f->seen == word) {
    leave(f, {Wait::spinning, 0, word});
  }
  const unsigned value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  f->seen = value == 1 ? nullptr : word;
  return value;
}

// Lets others have a turn after a write: after every post, since the simulator takes in
// what a kernel did before it, and after every other reset.
void written(unsigned *word, unsigned value)
{
  Launch *l = current;
  if (value != 0 || pick(l, 2) == 0) {
    l->written = word;
    leave(l->current, {Wait::paused, 0, nullptr});
  }
}

void store_release(unsigned *word, unsigned value)
{
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  written(word, value);
}

void store_relaxed(unsigned *word, unsigned value)
{
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
  written(word, value);
}

// Of the packets of a block those of its first thread let others have a turn, for the simulator takes in what the
// block did before them, and some of the others.
void store_packets(unsigned *to, const unsigned *x)
{
  for (int i = 0; i < 4; i++) {
    __atomic_store_n(to + i, x[i], __ATOMIC_RELEASE);
  }
  Launch *l = current;
  l->sent += x[0] != 0;
  if (l->current->index == 0 || pick(l, 32) == 0) {
    written(to, x[0]);
  }
}

// A thread that looks again at packets of which one was not there spins on that one.
void load_packets(const unsigned *from, unsigned *x)
{
  Fiber *f = current->current;
  const auto missing = [&]() -> const unsigned * {
    const unsigned *first = nullptr;
    for (int i = 3; i >= 0; i--) {
      x[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
      first = x[i] == 0 ? from + i : first;
    }
    return first;
  };
  const unsigned *packet = missing();
  if (packet != nullptr && f->seen == packet) {
    leave(f, {Wait::spinning, 0, packet});
    packet = missing();
  }
  f->seen = packet;
}

void store_packet(unsigned *to, unsigned x)
{
  __atomic_store_n(to, x, __ATOMIC_RELEASE);
  current->sent += x != 0;
  written(to, x);
}

// A thread that looks again spins on the packet.
unsigned load_packet(const unsigned *from)
{
  Fiber *f = current->current;
  if (f->seen == from) {
    leave(f, {Wait::spinning, 0, from});
  }
  const unsigned x = __atomic_load_n(from, __ATOMIC_ACQUIRE);
  f->seen = x != 0 ? nullptr : from;
  return x;
}

unsigned *flag_of(const unsigned long long *beside)
{
  return const_cast<unsigned *>(reinterpret_cast<const unsigned *>(beside)) + 1;
}

void store_beside(unsigned long long *to, unsigned long long x)
{
  __atomic_store_n(to, x, __ATOMIC_RELEASE);
  current->sent += x >> 32 != 0;
  written(flag_of(to), static_cast<unsigned>(x >> 32));
}

// A thread that looks again spins on the flag.
unsigned long long load_beside(const unsigned long long *from)
{
  Fiber *f = current->current;
  const unsigned *const flag = flag_of(from);
  if (f->seen == flag) {
    leave(f, {Wait::spinning, 0, flag});
  }
  const unsigned long long x = __atomic_load_n(from, __ATOMIC_ACQUIRE);
  f->seen = x >> 32 != 0 ? nullptr : flag;
  return x;
}

unsigned increment(unsigned *word, unsigned last)
{
  const unsigned old = *word;
  *word = old >= last ? 0 : old + 1;
  return old;
}

void sync_threads()
{
  Launch *l = current;
  Fiber *f = l->current;
  Block *b = f->block;
  const unsigned barrier = b->barrier;
  b->arrived++;
  open_barrier(l, b);
  if (b->barrier == barrier) {
    leave(f, {Wait::at_barrier, barrier, &b->barrier});
  }
}

void *shared(const void *name, unsigned long long bytes)
{
  std::vector<unsigned long long> &words = current->current->block->shared[name];
  words.resize((bytes + 7) / 8, ~0ull);  // NaN until a thread writes it
  return words.data();
}

void outside(const char *call, const char *tensor, int writes, long long offset, unsigned long long bytes)
{
  current->fault = std::string("call ") + call + (writes ? " writes " : " reads ") + tensor + " at byte " +
                   std::to_string(offset) + " of " + std::to_string(bytes);
  leave(current->current, {Wait::failed, 0, nullptr});
}

unsigned long long globaltimer()
{
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

template <typename To, typename From>
To same_bits(From from)
{
  To to;
  static_assert(sizeof to == sizeof from, "sizes differ");
  memcpy(&to, &from, sizeof to);
  return to;
}

float half_to_float(unsigned bits)
{
  const unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, fraction = bits & 0x3ffu;
  if (exponent == 0) {
    return same_bits<float>(same_bits<unsigned>(fraction * 5.9604644775390625e-08f) | sign);
  }
  return same_bits<float>(sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13);
}

// To nearest, ties to even; NaN becomes the one that GPUs write.
unsigned float_to_half(float x)
{
  const unsigned all = same_bits<unsigned>(x), sign = all >> 16 & 0x8000u, bits = all & 0x7fffffffu;
  if (bits > 0x7f800000u) {
    return 0x7fffu;
  }
  if (bits >= 0x477ff000u) {  // halfway above the greatest
    return sign | 0x7c00u;
  }
  if (bits < 0x38800000u) {  // below 2^-14: floats from 0.5 on are as far apart as subnormals
    return sign | (same_bits<unsigned>(same_bits<float>(bits) + 0.5f) - 0x3f000000u);
  }
  return sign | (bits - 0x38000000u + 0xfffu + (bits >> 13 & 1u)) >> 13;
}

unsigned float_to_bfloat(float x)
{
  const unsigned bits = same_bits<unsigned>(x);
  return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

ovgen_engine engine = {
    {}, {}, {}, {}, sync_threads, half_to_float, float_to_half, float_to_bfloat, globaltimer,
    load_acquire, store_release, store_relaxed, increment, shared, store_packets, load_packets,
    store_packet, load_packet, store_beside, load_beside, outside,
};

// ----------------------------------------------------------------------------
// Turns

// Lets fibers go on that can, each at most once and some not at all; says whether any did.
bool let_go_on(Launch *l)
{
  bool moved = false;
  const size_t n = l->fibers.size(), from = n > 0 ? pick(l, n) : 0;
  for (size_t i = 0; i < n && l->written == nullptr && l->fault.empty(); i++) {
    const size_t at = from + i < n ? from + i : from + i - n;
    if (ready(l->waits[at]) && pick(l, 8) != 0) {
      Fiber *f = l->fibers[at];
      place(f);
      enter(l, f);
      moved = true;
    }
  }
  return moved;
}

// Starts threads of one block, most often all that have not started; says whether any did.
bool start_threads(Launch *l)
{
  bool moved = false;
  while (room(l) && l->written == nullptr && l->fault.empty() &&
         !(moved && (l->next % l->threads == 0 || pick(l, 64) == 0))) {
    Fiber *f;
    if (l->idle.empty()) {
      f = new_fiber(l);
    } else {
      f = l->idle.back();
      l->idle.pop_back();
    }
    enter(l, f);
    moved = true;
  }
  return moved;
}

}  // namespace

// ----------------------------------------------------------------------------
// Calls of the simulator

const ovgen_kernel *engine_load(void *kernels)
{
  return reinterpret_cast<const ovgen_kernel *(*)(const ovgen_engine *)>(kernels)(&engine);
}

void *engine_start(const ovgen_kernel *kernel, const void *params, const unsigned grid[3], const unsigned block[3],
                   unsigned long long seed)
{
  Launch *l = new Launch();
  l->thread = kernel->thread;
  l->params.resize((kernel->bytes + 7) / 8);
  if (kernel->bytes > 0) {
    memcpy(l->params.data(), params, kernel->bytes);
  }
  l->grid = {grid[0], grid[1], grid[2]};
  l->block = {block[0], block[1], block[2]};
  l->threads = 1ull * block[0] * block[1] * block[2];
  const unsigned long long blocks = 1ull * grid[0] * grid[1] * grid[2];
  l->total = l->threads * blocks;
  l->blocks.resize(blocks);
  l->seed = seed;
  l->resident = 1 + pick(l, 4);
  l->first = pick(l, l->threads);
  std::lock_guard<std::mutex> lock(running);
  live++;
  return l;
}

void engine_at_once(void *launch) { static_cast<Launch *>(launch)->resident = ~0u; }

int engine_resume(void *launch, unsigned long long *addr, unsigned *value)
{
  std::lock_guard<std::mutex> lock(running);
  Launch *l = static_cast<Launch *>(launch);
  current = l;
  engine.gridDim = l->grid;
  engine.blockDim = l->block;
  *addr = 0;
  *value = 1;
  for (bool more = true; more;) {
    more = pick(l, 2) == 0 && start_threads(l);
    if (l->written == nullptr) {
      more = let_go_on(l) || more;
    }
    if (!l->fault.empty()) {
      return 3;
    }
    if (l->written != nullptr) {
      *addr = reinterpret_cast<unsigned long long>(l->written);
      l->written = nullptr;
      return 2;
    }
    more = more || room(l) || std::any_of(l->waits.begin(), l->waits.end(), ready);
  }
  const Fiber *first = nullptr;
  int waiting = 0;
  for (const Fiber *f : l->fibers) {
    const Wait &w = l->waits[f->number];
    waiting |= w.state != Wait::idle;
    if (w.state == Wait::spinning && (first == nullptr || f->index < first->index)) {
      first = f;
    }
  }
  *addr = first != nullptr ? reinterpret_cast<unsigned long long>(l->waits[first->number].word) : 0;
  return waiting;
}

unsigned long long engine_sent(void *launch) { return static_cast<Launch *>(launch)->sent; }

const char *engine_fault(void *launch) { return static_cast<Launch *>(launch)->fault.c_str(); }

void engine_destroy(void *launch)
{
  std::lock_guard<std::mutex> lock(running);
  Launch *l = static_cast<Launch *>(launch);
  for (Fiber *f : l->fibers) {
    free_fiber(f);
  }
  delete l;
  live--;
}

int engine_live()
{
  std::lock_guard<std::mutex> lock(running);
  return live;
}
