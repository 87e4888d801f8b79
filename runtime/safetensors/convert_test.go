package safetensors_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"ovgen/runtime/device"
	"ovgen/runtime/safetensors"
)

// slow is a 16-bit type by the plain formula of its numbers.
type slow struct{ exponent, digits int } // bits

// value is the number of a code.
func (s slow) value(code uint16) float64 {
	sign, exponent, fraction := 1.0, int(code&0x7fff)>>s.digits, float64(int(code)&(1<<s.digits-1))
	if code>>15 == 1 {
		sign = -1
	}
	bias, one := 1<<(s.exponent-1)-1, math.Ldexp(1, s.digits)
	switch {
	case exponent == 1<<s.exponent-1 && fraction == 0:
		return sign * math.Inf(1)
	case exponent == 1<<s.exponent-1:
		return math.NaN()
	case exponent == 0:
		return sign * math.Ldexp(fraction, 1-bias-s.digits)
	}
	return sign * math.Ldexp(one+fraction, exponent-bias-s.digits)
}

// infinite is the code of infinity.
func (s slow) infinite() int { return (1<<s.exponent - 1) << s.digits }

// nearest searches for the code whose number is nearest to x, ties to even. Infinity stands for the number that
// would follow the greatest.
func (s slow) nearest(x float64) uint16 {
	number := func(i int) float64 {
		if i == s.infinite() {
			return math.Ldexp(1, 1<<(s.exponent-1))
		}
		return s.value(uint16(i))
	}
	abs, sign := math.Abs(x), uint16(0)
	if math.Signbit(x) {
		sign = 0x8000
	}
	i := min(sort.Search(s.infinite(), func(i int) bool { return number(i) >= abs }), s.infinite())
	if i > 0 && abs < number(i) {
		if below, above := abs-number(i-1), number(i)-abs; below < above || below == above && i%2 == 1 {
			i--
		}
	}
	return sign | uint16(i)
}

var slows = map[device.Type]slow{device.BF16: {8, 7}, device.FP16: {5, 10}}

var spelled = map[device.Type]string{device.BF16: "BF16", device.FP16: "F16", device.FP32: "F32"}

// converted reads numbers of one type as numbers of another.
func converted(t *testing.T, from, to device.Type, data []byte) ([]byte, error) {
	t.Helper()
	n, dir := len(data)/int(from.Size()), t.TempDir()
	f := append(file(fmt.Sprintf(`{"x": {"dtype": %q, "shape": [%d], "data_offsets": [0, %d]}}`, spelled[from], n,
		len(data)), 0), data...)
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), f, 0o600); err != nil {
		t.Fatal(err)
	}
	tensors, err := safetensors.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tensors.Read(safetensors.Part{Name: "x", Shape: []int{n}, Count: n, Type: to})
}

// TestWiden reads all numbers of the 16-bit types as fp32 and as their own type.
func TestWiden(t *testing.T) {
	for from, s := range slows {
		var data []byte
		for code := range 1 << 16 {
			data = binary.LittleEndian.AppendUint16(data, uint16(code))
		}
		if got, err := converted(t, from, from, data); err != nil || string(got) != string(data) {
			t.Errorf("%v as it is: %v", from, err)
		}
		got, err := converted(t, from, device.FP32, data)
		if err != nil {
			t.Fatal(err)
		}
		for code := range 1 << 16 {
			x, want := float64(math.Float32frombits(binary.LittleEndian.Uint32(got[4*code:]))), s.value(uint16(code))
			if math.Float64bits(x) != math.Float64bits(want) && !(x != x && want != want) {
				t.Fatalf("%v %#x is %g, want %g", from, code, x, want)
			}
		}
	}
}

// TestNarrow rounds fp32 to the 16-bit types: each of their numbers, the middles between neighbours, the fp32 numbers
// beside both, infinities and NaN.
func TestNarrow(t *testing.T) {
	for to, s := range slows {
		list, inf := []float32(nil), float32(math.Inf(1))
		for code := range s.infinite() {
			x := float32(s.value(uint16(code)))
			middle := float32((float64(x) + s.value(uint16(code+1))) / 2)
			list = append(list, x, math.Nextafter32(x, inf), math.Nextafter32(x, -inf))
			if code+1 < s.infinite() {
				list = append(list, middle, math.Nextafter32(middle, inf), math.Nextafter32(middle, -inf))
			}
		}
		list = append(list, inf)
		for _, nan := range []uint32{0x7f800001, 0x7fc00000, 0x7fffffff} {
			list = append(list, math.Float32frombits(nan))
		}
		var data []byte
		for _, sign := range []uint32{0, 1 << 31} {
			for _, x := range list {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x)^sign)
			}
		}
		got, err := converted(t, device.FP32, to, data)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; 4*i < len(data); i++ {
			x := float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
			made := binary.LittleEndian.Uint16(got[2*i:])
			if nan := x != x; nan && s.value(made) == s.value(made) || !nan && made != s.nearest(x) {
				t.Fatalf("%g is made %v %#x, want %#x", x, to, made, s.nearest(x))
			}
		}
	}
}

// TestBetween reads numbers of each 16-bit type as the other one's.
func TestBetween(t *testing.T) {
	for from, to := range map[device.Type]device.Type{device.BF16: device.FP16, device.FP16: device.BF16} {
		var data, want []byte
		for code := range 1 << 16 {
			x := slows[from].value(uint16(code))
			if x != x || math.Abs(x) >= 65520 { // fp16 has no greater ones, and NaNs are in TestNarrow
				continue
			}
			data = binary.LittleEndian.AppendUint16(data, uint16(code))
			want = binary.LittleEndian.AppendUint16(want, slows[to].nearest(x))
		}
		if got, err := converted(t, from, to, data); err != nil || string(got) != string(want) {
			t.Errorf("%v as %v: %v", from, to, err)
		}
	}
}

// TestTooLarge has finite numbers that the wanted type has no room for, and the greatest ones that it has.
func TestTooLarge(t *testing.T) {
	for _, x := range []struct {
		from, to device.Type
		data     []byte
		want     string // of the error
	}{
		{device.BF16, device.FP16, []byte{0x80, 0x47}, "convert tensor x from BF16 to fp16: 65536 is too large"},
		{device.FP32, device.FP16, []byte{0, 0xf0, 0x7f, 0x47}, "tensor x from F32 to fp16: 65520 is too large"},
		{device.FP32, device.FP16, []byte{0, 0xf0, 0x7f, 0xc7}, "-65520 is too large"},
		{device.FP32, device.FP16, []byte{0xff, 0xef, 0x7f, 0x47}, ""},
		{device.FP32, device.BF16, []byte{0xff, 0xff, 0x7f, 0x7f}, "3.4028235e+38 is too large"},
		{device.BF16, device.FP16, []byte{0x80, 0x7f}, ""}, // infinity
	} {
		_, err := converted(t, x.from, x.to, x.data)
		if (x.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v %x as %v: %v, want %q", x.from, x.data, x.to, err, x.want)
		}
	}
}
