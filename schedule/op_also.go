package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Made is a further result of an operation: the result of its first functions, rounded to its type. The other functions
// read the rounded values.
type Made struct {
	Out   string // the tensor
	After int    // the number of functions; 0 is the result of the operation without any
}

// Keeping is the operation with the result of its first functions as a further result:
//
//	Linear("Y", "A", "B", Add("R"), RMSNorm("Norm")).Keeping("H", 1)
//
// makes H, the sum, and Y, its norm.
func (o Op) Keeping(out string, after int) Op {
	o.Also = append(slices.Clip(o.Also), Made{Out: out, After: after})
	return o
}

// Apart is the schedule with an operation for each result. An operation with several results is cut behind each of
// them, and a Copy applies the functions that follow. The summands of a call are a separate result too, which a Sum
// adds up.
func (s Schedule) Apart() Schedule {
	if !slices.ContainsFunc(s.Ops, func(o Op) bool { return len(o.Also) > 0 || o.apartFromSum() }) {
		return s
	}
	var ops []Op
	for _, o := range s.Ops {
		ops = append(ops, s.apart(o)...)
	}
	s.Ops = ops
	return s
}

// apart lists the operations for each result of an operation.
func (s Schedule) apart(o Op) (list []Op) {
	if o.apartFromSum() {
		call, sum := s.summands(o)
		return append([]Op{call}, s.apart(sum)...)
	}
	last, done := o, 0
	for _, m := range o.Also {
		part, end := last, min(max(m.After, done), len(o.Then)) // Validate refuses other values
		part.Out, part.Also = m.Out, nil
		part.Then = slices.Clip(o.Then[done:end])
		list = append(list, part)
		last, done = Copy(o.Out, m.Out), end
	}
	last.Also = nil
	last.Then = o.Then[done:]
	return append(list, last)
}

// checkAlso refuses further results that no function makes, or that nobody gets.
func (s Schedule) checkAlso(v *validation) {
	for i, o := range s.Ops {
		before := -1
		for j, m := range o.Also {
			path := fmt.Sprintf("Ops[%d].Also[%d]", i, j)
			if m.After <= before || m.After >= len(o.Then) {
				v.add(path+".After", "cut between functions, each time behind the last: the rest makes "+o.Out,
					"%d of the %d functions make %s", m.After, len(o.Then), m.Out)
			}
			before = m.After
			_, declared := s.Tensor(m.Out)
			read := slices.ContainsFunc(s.Ops, func(o Op) bool { return o.Reads(m.Out) })
			if !declared && !read {
				v.add(path+".Out", "declare it with its placement, or leave it out", "nobody gets %q", m.Out)
			}
		}
	}
}

// opPath is the path of an operation, or of a field of it.
var opPath = regexp.MustCompile(`Ops\[(\d+)\](?:\.(Then\[(\d+)\]|Out|In\[0\]|Index))?`)

// AsDeclared takes an error of the schedule in the form of Apart, and gives its fields their paths in the schedule as
// declared.
func (s Schedule) AsDeclared(err error) error {
	for _, e := range FieldErrors(err) {
		for _, text := range []*string{&e.Path, &e.Msg, &e.Hint} {
			*text = opPath.ReplaceAllStringFunc(*text, s.declaredPath)
		}
	}
	return err
}

// declaredPath is the path, in the schedule as declared, of an operation or of a field of it.
func (s Schedule) declaredPath(path string) string {
	m := opPath.FindStringSubmatch(path)
	at, _ := strconv.Atoi(m[1]) // digits
	for i, o := range s.Ops {
		op, done := fmt.Sprintf("Ops[%d]", i), 0
		if o.apartFromSum() {
			if at == 0 {
				return strings.TrimSuffix(op+"."+m[2], ".")
			}
			if at--; at == 0 && m[3] == "" {
				return op
			}
		}
		if at > len(o.Also) {
			at -= len(o.Also) + 1
			continue
		}
		if at > 0 {
			done = o.Also[at-1].After
		}
		then, err := strconv.Atoi(m[3])
		switch {
		case err == nil:
			return fmt.Sprintf("%s.Then[%d]", op, done+then)
		case m[2] == "Out" && at < len(o.Also):
			return fmt.Sprintf("%s.Also[%d].Out", op, at)
		case m[2] != "" && m[2] != "Out" && at > 0:
			return fmt.Sprintf("%s.Also[%d].Out", op, at-1) // the operation that follows reads it
		case m[2] != "":
			return op + "." + m[2]
		}
		return op
	}
	return path
}
