package templates

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/reference"
)

// ofCodes are the kernels of sums of codes.
var ofCodes = []kernels.Kernel{
	{Kind: kernels.Reduce, Terms: 16, Varies: true, Coded: driver.E4M3},
	{Kind: kernels.Shot, PrePost: kernels.EachPeer, PreWait: kernels.EachPeer, PostPost: kernels.EachPeer,
		PostWait: kernels.EachPeer, Terms: 16, Varies: true, Coded: driver.E4M3},
}

// TestScaledSum compares sums of codes, and those of kernels without peers, with sums of fp32 in the order of the
// terms, rounded once, bit by bit.
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
	text, err := Render(device(ofCodes...).checked().parts[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ofcodes.h"), text.Bytes, 0o644); err != nil {
		t.Fatal(err)
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
			made := reference.Encode(of.to, sums)
			if want = append(want, made...); of.to == driver.FP32 && !of.row {
				want = append(append(want, made...), made...) // by both kernels
			}
		}
	}
	if out != string(want) {
		t.Error("the kernels do wrong: sums of codes are not those of fp32 in the order of the terms")
	}
}
