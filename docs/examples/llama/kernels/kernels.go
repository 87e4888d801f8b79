// Package kernels launches the decoder's own kernels, which are in llama.cu. The simulator runs them as host.cc
// compiles them.
package kernels

//go:generate go run ovgen/cmd/ovgen ptx llama.cu

import (
	_ "embed"
	"slices"

	_ "ovgen/docs/examples/llama/generated/device" // the headers of llama.cu
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
)

//go:embed llama.cu
var _ []byte // host.cc includes it, and so go build sees it change

//go:embed llama_sm80.ptx
var ptx []byte

var code = driver.Code{Name: "llama", PTX: ptx, Kernels: slices.Concat(of[Embed](), of[Store](), of[Decode](),
	of[Merge](), of[Prefill](), of[Last](), of[Best]())}

// Limits of the attention kernels.
const (
	MostSize  = 128 // elements of a head
	MostGroup = 16  // query heads of a head of keys
	Stretch   = 256 // keys that a block of Decode takes
)

// PairBytes is the size of what Best leaves of a row: a logit and its token.
const PairBytes = 8

// Kernel is the struct that a kernel takes.
type Kernel interface {
	name() string
	// launch is how many items of work there are, for a block each, and a block's threads, for elements of so many
	// bytes; and what the kernel reads and writes.
	launch(size int) (items, threads int, touches []driver.Touch)
}

// of describes a kernel, which llama.cu has for two types.
func of[P any, K interface {
	*P
	Kernel
}]() (list []driver.Kernel) {
	for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
		list = append(list, device.Describe(K(new(P)).name()+"_"+typ.String(), func(p *P) []driver.Touch {
			_, _, touches := K(p).launch(int(typ.Size()))
			return touches
		}))
	}
	return list
}

// Set is the kernels, loaded on a device, for elements of one type.
type Set struct {
	*device.Kernels
	typ driver.Type
}

// Load loads them for BF16 or FP32.
func Load(d driver.Driver, typ driver.Type) (Set, error) {
	k, err := device.LoadKernels(d, &code)
	return Set{k, typ}, err
}

// mostBlocks of a launch: the simulator has memory for as many, and four for each multiprocessor fill an H200.
const mostBlocks = 512

// Launch enqueues kernels one after the other.
func (s Set) Launch(on driver.Stream, list ...Kernel) error {
	for _, k := range list {
		items, threads, _ := k.launch(int(s.typ.Size()))
		err := s.Kernels.Launch(on, k.name()+"_"+s.typ.String(), max(1, min(items, mostBlocks)), threads, k)
		if err != nil {
			return err
		}
	}
	return nil
}

// Rows is what the kernels of whole rows take.
type Rows struct {
	Count, Columns   int
	Index            driver.Ptr // of Embed and Last: int32 [Count], which rows they take; -1: none
	From, Weight, To driver.Ptr
	First, Tokens    int // of Best: the first column's token, and how many columns are tokens
	Epsilon          float32
	_                uint32
}

// Embed takes rows of the embedding.
type Embed struct{ Rows }

func (*Embed) name() string { return "embed" }

func (p *Embed) launch(size int) (int, int, []driver.Touch) {
	// Which rows of From are read stands in Index.
	return p.Count, 256, []driver.Touch{reads(p.Index, p.Count, 4), writes(p.To, p.Count*p.Columns, size)}
}

// Last norms rows, in fp32.
type Last struct{ Rows }

func (*Last) name() string { return "last" }

func (p *Last) launch(size int) (int, int, []driver.Touch) {
	return p.Count, 256, []driver.Touch{reads(p.Index, p.Count, 4), reads(p.Weight, p.Columns, size),
		writes(p.To, p.Count*p.Columns, 4)}
}

// Best finds the greatest logit, in fp32, of each row.
type Best struct{ Rows }

func (*Best) name() string { return "best" }

func (p *Best) launch(int) (int, int, []driver.Touch) {
	return p.Count, 256, []driver.Touch{reads(p.From, p.Count*p.Columns, 4), writes(p.To, p.Count, PairBytes)}
}

func reads(at driver.Ptr, n, size int) driver.Touch  { return driver.Reads(at, int64(n)*int64(size)) }
func writes(at driver.Ptr, n, size int) driver.Touch { return driver.Writes(at, int64(n)*int64(size)) }

// Attention is what its four kernels take: the rows of a step, and heads. Query head q of this rank reads head
// (q+Offset)/Group of its keys.
type Attention struct {
	Rows                 int
	Sequences, Positions driver.Ptr // int32 [Rows]

	Queries, Keys, Group, Offset int
	Size                         int        // elements of a head: a multiple of 8, at most MostSize
	Places, Room                 int        // of the cache: sequences, and positions of each
	Angles                       driver.Ptr // fp32 [Room, Size/2, 2]: cosine and sine

	Query, Key, Value, Dst driver.Ptr // [Rows, heads, Size]
	CacheKeys, CacheValues driver.Ptr // [Places, Room, Keys, Size]
	Parts                  driver.Ptr // fp32 [Rows, Queries, Stretches, 2+Size], from Decode to Merge
	Stretches              int
	Scale                  float32
	_                      uint32
}

// Numbers of elements.
func (p *Attention) row() int    { return p.Rows * p.Queries * p.Size }
func (p *Attention) keyRow() int { return p.Rows * p.Keys * p.Size }
func (p *Attention) cache() int  { return p.Places * p.Room * p.Keys * p.Size }
func (p *Attention) parts() int  { return p.Rows * p.Queries * p.Stretches * (2 + p.Size) }

func (p *Attention) touches(more ...driver.Touch) []driver.Touch {
	return append(more, reads(p.Sequences, p.Rows, 4), reads(p.Positions, p.Rows, 4))
}

// looks are the touches of a kernel that looks back.
func (p *Attention) looks(size int, more driver.Touch) []driver.Touch {
	return p.touches(reads(p.Angles, p.Room*p.Size, 4), reads(p.Query, p.row(), size),
		reads(p.CacheKeys, p.cache(), size), reads(p.CacheValues, p.cache(), size), more)
}

// Store turns keys, and puts keys and values into the cache.
type Store struct{ Attention }

func (*Store) name() string { return "store" }

func (p *Store) launch(size int) (int, int, []driver.Touch) {
	return p.Rows * p.Keys, 64, p.touches(reads(p.Angles, p.Room*p.Size, 4), reads(p.Key, p.keyRow(), size),
		reads(p.Value, p.keyRow(), size), writes(p.CacheKeys, p.cache(), size), writes(p.CacheValues, p.cache(), size))
}

// Decode is attention of rows of any sequences, over stretches of the context, which Merge joins.
type Decode struct{ Attention }

func (*Decode) name() string { return "decode" }

func (p *Decode) launch(size int) (int, int, []driver.Touch) {
	return p.Rows * p.Keys * p.Stretches, 128, p.looks(size, writes(p.Parts, p.parts(), 4))
}

// Merge joins the stretches.
type Merge struct{ Attention }

func (*Merge) name() string { return "merge" }

func (p *Merge) launch(size int) (int, int, []driver.Touch) {
	return p.Rows * p.Queries, 128, p.touches(reads(p.Parts, p.parts(), 4), writes(p.Dst, p.row(), size))
}

// Prefill is attention of rows that follow each other in one sequence; rows of other sequences behind them are left 0.
type Prefill struct{ Attention }

func (*Prefill) name() string { return "prefill" }

func (p *Prefill) launch(size int) (int, int, []driver.Touch) {
	tile := 128 / size
	return (p.Rows + tile - 1) / tile * p.Queries, 2 * tile, p.looks(size, writes(p.Dst, p.row(), size))
}
