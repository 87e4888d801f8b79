package kernels

import "ovgen/runtime/driver"

// Limits of the attention kernels.
const (
	MostSize  = 128 // elements of a head
	MostGroup = 16  // query heads of a head of keys
	Stretch   = 256 // keys that a block of Decode takes
)

// PairBytes is the size of what Best leaves of a row: a logit and its token.
const PairBytes = 8

func read(at driver.Ptr, bytes uint64) driver.Touch {
	return driver.Touch{Kind: driver.TouchRead, At: at, Bytes: int64(bytes)}
}

func write(at driver.Ptr, bytes uint64) driver.Touch {
	return driver.Touch{Kind: driver.TouchWrite, At: at, Bytes: int64(bytes)}
}

// Rows are the rows of a step in device memory: so many int32 each.
type Rows struct {
	Count                        uint64
	Tokens, Sequences, Positions driver.Ptr
}

func (r Rows) touches() []driver.Touch {
	return []driver.Touch{read(r.Tokens, 4*r.Count), read(r.Sequences, 4*r.Count), read(r.Positions, 4*r.Count)}
}

// Heads are this rank's heads. Its query head q reads head (q+Offset)/Group of its keys.
type Heads struct {
	Queries, Keys, Group, Offset uint64
	Size                         uint64     // elements of a head: a multiple of 8, at most MostSize
	Sequences, Room              uint64     // of the cache: sequences, and positions of each
	Angles                       driver.Ptr // fp32 [Room, Size/2, 2]: cosine and sine
}

// cache is the bytes of a layer's keys, or values.
func (h Heads) cache(size uint64) uint64 { return h.Sequences * h.Room * h.Keys * h.Size * size }

func (h Heads) angles() driver.Touch { return read(h.Angles, h.Room*h.Size*4) }

// Embed takes rows of the embedding.
type Embed struct {
	Count, Columns     uint64
	Tokens, Table, Dst driver.Ptr
}

func (p *Embed) grid(driver.Type) (uint64, uint32) { return p.Count, 256 }

func (p *Embed) touches(size uint64) []driver.Touch {
	// Which rows of Table are read stands in Tokens.
	return []driver.Touch{read(p.Tokens, 4*p.Count), write(p.Dst, p.Count*p.Columns*size)}
}

// Store turns keys, and puts keys and values into the cache.
type Store struct {
	Rows         Rows
	Heads        Heads
	Key, Value   driver.Ptr
	Keys, Values driver.Ptr // the cache, of the layer
}

func (p *Store) grid(driver.Type) (uint64, uint32) { return p.Rows.Count * p.Heads.Keys, 64 }

func (p *Store) touches(size uint64) []driver.Touch {
	row := p.Rows.Count * p.Heads.Keys * p.Heads.Size * size
	return append(p.Rows.touches(), p.Heads.angles(), read(p.Key, row), read(p.Value, row),
		write(p.Keys, p.Heads.cache(size)), write(p.Values, p.Heads.cache(size)))
}

// Attend are the parameters of the kernels of attention.
type Attend struct {
	Rows                Rows
	Heads               Heads
	Query, Keys, Values driver.Ptr
	Dst                 driver.Ptr
	Parts               driver.Ptr // fp32 [rows, queries, Stretches, 2+Size], from Decode to Merge
	Stretches           uint64
	Scale               float32
	_                   uint32
}

func (p *Attend) looked(size uint64) []driver.Touch {
	cache := p.Heads.cache(size)
	return append(p.Rows.touches(), p.Heads.angles(), read(p.Query, p.heads()*p.Heads.Size*size), read(p.Keys, cache),
		read(p.Values, cache))
}

// heads are the query heads of all rows.
func (p *Attend) heads() uint64 { return p.Rows.Count * p.Heads.Queries }

func (p *Attend) dst(size uint64) driver.Touch { return write(p.Dst, p.heads()*p.Heads.Size*size) }

func (p *Attend) parts() uint64 { return p.heads() * p.Stretches * (2 + p.Heads.Size) * 4 }

// Decode is attention of rows of any sequences, over stretches of the context, which Merge joins.
type Decode struct{ Attend }

func (p *Decode) grid(driver.Type) (uint64, uint32) {
	return p.Rows.Count * p.Heads.Keys * p.Stretches, 128
}

func (p *Decode) touches(size uint64) []driver.Touch {
	return append(p.looked(size), write(p.Parts, p.parts()))
}

// Merge joins the stretches.
type Merge struct{ Attend }

func (p *Merge) grid(driver.Type) (uint64, uint32) { return p.heads(), 128 }

func (p *Merge) touches(size uint64) []driver.Touch {
	return append(p.Rows.touches(), read(p.Parts, p.parts()), p.dst(size))
}

// Prefill is attention of rows that follow each other in one sequence; rows of other sequences behind them are left 0.
type Prefill struct{ Attend }

func (p *Prefill) grid(typ driver.Type) (uint64, uint32) {
	tile := uint64(128 / typ.Size())
	return (p.Rows.Count + tile - 1) / tile * p.Heads.Queries, uint32(2 * tile)
}

func (p *Prefill) touches(size uint64) []driver.Touch { return append(p.looked(size), p.dst(size)) }

// Last norms chosen rows, in fp32.
type Last struct {
	Count, Columns    uint64
	Rows, Src, Weight driver.Ptr
	Dst               driver.Ptr // fp32
	Epsilon           float32
	_                 uint32
}

func (p *Last) grid(driver.Type) (uint64, uint32) { return p.Count, 256 }

func (p *Last) touches(size uint64) []driver.Touch {
	// Which rows of Src are read stands in Rows.
	return []driver.Touch{read(p.Rows, 4*p.Count), read(p.Weight, p.Columns*size), write(p.Dst, p.Count*p.Columns*4)}
}

// Best finds the greatest logit of each row: Tokens of the columns are tokens, from First on.
type Best struct {
	Rows, Columns, First, Tokens uint64
	Logits, Dst                  driver.Ptr
}

func (p *Best) grid(driver.Type) (uint64, uint32) { return p.Rows, 256 }

func (p *Best) touches(uint64) []driver.Touch {
	return []driver.Touch{read(p.Logits, p.Rows*p.Columns*4), write(p.Dst, p.Rows*PairBytes)}
}
