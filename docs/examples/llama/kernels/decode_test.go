package kernels_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"ovgen/docs/examples/llama/kernels"
	_ "ovgen/docs/examples/llama/kernels/host"
	"ovgen/runtime/driver"
	_ "ovgen/runtime/driver/cuda"
	"ovgen/verify/sampling"
	"ovgen/verify/sim"
)

// attention is the rows of a launch of decode, and what it works on.
type attention struct {
	size, keys, group, offset int
	positions                 []int // row i is of sequence i
}

// TestDecode holds attention of few rows against float64: heads of all sizes, queries of a head of keys that are one,
// few, more than an item takes, and cut; positions of one stretch and at both sides of more; more rows than decodefew
// takes. It is launched three times, as a graph is, and other numbers of blocks share the rows: all make the same bits.
// Blocks end in another order by each seed.
func TestDecode(t *testing.T) {
	sampling.Test(t, 1, 2)
	for seed, a := range []attention{
		{128, 2, 4, 0, []int{0, 15, 127, 128, 511, 512, 1030}},
		{64, 1, 12, 0, []int{3, 200, 130}},
		{128, 2, 3, 2, []int{140, 63, 64}},
		{8, 3, 1, 0, []int{2047, 1}},
		{64, 2, 4, 1, []int{0, 15, 127, 128, 511, 512, 600, 129, 4}}, // more than few
		{256, 2, 4, 1, []int{0, 127, 128, 512, 1030}},
		{136, 1, 9, 0, []int{3, 200, 130}},
	} {
		t.Run(fmt.Sprint(a), func(t *testing.T) {
			for _, typ := range []driver.Type{driver.FP32, driver.BF16} {
				a.hold(t, typ, uint64(seed))
			}
		})
	}
}

// bf16s are n random numbers that bf16 holds.
func bf16s(source *rand.Rand, n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = math.Float32frombits(math.Float32bits(source.Float32()*4-2) &^ 0xffff)
	}
	return list
}

// turns are n cosines and sines.
func turns(n int) []float32 {
	angles := make([]float32, n)
	for i := range n / 2 {
		sin, cos := math.Sincos(float64(i))
		angles[2*i], angles[2*i+1] = float32(cos), float32(sin)
	}
	return angles
}

// stored are numbers of bf16 as a type holds them.
func stored(x []float32, typ driver.Type) any {
	if typ == driver.FP32 {
		return x
	}
	list := make([]uint16, len(x))
	for i, f := range x {
		list[i] = uint16(math.Float32bits(f) >> 16)
	}
	return list
}

// hold runs a launch and compares it with the reference.
func (a attention) hold(t *testing.T, typ driver.Type, seed uint64) {
	const room = 2048
	queries, rows := a.keys*a.group-a.offset, len(a.positions) // the first head of keys has offset queries elsewhere
	wide := (queries + 2*a.keys) * a.size
	source := rand.New(rand.NewPCG(seed, 3))
	numbers := func(n int) []float32 { return bf16s(source, n) }
	qkv, keys, values := numbers(rows*wide), numbers(rows*room*a.keys*a.size), numbers(rows*room*a.keys*a.size)
	angles := turns(room * a.size)
	d := device(t, seed)
	put := func(data any) driver.Ptr { return put(t, d, data) }
	elements := func(x []float32) any { return stored(x, typ) }
	shared := func(most int) (list []int32) { // each row by 1 to so many blocks
		for i, p := range a.positions {
			list = append(list, 0, int32(i), int32(p), int32(source.IntN(most)+1))
		}
		return list
	}
	p := kernels.Params{Count: rows, Rows: put(shared(1)), Queries: queries, Keys: a.keys, Group: a.group,
		Offset: a.offset, Size: a.size, Places: rows, Room: room, Angles: put(angles), WideQuery: wide, WideKey: wide,
		Query: put(elements(qkv)), To: put(elements(make([]float32, rows*queries*a.size))),
		CacheKeys: put(elements(keys)), CacheValues: put(elements(values)),
		Parts: put(make([]float32, rows*queries*kernels.Stretches*(4+a.size))),
		Ended: put(make([]int32, rows*(queries+1))),
		Scale: float32(1 / math.Sqrt(float64(a.size)))}
	p.Key = p.Query + driver.Ptr(queries*a.size)*driver.Ptr(typ.Size())
	p.Value = p.Key + driver.Ptr(a.keys*a.size)*driver.Ptr(typ.Size())
	set, err := kernels.Load(d, typ)
	must(t, err)
	stream, err := d.StreamCreateWithPriority(driver.Normal)
	must(t, err)
	bound := map[driver.Type]float64{driver.FP32: 2e-5, driver.BF16: .02}[typ]
	var first []byte
	for _, most := range []int{1, 3, kernels.Stretches} {
		p.Rows = put(shared(most))
		must(t, set.Launch(stream, "decode", p))
		must(t, d.StreamSynchronize(stream))
		bytes := read(t, d, p.To, rows*queries*a.size*int(typ.Size()))
		eight := p
		eight.Codes, eight.Scales = put(make([]byte, rows*queries*a.size)), put(make([]float32, rows))
		for _, name := range []string{"decode", "decode", "codes"} { // codes reads the results
			must(t, set.Launch(stream, name, eight))
			must(t, d.StreamSynchronize(stream))
			quantised(t, name, typ, queries*a.size, bytes, read(t, d, eight.Codes, rows*queries*a.size),
				read(t, d, eight.Scales, 4*rows))
			must(t, d.MemcpyHtoD(eight.Codes, make([]byte, rows*queries*a.size)))
		}
		for i := range rows * queries {
			want := a.reference(qkv[i/queries*wide:], keys, values, angles, i/queries, i%queries, room)
			for e, want := range want {
				if got := number(bytes, typ, i*a.size+e); !(math.Abs(got-want) <= bound) {
					t.Fatalf("%v: row %d, query %d, element %d is %g, want %g", typ, i/queries, i%queries, e, got, want)
				}
			}
		}
		if first == nil {
			first = bytes
		}
		if !slices.Equal(bytes, first) {
			t.Fatalf("%v: at most %d blocks share a row, and the result has other bits than by one", typ, most)
		}
		must(t, d.MemcpyHtoD(p.To, make([]byte, len(bytes))))
	}
}

// device is a GPU where OVGEN_EXAMPLE_KERNELS is set, else a simulated one.
func device(t *testing.T, seed uint64) driver.Driver {
	if os.Getenv("OVGEN_EXAMPLE_KERNELS") != "" {
		cuda, err := driver.Lookup("cuda")
		must(t, err)
		d, err := cuda.Open(0, 0)
		must(t, err)
		t.Cleanup(func() { must(t, d.Close()) })
		return d
	}
	world := sim.NewWorld(sim.Config{Devices: 1, Seed: seed + 1})
	t.Cleanup(world.Close)
	d, err := world.Open(0)
	must(t, err)
	return d
}

// put allocates memory of the device for numbers.
func put(t *testing.T, d driver.Driver, data any) driver.Ptr {
	bytes, err := binary.Append(nil, binary.LittleEndian, data)
	must(t, err)
	at, err := d.MemAlloc(int64(len(bytes)))
	must(t, err)
	must(t, d.MemcpyHtoD(at, bytes))
	return at
}

// number is an element of a type.
func number(bytes []byte, typ driver.Type, i int) float64 {
	if typ == driver.FP32 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:])))
	}
	return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(bytes[2*i:])) << 16))
}

// reference is a query head's result of a row, whose queries, keys and values are given.
func (a attention) reference(own, keys, values, angles []float32, row, query, room int) []float64 {
	head, position := (query+a.offset)/a.group, a.positions[row]
	first := (a.keys*a.group - a.offset) * a.size // the row's keys
	q := turned(own[query*a.size:][:a.size], angles, position)
	out, all := make([]float64, a.size), 0.0
	for at := range position + 1 {
		place := ((row*room+at)*a.keys + head) * a.size
		v, score := values[place:], 0.0
		k := make([]float64, a.size)
		for e := range k {
			k[e] = float64(keys[place+e])
		}
		if at == position {
			k = turned(own[first+head*a.size:][:a.size], angles, position)
			v = own[first+(a.keys+head)*a.size:]
		}
		for e, x := range k {
			score += x * q[e]
		}
		weight := math.Exp(score / math.Sqrt(float64(a.size)))
		all += weight
		for e := range out {
			out[e] += weight * float64(v[e])
		}
	}
	for e := range out {
		out[e] /= all
	}
	return out
}

// turned is a head turned by its position.
func turned(x, angles []float32, position int) []float64 {
	half, y := len(x)/2, make([]float64, len(x))
	for i := range half {
		turn := complex(float64(angles[(position*half+i)*2]), float64(angles[(position*half+i)*2+1]))
		z := complex(float64(x[i]), float64(x[i+half])) * turn
		y[i], y[i+half] = real(z), imag(z)
	}
	return y
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
