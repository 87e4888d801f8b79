//go:build linux && cgo

package nccl

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "nccl.h"
*/
import "C"

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"ovgen/runtime/driver"
)

func init() {
	driver.RegisterNCCL(func(context uintptr) (driver.Collectives, error) { return open(context) })
}

// Variable is the environment variable that holds the path of the library.
const Variable = "OVGEN_NCCL"

const (
	libnccl = "libnccl.so.2"
	oldest  = 21900 // 2.19
)

// device is NCCL in the primary context of one device.
type device struct{ context C.uintptr_t }

var library struct {
	sync.Mutex
	loaded bool
}

// open loads the library, once in the process.
func open(context uintptr) (driver.Collectives, error) {
	library.Lock()
	defer library.Unlock()
	if !library.loaded {
		if err := environment(); err != nil {
			return nil, fmt.Errorf("open NCCL: %w: %w", err, driver.ErrUnavailable)
		}
		if err := load(cmp.Or(os.Getenv(Variable), libnccl)); err != nil {
			return nil, err
		}
		library.loaded = true
	}
	if context != 0 && C.ovgen_nccl_enters() == 0 {
		return nil, fmt.Errorf("open NCCL: libcuda.so.1 has no cuCtxSetCurrent, by which its calls find the device "+
			"(install the NVIDIA driver): %w", driver.ErrUnavailable)
	}
	return &device{C.uintptr_t(context)}, nil
}

// environment sets the variables that NCCL reads once, when it starts. Multicast is off: one group's multicast memory
// can use up all that the machine has. The implicit launch order of communicators is off: with it, uploading a captured
// graph ends the process (2.28.9), and a group has only one communicator. NCCL opens no port unless NCCL_RAS_ENABLE
// asks for it.
func environment() error {
	for _, v := range []struct{ name, why string }{
		{"NCCL_NVLS_ENABLE", "ovgen uses no multicast"},
		{"NCCL_LAUNCH_ORDER_IMPLICIT", "with it a captured graph can't be uploaded"},
	} {
		if value, set := os.LookupEnv(v.name); set && value != "0" {
			return fmt.Errorf("%s is %q, and %s (unset it, or set it to 0)", v.name, value, v.why)
		}
		if err := os.Setenv(v.name, "0"); err != nil {
			return err
		}
	}
	const port = "NCCL_RAS_ENABLE"
	if _, set := os.LookupEnv(port); set {
		return nil
	}
	return os.Setenv(port, "0")
}

// load fills the table of calls.
func load(path string) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var why [512]C.char
	if C.ovgen_nccl_load(name, &why[0], C.size_t(len(why))) != 0 {
		return fmt.Errorf("open NCCL: open %s: %s (install NCCL 2.19 or newer, or set %s to the path of its "+
			"library): %w", path, C.GoString(&why[0]), Variable, driver.ErrUnavailable)
	}
	if v := Version(); v < oldest {
		return fmt.Errorf("open NCCL: %s is version %s (install 2.19 or newer, or set %s to the path of one): %w", path,
			versionText(v), Variable, driver.ErrUnavailable)
	}
	return nil
}

// Version is the library's: 22809 for 2.28.9.
func Version() int { return int(C.ovgen_nccl_version()) }

func versionText(v int) string { return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100) }

// check is nil for success, driver.ErrInProgress, or the call's status.
func check(call string, result C.int) error {
	switch result {
	case C.ncclSuccess:
		return nil
	case C.ncclInProgress:
		return driver.ErrInProgress
	}
	text := C.GoString(C.ovgen_nccl_text(result))
	if last := C.GoString(C.ovgen_nccl_last()); last != "" {
		text += ": " + last
	}
	return &driver.Status{Call: call, Code: int(result), Text: text}
}

// CommGetUniqueID opens a port of this process, at which the other ranks meet.
func (d *device) CommGetUniqueID() (id driver.CommID, err error) {
	err = check("ncclGetUniqueId", C.ovgen_nccl_id(d.context, (*C.ncclUniqueId)(unsafe.Pointer(&id[0]))))
	return id, err
}

// CommInitRank begins to join a communicator.
func (d *device) CommInitRank(id driver.CommID, ranks, rank int) (driver.Comm, error) {
	c := (*C.ovgen_comm)(C.calloc(1, C.size_t(unsafe.Sizeof(C.ovgen_comm{}))))
	r := C.ovgen_nccl_init(d.context, c, C.int(ranks), (*C.ncclUniqueId)(unsafe.Pointer(&id[0])), C.int(rank))
	err := check("ncclCommInitRankConfig", r)
	if err != nil && err != driver.ErrInProgress {
		C.free(unsafe.Pointer(c))
		return 0, err
	}
	return driver.Comm(uintptr(unsafe.Pointer(c))), err
}

// communicator is the C struct of a handle; Go does not move it.
func communicator(c driver.Comm) *C.ovgen_comm { return *(**C.ovgen_comm)(unsafe.Pointer(&c)) }

// CommGetAsyncError asks whether the last call has ended.
func (d *device) CommGetAsyncError(c driver.Comm) error {
	return check("ncclCommGetAsyncError", C.ovgen_nccl_state(communicator(c)))
}

// kinds are the collectives' kinds in nccl.h.
var kinds = map[driver.CollectiveKind]C.int{driver.AllGather: 'g', driver.ReduceScatter: 'r', driver.AllReduce: 'a',
	driver.AllToAll: 'x', driver.Exchange: 'e'}

// types are the element types that NCCL adds up here.
var types = map[driver.Type]C.int{driver.BF16: C.ncclBfloat16, driver.FP16: C.ncclFloat16, driver.FP32: C.ncclFloat32}

// Collective enqueues a collective.
func (d *device) Collective(x driver.CollectiveDesc, recv, send driver.Ptr, c driver.Comm, s driver.Stream) error {
	if err := x.Check(); err != nil {
		return err
	}
	what := C.ovgen_collective{kind: kinds[x.Kind], bytes: C.size_t(x.Bytes), receives: C.size_t(x.Bytes + x.More),
		send: C.uintptr_t(send), recv: C.uintptr_t(recv), stream: C.uintptr_t(s), to: C.int(x.To), from: C.int(x.From)}
	if x.Kind.Sums() {
		t, ok := types[x.Type]
		if !ok {
			return fmt.Errorf("%s: NCCL adds up no %s here", x.Kind, x.Type)
		}
		what._type, what.count = t, C.size_t(x.Bytes/x.Type.Size())
	}
	return check("nccl "+string(x.Kind), C.ovgen_nccl_run(d.context, communicator(c), &what))
}

// CommAbort ends a communicator.
func (d *device) CommAbort(c driver.Comm) error {
	return check("ncclCommAbort", C.ovgen_nccl_abort(d.context, communicator(c)))
}

// CommDestroy ends a communicator once all enqueued work has completed.
func (d *device) CommDestroy(c driver.Comm) error {
	return check("ncclCommDestroy", C.ovgen_nccl_destroy(d.context, communicator(c)))
}
