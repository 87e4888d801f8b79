// The engine of the simulator. A thread of a kernel runs on a fiber until it has to wait, for a
// word or for the rest of its block; the threads after it get other fibers. A launch's seed picks
// how many of its blocks are there at a time, which thread goes on when, and where the launch
// pauses for the other ranks. The orderings of PTX become the host processor's and are not tested
// here.

#include "engine.h"

#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// ----------------------------------------------------------------------------
// Launches

namespace {

typedef ovgen_dim Dim;

// One launch runs at a time, under this lock. Fibers may go on on another thread of the host, so
// the built-in variables can't be thread-local.
std::mutex running;
int live;

// The part that packages see: the built-in variables say which thread runs.
extern ovgen_engine engine;

struct Launch;
struct Block;

// Where a stack goes on. The compiler's own jumps keep as little as that takes, and go from stack to stack.
typedef void *Place[5];

__attribute__((noipa, noreturn)) void go(Place &to) { __builtin_longjmp(to, 1); }

// What a fiber waits for. Those of a launch lie side by side: they are looked at most.
struct Wait {
  enum { idle, spinning, at_barrier, paused, failed } state;
  unsigned barrier;      // that the fiber has come to
  const unsigned *word;  // on which it spins, or the block's count of barriers
};

// A stack on which threads run, one after another.
struct Fiber {
  Launch *launch;
  size_t number;              // in the launch
  unsigned long long thread;  // that it runs
  unsigned long long index;   // of the thread in its block
  Block *block;               // of that thread
  Dim in, of;                 // where the thread is in its block, and the block in the grid
  const unsigned *seen;       // the word that the thread looked at last and that was not 1
  bool begun;
  Place here;        // where it goes on
  ucontext_t first;  // where it starts
  char *stack;
};

struct Block {
  std::map<const void *, std::vector<unsigned long long>> shared;  // its memory, by the declaration
  unsigned arrived;   // threads at the current barrier
  unsigned finished;  // threads that have returned
  unsigned barrier;   // barriers that have opened
};

struct Launch {
  void (*thread)(const void *params);      // of the kernel
  std::vector<unsigned long long> params;  // aligned for any struct of parameters
  Dim grid, block;
  unsigned long long threads;  // of a block
  unsigned long long next;     // thread to start
  unsigned long long total;
  unsigned long long seed;
  unsigned long long first;  // thread of a block that starts first
  unsigned resident;         // blocks that are there at a time, at most
  unsigned there;            // blocks that have started and not finished
  std::vector<Block> blocks;
  std::vector<Fiber *> fibers, idle;
  std::vector<Wait> waits;  // of the fibers
  Fiber *current;
  unsigned *written;  // the word after which the launch pauses; null: it does not
  unsigned long long sent;  // packets so far, four at a time
  std::string fault;  // of a call; empty: none
  Place host;
};

const size_t stack_bytes = 64 << 10;
Launch *current;

// A number below n, the next of the launch's seed.
unsigned pick(Launch *l, unsigned n)
{
  l->seed = l->seed * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<unsigned>(l->seed >> 33) % n;
}

// Gives fiber f a thread to run.
void take(Launch *l, Fiber *f, unsigned long long thread)
{
  const auto at = [](unsigned long long i, Dim n) -> Dim {
    if (i < n.x) {
      return {unsigned(i), 0, 0};
    }
    return {unsigned(i % n.x), unsigned(i / n.x % n.y), unsigned(i / n.x / n.y)};
  };
  f->thread = thread;
  f->block = &l->blocks[thread / l->threads];
  f->index = (thread + l->first) % l->threads;
  f->in = at(f->index, l->block);
  f->of = at(thread / l->threads, l->grid);
}

// Sets the built-in variables of the thread of fiber f.
void place(const Fiber *f)
{
  engine.threadIdx = f->in;
  engine.blockIdx = f->of;
}

// Opens the block's barrier when every thread that has not returned is there.
void open_barrier(Launch *l, Block *b)
{
  if (b->arrived > 0 && b->arrived + b->finished == l->threads) {
    b->arrived = 0;
    b->barrier++;
  }
}

// Whether the next thread may start: its block is there, or there is room for it.
bool room(Launch *l) { return l->next < l->total && (l->next % l->threads != 0 || l->there < l->resident); }

// Lets fiber f run until it leaves. Its first steps apart, no switch asks the kernel of the
// host for anything, as swapcontext does for the mask of signals.
__attribute__((noipa)) void enter(Launch *l, Fiber *f)
{
  l->current = f;
  if (__builtin_setjmp(l->host) != 0) {
    return;
  }
  if (f->begun) {
    go(f->here);
  }
  f->begun = true;
  setcontext(&f->first);
}

// Goes from fiber f back to who entered it, until f is entered again.
__attribute__((noipa)) void leave(Fiber *f, Wait until)
{
  f->launch->waits[f->number] = until;
  if (__builtin_setjmp(f->here) == 0) {
    go(f->launch->host);
  }
}

// Runs threads of one block until one has to wait or none is left.
void run_threads()
{
  Launch *l = current;
  Fiber *f = l->current;
  do {
    take(l, f, l->next++);
    f->seen = nullptr;
    l->there += f->thread % l->threads == 0;
    place(f);
    l->thread(l->params.data());
    Block *b = f->block;
    b->finished++;
    if (b->finished == l->threads) {
      l->there--;
      b->shared.clear();
    }
    open_barrier(l, b);
  } while (l->next % l->threads != 0);
  l->idle.push_back(f);
  leave(f, {Wait::idle, 0, nullptr});
}

// A fiber that has run out of threads ends here, and starts here when there are more.
void fiber_main()
{
  for (;;) {
    run_threads();
  }
}

// Idle fibers of launches that are gone.
std::vector<Fiber *> spare;
const size_t most_spare = 4096;

Fiber *new_fiber(Launch *l)
{
  Fiber *f;
  if (spare.empty()) {
    f = new Fiber();
    f->stack = static_cast<char *>(malloc(stack_bytes));
    getcontext(&f->first);
    f->first.uc_stack.ss_sp = f->stack;
    f->first.uc_stack.ss_size = stack_bytes;
    f->first.uc_link = nullptr;
    makecontext(&f->first, fiber_main, 0);
  } else {
    f = spare.back();
    spare.pop_back();
  }
  f->launch = l;
  f->number = l->fibers.size();
  l->fibers.push_back(f);
  l->waits.push_back({});
  return f;
}

void free_fiber(Fiber *f)
{
  if (f->launch->waits[f->number].state == Wait::idle && spare.size() < most_spare) {
    spare.push_back(f);
    return;
  }
  free(f->stack);
  delete f;
}

bool ready(const Wait &w)
{
  switch (w.state) {
  case Wait::spinning:
    return __atomic_load_n(w.word, __ATOMIC_ACQUIRE) != 0;
  case Wait::at_barrier:
    return *w.word != w.barrier;
  default:
    return w.state == Wait::paused;
  }
}

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
