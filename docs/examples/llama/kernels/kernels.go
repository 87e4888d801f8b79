// Package kernels launches the decoder's own kernels, which are in llama.cu. The simulator runs them as host.cc
// compiles them.
package kernels

//go:generate go run ovgen/cmd/ovgen ptx llama.cu

import (
	_ "embed"
	"errors"
	"fmt"
	"unsafe"

	_ "ovgen/docs/examples/llama/generated/device" // the headers of llama.cu
	"ovgen/runtime/driver"
)

// Rows are the rows of a step in device memory: so many int32 each.
type Rows struct {
	Count                        uint64
	Tokens, Sequences, Positions driver.Ptr
}

// Heads are this rank's heads. Its query head q reads head (q+Offset)/Group of its keys.
type Heads struct {
	Queries, Keys, Group, Offset uint64
	Size                         uint64     // elements of a head: a multiple of 8, at most MostSize
	Sequences, Room              uint64     // of the cache: sequences, and positions of each
	Angles                       driver.Ptr // fp32 [Room, Size/2, 2]: cosine and sine
}

// Limits of the attention kernels.
const (
	MostSize  = 128 // elements of a head
	MostGroup = 16  // query heads of a head of keys
	Stretch   = 256 // keys that a block of Decode takes
)

// Embed are the parameters of embed.
type Embed struct {
	Count, Columns     uint64
	Tokens, Table, Dst driver.Ptr
}

// Store are those of store.
type Store struct {
	Rows         Rows
	Heads        Heads
	Key, Value   driver.Ptr
	Keys, Values driver.Ptr // the cache, of the layer
}

// Attend are those of decode, merge and prefill.
type Attend struct {
	Rows                Rows
	Heads               Heads
	Query, Keys, Values driver.Ptr
	Dst                 driver.Ptr
	Parts               driver.Ptr // fp32 [rows, queries, Stretches, 2+Size], of decode
	Stretches           uint64
	Scale               float32
	_                   uint32
}

// Last are those of last.
type Last struct {
	Count, Columns    uint64
	Rows, Src, Weight driver.Ptr
	Dst               driver.Ptr // fp32
	Epsilon           float32
	_                 uint32
}

// Best are those of best: Tokens of the columns are tokens, from First on.
type Best struct {
	Rows, Columns, First, Tokens uint64
	Logits, Dst                  driver.Ptr
}

// PairBytes is the size of what best leaves of a row: a logit and its token.
const PairBytes = 8

//go:embed llama.cu
var _ []byte // host.cc includes it, and so go build sees it change

//go:embed llama_sm80.ptx
var ptx []byte

var code = driver.Code{Name: "llama", PTX: ptx, Kernels: list()}

// kernel is one of llama.cu.
type kernel struct {
	name    string
	typed   bool // one for each element type
	bytes   uintptr
	touches func(name string, size uint64) func(unsafe.Pointer, []driver.Touch) []driver.Touch
}

var kernels = []kernel{
	{"embed", true, unsafe.Sizeof(Embed{}), touched[Embed]},
	{"store", true, unsafe.Sizeof(Store{}), touched[Store]},
	{"decode", true, unsafe.Sizeof(Attend{}), touched[Attend]},
	{"merge", true, unsafe.Sizeof(Attend{}), touched[Attend]},
	{"prefill", true, unsafe.Sizeof(Attend{}), touched[Attend]},
	{"last", true, unsafe.Sizeof(Last{}), touched[Last]},
	{"best", false, unsafe.Sizeof(Best{}), touched[Best]},
}

func (k kernel) of(typ driver.Type) string {
	if k.typed {
		return k.name + "_" + typ.String()
	}
	return k.name
}

// list describes the kernels to the driver.
func list() (all []driver.Kernel) {
	for _, k := range kernels {
		for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
			if k.typed || typ == driver.FP32 {
				all = append(all, driver.Kernel{Name: k.of(typ), Params: int(k.bytes),
					Touches: k.touches(k.name, uint64(typ.Size()))})
			}
		}
	}
	return all
}

// Set is the kernels of one element type, loaded on a device.
type Set struct {
	driver driver.Driver
	typ    driver.Type
	module driver.Module
	named  map[string]driver.Function
}

// Load loads them for tensors of a type: BF16 or FP32.
func Load(d driver.Driver, typ driver.Type) (*Set, error) {
	m, err := d.ModuleLoadData(&code)
	if err != nil {
		return nil, fmt.Errorf("load the decoder's kernels: %w", err)
	}
	s := &Set{driver: d, typ: typ, module: m, named: map[string]driver.Function{}}
	nothing := make([]uint64, 32)
	for _, k := range kernels {
		s.named[k.name], err = d.ModuleGetFunction(m, k.of(typ))
		if err == nil { // the first launch may load, which must not meet a run
			err = s.launch(0, k.name, 1, 32, unsafe.Pointer(&nothing[0]))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("load kernel %s: %w", k.of(typ), err), s.Close())
		}
	}
	return s, d.StreamSynchronize(0)
}

// Close unloads them. Nothing enqueued may use them any more.
func (s *Set) Close() error { return s.driver.ModuleUnload(s.module) }

// Embed enqueues embed.
func (s *Set) Embed(on driver.Stream, p Embed) error {
	return s.launch(on, "embed", p.Count, 256, unsafe.Pointer(&p))
}

// Store enqueues store.
func (s *Set) Store(on driver.Stream, p Store) error {
	return s.launch(on, "store", p.Rows.Count*p.Heads.Keys, 64, unsafe.Pointer(&p))
}

// Decode enqueues attention of rows of any sequences.
func (s *Set) Decode(on driver.Stream, p Attend) error {
	return errors.Join(
		s.launch(on, "decode", p.Rows.Count*p.Heads.Keys*p.Stretches, 128, unsafe.Pointer(&p)),
		s.launch(on, "merge", p.Rows.Count*p.Heads.Queries, 128, unsafe.Pointer(&p)))
}

// Prefill enqueues attention of rows that follow each other in one sequence; rows of other sequences behind them
// are left 0.
func (s *Set) Prefill(on driver.Stream, p Attend) error {
	tile := uint64(128 / s.typ.Size())
	return s.launch(on, "prefill", (p.Rows.Count+tile-1)/tile*p.Heads.Queries, uint32(2*tile), unsafe.Pointer(&p))
}

// Last enqueues last.
func (s *Set) Last(on driver.Stream, p Last) error {
	return s.launch(on, "last", p.Count, 256, unsafe.Pointer(&p))
}

// Best enqueues best.
func (s *Set) Best(on driver.Stream, p Best) error {
	return s.launch(on, "best", p.Rows, 256, unsafe.Pointer(&p))
}

// mostBlocks of a launch: the simulator has memory for as many, and four for each multiprocessor fill an H200.
const mostBlocks = 512

func (s *Set) launch(on driver.Stream, name string, items uint64, threads uint32, params unsafe.Pointer) error {
	grid := driver.Dim3{X: uint32(min(items, mostBlocks)), Y: 1, Z: 1}
	if err := s.driver.LaunchKernel(s.named[name], grid, driver.Dim3{X: threads, Y: 1, Z: 1}, on, params); err != nil {
		return fmt.Errorf("launch kernel %s: %w", name, err)
	}
	return nil
}
