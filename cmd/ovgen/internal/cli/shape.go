package cli

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// shapeFlags are the shape of one run.
type shapeFlags struct {
	m, k, n int64
	typ     string
	extents string
	counts  string
}

func (s *shapeFlags) bind(f *flag.FlagSet) {
	f.Int64Var(&s.m, "m", 0, "`rows` of A and C, over all ranks")
	f.Int64Var(&s.k, "k", 0, "the contracted `extent`, over all ranks")
	f.Int64Var(&s.n, "n", 0, "`columns` of C")
	f.StringVar(&s.typ, "type", "bf16", fmt.Sprint("the element `type`, of ", schedule.ElementTypes()))
	f.StringVar(&s.extents, "extents", "", "other `extents` of the schedule: F=28672,N2=1024")
	f.StringVar(&s.counts, "counts", "", "the `counts` of uneven parts: 3,0,5,8")
}

// elementBits is the bits of an element, zero for an unknown type.
func elementBits(name string) int64 {
	if t, ok := driver.ParseType(name); ok && slices.Contains(schedule.ElementTypes(), schedule.Type(name)) {
		return 8 * t.Size()
	}
	return 0
}

// of is the case of the flags, on the given number of ranks.
func (s *shapeFlags) of(ranks int) (ops.Case, error) {
	x := ops.Case{Ranks: ranks, ElementBits: elementBits(s.typ), Extents: hostir.Env{"M": s.m, "K": s.k, "N": s.n}}
	if x.ElementBits == 0 {
		return x, fmt.Errorf("no type %q (there are %v)", s.typ, schedule.ElementTypes())
	}
	for _, part := range fields(s.extents) {
		name, text, _ := strings.Cut(part, "=")
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || name == "" {
			return x, fmt.Errorf("-extents %s: %q is not NAME=NUMBER", s.extents, part)
		}
		if slices.Contains([]string{"M", "K", "N"}, name) {
			return x, fmt.Errorf("-extents %s: %s has a flag of its own (use -%s)", s.extents, name,
				strings.ToLower(name))
		}
		x.Extents[name] = v
	}
	for _, part := range fields(s.counts) {
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil || v < 0 {
			return x, fmt.Errorf("-counts %s: %q is no count", s.counts, part)
		}
		x.Counts = append(x.Counts, v)
	}
	return padded(x), nil
}

// padded is the case with room for the largest part, if no room was given.
func padded(x ops.Case) ops.Case {
	if len(x.Counts) > 0 && x.Extents[string(schedule.P)] == 0 {
		x.Extents[string(schedule.P)] = slices.Max(x.Counts)
	}
	return x
}

// known refuses extents that the program does not use.
func (s *shapeFlags) known(p *hostir.Program) error {
	symbols, constants := ops.Symbols(p), p.Schedule.Constants()
	for _, part := range fields(s.extents) {
		name, _, _ := strings.Cut(part, "=")
		_, constant := constants[schedule.Extent(name)] // Check knows the constants
		if !constant && !slices.Contains(symbols, name) {
			return fmt.Errorf("-extents %s: the schedule has no extent %s (it has %s)", s.extents, name,
				strings.Join(symbols, ", "))
		}
	}
	return nil
}

// rowsOfARank is the number of rows of a rank in the default shape; columnsOfAHead, the columns of a head, divides it.
const rowsOfARank, columnsOfAHead = 2048, 128

// filled gives each symbol of a program that has no value a value that all its checks accept, and gives uneven parts
// counts that differ.
func filled(x ops.Case, p *hostir.Program) ops.Case {
	usual := rowsOfARank * int64(x.Ranks)
	c := p.Schedule.Constants()
	for _, e := range []schedule.Extent{schedule.M, schedule.K, schedule.N} {
		x.Extents[string(e)] = cmp.Or(x.Extents[string(e)], c[e], usual)
	}
	for _, name := range ops.Symbols(p) {
		if x.Extents[name] == 0 && name != "P" {
			x.Extents[name] = usual
			if name == string(schedule.W) {
				x.Extents[name] = columnsOfAHead
			}
		}
	}
	if !uneven(p) || len(x.Counts) > 0 {
		return x
	}
	for i := range x.Ranks * x.Ranks { // a count for each rank, or for each pair
		x.Counts = append(x.Counts, rowsOfARank/int64(1+i%3))
	}
	x = padded(x)
	few := x
	if few.Counts = x.Counts[:x.Ranks]; enough(few, p) {
		return few
	}
	return x
}

// enough reports whether a case has all the counts that its ranks need.
func enough(x ops.Case, p *hostir.Program) bool {
	_, err := x.Unroll(p)
	return err == nil
}

// uneven reports whether Bind takes counts.
func uneven(p *hostir.Program) bool {
	if _, balanced := p.Balanced(); balanced {
		return false
	}
	for _, b := range p.Buffers {
		if !b.Counts.IsZero() {
			return true
		}
	}
	return false
}

// shapeText is "m 8192, k 8192, n 8192, bf16", for the symbols of the program.
func shapeText(x ops.Case, p *hostir.Program, typ string) string {
	var parts []string
	for _, name := range ops.Symbols(p) {
		parts = append(parts, fmt.Sprintf("%s %d", strings.ToLower(name), x.Extents[name]))
	}
	if uneven(p) {
		parts = append(parts, fmt.Sprintf("counts %v", x.Counts))
	}
	return strings.Join(append(parts, typ), ", ")
}

// caseJSON is a case as JSON.
type caseJSON struct {
	Ranks   int              `json:"ranks"`
	Extents map[string]int64 `json:"extents"` // of all symbols of the schedule
	Counts  []int64          `json:"counts,omitempty"`
	Type    string           `json:"type"`
}

func jsonCase(x ops.Case, p *hostir.Program, typ string) caseJSON {
	j := caseJSON{Ranks: x.Ranks, Extents: map[string]int64{}, Type: typ}
	for _, name := range ops.Symbols(p) {
		j.Extents[name] = x.Extents[name]
	}
	if uneven(p) {
		j.Counts = x.Counts
	}
	return j
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}
