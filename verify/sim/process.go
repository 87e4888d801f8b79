package sim

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"ovgen/runtime/driver"
)

func init() { driver.Register("sim", processes{}) }

// processes is the backend of process mode.
type processes struct{}

// here is the world of this process's devices. The first open makes it, and the last close ends it.
var here struct {
	sync.Mutex
	world *World
}

// Count is OVGEN_SIM_DEVICES, or 64.
func (processes) Count() (int, error) {
	if err := supported(); err != nil {
		return 0, fmt.Errorf("count simulated devices: %w", err)
	}
	text, ok := os.LookupEnv("OVGEN_SIM_DEVICES")
	if !ok {
		return 64, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<16 {
		return 0, fmt.Errorf("count simulated devices: OVGEN_SIM_DEVICES is %q, want a number: %w", text,
			driver.ErrUnavailable)
	}
	return n, nil
}

// Open makes a driver. All drivers of a process share one scheduler. There are no contexts to share, so it accepts any
// context.
func (p processes) Open(ordinal int, _ uintptr) (driver.Driver, error) {
	n, err := p.Count()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, fmt.Errorf("open simulated device %d of %d: %w", ordinal, n, fail("cuDeviceGet", invalidDevice))
	}
	here.Lock()
	defer here.Unlock()
	if here.world != nil {
		c, err := here.world.open(ordinal)
		if err == nil {
			return c, nil
		}
		if !ended(err) {
			return nil, err
		}
	}
	w := newWorld(Config{Devices: n}, true)
	c, err := w.open(ordinal)
	if err != nil {
		w.Close()
		return nil, err
	}
	here.world = w
	return c, nil
}

// ended reports whether a world refused to open a device because its last device was closed.
func ended(err error) bool {
	var s *driver.Status
	return errors.As(err, &s) && s.Code == deinitialized
}
