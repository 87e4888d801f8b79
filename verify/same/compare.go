package same

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Grade says how far the operations of one program are from those of another.
type Grade int

// Grades, from none on.
const (
	Same    Grade = iota // every stream does the same in the same order, behind the same
	Moved                // every operation is behind the same, on streams of the same priorities, but not on the same
	Looser               // some operations wait for less, and none for more
	Tighter              // some operations wait for more, and none for less
	Crossed              // some wait for more and some for less, on streams of other priorities, or issued otherwise
	Other                // other operations, memory, words or requirements on the shape
)

// String is the grade in a word.
func (g Grade) String() string {
	return [...]string{"same", "moved", "looser", "tighter", "crossed", "other"}[g]
}

// Result is a grade with the first difference that it is for, and how many pairs of operations are in order in one
// program only.
type Result struct {
	Grade
	Why            string
	Dropped, Added int
}

// Compare grades a program against another in all cases together.
func Compare(before, after *hostir.Program, cases []ops.Case) (Result, error) {
	a, err := read(before, cases)
	if err != nil {
		return Result{}, err
	}
	b, err := read(after, cases)
	if err != nil {
		return Result{Grade: Other, Why: err.Error()}, nil
	}
	alone := pair(a, b)
	c := &comparison{a: a, b: b}
	for i := range cases {
		for rank := range cases[i].Ranks {
			if err := c.rank(i, rank); err != nil {
				return Result{Grade: Other, Why: err.Error()}, nil
			}
		}
	}
	switch {
	case len(alone) > 0:
		return Result{Grade: Other, Why: "no counterpart of " + strings.Join(alone, ", ")}, nil
	case c.facts(a) != c.facts(b):
		return Result{Grade: Other, Why: fmt.Sprintf("%s\nbecomes %s", c.facts(a), c.facts(b))}, nil
	case c.asks() != "":
		return Result{Grade: Other, Why: c.asks()}, nil
	}
	return c.result(), nil
}

// comparison collects differences.
type comparison struct {
	a, b           *reading
	dropped, added int
	moved          bool
	// The first difference of a kind.
	drop, add, place, cross string
}

// asks is a difference in the multiples that the programs ask of a shape, but for one that is a part of what it was;
// empty: there is none.
func (c *comparison) asks() string {
	for i, at := range c.a.cases {
		of := func(r *reading) map[string]int64 {
			by := map[string]int64{}
			for _, d := range r.program.Checks {
				e := fmt.Sprint(d.Extent, " ", d.With)
				by[e] = max(by[e], d.Divisor(int64(at.Ranks), at.Env(r.program)["W"]))
			}
			return by
		}
		was, is := of(c.a), of(c.b)
		for e := range was {
			if is[e] == 0 || was[e]%is[e] != 0 {
				return fmt.Sprintf("in case %d %s is a multiple of %d and becomes one of %d", i, e, was[e], is[e])
			}
		}
		if len(is) > len(was) {
			return fmt.Sprintf("in case %d there are multiples of %v, and become %v", i, was, is)
		}
	}
	return ""
}

// facts are what a program asks for at New and Bind, with an id for each name.
func (c *comparison) facts(r *reading) string {
	var list []string
	hostir.Walk(slices.Concat(r.program.Setup, r.program.Body), func(n hostir.Node) {
		if s, ok := n.(hostir.Share); ok {
			for _, name := range s.Buffers {
				list = append(list, fmt.Sprint("handles of ", r.ids[name]))
			}
		}
	})
	for name, value := range r.program.Constants {
		list = append(list, fmt.Sprint(name, " is ", value))
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "\n")
}

// rank compares the operations of a rank in a case. An error is of operations that one program lacks.
func (c *comparison) rank(i, rank int) error {
	at := fmt.Sprintf("rank %d of %d: ", rank, c.a.cases[i].Ranks)
	before, after := c.a.units[i][rank], c.b.units[i][rank]
	to, err := match(c.a, c.b, before, after)
	if err != nil {
		return fmt.Errorf("%s%w", at, err)
	}
	for x := range after {
		for y := range after {
			was, is := before[to[x]].behind.has(to[y]), after[x].behind.has(y)
			switch {
			case was && !is:
				c.dropped++
				note(&c.drop, "%s%v\n\tis not behind %v", at, &after[x], &after[y])
			case is && !was:
				c.added++
				note(&c.add, "%s%v\n\tis behind %v", at, &after[x], &after[y])
			}
		}
	}
	c.streams(at, before, after, to)
	return nil
}

// note keeps the first text.
func note(text *string, format string, args ...any) {
	if *text == "" {
		*text = fmt.Sprintf(format, args...)
	}
}

// streams compares where units run, and the order in which those are issued that meet other ranks.
func (c *comparison) streams(at string, before, after []unit, to []int) {
	there, back := map[string]string{}, map[string]string{}
	var issued []int
	for x := range after {
		from, into := before[to[x]].stream(), after[x].stream()
		was, seen := there[from]
		came, taken := back[into]
		if seen && was != into || taken && came != from {
			c.moved = true
			note(&c.place, "%s%v\n\twas on %s", at, &after[x], from)
		}
		there[from], back[into] = into, from
		if p, q := priority(c.a.program, from), priority(c.b.program, into); p != q && after[x].works() {
			note(&c.cross, "%s%v\n\tis of priority %s, and was of %s", at, &after[x], q, p)
		}
		if after[x].meets() {
			issued = append(issued, to[x])
		}
	}
	if !slices.IsSorted(issued) {
		i := slices.IndexFunc(issued, func(n int) bool { return n > slices.Min(issued[slices.Index(issued, n):]) })
		note(&c.cross, "%sissues %v later, behind %v", at, &before[slices.Min(issued[i:])], &before[issued[i]])
	}
}

// match pairs the units that do the same: the n-th of those in one program with the n-th in the other.
func match(a, b *reading, before, after []unit) ([]int, error) {
	left := map[uint64][]int{}
	for i := range before {
		key := a.key(&before[i])
		left[key] = append(left[key], i)
	}
	to := make([]int, len(after))
	for i := range after {
		key := b.key(&after[i])
		if len(left[key]) == 0 {
			return nil, fmt.Errorf("nothing did %v", &after[i])
		}
		to[i], left[key] = left[key][0], left[key][1:]
	}
	for i := range before {
		if !slices.Contains(to, i) {
			return nil, fmt.Errorf("nothing does %v", &before[i])
		}
	}
	return to, nil
}

// result is the grade of all that was found.
func (c *comparison) result() Result {
	r := Result{Dropped: c.dropped, Added: c.added}
	switch {
	case c.cross != "":
		r.Grade, r.Why = Crossed, c.cross
	case c.dropped > 0 && c.added > 0:
		r.Grade, r.Why = Crossed, c.drop+"\n"+c.add
	case c.dropped > 0:
		r.Grade, r.Why = Looser, c.drop
	case c.added > 0:
		r.Grade, r.Why = Tighter, c.add
	case c.moved:
		r.Grade, r.Why = Moved, c.place
	}
	return r
}
