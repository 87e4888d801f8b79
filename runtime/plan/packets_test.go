package plan

import (
	"fmt"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// TestPacketsBeginAtZero makes and closes plans whose packets take most of the arena, each where the one before it has
// left something: New takes all packets and their turns to 0, and Close gives the memory back.
func TestPacketsBeginAtZero(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		for i := range 3 {
			w.must(simtest.Each(2, func(r int) error {
				b := Build(w.groups[r], toyProgram, "packets")
				land := b.Packets("landing", "landed", simtest.Arena/16)
				p, err := b.Finish(w.Context(), func(q *Queue) { q.PacketWords(q.Main(), land, "packets") })
				if err != nil {
					return fmt.Errorf("plan %d: %w", i, err)
				}
				raw := w.raw[r]
				memory := make([]byte, land.size(2))
				if err := raw.MemcpyDtoH(memory, land.base[r]); err != nil {
					return err
				}
				for at, x := range memory {
					if x != 0 {
						return fmt.Errorf("plan %d: byte %d of %d is %d", i, at, len(memory), x)
					}
				}
				last := land.base[r] + driver.Ptr(len(memory)-1)
				for _, at := range []driver.Ptr{land.base[r], land.base[r] + driver.Ptr(land.half(2)), last} {
					if err := raw.MemcpyHtoD(at, []byte{7}); err != nil {
						return err
					}
				}
				return p.Close(w.Context())
			}))
		}
	})
}
