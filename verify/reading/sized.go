// Package reading reads a schedule at one size: which elements of a tensor a rank has, and which axes an operation
// multiplies and sums over. The explorer and the reference share it. The prover and package lower read schedules by
// themselves.
package reading

import (
	"strings"

	"ovgen/schedule"
)

// Sized is a schedule at one size. Once it has read them, it remembers sizes, indices and which inputs differ from rank
// to rank.
type Sized struct {
	schedule.Schedule
	Extents Extents
	Counts  []int // extents of uneven parts
	sizes   map[string][]int
	read    map[string]Index
	own     map[string]bool
}

// Part is the rank's part of a tensor.
func (s *Sized) Part(t schedule.Tensor, rank int) (Part, error) {
	return PartOf(t, s.Extents, rank, s.Counts)
}

// Sizes are the lengths of the axes of a tensor, or of an operation's result.
func (s *Sized) Sizes(name string) []int {
	list, known := s.sizes[name]
	if !known {
		if list = s.measured(name); s.sizes == nil {
			s.sizes = map[string][]int{}
		}
		s.sizes[name] = list
	}
	return list
}

func (s *Sized) measured(name string) (list []int) {
	if t, declared := s.Tensor(name); declared {
		for _, a := range t.Axes {
			n, _ := s.Extents.Of(a.Extent) // Part fails for an extent without a value
			list = append(list, n)
		}
		return list
	}
	op, _ := s.Maker(name)
	index := s.Index(op)
	for _, l := range index.Out {
		list = append(list, s.Length(op, l))
	}
	return list
}

// Own reports whether each rank may have different values of an input: each rank has all of the input, and the ranks
// need not agree.
func (s *Sized) Own(name string) bool {
	own, known := s.own[name]
	if !known {
		t, declared := s.Tensor(name)
		if own = declared && t.WholeEverywhere() && !s.MustAgree(name); s.own == nil {
			s.own = map[string]bool{}
		}
		s.own[name] = own
	}
	return own
}

// Length is the length of the axis that a letter names in an operation's operands.
func (s *Sized) Length(op schedule.Op, letter rune) int {
	for i, in := range s.Index(op).In {
		if at := strings.IndexRune(in, letter); at >= 0 {
			return s.Sizes(op.In[i])[at]
		}
	}
	if letter == 'd' { // of the ranks, each of which makes a part
		return s.Extents[schedule.D]
	}
	return 0
}

// Index is an operation's Index, a letter for each axis.
type Index struct {
	In  []string
	Out string
}

// Index takes an operation's Index apart. The axes of "..." are numbered.
func (s *Sized) Index(op schedule.Op) Index {
	if x, known := s.read[op.Out]; known {
		return x
	}
	from, to, _ := strings.Cut(op.Index, "->")
	parts := strings.Split(from, ",")
	more := ""
	for i, name := range op.In {
		if i < len(parts) && strings.HasSuffix(parts[i], "...") {
			more = "0123456789"[:len(s.Sizes(name))-len(parts[i])+len("...")]
		}
	}
	x := Index{Out: strings.Replace(to, "...", more, 1)}
	for _, part := range parts {
		x.In = append(x.In, strings.Replace(part, "...", more, 1))
	}
	if s.read == nil {
		s.read = map[string]Index{}
	}
	s.read[op.Out] = x
	return x
}

// Summed are the letters that the result lacks, in the order in which they appear in the operands.
func (x Index) Summed() string {
	summed := ""
	for _, in := range x.In {
		for _, l := range in {
			if !strings.ContainsRune(x.Out, l) && !strings.ContainsRune(summed, l) {
				summed += string(l)
			}
		}
	}
	return summed
}
