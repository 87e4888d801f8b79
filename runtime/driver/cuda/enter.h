/* How a call begins, on any thread. */
#ifndef OVGEN_CUDA_ENTER_H
#define OVGEN_CUDA_ENTER_H

#include "api.h"

enum { NOT_SUPPORTED = 801 }; /* CUDA_ERROR_NOT_SUPPORTED: the driver has no such function */

/* Makes ctx current; asking first costs a third of setting it. */
static inline CUresult ovgen_enter(uintptr_t ctx) {
  CUcontext now;
  CUresult r = ovgen_cuda.CtxGetCurrent(&now);
  if (r != CUDA_SUCCESS || now == (CUcontext)ctx) return r;
  return ovgen_cuda.CtxSetCurrent((CUcontext)ctx);
}

/* The body of a function that makes one call in ctx. */
#define IN(ctx, call)                     \
  CUresult r = ovgen_enter(ctx);          \
  return r != CUDA_SUCCESS ? r : (call)

/* The same for a call that CUDA forbids while another thread captures: in relaxed
   mode it is allowed, and leaves that capture whole. */
#define RELAXED(ctx, call)                                         \
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;       \
  CUresult r = ovgen_enter(ctx);                                   \
  if (r != CUDA_SUCCESS) return r;                                 \
  r = ovgen_cuda.ThreadExchangeStreamCaptureMode(&mode);           \
  if (r != CUDA_SUCCESS) return r;                                 \
  r = (call);                                                      \
  ovgen_cuda.ThreadExchangeStreamCaptureMode(&mode);               \
  return r

#endif
