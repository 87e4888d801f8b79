// Package kernels launches the kernels of llama.cu, for attention, the embedding and the choice of a token. In the
// simulator they run as package host compiles them.
package kernels

//go:generate go run ovgen/cmd/ovgen ptx -from 90 llama.cu

import (
	"embed"
	"slices"

	_ "ovgen/docs/examples/llama/generated/device" // the headers of llama.cu
	"ovgen/runtime/driver"
	"ovgen/runtime/modules"
	"ovgen/verify/touch"
)

//go:embed llama.cu decode.h prefill.h
var _ embed.FS // package host compiles them, and so go build sees them change

//go:embed llama_sm90.ptx
var ptx []byte

// Limits of the kernels, and sizes of their memory.
const (
	MostSize  = 256 // elements of a head
	MostGroup = 16  // query heads of a head of keys
	Stretches = 16  // that decode cuts a row's positions into, at most
	Pieces    = 32  // that best cuts a row's logits into
	RowBytes  = 16  // of a struct row
)

// Params is the argument of every kernel. Query head q of this rank reads head (q+Offset)/Group of its keys.
type Params struct {
	Count                        int        // rows
	Rows                         driver.Ptr // struct row [Count]
	Hidden                       int
	Embedding, Norm              driver.Ptr // [vocabulary, Hidden], [Hidden]
	X, Normed                    driver.Ptr // [Count, Hidden]
	Codes, Scales                driver.Ptr // Normed, Gated or To in eight bits, and fp32 [Count]; 0: there are none
	Columns, First, Tokens       int        // of the logits, the first one's token, and how many are tokens
	Logits, Best                 driver.Ptr // fp32 [Count, Columns], struct pair [Count]
	All                          driver.Ptr // struct pair [2, Ranks, Most]: Best of all ranks, of two steps
	Ranks, Most                  int
	Queries, Keys, Group, Offset int
	Size                         int        // elements of a head: a multiple of 8, at most MostSize
	Places, Room                 int        // of the cache: sequences, and positions of each
	Angles                       driver.Ptr // fp32 [Room, Size/2, 2]: cosine and sine
	WideQuery, WideKey           int        // elements from row to row of Query, and of Key and Value
	Query, Key, Value, To        driver.Ptr // [Count, heads, Size]
	CacheKeys, CacheValues       driver.Ptr // [Places, Room, Keys, Size]
	Parts                        driver.Ptr // decode's: fp32 [Count, Queries, Stretches, 4+Size]
	Ended                        driver.Ptr // zeros [Count, Queries+1], by which decode and best find the last block
	Found                        driver.Ptr // best's: struct pair [Count, Pieces]
	Width                        int        // of the MLP
	Gates, Gated                 driver.Ptr // [Count, 2, Width], [Count, Width]
	Scale, Epsilon               float32
	Cap                          float32 // of scores: tanh leaves none beyond it; 0: there is none
	Grows, Beyond                float32 // a factor of the embedding, rounded to its type, and an addend of Norm
}

// work is a launch: its items of work, one for a block, the threads of a block, and the memory that it touches.
type work struct {
	items, threads int
	touches        []touch.Touch
}

func reads(at driver.Ptr, n, size int) touch.Touch  { return touch.Reads(at, int64(n)*int64(size)) }
func writes(at driver.Ptr, n, size int) touch.Touch { return touch.Writes(at, int64(n)*int64(size)) }

// works has the work of each kernel, by name; size is that of an element in bytes. All kernels also read the rows. The
// rows of the embedding that embed reads depend on the tokens, so they are missing here.
var works = map[string]func(p *Params, size int) work{
	"embed": func(p *Params, size int) work {
		return work{p.Count, 512, append([]touch.Touch{reads(p.Norm, p.Hidden, size), reads(p.All, 2*p.Ranks*p.Most, 8),
			writes(p.X, p.Count*p.Hidden, size), writes(p.Normed, p.Count*p.Hidden, size)}, p.codes(p.Hidden)...)}
	},
	"gate": func(p *Params, size int) work {
		n := p.Count * p.Width
		return work{(n/8 + 255) / 256, 256, []touch.Touch{reads(p.Gates, 2*n, size), writes(p.Gated, n, size)}}
	},
	"codes": func(p *Params, size int) work {
		n := p.Queries * p.Size
		return work{p.Count, 512, append(p.codes(n), reads(p.To, p.Count*n, size))}
	},
	"gatecodes": func(p *Params, size int) work {
		return work{p.Count, 512, append(p.codes(p.Width), reads(p.Gates, 2*p.Count*p.Width, size))}
	},
	"best": func(p *Params, _ int) work {
		return work{p.Count * Pieces, 256, []touch.Touch{reads(p.Logits, p.Count*p.Columns, 4),
			writes(p.Best, p.Count, 8), writes(p.Found, p.Count*Pieces, 8), writes(p.Ended, p.Count, 4)}}
	},
	"store": func(p *Params, size int) work {
		return work{p.Count * p.Keys, 64, append(p.stores(size), reads(p.Angles, p.Room*p.Size, 4))}
	},
	"decode": decode, "decode" + wide: decode, "decode" + few: decode, "prefill": prefill, "prefill" + wide: prefill,
}

// codes are the touches of a kernel that makes eight bits of rows of so many elements, if it does.
func (p *Params) codes(columns int) []touch.Touch {
	if p.Codes == 0 {
		return nil
	}
	return []touch.Touch{writes(p.Codes, p.Count*columns, 1), writes(p.Scales, p.Count, 4)}
}

// wide ends the names of kernels for heads of more than narrowSize elements, and few of those for up to fewRows rows.
const (
	wide, narrowSize = "wide", 128
	few, fewRows     = "few", 8
)

// Launches of all kernels but plain start before the end of the launch before, for which they wait. They wait first of
// all, but for those of ahead, which load a part of the cache until then. decode.h says why.
var plain, ahead = []string{"decode", "decode" + wide}, []string{"decode" + few}

func decode(p *Params, size int) work {
	n, ends := p.Count*p.Queries, p.Count*p.Queries
	if p.Codes != 0 {
		ends += p.Count
	}
	return work{p.items(p.Count) * p.shares(p.Count), 128, slices.Concat(p.stores(size),
		p.looks(size, writes(p.To, n*p.Size, size)), p.codes(p.Queries*p.Size),
		[]touch.Touch{writes(p.Parts, n*Stretches*(4+p.Size), 4), writes(p.Ended, ends, 4)})}
}

func prefill(p *Params, size int) work {
	n, tile := p.Count*p.Queries, 128/size
	return work{(p.Count + tile - 1) / tile * p.Queries, 2 * tile, p.looks(size, writes(p.To, n*p.Size, size))}
}

// shared is the memory that a launch gives each block: 128 rows of 16 bits, or half as many of 32, each a head and 16
// bytes.
var shared = map[string]int{"prefill": 128 * 2 * (narrowSize + 8), "prefill" + wide: 128 * 2 * (MostSize + 8)}

func (p *Params) cache() int { return p.Places * p.Room * p.Keys * p.Size }

// rows are the elements of so many heads of all rows, from the first to the last.
func (p *Params) rows(wide, heads int) int { return (p.Count-1)*wide + heads*p.Size }

// stores are the touches of a kernel that puts keys and values into the cache.
func (p *Params) stores(size int) []touch.Touch {
	n := p.rows(p.WideKey, p.Keys)
	return []touch.Touch{reads(p.Key, n, size), reads(p.Value, n, size), writes(p.CacheKeys, p.cache(), size),
		writes(p.CacheValues, p.cache(), size)}
}

// looks are the touches of a kernel that attends to earlier positions.
func (p *Params) looks(size int, to touch.Touch) []touch.Touch {
	return []touch.Touch{reads(p.Angles, p.Room*p.Size, 4), reads(p.Query, p.rows(p.WideQuery, p.Queries), size),
		reads(p.CacheKeys, p.cache(), size), reads(p.CacheValues, p.cache(), size), to}
}

// Set is the kernels for elements of a type, BF16 or FP32, loaded on a device.
type Set struct {
	*modules.Kernels
	typ driver.Type
}

// Load loads the kernels for elements of a type.
func Load(d driver.Driver, typ driver.Type) (Set, error) {
	code := driver.Code{Name: "llama", PTX: ptx}
	for name, of := range works {
		k := touch.Describe(name+"_"+typ.String(), func(p *Params) []touch.Touch {
			return append(of(p, int(typ.Size())).touches, reads(p.Rows, p.Count, RowBytes))
		})
		k.Early, k.Ahead = !slices.Contains(plain, name), slices.Contains(ahead, name)
		k.Shared, k.From = shared[name], 90
		code.Kernels = append(code.Kernels, k)
	}
	k, err := modules.Load(d, &code)
	return Set{k, typ}, err
}

// Launch enqueues a kernel, for heads as wide as they are, and as many rows.
func (s Set) Launch(on driver.Stream, name string, p Params) error {
	switch {
	case works[name+wide] != nil && p.Size > narrowSize:
		name += wide
	case works[name+few] != nil && p.Count <= fewRows:
		name += few
	}
	w := works[name](&p, int(s.typ.Size()))
	return s.Kernels.Launch(on, name+"_"+s.typ.String(), max(1, w.items), w.threads, &p)
}
