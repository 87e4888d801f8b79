package reference

import (
	"math"
	"testing"

	"ovgen/runtime/driver"
)

// TestEight: codes of 8 bits as OCP defines them, and conversions as NVIDIA's "satfinite" makes them.
func TestEight(t *testing.T) {
	infinity, nan := float32(math.Inf(1)), float32(math.NaN())
	zero := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		typ   driver.Type
		value float32
		code  byte
	}{
		{driver.E4M3, 448, 0x7e}, {driver.E4M3, 0x1p-6, 0x08}, {driver.E4M3, 0x1p-9, 0x01}, {driver.E4M3, 1, 0x38},
		{driver.E4M3, -1, 0xb8}, {driver.E4M3, 0, 0}, {driver.E4M3, zero, 0x80}, {driver.E4M3, 240, 0x77},
		{driver.E5M2, 57344, 0x7b}, {driver.E5M2, 0x1p-14, 0x04}, {driver.E5M2, 0x1p-16, 0x01}, {driver.E5M2, 1, 0x3c},
		{driver.E5M2, -1, 0xbc}, {driver.E5M2, 0, 0}, {driver.E5M2, zero, 0x80},
	} {
		if got := Encode(c.typ, []float32{c.value}); got[0] != c.code {
			t.Errorf("%v becomes %s %#02x, want %#02x", c.value, c.typ, got[0], c.code)
		}
		back, err := Decode(c.typ, []byte{c.code})
		if err != nil || math.Float32bits(back[0]) != math.Float32bits(c.value) {
			t.Errorf("%s %#02x becomes %v, %v, want %v", c.typ, c.code, back, err, c.value)
		}
	}
	for _, c := range []struct {
		typ   driver.Type
		value float32
		code  byte
	}{
		{driver.E4M3, infinity, 0x7e}, {driver.E4M3, -infinity, 0xfe}, {driver.E4M3, nan, 0x7f}, {driver.E4M3, -nan,
			0x7f},
		{driver.E4M3, 464, 0x7e}, {driver.E4M3, 465, 0x7e}, {driver.E4M3, -1e9, 0xfe}, {driver.E4M3, 0x1p-10, 0},
		{driver.E4M3, -0x1p-10, 0x80}, {driver.E4M3, 0x1.8p-9, 2}, {driver.E4M3, 1.0625, 0x38}, {driver.E4M3, 1.1875,
			0x3a},
		{driver.E5M2, infinity, 0x7b}, {driver.E5M2, -infinity, 0xfb}, {driver.E5M2, nan, 0x7f}, {driver.E5M2, 61440,
			0x7b},
		{driver.E5M2, 1e9, 0x7b}, {driver.E5M2, 0x1p-17, 0}, {driver.E5M2, 1.125, 0x3c}, {driver.E5M2, 1.375, 0x3e},
	} {
		if got := Encode(c.typ, []float32{c.value}); got[0] != c.code {
			t.Errorf("%v becomes %s %#02x, want %#02x", c.value, c.typ, got[0], c.code)
		}
	}
	for code, want := range map[byte]float64{0x7c: math.Inf(1), 0xfc: math.Inf(-1)} {
		if got, err := Decode(driver.E5M2, []byte{code}); err != nil || float64(got[0]) != want {
			t.Errorf("e5m2 %#02x becomes %v, %v, want %v", code, got, err, want)
		}
	}
	for typ, codes := range map[driver.Type][]byte{driver.E4M3: {0x7f, 0xff}, driver.E5M2: {0x7d, 0x7e, 0x7f, 0xfd}} {
		for _, code := range codes {
			if got, err := Decode(typ, []byte{code}); err != nil || got[0] == got[0] {
				t.Errorf("%s %#02x becomes %v, %v, want NaN", typ, code, got, err)
			}
		}
	}
}

// TestPowers: codes of ue8m0 as OCP defines them, and sizes that become the least power that is no less.
func TestPowers(t *testing.T) {
	for value, code := range map[float32]byte{0x1p-127: 0, 0x1p-126: 1, .5: 126, 1: 127, 2: 128, 0x1p127: 254} {
		if got := Encode(driver.UE8M0, []float32{value, -value}); got[0] != code || got[1] != code {
			t.Errorf("%g and its negative become %d and %d, want %d", value, got[0], got[1], code)
		}
		if back, err := Decode(driver.UE8M0, []byte{code}); err != nil || back[0] != value {
			t.Errorf("%d becomes %v, %v, want %g", code, back, err, value)
		}
	}
	infinity, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		value float32
		code  byte
	}{{0, 0}, {0x1p-149, 0}, {0x1.000004p-127, 1}, {1.0000001, 128}, {1.5, 128}, {3, 129}, {0x1.8p127, 254},
		{infinity, 254}, {-infinity, 254}, {nan, 255}} {
		if got := Encode(driver.UE8M0, []float32{c.value}); got[0] != c.code {
			t.Errorf("%g becomes %d, want %d", c.value, got[0], c.code)
		}
	}
	if got, err := Decode(driver.UE8M0, []byte{255}); err != nil || got[0] == got[0] {
		t.Errorf("255 becomes %v, %v, want NaN", got, err)
	}
}
