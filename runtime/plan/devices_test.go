package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

// asked is a shape as a choice is asked for it.
type asked struct{}

func (asked) String() string { return "M 8" }

var errMade = errors.New("made")

// A choice passes over schedules whose kernels the device does not run, also where one was measured as the fastest.
func TestTunedByDevice(t *testing.T) {
	candidate := func(name string, k driver.Kernel) Candidate[asked, int] {
		return Candidate[asked, int]{
			Program: &Program{Name: name, Code: &driver.Code{Name: name, Kernels: []driver.Kernel{k}}},
			Check:   func(asked, int) error { return nil },
			Memory:  func(asked, int) (Memory, error) { return Memory{Words: 1}, nil },
			New: func(context.Context, *group.Group, asked) (Runner, func(context.Context, int) error, error) {
				return nil, nil, fmt.Errorf("%w %s", errMade, name)
			},
		}
	}
	list := []Candidate[asked, int]{candidate("tiles", driver.Kernel{Name: "tiles", Only: 100}),
		candidate("shot", driver.Kernel{Name: "shot", Multiprocessors: MostBlocks}),
		candidate("copies", driver.Kernel{Name: "copies"})}
	few := func(d driver.Driver) driver.Driver { return &small{d} }
	for _, c := range []struct {
		decorate func(driver.Driver) driver.Driver
		want     string
	}{
		{nil, "made shot"},
		{few, "made copies"},
	} {
		inWorld(t, 2, sim.Config{}, c.decorate, func(w *world) {
			measured := &Tuning{}
			measured.Put(Measured{Operation: "tiles", GPU: w.groups[0].Driver().Properties().Name, Ranks: 2,
				Shape: "M 8", Program: "tiles", Milliseconds: 1})
			w.each(func(r int) {
				_, err := Tune(w.Context(), w.groups[r], measured, asked{}, list)
				why := "tiles does not serve: kernel tiles of tiles runs on GPUs of compute capability 10.0"
				if !errors.Is(err, errMade) || !strings.HasPrefix(err.Error(), c.want) ||
					!strings.Contains(err.Error(), why) {
					w.Errorf("rank %d: %v, want %s", r, err, c.want)
				}
			})
		})
	}
}
