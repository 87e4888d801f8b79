// A test of the kernels as they are in the .cu, their inline PTX included, with a thread of
// the host for each of theirs and random delays, under ThreadSanitizer. The arguments are a
// seed for the delays and kernels; without any, it is of all.
#include <thread>

#include "order.h"

#include "kernels.cc"

using namespace right;

#define ON_THREADS
#include "ranks.h"

// How long no thread may write a word before they all wait for ever.
enum { patience = 15 };

static std::atomic<unsigned> numbered;  // blocks

// A thread of the host that runs one thread of each launch of its rank. They live as long as
// the process, since ThreadSanitizer gives the number of a thread that is gone to another and
// takes the two for one. Each has a lock of its own, so that none orders two of them.
struct Worker {
  std::mutex lock;
  std::condition_variable changed;
  std::function<void()> job;

  Worker()
  {
    std::thread([this] {
      for (;;) {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [this] { return job != nullptr; });
        const std::function<void()> now = job;
        held.unlock();
        now();
        held.lock();
        job = nullptr;
        changed.notify_all();
      }
    }).detach();
  }

  void start(std::function<void()> f)
  {
    std::lock_guard<std::mutex> held(lock);
    job = f;
    changed.notify_all();
  }

  void finish()
  {
    std::unique_lock<std::mutex> held(lock);
    changed.wait(held, [this] { return job == nullptr; });
  }
};

// The workers of a block, which the rank's thread makes as it needs them.
typedef std::vector<Worker *> Workers;
static Workers workers[ranks][blocks];

static void run(const Entry &kernel, const Step &s, unsigned device, unsigned seed)
{
  std::vector<Team> teams(s.blocks), warps(s.blocks * s.width / warp);
  for (Team &t : warps) {
    t.left = warp;
  }
  for (unsigned b = 0; b < s.blocks; b++) {
    teams[b].left = s.width;
    const unsigned block = 1 + numbered.fetch_add(1, std::memory_order_relaxed);
    for (unsigned t = 0; t < s.width; t++) {
      if (t == workers[device][b].size()) {
        workers[device][b].push_back(new Worker);
      }
      workers[device][b][t]->start([&kernel, &s, &teams, &warps, b, t, block, device, seed] {
        gridDim = {s.blocks, 1, 1};
        blockDim = {s.width, 1, 1};
        blockIdx = {b, 0, 0};
        threadIdx = {t, 0, 0};
        here = {device, block};
        team = &teams[b];
        together = &warps[(b * s.width + t) / warp];
        chance = seed * 1000003ull + block * 101 + t;
        fenced = 0;
        unseen.clear();
        delay();
        begins();
        kernel.thread(s.params.data());
        ends();
        progress.fetch_add(1, std::memory_order_relaxed);
        team->leave();
        together->leave();
      });
    }
  }
  for (unsigned b = 0; b < s.blocks; b++) {
    for (unsigned t = 0; t < s.width; t++) {
      workers[device][b][t]->finish();
    }
  }
}

static void play(World &w, unsigned r, unsigned seed)
{
  for (const Step &s : w.of[r].steps) {
    if (s.kernel.empty()) {
      s.host();
      continue;
    }
    run(find(s.kernel.c_str()), s, r, seed);
  }
}

// Ends the process where nothing moves any more.
static void watch(const char *name)
{
  std::thread([name] {
    for (unsigned last = 0, still = 0; still < 10 * patience; still++) {
      usleep(100000);
      const unsigned now = progress.load(std::memory_order_relaxed);
      if (last != now) {
        last = now;
        still = 0;
      }
    }
    printf("%s: threads wait for ever\n", name);
    fflush(stdout);
    _exit(1);
  }).detach();
}

int main(int, char **args)
{
  const unsigned seed = (unsigned)atoi(args[1]);
  watch("the ranks");
  for (const Kind &k : kinds) {
    if (!named(k, args + 2) || failures > 0) {
      continue;
    }
    auto w = world(k);
    std::vector<std::thread> all;
    for (unsigned r = 0; r < ranks; r++) {
      all.emplace_back([&w, r, seed] { play(*w, r, seed); });
    }
    for (std::thread &t : all) {
      t.join();
    }
    ended(*w);
  }
  fflush(stdout);
  _exit(failures != 0);  // the workers wait for more
}
