package templates

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/reference"
)

// TestEight compares the kernels' conversions of 8 and of 4 bits with the reference's, of every code, and of every bf16
// and its neighbours in fp32. Package sim compares its own with the same.
func TestEight(t *testing.T) {
	headers, err := Headers()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{HostHeader, "eight.h", "units.h", "four.h"} {
		if err := os.WriteFile(filepath.Join(dir, name), headers[name], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "eight")
	gcc(t, program, append([]string{"-O1", "-I", dir, filepath.Join("testdata", "eight.cc")}, ofAll...))
	text, err := run(t, program)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	out := []byte(text)
	for _, typ := range []driver.Type{driver.E4M3, driver.E5M2, driver.E2M1} {
		for code := range 1 << typ.Bits() {
			got := math.Float32frombits(binary.LittleEndian.Uint32(out))
			want, err := reference.Decode(typ, []byte{byte(code)})
			if err != nil {
				t.Fatal(err)
			}
			if out = out[4:]; math.Float32bits(got) != math.Float32bits(want[0]) && (got == got || want[0] == want[0]) {
				t.Fatalf("the kernels do wrong: %s %#02x becomes %v, want %v", typ, code, got, want[0])
			}
		}
		for high := range uint32(1 << 16) {
			for _, low := range []uint32{0, 1, 0x7fff, 0x8000, 0xffff} {
				x := math.Float32frombits(high<<16 | low)
				pair := []float32{x, 0}[:max(8/typ.Bits(), 1)] // a byte
				if want := reference.Encode(typ, pair); out[0] != want[0] {
					t.Fatalf("the kernels do wrong: %v becomes %s %#02x, want %#02x", x, typ, out[0], want[0])
				}
				out = out[1:]
			}
		}
	}
	if len(out) > 0 {
		t.Errorf("%d bytes too many", len(out))
	}
}
