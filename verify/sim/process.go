package sim

import (
	"fmt"
	"os"
	"strconv"

	"ovgen/runtime/driver"
)

func init() { driver.Register("sim", processes{}) }

// processes is the backend of process mode: one rank a process.
type processes struct{}

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

// Open makes a driver with a scheduler of its own; closing the driver ends it.
// There are no contexts to share, so any is taken.
func (p processes) Open(ordinal int, _ uintptr) (driver.Driver, error) {
	n, err := p.Count()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, fmt.Errorf("open simulated device %d of %d: %w", ordinal, n, fail("cuDeviceGet", invalidDevice))
	}
	w := newWorld(Config{Devices: n}, true)
	c, err := w.open(ordinal)
	if err != nil {
		w.Close()
		return nil, err
	}
	return c, nil
}
