package device

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// tracking is on with OVGEN_DEBUG=leaks (among other words, comma separated).
var tracking = slices.Contains(strings.Split(os.Getenv("OVGEN_DEBUG"), ","), "leaks")

var open = struct {
	sync.Mutex
	next    uint64
	objects map[uint64]*record
}{objects: map[uint64]*record{}}

// record is the creation of an open object.
type record struct {
	what  string
	stack []byte
}

// Resource is the part of an object that Close needs: it closes the object once, and tracks it if asked.
type Resource struct {
	mu     sync.Mutex
	closed bool
	id     uint64 // zero when not tracked
}

// Track notes where owner, whose resource this is, was made.
func Track[T any](owner *T, r *Resource, what string) {
	if !tracking {
		return
	}
	open.Lock()
	defer open.Unlock()
	open.next++
	r.id = open.next
	open.objects[r.id] = &record{what, debug.Stack()}
	runtime.AddCleanup(owner, reportLost, r.id)
}

// Done runs destroy at the first call; a destroy that fails may be tried again.
func (r *Resource) Done(destroy func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	if err := destroy(); err != nil {
		return err
	}
	r.closed = true
	open.Lock()
	defer open.Unlock()
	delete(open.objects, r.id)
	return nil
}

func reportLost(id uint64) {
	open.Lock()
	defer open.Unlock()
	if o := open.objects[id]; o != nil {
		fmt.Fprintf(os.Stderr, "leak: %s is unreachable and was never closed; made at\n%s", o.what, o.stack)
		delete(open.objects, id)
	}
}

// Leaks writes each object that is open now with the stack that made it, and returns the number of these objects. It
// knows none unless OVGEN_DEBUG contains "leaks".
func Leaks(w io.Writer) int {
	open.Lock()
	defer open.Unlock()
	ids := make([]uint64, 0, len(open.objects))
	for id := range open.objects {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		o := open.objects[id]
		fmt.Fprintf(w, "leak: %s is open; made at\n%s", o.what, o.stack)
	}
	return len(ids)
}
