package harness

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// TestSpoilLeavesWhatIsKept poisons more staging than there is: all of it is poisoned, and memory that plans keep, into
// which peers that are a run ahead may have sent packets, is as it was.
func TestSpoilLeavesWhatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simtest.Config{Config: sim.Config{Devices: 1}}
		err := simtest.Run(t.Context(), c, func(_ context.Context, g *group.Group) error {
			const bytesKept = 4096
			arena, d := g.Arena(), g.Driver()
			kept, err := arena.Keep(bytesKept)
			if err != nil {
				return err
			}
			want := bytes.Repeat([]byte{7}, bytesKept)
			s, failed := device.NewStream(d, driver.Low)
			x := &Tensors{Member: &Member{Group: g}, Program: &Program{}, stage: arena.Bytes()}
			err = errors.Join(failed, d.MemcpyHtoD(arena.Base(0)+driver.Ptr(kept), want), x.Spoil(s.Handle()),
				d.StreamSynchronize(s.Handle()))
			got := make([]byte, 4+bytesKept) // behind the last word of staging
			err = errors.Join(err, d.MemcpyDtoH(got, arena.Base(0)+driver.Ptr(kept-4)), s.Close())
			if !bytes.Equal(got[:4], bytes.Repeat([]byte{0xff}, 4)) || !bytes.Equal(got[4:], want) {
				t.Errorf("staging ends with %x, and what is kept begins with %x", got[:4], got[4:8])
			}
			arena.FreeKept(kept)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
