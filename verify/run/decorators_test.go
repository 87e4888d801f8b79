package run

import (
	"errors"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
	"ovgen/verify/harness"
	"ovgen/verify/inject"
	"ovgen/verify/sim"
	"ovgen/verify/trace"
)

// bare is a driver without the optional interfaces.
type bare struct{ driver.Driver }

// Each driver that decorates another one has the optional interfaces of that one, and no others.
func TestDecorators(t *testing.T) {
	d, err := sim.NewWorld(sim.Config{Devices: 1}).Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, over := range map[string]func(driver.Driver) driver.Driver{
		"a filter": func(d driver.Driver) driver.Driver { return inject.New(d) },
		"a trace":  func(d driver.Driver) driver.Driver { return trace.New(d) },
		"a meter":  func(d driver.Driver) driver.Driver { return harness.NewMeter(d) },
		"a cache":  func(d driver.Driver) driver.Driver { return ipc.New(d, 0).Driver() },
	} {
		if _, ok := driver.Optional[driver.Captures](over(d)); !ok {
			t.Errorf("%s has no captures", name)
		}
		if _, err := driver.CollectivesOf(over(d)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := driver.Optional[driver.Captures](over(bare{d})); ok {
			t.Errorf("%s has captures of a driver that has none", name)
		}
		if _, err := driver.CollectivesOf(over(bare{d})); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("%s has collectives of a driver that has none: %v", name, err)
		}
	}
}
