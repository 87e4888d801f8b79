package templates

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// TestScaledSum compares sums of codes with those of fp32 in the order of the terms, rounded once, bit by bit.
func TestScaledSum(t *testing.T) {
	headers, err := Headers()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range headers {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "scaledsum")
	gcc(t, program, append([]string{"-O1", "-I", dir, "-Wno-unused-function",
		filepath.Join("testdata", "scaledsum.cc")}, ofAll...))
	out, err := run(t, program)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	const ranks, columns, block, count = 3, 48, 16, 5 * 48 // as testdata/scaledsum.cc has them
	var want []byte
	for range 3 { // places
		for _, of := range []struct {
			row bool
			to  driver.Type
		}{{false, driver.FP32}, {true, driver.FP32}, {false, driver.E5M2}} {
			sums := make([]float32, count)
			for i := range sums {
				for r := range ranks {
					code := byte((i*7+r*13+i/block*5)%0x7e | (i+r)%2<<7)
					x, err := reference.Decode(driver.E4M3, []byte{code})
					if err != nil {
						t.Fatal(err)
					}
					n := r*(count/block) + i/block
					sums[i] += x[0] * float32(math.Ldexp(1, n*5%11-6))
				}
				if of.row {
					sums[i] += float32(i%columns) - 9
				}
			}
			want = append(want, reference.Encode(of.to, sums)...)
		}
	}
	if out != string(want) {
		t.Error("the kernels do wrong: sums of codes are not those of fp32 in the order of the terms")
	}
}
