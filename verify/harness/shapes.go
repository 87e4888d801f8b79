package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reading"
	"ovgen/verify/reference"
)

// Shape gives the symbols of an operation their values, for whole tensors over all ranks. A program ignores extents
// that it does not have.
//
// The fields are the letters of schedule.Extents on purpose: schedules write their axes in these letters, and the
// Shapes of packages, which are filled by field names, have no other words. The meaning of F or P differs from schedule
// to schedule, so a longer name would be wrong for some of them. With a map, the compiler would accept a misspelt
// letter; a loop that needs a map uses At.
type Shape struct {
	M, K, N, N2, N3, F, W, P int
	Type                     driver.Type
	Epsilon                  float32 // 0 stands for schedule.DefaultEpsilon
}

// Symbols of a shape; the command line has a flag for each of the first three.
var Symbols = schedule.Extents()

// At is the field of a symbol. The fields are in the order of Symbols.
func (s *Shape) At(e schedule.Extent) *int {
	i := slices.Index(Symbols, e)
	if i < 0 {
		return nil
	}
	return [...]*int{&s.M, &s.K, &s.N, &s.N2, &s.N3, &s.F, &s.W, &s.P}[i]
}

// Sized is the shape whose symbols have these values.
func Sized(extents map[string]int64, t driver.Type) Shape {
	s := Shape{Type: t}
	for _, e := range Symbols {
		*s.At(e) = int(extents[string(e)])
	}
	return s
}

// String is "m,k,n", with ",N2=1024" and so on after it where they are known.
func (s Shape) String() string {
	text := fmt.Sprintf("%d,%d,%d", s.M, s.K, s.N)
	for _, e := range Symbols[3:] {
		if n := *s.At(e); n != 0 {
			text += fmt.Sprintf(",%s=%d", e, n)
		}
	}
	if s.Epsilon != 0 {
		text += fmt.Sprintf(",%s=%g", schedule.Epsilon, s.Epsilon)
	}
	return text
}

// Made reports whether runs write a tensor.
func (p *Program) Made(tensor string) bool { return p.Schedule.Made(tensor) }

// layers reports whether the program has a result that no caller sees.
func (p *Program) layers() bool { return len(p.Schedule.Hidden()) > 0 }

// Measures reports whether a tensor of the program has a symbol of the operation, as the symbol or as a constant.
func (p *Program) Measures(symbol schedule.Extent) bool { return p.measured()(symbol) }

// measured is Measures for many symbols.
func (p *Program) measured() func(symbol schedule.Extent) bool {
	symbols := p.Schedule.Symbols()
	return func(symbol schedule.Extent) bool {
		_, has := symbols[symbol]
		return has || symbol == schedule.P && p.Schedule.Bounded()
	}
}

// Fit derives the extents that a shape leaves open, and drops extents that the program does not use. A constant of the
// program replaces its symbol. Further products of one A are key and value beside the query of grouped-query attention,
// a quarter as wide; or, where there are two products, gate and up of the same width. In an MLP without F, n means a
// rank's share of the first layer, as in the other programs: F is n*D, and the second layer leads back to k columns.
func (s Shape) Fit(p *Program, ranks int) Shape {
	constants, measured := p.Schedule.Constants(), p.measured()
	if p.shares(s) {
		s.F, s.N = s.N*ranks, 0
	}
	set := func(e schedule.Extent, otherwise int) {
		at := s.At(e)
		switch n, constant := constants[e]; {
		case constant:
			*at = int(n)
		case !measured(e):
			*at = 0
		case *at == 0:
			*at = otherwise
		}
	}
	set(schedule.M, 0)
	set(schedule.K, 0)
	set(schedule.W, p.heads(s.K, ranks))
	if p.layers() {
		set(schedule.N, multiple(s.K, p.divisor(schedule.N, s, ranks)))
	}
	set(schedule.N, 0)
	narrow := max(s.N/4/8*8, 8)
	if !measured(schedule.N3) {
		narrow = max(s.N, 8) // also where no tensor has N columns
	}
	set(schedule.N2, multiple(narrow, p.divisor(schedule.N2, s, ranks)))
	set(schedule.N3, multiple(narrow, p.divisor(schedule.N3, s, ranks)))
	set(schedule.F, multiple(cmp.Or(s.K, 8), p.divisor(schedule.F, s, ranks)))
	set(schedule.P, multiple(slices.Max(counts(s.M, ranks, s.M)), p.divisor(schedule.P, s, ranks)))
	if !p.Schedule.HasEpsilon() {
		s.Epsilon = 0
	}
	return s
}

// shares reports whether n is a rank's share of the tensor between the layers of an MLP.
func (p *Program) shares(s Shape) bool {
	_, constant := p.Schedule.Constants()[schedule.F]
	return p.layers() && p.Measures(schedule.F) && s.F == 0 && !constant
}

// extents are the values of the symbols.
func (s Shape) extents(ranks int) reading.Extents {
	e := reading.Extents{schedule.D: ranks}
	for _, symbol := range Symbols {
		e[symbol] = *s.At(symbol)
	}
	return e
}

// Problem is the program at a shape, in the form that the reference takes.
func (p *Program) Problem(s Shape, ranks int) (*reference.Problem, error) {
	return p.loaded(s, ranks, p.Patterns(s, ranks)[0].Counts)
}

// loaded is the problem with these counts of uneven parts.
func (p *Program) loaded(s Shape, ranks int, counts []int) (*reference.Problem, error) {
	if err := p.contradicted(s); err != nil {
		return nil, err
	}
	s = s.Fit(p, ranks)
	x := &reference.Problem{Ops: p.Schedule.Joined().Ops, Tensors: p.Schedule.Tensors, Extents: s.extents(ranks),
		Type: s.Type, Counts: counts, Epsilon: float64(s.Epsilon)}
	if _, balanced := p.balanced(); counts != nil && !p.ragged() && !balanced {
		x.Extents[schedule.M] = sum(counts)
	}
	return x, x.Check()
}

// contradicted returns an error if an extent of a shape differs from the program's
// constant.
func (p *Program) contradicted(s Shape) error {
	constants := p.Schedule.Constants()
	for _, e := range Symbols {
		if e == schedule.N && p.shares(s) {
			continue
		}
		if n, constant := constants[e]; constant && *s.At(e) != 0 && *s.At(e) != int(n) {
			return fmt.Errorf("shape %s: %s is %d, and %s has the constant %d for it (leave it out)", s,
				e, *s.At(e), p.Name, n)
		}
	}
	return nil
}

// Fits returns the reason why the program does not accept a shape.
func (p *Program) Fits(s Shape, ranks int) error {
	if err := p.contradicted(s); err != nil {
		return err
	}
	full := s.Fit(p, ranks)
	for _, e := range Symbols {
		if n := *full.At(e); n < 1 && p.Measures(e) {
			return fmt.Errorf("shape %s: %s is %d, and %s needs it to be positive", s, e, n, p.Name)
		}
	}
	for _, e := range Symbols {
		if d := p.divisor(e, full, ranks); *full.At(e)%d != 0 {
			return fmt.Errorf("shape %s: %s is %d, and must be a multiple of %d for %s on %d ranks", s, e,
				*full.At(e), d, p.Name, ranks)
		}
	}
	if c, ok := p.flat(); ok && !full.meets(c, ranks) {
		m, n := full.value(c.Extent), full.value(c.With)
		return fmt.Errorf("shape %s: %s times %s is %d times %d, and must be a multiple of %d for %s on %d ranks", s,
			c.Extent, c.With, m, n, c.Divisor(int64(ranks), int64(full.W)), p.Name, ranks)
	}
	if most := full.P; p.Schedule.Bounded() && most*ranks < full.M {
		return fmt.Errorf("shape %s: %d rows are more than %d ranks have with %d at most, for %s", s,
			full.M, ranks, most, p.Name)
	}
	return nil
}

// heads is the usual width of heads in a layer of a number of columns, widened as New requires.
func (p *Program) heads(columns, ranks int) int {
	width := 128
	if columns < 1024 {
		width = 8
	}
	return multiple(width, p.divisor(schedule.W, Shape{}, ranks))
}

// divisor divides every value of a symbol, by the placements and by the requirements of New on a shape with heads of
// that width.
func (p *Program) divisor(symbol schedule.Extent, s Shape, ranks int) int {
	extents := []schedule.Extent{symbol}
	if n, constant := p.Schedule.Constants()[symbol]; constant {
		extents = append(extents, schedule.Extent(strconv.FormatInt(n, 10)))
	}
	d := 1
	for _, e := range extents {
		d = lcm(d, reading.Divisor(e, p.Schedule.Tensors, reading.Extents{schedule.D: ranks}))
		for _, c := range p.Checks {
			if c.Extent == e && c.With == "" {
				d = lcm(d, int(c.Divisor(int64(ranks), int64(s.W))))
			}
		}
	}
	return d
}

// value is the value of a symbol or of a constant.
func (s Shape) value(e schedule.Extent) int64 {
	if at := s.At(e); at != nil {
		return int64(*at)
	}
	n, _ := strconv.ParseInt(string(e), 10, 64) // a schedule's extents are symbols and numbers
	return n
}

// meets reports whether a shape meets a requirement on the product of two extents.
func (s Shape) meets(c Divide, ranks int) bool {
	return c.Holds(s.value(c.Extent), s.value(c.With), int64(ranks), int64(s.W))
}

// flat is the requirement on the elements of the result, if New has one.
func (p *Program) flat() (c Divide, ok bool) {
	for _, c := range p.Checks {
		if c.With != "" {
			return c, true
		}
	}
	return c, false
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// Bare reports whether the program only communicates.
func (p *Program) Bare() bool {
	return !slices.ContainsFunc(p.Schedule.Ops, func(o Op) bool { return len(o.In) > 1 })
}
