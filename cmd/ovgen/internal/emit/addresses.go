package emit

import (
	"github.com/dave/jennifer/jen"

	"ovgen/schedule/hostir"
)

// address is the address at which a view starts.
func (b *body) address(v hostir.View) jen.Code {
	if b.unit.counted(v) {
		return b.part(v)
	}
	offset := jen.Lit(0)
	if !v.Index.IsZero() && !v.Index.Equal(hostir.Const(0)) {
		offset = b.times(v.Index, b.chunk(v))
	}
	return b.at(v, offset)
}

// at is an address in the buffer of a view.
func (b *body) at(v hostir.View, offset *jen.Statement) jen.Code {
	buffer := jen.Id("p").Dot(unexported(v.Buffer))
	if v.Peer.IsZero() {
		return buffer.Dot("At").Call(offset)
	}
	return buffer.Dot("Peer").Call(b.expr(v.Peer), offset)
}

// bytes is the size of a view.
func (b *body) bytes(v hostir.View) jen.Code {
	_, balanced := b.unit.program.Balanced()
	switch all := b.unit.allParts(v); {
	case all && !balanced:
		return jen.Id("p").Dot(unexported(v.Buffer)).Dot("Total").Call()
	case v.Padded:
		return jen.Id("p").Dot(unexported(v.Buffer)).Dot("Room").Call()
	case b.unit.counted(v) && !all:
		return b.partOf("Size", v)
	case v.Count.IsZero() || all:
		return b.chunk(v)
	}
	return b.times(v.Count, b.chunk(v))
}

// counted reports whether a view is a chunk of a buffer whose chunks differ in size.
func (u *unit) counted(v hostir.View) bool {
	x, _ := u.program.Buffer(v.Buffer)
	return !x.Counts.IsZero()
}

// allParts reports whether a view is all chunks of a buffer whose chunks differ in size.
func (u *unit) allParts(v hostir.View) bool {
	return u.counted(v) && v.Index.Equal(hostir.Const(0)) && v.Count.Equal(hostir.Size)
}

// part is the address at which an uneven chunk starts.
func (b *body) part(v hostir.View) jen.Code {
	if !v.Index.IsZero() && !b.unit.allParts(v) {
		return b.partOf("Part", v)
	}
	buffer := jen.Id("p").Dot(unexported(v.Buffer))
	if v.Peer.IsZero() {
		return buffer.Dot("At").Call(jen.Lit(0))
	}
	return buffer.Dot("Peer").Call(b.expr(v.Peer), jen.Lit(0))
}

// partOf is the call that finds an uneven chunk: Part or Size for this rank's chunk, PeerPart or PeerSize for a peer's.
func (b *body) partOf(call string, v hostir.View) jen.Code {
	if !v.Count.IsZero() && !v.Count.Equal(hostir.Const(1)) {
		b.fail("%s has uneven chunks: a view takes one of them", v.Buffer)
	}
	chunk := jen.Lit(0)
	if !v.Index.IsZero() {
		chunk = b.expr(v.Index)
	}
	buffer := jen.Id("p").Dot(unexported(v.Buffer))
	if v.Peer.IsZero() {
		return buffer.Dot(call).Call(chunk)
	}
	return buffer.Dot("Peer"+call).Call(b.expr(v.Peer), chunk)
}

// chunk is the field that has the bytes of a view's unit.
func (b *body) chunk(v hostir.View) *jen.Statement {
	field, err := b.unit.chunk(v)
	if err != nil {
		b.fail("%w", err)
	}
	return jen.Id("p").Dot(field)
}

// times is a number of chunks in bytes.
func (b *body) times(count hostir.Expr, chunk *jen.Statement) *jen.Statement {
	if n, err := count.Eval(nil); err == nil {
		if n == 1 {
			return chunk
		}
		return jen.Lit(int(n)).Op("*").Add(chunk)
	}
	return jen.Int64().Call(b.expr(count)).Op("*").Add(chunk)
}
