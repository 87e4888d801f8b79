package served

import s "ovgen/schedule"

func t(name string, axes ...s.Axis) s.Tensor { return s.Tensor{Name: name, Axes: axes} }
func tt(ts ...any) (list []s.Tensor) {
	for _, x := range ts {
		switch x := x.(type) {
		case s.Tensor:
			list = append(list, x)
		case []s.Tensor:
			list = append(list, x...)
		}
	}
	return
}

// vec names row vectors of an extent, whole on each rank.
func vec(e s.Extent, names ...string) (list []s.Tensor) {
	for _, n := range names {
		list = append(list, t(n, s.Dim(e)))
	}
	return
}

// xvec names vectors that are spread.
func xvec(e s.Extent, names ...string) (list []s.Tensor) {
	for _, n := range names {
		list = append(list, t(n, s.Dim(e, X)))
	}
	return
}

var X = s.DIDx(s.D)

func col(name string, out, in s.Extent) s.Tensor { return t(name, s.Dim(out, X), s.Dim(in)) } // column-parallel
func row(name string, out, in s.Extent) s.Tensor { return t(name, s.Dim(out), s.Dim(in, X)) } // row-parallel
func mat(name string, r, c s.Extent) s.Tensor    { return t(name, s.Dim(r), s.Dim(c)) }       // whole
func sp(name string, r, c s.Extent) s.Tensor     { return t(name, s.Dim(r, X), s.Dim(c)) }    // rows spread
func hd(name string, r, c s.Extent) s.Tensor     { return t(name, s.Dim(r), s.Dim(c, X)) }    // columns spread
func st(name string, r, c s.Extent) s.Tensor     { return t(name, s.Dim(r, s.Stream(s.D)), s.Dim(c)) }
func opsOf(o ...s.Op) []s.Op                     { return o }
func mv(of string, w s.Way) s.Move               { return s.Move{Of: of, Way: w} }

const (
	M, K, N, N2, N3, F, W, P, D = s.M, s.K, s.N, s.N2, s.N3, s.F, s.W, s.P, s.D
)

func rms(n string) s.Func   { return s.RMSNorm(n).WithEpsilon(1e-6) }
func ln(n, b string) s.Func { return s.LayerNorm(n, b) }
func attn() s.Op {
	return s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key",
		"Value")
}
func within(x s.Tensor, in string) s.Tensor { x.Within = in; return x }
func typed(x s.Tensor, ty s.Type) s.Tensor  { x.Type = ty; return x }

// io is the input and output of a layer: sequence parallel or whole.
func io(seq bool) []s.Tensor {
	if seq {
		return tt(sp("A", M, K), sp("C", M, K))
	}
	return tt(mat("A", M, K), mat("C", M, K))
}
func qkvo() []s.Tensor {
	return tt(col("Wq", N, K), col("Wk", N2, K), col("Wv", N2, K), row("Wo", K, N))
}
func gated() []s.Tensor { return tt(col("Gate", F, K), col("Up", F, K), row("Down", K, F)) }
func shots(of ...string) (m []s.Move) {
	for _, o := range of {
		m = append(m, mv(o, s.Shot{}))
	}
	return
}
