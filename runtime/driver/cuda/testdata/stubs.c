/* A libcuda that succeeds at everything and does nothing. Its functions are weak:
   answers.c defines the functions that the tests look at. */
#include "api.h"

#define STUB(name, version, suffix, params)                      \
  CUresult fake_##name params __asm__("cu" #name suffix);        \
  __attribute__((weak)) CUresult fake_##name params { return CUDA_SUCCESS; }
OVGEN_CUDA_REQUIRED(STUB)
