// The kernel of sum.cu compiled for the host, where the simulator runs its threads.

namespace {

#include "../../../../generated/device/host.h"
#include "../sum.cu"

const Kernel kernels[] = {{"sum", sizeof(struct sum), thread<struct sum, sum>}, {}};

}  // namespace

extern "C" const void *peers_kernels(const void *e)
{
  engine = static_cast<const Engine *>(e);
  return kernels;
}
