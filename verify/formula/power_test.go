package formula

import (
	"math"
	"testing"
)

// TestPower has powers at the ends: of zero there is one.
func TestPower(t *testing.T) {
	for _, x := range []struct{ of, want float64 }{{0, 0x1p-126}, {0x1p-140, 0x1p-126}, {0x1p-126, 0x1p-126},
		{0x1.8p-126, 0x1p-125}, {-3, 4}, {4, 4}, {math.Inf(1), 0x1p126}} {
		if got := sized(powerOf, Point(x.of)); got != Point(x.want) {
			t.Errorf("the power of %g is %v, want %g", x.of, got, x.want)
		}
	}
	if got := sized(powerOf, Value{0, -3, 1}); got != (Value{0x1p-126, 0x1p-126, 4}) {
		t.Errorf("the power of -3 to 1 is %v", got)
	}
}

// TestUp has numbers of e4m3, and what lies beside them.
func TestUp(t *testing.T) {
	for _, x := range []struct{ of, want float64 }{{0, 0x1p-9}, {0x1p-30, 0x1p-9}, {0x1p-9, 0x1p-9},
		{0x1.8p-9, 0x1p-8}, {0x1.cp-7, 0x1.cp-7}, {0x1.c1p-7, 0x1p-6}, {-0x1.01p-6, 0x1.2p-6}, {1, 1}, {1.0625, 1.125},
		{1.9375, 2}, {448, 448}, {449, 448}, {math.Inf(1), 448}} {
		if got := sized(up, Point(x.of)); got != Point(x.want) {
			t.Errorf("up from %g is %v, want %g", x.of, got, x.want)
		}
	}
	if got := sized(up, Value{0, -3, 1}); got != (Value{0x1p-9, 0x1p-9, 3}) {
		t.Errorf("up from -3 to 1 is %v", got)
	}
}
