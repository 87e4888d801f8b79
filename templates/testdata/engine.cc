// The kernels of a test for the simulator's engine.
#include "check_host.cc"
