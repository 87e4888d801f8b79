package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ovgen/runtime/device"
	"ovgen/verify/sim"
)

// TestBindWrittenFirst binds a buffer that runs read to the memory of one that they write and that is
// declared before it.
func TestBindWrittenFirst(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			t.b.written = true
			err := t.plan.Bind(w.Context(), t.A.Ptr(), t.B.Ptr(), t.B.Ptr(), t.C.Ptr())
			if err == nil || !strings.Contains(err.Error(), "overlaps b at [") ||
				!strings.Contains(err.Error(), "runs write b (") {
				return fmt.Errorf("%v, want that bias overlaps b", err)
			}
			return t.close(w.Context())
		})
	})
}

// TestBindApart binds all ranks to another part of the memory that their a lies in, and one rank's c to where
// it has the a of its peer then: only after the exchange can it know.
func TestBindApart(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			block, err := device.Alloc(t.driver, 4096)
			if err != nil {
				return err
			}
			b, bias := t.B.Ptr(), t.Bias.Ptr()
			if err := t.plan.Bind(w.Context(), block.Ptr(), b, bias, t.C.Ptr()); err != nil {
				return err
			}
			c, want := t.C.Ptr(), "rank 0"
			if t.rank == 0 {
				c, want = t.a.Peer(1, 0)+1024, "c at ["
			}
			err = t.plan.Bind(w.Context(), block.Ptr()+1024, b, bias, c)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "a of rank 1") {
				return fmt.Errorf("%v, want %q and a of rank 1 in it", err, want)
			}
			return errors.Join(t.bind(w.Context()), t.close(w.Context()), block.Close())
		})
	})
}
