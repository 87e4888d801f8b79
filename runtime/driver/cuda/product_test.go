//go:build linux && cgo

package cuda

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ovgen/runtime/driver"
)

// forms of a product of m,k,n 8,16,24 and how cuBLASLt, which counts columns first and
// takes our b for its a, is asked for them.
var forms = []struct {
	desc driver.MatmulDesc
	want string
}{
	{driver.MatmulDesc{}, "op 0 0 epilogue 1 bias (nil) alpha 1 beta 0 a 24x16/24 b 16x8/16 c 24x8/24"},
	{driver.MatmulDesc{Transposed: true, Bias: true}, "op 1 0 epilogue 4 bias 0x300 alpha 1 beta 0 a 16x24/16 b 16x8/16 c 24x8/24"},
	{driver.MatmulDesc{Transposed: true, Bias: true, Gelu: true}, "op 1 0 epilogue 36 bias 0x300 alpha 1 beta 0 a 16x24/16 b 16x8/16 c 24x8/24"},
	{driver.MatmulDesc{Gelu: true}, "op 0 0 epilogue 32 bias (nil) alpha 1 beta 0 a 24x16/24 b 16x8/16 c 24x8/24"},
	{driver.MatmulDesc{TransposedA: true}, "op 0 1 epilogue 1 bias (nil) alpha 1 beta 0 a 24x16/24 b 8x16/8 c 24x8/24"},
	{driver.MatmulDesc{TransposedA: true, Accumulate: true}, "op 0 1 epilogue 1 bias (nil) alpha 1 beta 1 a 24x16/24 b 8x16/8 c 24x8/24"},
}

// TestFakeForms sees what reaches cuBLASLt of each form.
func TestFakeForms(t *testing.T) {
	dir := buildFake(t)
	for _, name := range []string{"blas.h", "testdata/products.c"} {
		text, err := fakeSource.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("cc", "-shared", "-fPIC", "-std=gnu2x", "-o", "libcublasLt.so.12", "products.c")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out := inChild(t, dir, "TestFakeMatmul", blasVariable+"="+dir)
	for _, f := range forms {
		if want := "product " + f.want + " at 0x200 0x100 in place\n"; !strings.Contains(out, want) {
			t.Errorf("%+v: no %q in\n%s", f.desc, want, out)
		}
	}
}

func TestFakeMatmul(t *testing.T) {
	onlyChild(t)
	d, err := backend{}.Open(1, 0)
	must(t, err)
	for _, f := range forms {
		f.desc.M, f.desc.K, f.desc.N, f.desc.Type = 8, 16, 24, driver.BF16
		m, err := d.MatmulCreate(f.desc)
		must(t, err)
		must(t, d.Matmul(m, 0x1000, 0x100, 0x200, 0x300, 0x2000, 0x50))
		var status *driver.Status
		if err := d.Matmul(m, 0x100, 0x100, 0x800, 0x2000, 0x3000, 0x50); !errors.As(err, &status) || status.Text != "an operand overlaps the result" {
			t.Errorf("%+v: a product over its operand: %v", f.desc, err)
		}
		must(t, d.MatmulDestroy(m))
	}
	must(t, d.Close())
}
