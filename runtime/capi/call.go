package capi

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"runtime/debug"
	"time"

	"ovgen/runtime/group"
)

// Status is the result of every call of the header.
type Status int32

// Statuses, as the header has them.
const (
	OK     Status = iota
	Failed        // this call failed; the group goes on
	Dead          // the group was aborted or is closed: close it, and join again
)

// ErrNull reports a NULL argument of a call that needs it.
var ErrNull = errors.New("an argument is NULL (the header says which may be NULL)")

// HandleError reports a value that is not a handle, or is the handle of an object that was closed.
type HandleError struct {
	Handle uintptr
	Want   string // "group", "plan", "plan of allgather"
}

// Error names the expected kind.
func (e *HandleError) Error() string {
	return fmt.Sprintf("handle %d is no open %s", e.Handle, e.Want)
}

// Do makes one call. Its error becomes a status and a text; a panic too, since it must
// not reach C.
func Do(call func() error) (status Status, text string) {
	defer func() {
		if r := recover(); r != nil {
			status, text = Failed, fmt.Sprintf("internal error: %v\n%s", r, debug.Stack())
		}
	}()
	err := call()
	if err == nil {
		return OK, ""
	}
	status = Failed
	if abort := (*group.AbortError)(nil); errors.As(err, &abort) || errors.Is(err, group.ErrClosed) {
		status = Dead
	}
	return status, err.Error()
}

// find returns the value of a handle.
func find[T any](handle uintptr, want string) (value T, err error) {
	defer func() {
		if recover() != nil { // the handle was never made, or has been deleted
			err = &HandleError{handle, want}
		}
	}()
	value, ok := cgo.Handle(handle).Value().(T)
	if !ok {
		return value, &HandleError{handle, want}
	}
	return value, nil
}

// forget deletes a handle; a handle that another thread has deleted is no mistake.
func forget(handle uintptr) {
	defer func() { _ = recover() }()
	cgo.Handle(handle).Delete()
}

// within is a context that ends after a number of milliseconds; 0 means never.
func within(ms int64) (context.Context, context.CancelFunc, error) {
	switch {
	case ms < 0 || ms > maxMilliseconds:
		return nil, nil, fmt.Errorf("a timeout of %d ms (0 to %d)", ms, maxMilliseconds)
	case ms == 0:
		return context.Background(), func() {}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(ms)*time.Millisecond)
	return ctx, cancel, nil
}

const maxMilliseconds = int64(1<<63-1) / int64(time.Millisecond)
