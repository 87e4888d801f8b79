package run

import (
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// The table has the links in both directions, and says what follows from the worse of two.
func TestDevices(t *testing.T) {
	w := sim.NewWorld(sim.Config{Devices: 3, NVLink: func(from, to int) bool { return from != 2 },
		PeerAccess: func(from, to int) bool { return from != 0 || to != 2 }})
	defer w.Close()
	var list []driver.Driver
	for i := range 3 {
		d, err := w.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	var b strings.Builder
	printDevices(&b, list)
	for _, want := range []string{
		"device  name              memory  0       1       2",
		"0       simulated device  64 GiB  -       nvlink  none",
		"2       simulated device  64 GiB  pcie    pcie    -",
		"0-1: NVLink: every", "1-2: access without NVLink: ", "0-2: no access: a group with both joins by Config.Apart",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
