// The kernels of llama.cu compiled for the host, where the simulator runs their threads.

namespace {

#include "../../generated/device/host.h"
#include "../llama.cu"

#define ROW(name, ...) {#name "_bf16", sizeof(struct params), thread<struct params, name##_bf16>}, \
  {#name "_fp32", sizeof(struct params), thread<struct params, name##_fp32>},

const Kernel kernels[] = {KERNELS(ROW) {}};

}  // namespace

extern "C" const void *llama_kernels(const void *e)
{
  engine = static_cast<const Engine *>(e);
  return kernels;
}
