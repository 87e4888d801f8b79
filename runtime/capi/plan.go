package capi

import (
	"context"
	"fmt"
	"runtime/cgo"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/runtime/plan"
)

// made is a plan with the group that it was made in.
type made struct {
	plan.Runner
	of *member
}

// New makes a plan of a generated package by its New and returns its handle.
func New[P plan.Runner, S any](handle uintptr, ms int64, make func(context.Context, *group.Group, S) (P, error),
	shape S) (uintptr, error) {
	m, err := find[*member](handle, "group")
	if err != nil {
		return 0, err
	}
	ctx, cancel, err := within(ms)
	if err != nil {
		return 0, fmt.Errorf("make a plan: %w", err)
	}
	defer cancel()
	p, err := make(ctx, m.Group, shape)
	if err != nil {
		return 0, err
	}
	h := uintptr(cgo.NewHandle(&made{p, m}))
	m.mu.Lock()
	m.parts = append(m.parts, h)
	m.mu.Unlock()
	return h, nil
}

// of finds a plan of one generated package; it refuses a plan of another package.
func of[P plan.Runner](handle uintptr) (p P, err error) {
	x, err := find[*made](handle, "plan")
	if err != nil {
		return p, err
	}
	p, ok := x.Runner.(P)
	if !ok {
		err = fmt.Errorf("use %s: it is a plan of another schedule than the call's", x.Base())
	}
	return p, err
}

// Bind calls the Bind of a plan of one generated package; it refuses a plan of another package.
func Bind[P plan.Runner, B any](handle uintptr, ms int64, bind func(P, context.Context, B) error, buffers B) error {
	p, err := of[P](handle)
	if err != nil {
		return err
	}
	ctx, cancel, err := within(ms)
	if err != nil {
		return fmt.Errorf("bind %s: %w", p.Base(), err)
	}
	defer cancel()
	return bind(p, ctx, buffers)
}

// Call sets a field for a function of the caller in a plan of one generated package; it refuses a plan of another
// package.
func Call[P plan.Runner](handle uintptr, set func(P)) error {
	p, err := of[P](handle)
	if err == nil {
		set(p)
	}
	return err
}

// Called makes a plan's call of a C function, which takes a stream, a range, and a list of count ranges. name is the
// name of the call.
func Called(name string, f func(stream uintptr, to, from unsafe.Pointer, count int) int) plan.Call {
	var made plan.Range // so that no call allocates it
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		made = to
		n := f(uintptr(on), unsafe.Pointer(&made), unsafe.Pointer(unsafe.SliceData(from)), len(from))
		if n != 0 {
			return fmt.Errorf("the function of %s returned %d", name, n)
		}
		return nil
	}
}

// Enqueue enqueues a run on a CUstream.
func Enqueue(handle, stream uintptr) error {
	x, err := find[*made](handle, "plan")
	if err != nil {
		return err
	}
	return x.Enqueue(driver.Stream(stream))
}

// Replay enqueues a run as one launch of the graph that the plan keeps.
func Replay(handle, stream uintptr) error {
	x, err := find[*made](handle, "plan")
	if err != nil {
		return err
	}
	return x.Replay(driver.Stream(stream))
}

// Run makes a run and waits for it.
func Run(handle uintptr, ms int64) error {
	x, err := find[*made](handle, "plan")
	if err != nil {
		return err
	}
	ctx, cancel, err := within(ms)
	if err != nil {
		return fmt.Errorf("run %s: %w", x.Base(), err)
	}
	defer cancel()
	return x.Run(ctx)
}

// ClosePlan closes a plan. Its handle is invalid afterwards, also after an error, unless the call refuses its timeout.
func ClosePlan(handle uintptr, ms int64) error {
	x, err := find[*made](handle, "plan")
	if err != nil {
		return err
	}
	ctx, cancel, err := within(ms)
	if err != nil {
		return fmt.Errorf("close %s: %w", x.Base(), err)
	}
	defer cancel()
	err = x.Close(ctx)
	x.of.drop(handle)
	return err
}

// Type is an element type of the header; an unknown number becomes an unknown type.
func Type(element int) driver.Type {
	if t := driver.Type(element); element >= 0 && element < 256 && t.Valid() {
		return t
	}
	return 0
}

// Counts copies counts out of C. It refuses more counts than a group may have ranks without reading them.
func Counts(first unsafe.Pointer, n int64) ([]int, error) {
	if n > store.MaxRanks {
		return nil, fmt.Errorf("read the counts: there are %d of them, and no group has more than %d ranks", n,
			store.MaxRanks)
	}
	if first == nil || n <= 0 {
		return nil, nil
	}
	list := make([]int, n)
	for i, x := range unsafe.Slice((*int64)(first), n) {
		list[i] = int(x)
	}
	return list, nil
}
