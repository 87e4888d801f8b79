// Launches of a stream that may start before the one before them has ended, with a thread of the host for each of
// theirs, under ThreadSanitizer.
#pragma once
#include "order.h"

// A launch with what its threads tell the next one: which blocks let it start, and how many of them have ended.
struct Launch {
  Launch *last;  // the one before it on its stream; null: there is none
  unsigned grid, width, warp;
  std::vector<Team> teams, warps;
  std::atomic<bool> lets[blocks] = {};
  std::atomic<unsigned> ended{0};
  char end;  // ThreadSanitizer keeps there what is before the end

  Launch(Launch *before, unsigned number, unsigned each, unsigned together)
      : last(before), grid(number), width(each), warp(together), teams(grid), warps((grid * width + warp - 1) / warp)
  {
    for (Team &t : teams) {
      t.left = width;
    }
    for (Team &t : warps) {
      t.left = warp;
    }
  }

  bool has_ended() const { return ended.load(std::memory_order_relaxed) == grid * width; }

  // Whether the next one may start early.
  bool lets_next() const
  {
    for (unsigned b = 0; b < grid; b++) {
      if (!lets[b].load(std::memory_order_relaxed)) {
        return has_ended();
      }
    }
    return true;
  }
};

static thread_local Launch *mine;

void ptx_griddepcontrol_launch_dependents()
{
  delay();
  mine->lets[blockIdx.x].store(true, std::memory_order_relaxed);
}

// The end of a launch is known to those that await it, and to nobody else.
void ptx_griddepcontrol_wait()
{
  if (mine->last != nullptr) {
    while (!mine->last->has_ended()) {
      usleep(1000);
    }
    __tsan_acquire(&mine->last->end);
  }
  begins();
  delay();
}

// A thread of a launch. One that does not start early starts when the launch before has ended.
template <typename Work>
static void thread_of(Launch &launch, Place place, unsigned block, unsigned thread, bool early, unsigned long long seed,
                      Work work)
{
  gridDim = {launch.grid, 1, 1};
  blockDim = {launch.width, 1, 1};
  blockIdx = {block, 0, 0};
  threadIdx = {thread, 0, 0};
  here = place;
  mine = &launch;
  team = &launch.teams[block];
  together = &launch.warps[(block * launch.width + thread) / launch.warp];
  chance = seed;
  fenced = before_launch = 0;
  unseen.clear();
  delay();
  if (!early) {
    ptx_griddepcontrol_wait();
  }
  work();
  ends();
  progress.fetch_add(1, std::memory_order_relaxed);
  team->leave();
  together->leave();
  __tsan_release(&launch.end);
  launch.ended.fetch_add(1, std::memory_order_relaxed);
}
