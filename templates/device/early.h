// A launch that may start ahead of the end of the launch before it on its stream. Behind last_has_ended it sees all
// that launches before it have done. Until then it may read what none of them writes; it writes nothing, and does not
// end.

#ifdef OVGEN_HOST

// A host runs launches one after another.
DEVICE void last_has_ended() {}
DEVICE void next_may_start() {}

#else

DEVICE void last_has_ended() { asm volatile("griddepcontrol.wait;" : : : "memory"); }

// next_may_start lets the next launch start once all blocks of this one have said so.
DEVICE void next_may_start() { asm volatile("griddepcontrol.launch_dependents;" : : : "memory"); }

#endif

// start_early begins a launch that does nothing ahead of the end of the one before, but has its blocks there when that
// ends.
DEVICE void start_early()
{
  next_may_start();
  last_has_ended();
}
