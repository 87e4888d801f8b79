package kernels_test

import (
	"encoding/binary"
	"math"
	"testing"

	"ovgen/docs/examples/llama/kernels"
	"ovgen/runtime/driver"
)

// TestBest has the greatest logit in each piece of a row, equal ones in several, and greater ones behind the tokens.
func TestBest(t *testing.T) {
	const rows, columns, tokens, first = 7, 70016, 70001, 1000
	logits := make([]float32, rows*columns)
	for row, at := range [rows][]int{{0}, {tokens - 1, tokens}, {5000, 4999, 69000}, {1023, 1024}, {33000, 32768},
		{2048}, {31 * 1024}} {
		for _, at := range at {
			logits[row*columns+at] = 1
		}
	}
	d := device(t, 1)
	p := kernels.Params{Count: rows, Columns: columns, First: first, Tokens: tokens, Logits: put(t, d, logits),
		Best: put(t, d, make([]int64, rows)), Found: put(t, d, make([]int64, rows*kernels.Pieces)),
		Ended: put(t, d, make([]int32, rows)), Rows: put(t, d, make([]byte, kernels.RowBytes*rows))}
	for range 2 { // as a graph is launched
		bytes := launched(t, d, driver.BF16, "best", p, p.Best, 8*rows)
		for row, want := range []int{0, tokens - 1, 4999, 1023, 32768, 2048, 31 * 1024} {
			if got := int(binary.LittleEndian.Uint32(bytes[8*row+4:])); got != first+want {
				t.Errorf("the best token of row %d is %d, want %d", row, got, first+want)
			}
		}
		must(t, d.MemcpyHtoD(p.Best, make([]byte, 8*rows)))
	}
}

// TestWide holds the embedding, which grows, and the gate against float64, of rows that 16 bytes divide, and of others.
func TestWide(t *testing.T) {
	for _, wide := range []int{24, 21, 4096 + 8} {
		const rows, grows, beyond = 3, 1.5, 1
		numbers := make([]float32, rows*2*wide)
		for i := range numbers {
			numbers[i] = float32(math.Sin(float64(i)))
		}
		d := device(t, 1)
		p := kernels.Params{Count: rows, Hidden: wide, Width: wide, Embedding: put(t, d, numbers),
			Norm: put(t, d, numbers[7:][:wide]), Gates: put(t, d, numbers), Gated: put(t, d, numbers),
			X: put(t, d, numbers), Normed: put(t, d, numbers),
			Rows:  put(t, d, []int32{5, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0}),
			Grows: grows, Beyond: beyond}
		gated := launched(t, d, driver.FP32, "gate", p, p.Gated, 4*rows*wide)
		normed := launched(t, d, driver.FP32, "embed", p, p.Normed, 4*rows*wide)
		x := read(t, d, p.X, len(normed))
		for i := range rows * wide {
			row, e := i/wide, i%wide
			own, squares := numbers[[]int{5, 1, 4}[row]*wide:][:wide], 0.0
			for _, x := range own {
				squares += float64(x) * float64(x) / float64(wide)
			}
			gate, through := float64(numbers[2*row*wide+e]), float64(numbers[(2*row+1)*wide+e])
			near(t, "gated", wide, i, number(gated, driver.FP32, i), gate/(1+math.Exp(-gate))*through)
			near(t, "normed", wide, i, number(normed, driver.FP32, i),
				float64(own[e])/math.Sqrt(squares)*(beyond+float64(numbers[7+e])))
			near(t, "embedded", wide, i, number(x, driver.FP32, i), grows*float64(own[e]))
		}
	}
}

// TestCodes holds the eight bits that embed makes of its norms, and the gate's, against the definition, of rows that 16
// bytes divide, and of others. An embed that makes none leaves their memory as it is.
func TestCodes(t *testing.T) {
	for _, wide := range []int{24, 21, 4096 + 8} {
		const rows = 3
		numbers := make([]float32, rows*2*wide)
		for i := range numbers {
			numbers[i] = float32(math.Sin(float64(i)) * math.Exp2(float64(i%23-11)))
		}
		clear(numbers[2*wide:][:2*wide]) // scales of zeros are the least
		d := device(t, 1)
		p := kernels.Params{Count: rows, Hidden: wide, Embedding: put(t, d, numbers), Norm: put(t, d, numbers[:wide]),
			X: put(t, d, numbers), Normed: put(t, d, numbers),
			Rows:  put(t, d, []int32{4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}),
			Grows: 1, Epsilon: 1e-6, Width: wide, Gates: put(t, d, numbers), Gated: put(t, d, numbers)}
		codes, scales := put(t, d, make([]byte, rows*wide)), put(t, d, make([]float32, rows))
		launched(t, d, driver.FP32, "embed", p, p.Normed, 0)
		for _, x := range read(t, d, codes, rows*wide) {
			if x != 0 {
				t.Fatal("codes that nobody asks for are made")
			}
		}
		gated := launched(t, d, driver.FP32, "gate", p, p.Gated, 4*rows*wide)
		p.Codes, p.Scales = codes, scales
		normed := launched(t, d, driver.FP32, "embed", p, p.Normed, 4*rows*wide)
		quantised(t, "normed", driver.FP32, wide, normed, read(t, d, codes, rows*wide), read(t, d, scales, 4*rows))
		launched(t, d, driver.FP32, "gatecodes", p, p.Codes, 0)
		quantised(t, "gated", driver.FP32, wide, gated, read(t, d, codes, rows*wide), read(t, d, scales, 4*rows))
	}
}

// quantised fails where codes and scales are not those of rows of a type.
func quantised(t *testing.T, what string, typ driver.Type, wide int, of, codes, scales []byte) {
	t.Helper()
	for row := range len(codes) / wide {
		most := 0.0
		for i := range wide {
			most = max(most, math.Abs(number(of, typ, row*wide+i)))
		}
		scale := math.Exp2(math.Max(math.Ceil(math.Log2(most/448)), -126))
		if got := number(scales, driver.FP32, row); got != scale {
			t.Fatalf("%s, %d wide: the scale of row %d is %g, want %g", what, wide, row, got, scale)
		}
		for i := range wide {
			x, got := number(of, typ, row*wide+i)/scale, codes[row*wide+i]
			for c := range byte(0x7f) { // none is nearer, or as near and even
				apart, own := math.Abs(math.Abs(x)-code(c)), math.Abs(math.Abs(x)-code(got&0x7f))
				if apart < own || apart == own && got%2 == 1 && c%2 == 0 || x != 0 && (x < 0) != (got > 0x7f) {
					t.Fatalf("%s, %d wide: code %d of row %d is %#x, of %g", what, wide, i, row, got, x)
				}
			}
		}
	}
}

// code is the number of a code of e4m3 above 0: three digits, behind an exponent whose bias is 7.
func code(c byte) float64 {
	if c < 8 {
		return math.Ldexp(float64(c), -9)
	}
	return math.Ldexp(float64(8+c%8), int(c>>3)-10)
}

// read are bytes of a device.
func read(t *testing.T, d driver.Driver, at driver.Ptr, bytes int) []byte {
	t.Helper()
	list := make([]byte, bytes)
	must(t, d.MemcpyDtoH(list, at))
	return list
}

// near fails where an element is far from what it should be.
func near(t *testing.T, what string, wide, i int, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 2e-6) {
		t.Fatalf("%d wide: element %d is %s as %g, want %g", wide, i, what, got, want)
	}
}

// launched is what a kernel makes.
func launched(t *testing.T, d driver.Driver, typ driver.Type, name string, p kernels.Params, at driver.Ptr,
	bytes int) []byte {
	t.Helper()
	set, err := kernels.Load(d, typ)
	must(t, err)
	stream, err := d.StreamCreateWithPriority(driver.Normal)
	must(t, err)
	must(t, set.Launch(stream, name, p))
	must(t, d.StreamSynchronize(stream))
	return read(t, d, at, bytes)
}
