package programtest

import (
	"strings"
	"testing"

	"ovgen/generated/allgatherlinearblocksfp8"
	"ovgen/generated/allgatherlinearfp8"
	"ovgen/generated/linearreducescattere5m2"
	"ovgen/runtime/device"
)

// TestEightShapes: New refuses shapes of which cuBLASLt has no products of eight bits, by their Check, and names the
// nearest. What device and library lack, such as scales before cuBLASLt 12.9, package cuda refuses.
func TestEightShapes(t *testing.T) {
	for _, c := range []struct {
		what  string
		check func(ranks int) error
		want  string // empty: it is taken
	}{
		{"e4m3", allgatherlinearfp8.Shape{M: 8, K: 16, N: 16, Type: device.BF16}.Check, ""},
		{"a depth of 24", allgatherlinearfp8.Shape{M: 8, K: 24, N: 16, Type: device.BF16}.Check,
			"K is 24: it must be a multiple of 16 (the nearest are 16 and 32)"},
		{"24 columns", allgatherlinearfp8.Shape{M: 8, K: 16, N: 24, Type: device.BF16}.Check,
			"N is 24: it must be a multiple of 16 (the nearest are 16 and 32)"},
		{"3 rows a rank", allgatherlinearfp8.Shape{M: 6, K: 16, N: 16, Type: device.BF16}.Check,
			"M is 6: it must be a multiple of 4 times the ranks, 8 (the nearest is 8)"},
		{"results of fp32", allgatherlinearfp8.Shape{M: 8, K: 16, N: 16, Type: device.FP32}.Check, "fp32"},
		{"a depth of 24 a rank, e5m2", linearreducescattere5m2.Shape{M: 8, K: 48, N: 16, Type: device.BF16}.Check,
			"K is 48: it must be a multiple of 16 times the ranks, 32 (the nearest are 32 and 64)"},
		{"a depth of 384, blocks", allgatherlinearblocksfp8.Shape{M: 16, K: 384, N: 128, Type: device.BF16}.Check,
			"K is 384: it must be a multiple of 512 (the nearest is 512)"},
		{"4 rows a rank, blocks", allgatherlinearblocksfp8.Shape{M: 8, K: 512, N: 128, Type: device.BF16}.Check,
			"M is 8: it must be a multiple of 8 times the ranks, 16 (the nearest is 16)"},
	} {
		switch err := c.check(2); {
		case c.want == "" && err == nil:
		case err == nil || c.want == "" || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}
