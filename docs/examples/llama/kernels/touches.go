package kernels

import (
	"unsafe"

	"ovgen/runtime/driver"
)

// What the kernels read and write, for the simulator: it checks that the memory is there, and finds races.

func read(at driver.Ptr, bytes uint64) driver.Touch {
	return driver.Touch{Kind: driver.TouchRead, At: at, Bytes: int64(bytes)}
}

func write(at driver.Ptr, bytes uint64) driver.Touch {
	return driver.Touch{Kind: driver.TouchWrite, At: at, Bytes: int64(bytes)}
}

// params has the touches of a kernel as its parameters say them, of elements of so many bytes.
type params interface {
	touches(name string, size uint64) []driver.Touch
}

// touched is what a driver asks of a kernel by its parameters P.
func touched[P any, T interface {
	*P
	params
}](name string, size uint64) func(unsafe.Pointer, []driver.Touch) []driver.Touch {
	return func(at unsafe.Pointer, to []driver.Touch) []driver.Touch {
		return append(to, T(at).touches(name, size)...)
	}
}

func (r Rows) touches() []driver.Touch {
	return []driver.Touch{read(r.Tokens, 4*r.Count), read(r.Sequences, 4*r.Count), read(r.Positions, 4*r.Count)}
}

// cache is the bytes of a layer's keys, or values.
func (h Heads) cache(size uint64) uint64 { return h.Sequences * h.Room * h.Keys * h.Size * size }

func (h Heads) angles() driver.Touch { return read(h.Angles, h.Room*h.Size*4) }

func (p *Embed) touches(_ string, size uint64) []driver.Touch {
	// Which rows of Table are read stands in Tokens.
	return []driver.Touch{read(p.Tokens, 4*p.Count), write(p.Dst, p.Count*p.Columns*size)}
}

func (p *Store) touches(_ string, size uint64) []driver.Touch {
	row := p.Rows.Count * p.Heads.Keys * p.Heads.Size * size
	return append(p.Rows.touches(), p.Heads.angles(), read(p.Key, row), read(p.Value, row),
		write(p.Keys, p.Heads.cache(size)), write(p.Values, p.Heads.cache(size)))
}

func (p *Attend) touches(name string, size uint64) []driver.Touch {
	h := p.Heads
	heads := p.Rows.Count * h.Queries
	looked := []driver.Touch{h.angles(), read(p.Query, heads*h.Size*size), read(p.Keys, h.cache(size)),
		read(p.Values, h.cache(size))}
	parts, dst := heads*p.Stretches*(2+h.Size)*4, write(p.Dst, heads*h.Size*size)
	switch name {
	case "decode":
		return append(p.Rows.touches(), append(looked, write(p.Parts, parts))...)
	case "merge":
		return append(p.Rows.touches(), read(p.Parts, parts), dst)
	}
	return append(p.Rows.touches(), append(looked, dst)...)
}

func (p *Last) touches(_ string, size uint64) []driver.Touch {
	// Which rows of Src are read stands in Rows.
	return []driver.Touch{read(p.Rows, 4*p.Count), read(p.Weight, p.Columns*size), write(p.Dst, p.Count*p.Columns*4)}
}

func (p *Best) touches(string, uint64) []driver.Touch {
	return []driver.Touch{read(p.Logits, p.Rows*p.Columns*4), write(p.Dst, p.Rows*PairBytes)}
}
