//go:build cgo && !nosim

package sim

/*
typedef struct ovgen_sim_kernel {
	const char *name;
	void *(*start)(const void *params, const unsigned grid[3], const unsigned block[3], unsigned long long seed);
	int (*resume)(void *launch, unsigned long long *addr, unsigned *value);
	void (*destroy)(void *launch);
} ovgen_sim_kernel;

static void *kernel_start(const ovgen_sim_kernel *k, const void *params, const unsigned *grid, const unsigned *block, unsigned long long seed) {
	return k->start(params, grid, block, seed);
}

static int kernel_resume(const ovgen_sim_kernel *k, void *launch, unsigned long long *addr, unsigned *value) {
	return k->resume(launch, addr, value);
}

static void kernel_destroy(const ovgen_sim_kernel *k, void *launch) { k->destroy(launch); }
*/
import "C"

import "unsafe"

// hostKernel is a kernel that was compiled for the host.
type hostKernel struct{ c *C.ovgen_sim_kernel }

// kernelsRun is nil: this build can run them.
func kernelsRun() error { return nil }

// hostKernels are the kernels of a package's table by name.
func hostKernels(table unsafe.Pointer) map[string]*hostKernel {
	kernels := map[string]*hostKernel{}
	for k := (*C.ovgen_sim_kernel)(table); k.name != nil; k = (*C.ovgen_sim_kernel)(unsafe.Add(unsafe.Pointer(k), unsafe.Sizeof(*k))) {
		kernels[C.GoString(k.name)] = &hostKernel{k}
	}
	return kernels
}

// start begins a launch whose threads take turns by seed; params are as the kernel's C
// struct has them.
func (k *hostKernel) start(params unsafe.Pointer, grid, block *[3]uint32, seed uint64) unsafe.Pointer {
	return C.kernel_start(k.c, params, (*C.uint)(unsafe.Pointer(grid)), (*C.uint)(unsafe.Pointer(block)), C.ulonglong(seed))
}

// resume runs a launch until it is finished; until all its threads wait, the first of
// them for the word to be that value; or until it pauses behind having written the word.
func (k *hostKernel) resume(launch unsafe.Pointer, word *uint64, value *uint32) (state int) {
	return int(C.kernel_resume(k.c, launch, (*C.ulonglong)(unsafe.Pointer(word)), (*C.uint)(unsafe.Pointer(value))))
}

func (k *hostKernel) destroy(launch unsafe.Pointer) { C.kernel_destroy(k.c, launch) }
