package simulate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/schedule/hostir"
	"ovgen/verify/mutate"
	"ovgen/verify/ops"
	"ovgen/verify/reference"
)

// rank is a device with what its list of operations uses.
type rank struct {
	driver.Driver
	mutate.Case
	Config
	problem  *reference.Problem
	number   int
	list     []ops.Op
	streams  map[string]driver.Stream
	events   map[int]driver.Event
	ended    driver.Event // the last run
	products map[driver.MatmulDesc]driver.Product
	ones     driver.Ptr                    // elements that are 1, as many as a sum has rows
	scratch  map[string]driver.Ptr         // the workspace of each stream's sums
	own      map[string]driver.Ptr         // buffers by name
	at       map[int]map[string]driver.Ptr // of all ranks, as this one addresses them
	fresh    []map[string]driver.Ptr       // of each run: inputs, and what results are kept in

	collectives driver.Collectives
	comm        driver.Comm
	functions   map[string]driver.Function // kernels, by the function that they apply
}

// extents are the bytes of each buffer that lists mention on a rank.
func extents(lists [][]ops.Op, rank int) map[string]int64 {
	bytes := map[string]int64{}
	see := func(at ops.Loc, n int64) {
		if at.Rank == rank {
			bytes[at.Buffer] = max(bytes[at.Buffer], at.Offset+n)
		}
	}
	for _, list := range lists {
		for _, o := range list {
			for _, w := range o.Words {
				see(w.At, 4)
			}
			for _, u := range o.Uses {
				see(u.At, u.Bytes)
				if strings.HasPrefix(u.At.Buffer, "workspace[") {
					see(u.At, driver.WorkspaceBytes)
				}
			}
		}
	}
	return bytes
}

// allocate makes memory, streams and events.
func (r *rank) allocate(lists [][]ops.Op) (err error) {
	r.own, r.streams, r.events = map[string]driver.Ptr{}, map[string]driver.Stream{}, map[int]driver.Event{}
	r.products, r.scratch = map[driver.MatmulDesc]driver.Product{}, map[string]driver.Ptr{}
	r.functions = map[string]driver.Function{}
	bytes := extents(slices.Concat(lists, r.Right), r.number)
	for _, t := range r.tensors() {
		bytes[t.buffer] = max(bytes[t.buffer], t.offset+4*int64(t.Count))
	}
	for _, name := range slices.Sorted(maps.Keys(bytes)) {
		if r.own[name], err = r.MemAlloc(max(bytes[name], 4)); err != nil {
			return err
		}
	}
	for _, o := range r.list {
		if err := r.prepare(o); err != nil {
			return err
		}
	}
	if r.ended, err = r.EventCreate(false); err != nil {
		return err
	}
	rows := 1 // the most that a sum has of the size of a term
	for d := range r.products {
		if d.K == 1 {
			rows = max(rows, d.M)
		}
	}
	if r.ones, err = r.upload(slices.Repeat([]float32{1}, rows)); err != nil {
		return err
	}
	return r.inputs()
}

// prepare makes the stream and event of an operation, and its products.
func (r *rank) prepare(o ops.Op) (err error) {
	if _, ok := r.streams[o.Stream]; !ok {
		if r.streams[o.Stream], err = r.StreamCreateWithPriority(driver.Normal); err != nil {
			return err
		}
	}
	if _, ok := r.events[o.Event]; !ok {
		if r.events[o.Event], err = r.EventCreate(false); err != nil {
			return err
		}
	}
	if _, ok := r.scratch[o.Stream]; !ok && o.Kind == ops.Sum {
		if r.scratch[o.Stream], err = r.MemAlloc(driver.WorkspaceBytes); err != nil {
			return err
		}
	}
	return r.create(o)
}

// tensor is one of the caller's on this rank: so many elements from an offset of a buffer
// on, in bytes.
type tensor struct {
	name   string
	result bool
	buffer string
	offset int64
	reference.Part
}

// tensors are the caller's that have elements on this rank, results first: what is
// written before a run goes over what they are spoilt with.
func (r *rank) tensors() (list []tensor) {
	add := func(name, buffer string, part int64) {
		if t := (tensor{name, r.problem.Result(name), buffer, 0, r.part(name)}); t.Count > 0 {
			t.offset = part * 4 * int64(t.Count)
			list = append(list, t)
		}
	}
	for _, b := range r.Program.Buffers {
		if b.Owner != hostir.Caller {
			continue
		}
		add(b.Name, b.Name, 0)
		if b.Inner.Part {
			add(b.Inner.Tensor.Name, b.Name, int64(r.number))
		} else if b.Inner.Tensor.Name != "" {
			add(b.Inner.Tensor.Name, b.Name, 0)
		}
	}
	slices.SortStableFunc(list, func(x, y tensor) int {
		switch {
		case x.result == y.result:
			return 0
		case x.result:
			return -1
		}
		return 1
	})
	return list
}

// place is where a tensor is.
func (r *rank) place(t tensor) driver.Ptr { return r.own[t.buffer] + driver.Ptr(t.offset) }

// part is the rank's part of a tensor.
func (r *rank) part(name string) reference.Part {
	if r.number > 0 && r.problem.Tensor(name).Root {
		return reference.Part{}
	}
	p, _ := r.problem.Part(name, r.number) // Check has seen every part
	return p
}

// inputs makes what the caller writes before each run and room for what it reads.
func (r *rank) inputs() (err error) {
	for run := range r.Runs {
		fresh := map[string]driver.Ptr{}
		for _, t := range r.tensors() {
			list := make([]float32, t.Count)
			if !t.result {
				in := input(r.problem, run, t.name)
				for i := range list {
					list[i] = in.At(int64(t.At(i)))
				}
			}
			if fresh[t.name], err = r.upload(list); err != nil {
				return err
			}
		}
		r.fresh = append(r.fresh, fresh)
	}
	return nil
}

// upload allocates elements.
func (r *rank) upload(list []float32) (driver.Ptr, error) {
	p, err := r.MemAlloc(max(4*int64(len(list)), 4))
	if err != nil {
		return 0, err
	}
	return p, r.MemcpyHtoD(p, reference.Encode(driver.FP32, list))
}

// input is a whole tensor as a run finds it.
func input(p *reference.Problem, run int, name string) reference.Input {
	seed := uint32(run * 1000)
	for _, c := range name {
		seed = seed*31 + uint32(c)
	}
	return p.Input(name, seed, false)
}

// results are the whole results of a run, with bounds where they are not exact.
func results(p *reference.Problem, run int) map[string]reference.Values {
	inputs := map[string]reference.Input{}
	for _, t := range p.Tensors {
		if !p.Result(t.Name) {
			inputs[t.Name] = input(p, run, t.Name)
		}
	}
	return p.Results(inputs, !p.Exact())
}

// open imports what peers own, but for their workspaces.
func (r *rank) open(ranks []*rank) error {
	r.at = map[int]map[string]driver.Ptr{r.number: r.own}
	for _, peer := range ranks {
		if peer == r {
			continue
		}
		r.at[peer.number] = map[string]driver.Ptr{}
		for _, name := range slices.Sorted(maps.Keys(peer.own)) {
			p := peer.own[name]
			if strings.HasPrefix(name, "workspace[") {
				continue
			}
			h, err := peer.IpcGetMemHandle(p)
			if err != nil {
				return fmt.Errorf("export %s: %w", name, err)
			}
			if r.at[peer.number][name], err = r.IpcOpenMemHandle(h); err != nil {
				return fmt.Errorf("import %s of rank %d: %w", name, peer.number, err)
			}
		}
	}
	return nil
}

// ptr is where a place is for this rank.
func (r *rank) ptr(at ops.Loc) driver.Ptr { return r.at[at.Rank][at.Buffer] + driver.Ptr(at.Offset) }

// right reports whether an element is as it should be: equal, or, where there are bounds, within its own.
func right(v reference.Values, i int, got float32) bool {
	if v.Bound == nil {
		return got == float32(v.Want[i])
	}
	return math.Abs(float64(got)-v.Want[i]) <= v.Bound[i]
}

// compare holds the results of every run against what they should be.
func (r *rank) compare() (wrong []string, err error) {
	for run, kept := range r.fresh {
		whole := results(r.problem, run)
		for _, t := range r.tensors() {
			if !t.result {
				continue
			}
			raw := make([]byte, 4*t.Count)
			if err := r.MemcpyDtoH(raw, kept[t.name]); err != nil {
				return nil, err
			}
			got, err := reference.Decode(driver.FP32, raw)
			if err != nil {
				return nil, err
			}
			for i, g := range got {
				if !right(whole[t.name], t.At(i), g) {
					wrong = append(wrong, fmt.Sprintf("run %d, rank %d: %s[%d] is %v, want %v", run+1, r.number, t.name,
						i, g, whole[t.name].Want[t.At(i)]))
				}
			}
		}
	}
	return wrong, nil
}
