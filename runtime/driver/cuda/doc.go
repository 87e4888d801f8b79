// Package cuda is the driver over libcuda.so.1 and cuBLASLt. It opens both with dlopen when they are first needed, so a
// binary with this package builds and starts on a machine that has neither, and no CUDA toolkit is needed.
//
// api.h declares the small part of CUDA that is used, under CUDA's names, with one table of function pointers; table.c
// fills it. calls.c has one small function for each method of the driver. It makes the context current on its thread,
// so a goroutine may call from any thread. blas.c opens cuBLASLt, and product.c makes products of it. rescale.cu is the
// kernel for scales of rows that cuBLASLt applies slowly. nvml.c asks NVML, where there is one, where NVLink's
// connections end. Calls that CUDA forbids during another thread's capture are made in relaxed capture mode, so that no
// call here disturbs a capture elsewhere.
//
// CUDA 12.4 (driver R550) or newer is needed. The package registers itself as "cuda"; in a build without cgo or for
// another system it answers with driver.ErrUnavailable.
package cuda
