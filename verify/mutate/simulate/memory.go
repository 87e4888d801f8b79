//go:build !nosim

package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/schedule"
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
	number  int
	list    []ops.Op
	streams map[string]driver.Stream
	events  map[int]driver.Event
	ended   driver.Event // the last run
	product driver.Product
	own     map[string]driver.Ptr         // buffers by name
	at      map[int]map[string]driver.Ptr // of all ranks, as this one addresses them
	fresh   []map[string]driver.Ptr       // inputs of each run
	results []driver.Ptr                  // C of each run
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

// allocate makes memory, streams, events and the product.
func (r *rank) allocate(lists [][]ops.Op) (err error) {
	r.own, r.streams, r.events = map[string]driver.Ptr{}, map[string]driver.Stream{}, map[int]driver.Event{}
	bytes := extents(slices.Concat(lists, r.Right), r.number)
	for _, name := range slices.Sorted(maps.Keys(bytes)) {
		if r.own[name], err = r.MemAlloc(bytes[name]); err != nil {
			return err
		}
	}
	for _, o := range r.list {
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
	}
	if r.ended, err = r.EventCreate(false); err != nil {
		return err
	}
	if r.product, err = r.MatmulCreate(r.desc()); err != nil {
		return err
	}
	return r.inputs()
}

func (r *rank) desc() driver.MatmulDesc {
	_, bias := r.Program.Buffer("Bias")
	return driver.MatmulDesc{M: int(r.Shape.M) / r.Shape.Ranks, K: int(r.Shape.K), N: int(r.Shape.N), Type: driver.FP32,
		Transposed: r.Program.Schedule.Op == schedule.Linear, Bias: bias}
}

// elements of the caller's buffers of this rank.
func (r *rank) elements() map[string]int64 {
	n := map[string]int64{}
	env := hostir.Env{"r": int64(r.number), "D": int64(r.Shape.Ranks), "M": r.Shape.M, "K": r.Shape.K, "N": r.Shape.N}
	for _, b := range r.Program.Buffers {
		if e, err := b.Elements.Eval(env); err == nil && b.Owner == hostir.Caller {
			n[b.Name] = e
		}
	}
	return n
}

// inputs makes what the caller writes before each run and room for what it reads.
func (r *rank) inputs() error {
	for run := range r.Runs {
		fresh := map[string]driver.Ptr{}
		elements := r.elements()
		for _, name := range slices.Sorted(maps.Keys(elements)) {
			n := elements[name]
			p, err := r.MemAlloc(4 * n)
			if err != nil {
				return err
			}
			if name == "C" {
				r.results = append(r.results, p)
				continue
			}
			fresh[name] = p
			if err := r.MemcpyHtoD(p, reference.Encode(driver.FP32, values(run, r.number, name, n))); err != nil {
				return err
			}
		}
		r.fresh = append(r.fresh, fresh)
	}
	return nil
}

// values are the elements of a rank's input in a run: -1, 0 or 1.
func values(run, rank int, name string, n int64) []float32 {
	in := reference.Input{Seed: uint32(run*1000 + rank*10 + len(name) + int(name[0])), Limit: reference.Whole * 3 / 4}
	list := make([]float32, n)
	for i := range list {
		list[i] = in.At(int64(i))
	}
	return list
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

// compare holds C of every run against the product of what its inputs were.
func (r *rank) compare() (wrong []string, err error) {
	desc, n := r.desc(), r.elements()
	for run, p := range r.results {
		raw := make([]byte, 4*n["C"])
		if err := r.MemcpyDtoH(raw, p); err != nil {
			return nil, err
		}
		got, err := reference.Decode(driver.FP32, raw)
		if err != nil {
			return nil, err
		}
		b, bias := values(run, r.number, "B", n["B"]), values(run, r.number, "Bias", n["Bias"])
		for row := range desc.M * r.Shape.Ranks {
			a := values(run, row/desc.M, "A", n["A"])[row%desc.M*desc.K:]
			for col := range desc.N {
				want := float32(0)
				if desc.Bias {
					want = bias[col]
				}
				for k := range desc.K {
					if desc.Transposed {
						want += a[k] * b[col*desc.K+k]
					} else {
						want += a[k] * b[k*desc.N+col]
					}
				}
				if g := got[row*desc.N+col]; g != want {
					wrong = append(wrong, fmt.Sprintf("run %d, rank %d: C[%d,%d] is %v, want %v", run+1, r.number, row, col, g, want))
				}
			}
		}
	}
	return wrong, nil
}
