package templates

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/reference"
)

// job is a launch on tensors of its own.
type job struct {
	name            string
	kernel          kernels.Kernel
	typ             driver.Type
	f               written
	rows, columns   int
	heads           []int
	numbers         []float64
	blocks, threads int
	tensors         []tensor // dst, x, the other operands, and scales, or further results and their operands
	params          []param
	left            uint32
	after           [][]byte
}

// param is a number or, of a tensor, an offset.
type param struct{ tensor, value uint64 }

// tensor is elements that begin somewhere in a buffer.
type tensor struct {
	typ          driver.Type
	shift, count int
	data         []byte
}

// at is element i.
func (x tensor) at(i int) float32 {
	switch x.typ {
	case driver.FP32:
		return math.Float32frombits(binary.LittleEndian.Uint32(x.data[4*(x.shift+i):]))
	case driver.E4M3, driver.E5M2, driver.UE8M0:
		v, _ := reference.Decode(x.typ, x.data[x.shift+i:][:1])
		return v[0]
	case driver.E2M1:
		v, _ := reference.Decode(x.typ, x.data[(x.shift+i)/2:][:1])
		return v[(x.shift+i)%2]
	}
	return math.Float32frombits(uint32(binary.LittleEndian.Uint16(x.data[2*(x.shift+i):])) << 16)
}

// set sets element i, rounded to nearest, ties to even.
func (x tensor) set(i int, v float32) {
	bits := math.Float32bits(v)
	switch x.typ {
	case driver.FP32:
		binary.LittleEndian.PutUint32(x.data[4*(x.shift+i):], bits)
		return
	case driver.E4M3, driver.E5M2, driver.UE8M0:
		copy(x.data[x.shift+i:], reference.Encode(x.typ, []float32{v}))
		return
	case driver.E2M1:
		at := (x.shift + i) / 2
		both, _ := reference.Decode(x.typ, x.data[at:][:1])
		both[(x.shift+i)%2] = v
		copy(x.data[at:], reference.Encode(x.typ, both))
		return
	}
	if v != v {
		bits |= 1 << 22
	} else {
		bits += 0x7fff + bits>>16&1
	}
	binary.LittleEndian.PutUint16(x.data[2*(x.shift+i):], uint16(bits>>16))
}

// random is a generator of numbers.
type random uint32

func (r *random) below(n int) int {
	*r = *r*1664525 + 1013904223
	x := uint32(*r) // whose low bits alone tell little of the next number
	x = (x ^ x>>16) * 0x45d9f3b
	return int(x^x>>15) % n
}

// special are numbers that functions may take for others.
var special = []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e-40, -1e-40, 3e38,
	0x1p-126}

func (r *random) tensor(typ driver.Type, count int, ordinary bool) tensor {
	x := tensor{typ: typ, shift: 8 * r.below(2), count: count}
	if r.below(3) == 0 {
		x.shift += 1 + r.below(4)
	}
	if typ == driver.E2M1 { // whole bytes
		x.shift *= 2
	}
	x.data = bytes.Repeat([]byte{0xee}, int(typ.Bytes((x.shift+count+10)/2*2)))
	for i := range count {
		v := float32(r.below(1<<20)-1<<19) / (1 << 17)
		if !ordinary && r.below(40) == 0 {
			v = float32(special[r.below(len(special))])
		}
		x.set(i, v)
	}
	return x
}

// newJob is a launch of a kernel on tensors by chance: aligned or not, in place or not.
func newJob(f Formula, k kernels.Kernel, typ driver.Type, seed uint32) *job {
	w, _ := f.write()
	r := random(hash(seed, 0)) // seeds in a row would have equally many rows
	j := &job{name: k.Name(typ), kernel: k, typ: typ, f: w, rows: r.below(5), blocks: 1 + r.below(3)}
	heads := []int{2, 6, 8, 16, 32, 40, 128}
	width := heads[r.below(len(heads))]
	j.columns = []int{1, 3, 7, 8, 16, 29, 72, 131, 520}[r.below(9)]
	if k.Made.Type == driver.E2M1 || k.Made.X.Type == driver.E2M1 { // blocks
		j.columns = 16 * (1 + r.below(4))
	} else if len(w.heads) > 0 {
		j.columns = width * (1 + r.below(3)) * 2
	} else if seed%12 == 3 && k.Kind == kernels.Groups { // more than lanes hold
		j.columns, j.rows = 4*4096+24, 1
	}
	for _, h := range w.heads {
		j.heads = append(j.heads, map[bool]int{true: 2 * width, false: width}[h == "H"])
	}
	for range k.Made.Numbers {
		j.numbers = append(j.numbers, float64(r.below(1000))/1000)
	}
	count := j.rows * j.columns
	ordinary := r.below(2) == 0
	j.tensors = []tensor{r.tensor(cmp.Or(k.Made.Type, typ), count, true)}
	operands, scales := reads(k.Made), k.Made.Scales
	for _, then := range k.Made.Then {
		operands = slices.Concat(operands, []kernels.Operand{{Type: then.Type}}, then.Operands) // its result first
		scales = then.Scales
	}
	for _, o := range operands {
		sizes := map[kernels.Lies]int{kernels.InPlace: count, kernels.ByColumn: j.columns, kernels.ByRow: j.rows}
		if o.Head > 0 {
			sizes[kernels.ByHead], sizes[kernels.OfTable] = j.heads[o.Head-1], j.rows*j.heads[o.Head-1]
		}
		j.tensors = append(j.tensors, r.tensor(cmp.Or(o.Type, typ), sizes[o.Lies], ordinary))
	}
	if scales != 0 {
		j.tensors = append(j.tensors, r.tensor(scales, j.rows*(j.columns/j.wide(k.Made.Group)), true))
	}
	j.pass(k, r.below(len(reads(k.Made))+1), count)
	j.threads = 4 * (1 + r.below(4))
	if k.Kind == kernels.Groups {
		wide := j.wide(k.Made.Group)
		parts := 1
		for parts < 512 && parts*8 < wide {
			parts *= 2
		}
		lanes := max(parts/int(k.Each()), 1)
		j.threads = lanes * (1 + r.below(max(1, min(4, 128/lanes))))
	}
	return j
}

// pass makes the parameters; dst may lie in an operand.
func (j *job) pass(k kernels.Kernel, in, count int) {
	dst := 0
	if in > 0 && reads(k.Made)[in-1].Lies == kernels.InPlace && j.tensors[in].typ == j.tensors[0].typ {
		dst = in
	}
	add := func(tensor int) {
		x := j.tensors[tensor]
		j.params = append(j.params, param{uint64(tensor + 1), uint64(x.typ.Bytes(x.shift))})
	}
	number := func(x uint64) { j.params = append(j.params, param{0, x}) }
	add(dst)
	if k.Kind == kernels.Groups {
		count = j.rows
	}
	number(uint64(count))
	for i := range j.tensors[1:] {
		if first := 1 + len(reads(k.Made)); len(k.Made.Then) > 0 && i+1 == first && dst != 1 && in%2 == 0 &&
			j.tensors[first].typ == j.tensors[1].typ {
			add(1) // a further result lies in x
			continue
		}
		add(i + 1)
	}
	if k.Kind == kernels.Groups || slices.ContainsFunc(k.Made.Operands, func(o kernels.Operand) bool {
		return o.Lies != kernels.InPlace
	}) {
		number(uint64(j.columns))
	}
	for _, h := range j.heads {
		number(uint64(h))
	}
	for _, x := range j.numbers {
		number(math.Float64bits(x))
	}
}

// runJobs runs all of them by one program, whose kernels are compiled with the flags; of a mutant those of its kernels,
// which it returns.
func runJobs(t *testing.T, c code, jobs []*job, flags ...string) (ran []*job) {
	t.Helper()
	program, kernels := onEngine(flags...).program(t, c, "formulas")
	switch {
	case program == "":
		return nil
	case kernels != nil:
		jobs = slices.DeleteFunc(jobs, func(j *job) bool { return !slices.Contains(kernels, j.name) })
	}
	var in, errs bytes.Buffer
	put := func(list ...uint64) { in.Write(binary.LittleEndian.AppendUint64(nil, list[0])) }
	text := func(b []byte) { put(uint64(len(b))); in.Write(b) }
	put(uint64(len(jobs)))
	for _, j := range jobs {
		text([]byte(j.name))
		put(uint64(j.blocks))
		put(uint64(j.threads))
		put(uint64(len(j.params)))
		for _, p := range j.params {
			put(p.tensor)
			put(p.value)
		}
		put(uint64(len(j.tensors)))
		for _, x := range j.tensors {
			text(x.data)
		}
	}
	cmd := command(t.Context(), 10, program)
	cmd.Stdin, cmd.Stderr = &in, &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run: %v\n%s%s", err, out, errs.String())
	}
	for _, j := range jobs {
		if len(out) < 4 {
			t.Fatalf("%s did not end", j.name)
		}
		j.left, out = binary.LittleEndian.Uint32(out), out[4:]
		for _, x := range j.tensors {
			j.after, out = append(j.after, out[:len(x.data)]), out[len(x.data):]
		}
	}
	return jobs
}

// compareJobs reports launches that did wrong.
func compareJobs(t *testing.T, jobs []*job, units int) {
	t.Helper()
	failed := 0
	for _, j := range jobs {
		if wrong := j.wrong(units); wrong != "" {
			t.Errorf("run: %s of %s: %s", j.name, j.f, wrong)
			if failed++; failed == 5 {
				return
			}
		}
	}
}

// wrong says what a launch did wrong, where results may be so many units of the last place away.
func (j *job) wrong(units int) string {
	if j.left != 0 {
		return fmt.Sprintf("it has not ended: %d", j.left)
	}
	dst := int(j.params[0].tensor) - 1
	values := j.f.eval(j)
	further := j.further(values[len(values)-1])
	for i, x := range j.tensors {
		want := tensor{typ: x.typ, shift: x.shift, count: x.count, data: slices.Clone(x.data)}
		got := tensor{typ: x.typ, shift: x.shift, count: x.count, data: j.after[i]}
		var made []float32
		switch {
		case i == dst:
			made = values[len(values)-1]
		case further[i] != nil:
			made = further[i]
		case j.kernel.Made.Scales != 0 && i == len(j.tensors)-1:
			made = j.scales(j.f, values)
		}
		for at := range made {
			want.set(at, made[at])
			if w, g := want.at(at), got.at(at); w != w && g != g || near(w, g, units) {
				want.set(at, g)
			}
		}
		for at := range want.data {
			if want.data[at] != got.data[at] {
				at = 8*at/int(x.typ.Bits()) - x.shift
				return fmt.Sprintf("%d rows of %d, heads of %v, %d threads, tensor %d of %d in %d, shift %d: element "+
					"%d of %d is %g, want %g", j.rows, j.columns, j.heads, j.threads, i, len(j.tensors), dst, x.shift,
					at, x.count, got.at(at), want.at(at))
			}
		}
	}
	return ""
}

// further are the results of functions of what a launch makes, by their tensors.
func (j *job) further(made []float32) map[int][]float32 {
	results, first := map[int][]float32{}, 1+len(reads(j.kernel.Made))
	for i, then := range j.kernel.Made.Then {
		w, err := j.f.Then[i].write()
		if err != nil {
			panic(err)
		}
		x := tensor{typ: j.tensors[0].typ, count: len(made), data: make([]byte, len(made)*int(j.tensors[0].typ.Size()))}
		for at, v := range made {
			x.set(at, v)
		}
		of := *j
		of.tensors = append([]tensor{{}, x}, j.tensors[first+1:]...)
		values := w.eval(&of)
		made = values[len(values)-1]
		results[int(j.params[first+1].tensor)-1] = made
		if first += len(reads(&then)); then.Scales != 0 {
			results[first] = j.scales(w, values)
		}
	}
	return results
}

// wide is how many columns go together: those of heads by the number of their width, or of a row by 0.
func (j *job) wide(group int) int {
	if group > 0 {
		return j.heads[group-1]
	}
	return j.columns
}

// scales are what a formula divides each row by, or each head, of the values of its nodes: head by head.
func (j *job) scales(w written, values [][]float32) (made []float32) {
	by := values[w.nodes[len(values)-1].Of[1]]
	for head := 0; head < j.columns; head += j.wide(w.group) {
		for row := range j.rows {
			made = append(made, by[row*j.columns+head])
		}
	}
	return made
}

// near is whether two numbers of one sign are so many units of the last place apart.
func near(a, b float32, units int) bool {
	return math.Abs(float64(int64(math.Float32bits(a))-int64(math.Float32bits(b)))) <= float64(units)
}

// reads are X and the other operands of a function.
func reads(m *kernels.Made) []kernels.Operand { return append([]kernels.Operand{m.X}, m.Operands...) }
