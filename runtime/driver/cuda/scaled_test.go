//go:build linux && cgo

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/drivertest"
)

// TestFakeScaleRefusals: a device and a library that lack products of eight bits, or scales of rows or blocks, are
// refused, and the error names the nearest product that they have.
func TestFakeScaleRefusals(t *testing.T) {
	dir := buildFakes(t)
	for _, x := range []struct{ blas, device, scales, want string }{
		{"120900", "8.6", "one", "products of e4m3 need compute capability 8.9, and fake 1 has 8.6 (multiply bf16)"},
		{"120900", "8.9", "one", "made"},
		{"120900", "8.9", "rows", "row and block scales need compute capability 9.0, and fake 1 has 8.9 (take a " +
			"scale a tensor)"},
		{"120900", "10.0", "blocks", "row and block scales need compute capability 9.0, and fake 1 has 10.0"},
		{"120800", "9.0", "rows", "row and block scales need cuBLASLt 12.9, and this is 120800 (take a scale a " +
			"tensor)"},
		{"120800", "9.0", "blocks", "row and block scales need cuBLASLt 12.9, and this is 120800"},
		{"120800", "9.0", "one", "made"}, {"120900", "9.0", "blocks", "made"},
	} {
		out := inChild(t, dir, "TestFakeScalesOn", blasVariable+"="+dir, "FAKE_BLAS="+x.blas, "FAKE_DEVICE="+x.device,
			"FAKE_SCALES="+x.scales)
		if !strings.Contains(out, x.want) {
			t.Errorf("%+v:\n%s", x, out)
		}
	}
}

func TestFakeScalesOn(t *testing.T) {
	drivertest.OnlyChild(t)
	b, err := backend{}.Open(1, 0)
	must(t, err)
	d, scales := b.(*Driver), os.Getenv("FAKE_SCALES")
	if _, err := fmt.Sscanf(os.Getenv("FAKE_DEVICE"), "%d.%d", &d.properties.Major, &d.properties.Minor); err != nil {
		t.Fatal(err)
	}
	_, err = d.MatmulCreate(driver.MatmulDesc{M: 8, K: 512, N: 128, Type: driver.BF16, Of: driver.E4M3,
		Transposed: true, RowScales: scales == "rows", BlockScales: scales == "blocks"})
	fmt.Fprintln(os.Stderr, cmp.Or(err, errors.New("made")))
	must(t, d.Close())
}
