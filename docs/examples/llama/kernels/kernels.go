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

var code = driver.Code{Name: "llama", PTX: ptx, Kernels: slices.Concat(Embed.described(), Last.described(),
	Best.described(), Store.described(), Decode.described(), Merge.described(), Prefill.described())}

// Limits of the kernels of attention.
const (
	MostSize  = 128 // elements of a head
	MostGroup = 16  // query heads of a head of keys
	Stretch   = 128 // keys that a block of Decode takes
)

// Rows is what the kernels of whole rows take.
type Rows struct {
	Count, Columns  int
	Index           driver.Ptr // of Embed and Last: int32 [Count], which rows they take; -1: none
	From, Weight    driver.Ptr
	To              driver.Ptr
	First, Tokens   int // of Best: the first column's token, and how many columns are tokens
	Epsilon, unused float32
}

// Attention is what the kernels of attention take. Query head q of this rank reads head (q+Offset)/Group of its keys.
type Attention struct {
	Rows                         int
	Sequences, Positions         driver.Ptr // int32 [Rows]
	Queries, Keys, Group, Offset int
	Size                         int        // elements of a head: a multiple of 8, at most MostSize
	Places, Room                 int        // of the cache: sequences, and positions of each
	Angles                       driver.Ptr // fp32 [Room, Size/2, 2]: cosine and sine
	Query, Key, Value, To        driver.Ptr // [Rows, heads, Size]
	CacheKeys, CacheValues       driver.Ptr // [Places, Room, Keys, Size]
	Parts                        driver.Ptr // fp32 [Rows, Queries, Stretches, 2+Size], from Decode to Merge
	Stretches                    int
	Scale, unused                float32
}

// Kernel is a kernel of llama.cu, which takes a P.
type Kernel[P any] struct {
	name string
	work func(p *P, size int) work // with elements of so many bytes
}

// work is items of work, for a block each, a block's threads, and what they read and write.
type work struct {
	items, threads int
	touches        []driver.Touch
}

func reads(at driver.Ptr, n, size int) driver.Touch  { return driver.Reads(at, int64(n)*int64(size)) }
func writes(at driver.Ptr, n, size int) driver.Touch { return driver.Writes(at, int64(n)*int64(size)) }

// Embed takes rows of the embedding. Which stands in Index, so what it reads of them is not known here.
var Embed = Kernel[Rows]{"embed", func(p *Rows, size int) work {
	return work{p.Count, 256, []driver.Touch{reads(p.Index, p.Count, 4), writes(p.To, p.Count*p.Columns, size)}}
}}

// Last norms chosen rows, in fp32.
var Last = Kernel[Rows]{"last", func(p *Rows, size int) work {
	return work{p.Count, 256, []driver.Touch{reads(p.Index, p.Count, 4), reads(p.Weight, p.Columns, size),
		writes(p.To, p.Count*p.Columns, 4)}}
}}

// Best finds the greatest logit, in fp32, of each row, and leaves it and its token.
var Best = Kernel[Rows]{"best", func(p *Rows, _ int) work {
	return work{p.Count, 256, []driver.Touch{reads(p.From, p.Count*p.Columns, 4), writes(p.To, p.Count, 8)}}
}}

// Store turns keys, and puts keys and values into the cache.
var Store = Kernel[Attention]{"store", func(p *Attention, size int) work {
	n := p.Rows * p.Keys
	return work{n, 64, p.touches(reads(p.Angles, p.Room*p.Size, 4), reads(p.Key, n*p.Size, size),
		reads(p.Value, n*p.Size, size), writes(p.CacheKeys, p.cache(), size), writes(p.CacheValues, p.cache(), size))}
}}

// Decode is attention of rows of any sequences, over stretches of the context, which Merge joins.
var Decode = Kernel[Attention]{"decode", func(p *Attention, size int) work {
	return work{p.Rows * p.Keys * p.Stretches, 32, p.looks(size, writes(p.Parts, p.parts(), 4))}
}}

// Merge joins the stretches.
var Merge = Kernel[Attention]{"merge", func(p *Attention, size int) work {
	n := p.Rows * p.Queries
	return work{n, 128, p.touches(reads(p.Parts, p.parts(), 4), writes(p.To, n*p.Size, size))}
}}

// Prefill is attention of rows that follow each other in one sequence; rows of other sequences behind them are left 0.
var Prefill = Kernel[Attention]{"prefill", func(p *Attention, size int) work {
	tile := 128 / size
	return work{(p.Rows + tile - 1) / tile * p.Queries, 2 * tile,
		p.looks(size, writes(p.To, p.Rows*p.Queries*p.Size, size))}
}}

func (p *Attention) cache() int { return p.Places * p.Room * p.Keys * p.Size }
func (p *Attention) parts() int { return p.Rows * p.Queries * p.Stretches * (2 + p.Size) }

func (p *Attention) touches(more ...driver.Touch) []driver.Touch {
	return append(more, reads(p.Sequences, p.Rows, 4), reads(p.Positions, p.Rows, 4))
}

// looks are the touches of a kernel that looks back.
func (p *Attention) looks(size int, to driver.Touch) []driver.Touch {
	return p.touches(reads(p.Angles, p.Room*p.Size, 4), reads(p.Query, p.Rows*p.Queries*p.Size, size),
		reads(p.CacheKeys, p.cache(), size), reads(p.CacheValues, p.cache(), size), to)
}

// described describes the kernel, which llama.cu has for two types.
func (k Kernel[P]) described() (list []driver.Kernel) {
	for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
		list = append(list, device.Describe(k.name+"_"+typ.String(), func(p *P) []driver.Touch {
			return k.work(p, int(typ.Size())).touches
		}))
	}
	return list
}

// Set is the kernels, loaded on a device.
type Set = *device.Kernels

// Load loads them.
func Load(d driver.Driver) (Set, error) { return device.LoadKernels(d, &code) }

// Launch enqueues the kernel for elements of a type: BF16 or FP32.
func (k Kernel[P]) Launch(s Set, on driver.Stream, typ driver.Type, p P) error {
	w := k.work(&p, int(typ.Size()))
	// Four blocks of many threads for each multiprocessor fill an H200, and 16 of a warp.
	return s.Launch(on, k.name+"_"+typ.String(), max(1, min(w.items, max(512, 65536/w.threads))), w.threads, &p)
}
