package hostir

import "slices"

// Simplify returns an expression of the same value, as a person would write it: sums of products with the rank first
// and constants last, constants computed, and no remainder within another remainder by the same divisor where that
// changes nothing. It assumes that the rank is from 0 to D - 1, and that D is at least 1.
func (e Expr) Simplify() Expr {
	if e.op == 0 {
		return e
	}
	return normal(e).expr()
}

// sum is a constant and terms, each with a different product of atoms.
type sum struct {
	constant int64
	terms    []term
}

// term is a factor times a product of atoms, which are variables, quotients, remainders and products of sums.
type term struct {
	factor int64
	atoms  []Expr
}

// same reports whether two terms differ only in their factors.
func (t term) same(o term) bool {
	return slices.EqualFunc(sorted(t.atoms), sorted(o.atoms), Expr.Equal)
}

func sorted(atoms []Expr) []Expr {
	return slices.SortedFunc(slices.Values(atoms), func(a, b Expr) int {
		switch x, y := a.String(), b.String(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

// normal is an expression as a sum.
func normal(e Expr) sum {
	switch e.op {
	case 'c':
		return sum{constant: e.num}
	case 'v':
		return atom(e)
	}
	x, y := normal(*e.x), normal(*e.y)
	switch e.op {
	case '+':
		return x.plus(y, 1)
	case '-':
		return x.plus(y, -1)
	case '*':
		return x.times(y)
	case '/':
		return x.over(y)
	}
	return x.modulo(y)
}

// atom is a sum of one term.
func atom(e Expr) sum { return sum{terms: []term{{1, []Expr{e}}}} }

// plus adds a multiple of a sum.
func (s sum) plus(o sum, times int64) sum {
	s.constant += times * o.constant
	s.terms = slices.Clone(s.terms)
	for _, t := range o.terms {
		t.factor *= times
		if i := slices.IndexFunc(s.terms, t.same); i >= 0 {
			s.terms[i].factor += t.factor
		} else {
			s.terms = append(s.terms, t)
		}
	}
	s.terms = slices.DeleteFunc(s.terms, func(t term) bool { return t.factor == 0 })
	return s
}

// times multiplies two terms, or takes the product of two sums as an atom.
func (s sum) times(o sum) sum {
	x, one := s.term()
	y, other := o.term()
	switch {
	case one && other && x.factor*y.factor == 0:
		return sum{}
	case one && other:
		p := term{x.factor * y.factor, slices.Concat(x.atoms, y.atoms)}
		if len(p.atoms) == 0 {
			return sum{constant: p.factor}
		}
		return sum{terms: []term{p}}
	case one && len(x.atoms) == 0 && (x.factor == 0 || x.factor == 1):
		return sum{}.plus(o, x.factor)
	case other && len(y.atoms) == 0 && (y.factor == 0 || y.factor == 1):
		return sum{}.plus(s, y.factor)
	}
	return atom(Mul(s.expr(), o.expr()))
}

// term is the sum as one term; false where it has several.
func (s sum) term() (term, bool) {
	switch {
	case len(s.terms) == 0:
		return term{factor: s.constant}, true
	case len(s.terms) == 1 && s.constant == 0:
		return s.terms[0], true
	}
	return term{}, false
}

// number is the sum as a constant; false where it is none.
func (s sum) number() (int64, bool) { return s.constant, len(s.terms) == 0 }

// over divides the sum, rounded towards zero.
func (s sum) over(o sum) sum {
	x, known := s.number()
	y, divisor := o.number()
	switch {
	case divisor && y == 1:
		return s
	case known && divisor && y != 0:
		return sum{constant: x / y}
	}
	return atom(Div(s.expr(), o.expr()))
}

// modulo is the remainder. It drops multiples of the divisor, and remainders by the same divisor, where the divisor is
// D and neither the dividend nor the rest can be negative.
func (s sum) modulo(o sum) sum {
	x, known := s.number()
	y, divisor := o.number()
	switch {
	case divisor && (y == 1 || y == -1):
		return sum{}
	case known && divisor && y != 0:
		return sum{constant: x % y}
	}
	by := o.expr()
	if by.Equal(Size) && s.least() >= 0 {
		flat := sum{constant: s.constant}
		for _, t := range s.terms {
			if len(t.atoms) == 1 && t.atoms[0].op == '%' && t.atoms[0].y.Equal(Size) {
				flat = flat.plus(normal(*t.atoms[0].x), t.factor)
			} else {
				flat = flat.plus(sum{terms: []term{t}}, 1)
			}
		}
		if flat.least() >= 0 {
			s = flat
		}
		without := sum{constant: s.constant, terms: slices.DeleteFunc(slices.Clone(s.terms), func(t term) bool {
			return slices.ContainsFunc(t.atoms, Size.Equal)
		})}
		if without.least() >= 0 {
			s = without
		}
		if s.expr().Equal(Rank) || s.constant == 0 && len(s.terms) == 0 {
			return s
		}
	}
	return atom(Mod(s.expr(), by))
}

// unbounded stands for a sum without a known lower bound: it is below all values of sums.
const unbounded = -1 << 40

// least is a lower bound of a sum, for all ranks r and all D. The rank is at least 0 and at most D - 1, and so is a
// remainder by D of a sum that is not negative. least knows nothing about other variables.
func (s sum) least() int64 {
	size, rest := int64(0), s.constant // size*D + rest
	for _, t := range s.terms {
		switch {
		case len(t.atoms) != 1:
			return unbounded
		case t.atoms[0].Equal(Size):
			size += t.factor
		case !t.atoms[0].ofRank():
			return unbounded
		case t.factor < 0:
			size, rest = size+t.factor, rest-t.factor
		}
	}
	if size < 0 {
		return unbounded
	}
	return size + rest
}

// ofRank reports whether an atom is always from 0 to D - 1.
func (e Expr) ofRank() bool {
	return e.Equal(Rank) || e.op == '%' && e.y.Equal(Size) && normal(*e.x).least() >= 0
}

// expr writes a sum: positive terms first, the rank before D, and the constant last.
func (s sum) expr() Expr {
	rank := slices.IndexFunc(s.terms, func(t term) bool {
		return t.factor > 0 && len(t.atoms) == 1 &&
			t.atoms[0].Equal(Rank)
	})
	size := slices.IndexFunc(s.terms, func(t term) bool { return len(t.atoms) == 1 && t.atoms[0].Equal(Size) })
	terms := slices.Clone(s.terms)
	if size >= 0 && rank > size {
		r := terms[rank]
		terms = slices.Insert(slices.Delete(terms, rank, rank+1), size, r)
	}
	subtracted := slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return t.factor > 0 })
	var e Expr
	for _, t := range terms {
		switch {
		case t.factor > 0 && e.IsZero():
			e = t.expr(t.factor)
		case t.factor > 0:
			e = Add(e, t.expr(t.factor))
		}
	}
	constant := s.constant
	switch {
	case !e.IsZero():
	case constant != 0 || len(subtracted) == 0:
		e, constant = Const(constant), 0
	default:
		e, subtracted = subtracted[0].expr(subtracted[0].factor), subtracted[1:]
	}
	for _, t := range subtracted {
		e = Sub(e, t.expr(-t.factor))
	}
	switch {
	case constant > 0:
		e = Add(e, Const(constant))
	case constant < 0:
		e = Sub(e, Const(-constant))
	}
	return e
}

// expr writes a term with a factor.
func (t term) expr(factor int64) Expr {
	e := Const(factor)
	for _, a := range t.atoms {
		e = product(e, a)
	}
	return e
}
