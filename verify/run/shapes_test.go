package run

import (
	"strings"
	"testing"
	"time"

	"ovgen/verify/harness"
)

// A run in the simulator has time in proportion to its work, unless -timeout says how much.
func TestSlowest(t *testing.T) {
	programs := []harness.Program{generated(t, "allgatherlinear")}
	for _, x := range []struct {
		args string
		want time.Duration // to the second
	}{
		{"verify all -type bf16 -m 64 -k 32 -n 48", 0},
		{"verify all -type bf16 -m 64 -k 8192 -n 3584", 75 * time.Second},
		{"bench all -type bf16 -shapes 64,32,48;64,8192,3584", 75 * time.Second},
		{"verify all -type bf16 -m 64 -k 8192 -n 3584 -timeout 5s", 0},
		{"verify all -type bf16 -m 65536 -k 8192 -n 8192 -long", time.Hour},
	} {
		c, err := parse(strings.Fields(x.args), programs)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.(interface{ slowest() time.Duration }).slowest().Round(time.Second); got != x.want {
			t.Errorf("%s: %v longer, want %v", x.args, got, x.want)
		}
	}
}
