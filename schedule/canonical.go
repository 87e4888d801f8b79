package schedule

import (
	"slices"
	"strings"
)

// Words of operations, as Op.Name has them.
const (
	LinearWord   = "linear"   // C = A * Bᵀ
	MatmulWord   = "matmul"   // C = A * B
	GradientWord = "gradient" // C = Aᵀ * B
	SumWord      = "sum"      // C = A, added up over its first axis
	CopyWord     = "copy"     // C = A
)

// usual are the operations that have a name, with the letters that their constructors write.
var usual = []struct {
	name string
	Op
}{
	{LinearWord, Linear("", "", "")}, {MatmulWord, Matmul("", "", "")}, {GradientWord, Gradient("", "", "")},
	{SumWord, Sum("", "")}, {CopyWord, Copy("", "")}, {LinearWord, BatchedLinear("", "", "")},
	{LinearWord, LinearPartial("", "", "")},
}

// Contractions are the operations that have a name, in the usual letters and without tensors.
func Contractions() (list []Op) {
	for _, u := range usual {
		list = append(list, u.Op)
	}
	return list
}

// Canonical returns the schedule with the usual letters in each Index: "ab,cb->ac" is the contraction "mk,nk->mn". The
// Index of a contraction without a word stays as it is; the Index of a call gets letters in alphabetical order. The
// schedule must be valid.
func (s Schedule) Canonical() Schedule {
	s.Ops = slices.Clone(s.Ops)
	for i := range s.Ops {
		s.Ops[i].Index = s.canonical(i)
	}
	return s
}

// canonical is the Index of operation i in the usual letters.
func (s Schedule) canonical(i int) string {
	o := s.Ops[i]
	if o.Call != "" {
		return strings.Replace(s.pattern(o), ">", "->", 1)
	}
	if o.Name() != o.Index {
		return o.Index // a word stands for it
	}
	pattern := s.pattern(o)
	for _, u := range usual {
		x := s
		x.Ops = slices.Clone(s.Ops)
		x.Ops[i].Index = u.Index
		if s.pattern(x.Ops[i]) == pattern && x.Validate() == nil { // d needs an axis of D ranks
			return u.Index
		}
	}
	return o.Index
}

// pattern is an Index whose letters are renamed from m on, in the order in which they first appear. It is empty where
// the Index can't be read.
func (s Schedule) pattern(o Op) string {
	c, err := s.Contraction(o)
	if err != nil {
		return ""
	}
	numbers := map[rune]rune{}
	return strings.Map(func(l rune) rune {
		if l == ',' || l == '>' || l == ranksLetter && o.Call != "" {
			return l
		}
		if _, ok := numbers[l]; !ok {
			numbers[l] = rune('m' + len(numbers))
		}
		return numbers[l]
	}, strings.Join(c.In, ",")+">"+c.Out)
}
