package formula

import (
	"math"
	"testing"
)

// TestPower has powers at the ends: of zero there is one.
func TestPower(t *testing.T) {
	for _, x := range []struct{ of, want float64 }{{0, 0x1p-126}, {0x1p-140, 0x1p-126}, {0x1p-126, 0x1p-126},
		{0x1.8p-126, 0x1p-125}, {-3, 4}, {4, 4}, {math.Inf(1), 0x1p126}} {
		if got := power(Point(x.of)); got != Point(x.want) {
			t.Errorf("the power of %g is %v, want %g", x.of, got, x.want)
		}
	}
	if got := power(Value{0, -3, 1}); got != (Value{0x1p-126, 0x1p-126, 4}) {
		t.Errorf("the power of -3 to 1 is %v", got)
	}
}
