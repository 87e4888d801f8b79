// The kernels of llama.cu compiled for the host, where the simulator runs their threads.

#include <cstring>

namespace {

#include "../generated/device/host.h"
#include "llama.cu"

#define KERNEL(params, name) {#name, sizeof(struct params), thread<struct params, name>}

const Kernel kernels[] = {
    KERNEL(embed, embed_bf16), KERNEL(embed, embed_fp32), KERNEL(store, store_bf16), KERNEL(store, store_fp32),
    KERNEL(attend, decode_bf16), KERNEL(attend, decode_fp32), KERNEL(attend, merge_bf16), KERNEL(attend, merge_fp32),
    KERNEL(attend, prefill_bf16), KERNEL(attend, prefill_fp32), KERNEL(last, last_bf16), KERNEL(last, last_fp32),
    KERNEL(best, best), {},
};

}  // namespace

extern "C" const void *llama_kernels(const void *e)
{
  engine = static_cast<const Engine *>(e);
  return kernels;
}
