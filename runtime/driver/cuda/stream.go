//go:build linux && cgo

package cuda

/*
#cgo noescape ovgen_stream_batch
#cgo noescape ovgen_stream_capturing
#cgo nocallback ovgen_stream_batch
#cgo nocallback ovgen_stream_capturing
#cgo nocallback ovgen_stream_query
#cgo nocallback ovgen_stream_wait
#cgo nocallback ovgen_event_record
#cgo nocallback ovgen_event_query
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
)

// C reads a batch as Go has it: these lines don't compile if the layouts differ.
var (
	_ = [1]int{}[unsafe.Sizeof(driver.MemOp{})-C.sizeof_ovgen_memop]
	_ = [1]int{}[unsafe.Offsetof(driver.MemOp{}.Kind)-unsafe.Offsetof(C.ovgen_memop{}.kind)]
	_ = [1]int{}[unsafe.Offsetof(driver.MemOp{}.Value)-unsafe.Offsetof(C.ovgen_memop{}.value)]
	_ = [1]int{}[unsafe.Offsetof(driver.MemOp{}.Address)-unsafe.Offsetof(C.ovgen_memop{}.address)]
	_ = [1]int{}[driver.WaitEqual-C.OVGEN_WAIT]
	_ = [1]int{}[driver.Write-C.OVGEN_WRITE]
)

// StreamCreateWithPriority makes a non-blocking stream.
func (d *Driver) StreamCreateWithPriority(p driver.Priority) (driver.Stream, error) {
	if p < driver.Low || p > driver.High {
		return 0, fmt.Errorf("create stream: there is no priority %d", p)
	}
	var s C.uintptr_t
	r := C.ovgen_stream_create(d.ctx, d.least+(d.greatest-d.least)*C.int(p)/C.int(driver.High), &s)
	return driver.Stream(s), check("cuStreamCreateWithPriority", r)
}

// StreamDestroy lets enqueued work finish and then frees the stream.
func (d *Driver) StreamDestroy(s driver.Stream) error {
	return check("cuStreamDestroy", C.ovgen_stream_destroy(d.ctx, C.uintptr_t(s)))
}

// StreamSynchronize waits for everything enqueued.
func (d *Driver) StreamSynchronize(s driver.Stream) error {
	return check("cuStreamSynchronize", C.ovgen_stream_synchronize(d.ctx, C.uintptr_t(s)))
}

// StreamQuery reports whether everything enqueued has completed.
func (d *Driver) StreamQuery(s driver.Stream) (bool, error) {
	return ready("cuStreamQuery", C.ovgen_stream_query(d.ctx, C.uintptr_t(s)))
}

// ready turns the result of a query into done, not done, or an error.
func ready(call string, r C.CUresult) (bool, error) {
	switch r {
	case C.CUDA_SUCCESS:
		return true, nil
	case C.CUDA_ERROR_NOT_READY:
		return false, nil
	}
	return false, status(call, r)
}

// StreamIsCapturing reports whether the stream is part of a capture, also of a capture that an error has made invalid.
func (d *Driver) StreamIsCapturing(s driver.Stream) (bool, error) {
	var capturing C.int
	r := C.ovgen_stream_capturing(d.ctx, C.uintptr_t(s), &capturing)
	return capturing != 0, check("cuStreamIsCapturing", r)
}

// StreamWaitEvent makes the stream wait for the event's last record. CUDA refuses driver.External outside of a capture.
func (d *Driver) StreamWaitEvent(s driver.Stream, e driver.Event, f driver.EventFlags) error {
	return check("cuStreamWaitEvent", C.ovgen_stream_wait(d.ctx, C.uintptr_t(s), C.uintptr_t(e),
		C.int(f&driver.External)))
}

// StreamBatchMemOp enqueues waits and writes in order, at most 255 a CUDA call.
func (d *Driver) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
	first := (*C.ovgen_memop)(unsafe.Pointer(unsafe.SliceData(items)))
	return check("cuStreamBatchMemOp", C.ovgen_stream_batch(d.ctx, C.uintptr_t(s), first, C.size_t(len(items))))
}

// EventCreate makes an event; waiting for an event without timing costs less.
func (d *Driver) EventCreate(timing bool) (driver.Event, error) {
	var e C.uintptr_t
	var timed C.int
	if timing {
		timed = 1
	}
	r := C.ovgen_event_create(d.ctx, timed, &e)
	return driver.Event(e), check("cuEventCreate", r)
}

// EventDestroy frees the event; it frees a pending event when the event completes.
func (d *Driver) EventDestroy(e driver.Event) error {
	return check("cuEventDestroy", C.ovgen_event_destroy(d.ctx, C.uintptr_t(e)))
}

// EventRecordWithFlags records the stream's work so far. CUDA refuses driver.External outside of a capture.
func (d *Driver) EventRecordWithFlags(e driver.Event, s driver.Stream, f driver.EventFlags) error {
	return check("cuEventRecordWithFlags", C.ovgen_event_record(d.ctx, C.uintptr_t(e), C.uintptr_t(s),
		C.int(f&driver.External)))
}

// EventQuery reports whether the event's last record has completed.
func (d *Driver) EventQuery(e driver.Event) (bool, error) {
	return ready("cuEventQuery", C.ovgen_event_query(d.ctx, C.uintptr_t(e)))
}

// EventSynchronize waits for the event's last record.
func (d *Driver) EventSynchronize(e driver.Event) error {
	return check("cuEventSynchronize", C.ovgen_event_synchronize(d.ctx, C.uintptr_t(e)))
}

// EventElapsedTime is the time from a to b in milliseconds.
func (d *Driver) EventElapsedTime(a, b driver.Event) (float32, error) {
	var ms C.float
	r := C.ovgen_event_elapsed(d.ctx, C.uintptr_t(a), C.uintptr_t(b), &ms)
	return float32(ms), check("cuEventElapsedTime", r)
}
