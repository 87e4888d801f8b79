package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// checkOps refuses operations that can't be read, or that read unknown tensors.
func (s Schedule) checkOps(v *validation) {
	if len(s.Ops) == 0 {
		v.add("Ops", `say what is computed: schedule.Linear("C", "A", "B")`, "no operation")
	}
	for i, o := range s.Ops {
		path := fmt.Sprintf("Ops[%d]", i)
		if o.Out == "" {
			v.add(path+".Out", "name the tensor that it makes", "the operation makes nothing")
		}
		for j, before := range s.Ops[:i] {
			if before.Out == o.Out {
				v.add(path+".Out", "name another tensor", "%s is made by Ops[%d] already", o.Out, j)
			}
		}
		s.checkOrder(v, path, i)
		_, err := s.Contraction(o)
		for _, e := range FieldErrors(err) {
			v.add(path+"."+e.Path, e.Hint, "%s", e.Msg)
		}
		for j, f := range o.Then {
			s.checkFunc(v, fmt.Sprintf("%s.Then[%d]", path, j), f)
		}
		s.checkCall(v, path, i)
	}
}

// named are the names that a tensor may have: packages have fields of these names.
var named = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// checkName refuses names that no package can have, and tensors that nothing uses.
func (s Schedule) checkName(v *validation, path string, t Tensor) {
	_, scales := s.ScaledBy(t.Name)
	used := scales || s.Made(t.Name) || slices.ContainsFunc(s.Ops, func(o Op) bool {
		return o.Reads(t.Name)
	})
	switch {
	case !named.MatchString(t.Name):
		v.add(path+".Name", "use a capital, then letters and digits", "%q is no name of a tensor", t.Name)
	case !used && len(s.Ops) > 0:
		v.add(path+".Name", "leave it out, or name it in an operation", "no operation reads or makes %s", t.Name)
	}
}

// checkMissing refuses operands that are neither declared nor made, and results that nobody
// gets.
func (s Schedule) checkMissing(v *validation) {
	seen := map[string]bool{}
	for i, o := range s.Ops {
		for _, in := range o.Operands() {
			if _, declared := s.Tensor(in); !declared && !s.Made(in) && !seen[in] && in != "" {
				v.add("Tensors", "declare it with its placement",
					"Ops[%d] reads %s, which nothing declares or makes", i, in)
			}
			seen[in] = true
		}
	}
	for i, o := range s.Ops {
		if _, declared := s.Tensor(o.Out); !declared && !seen[o.Out] && o.Out != "" {
			v.add("Tensors", "declare it with its placement", "Ops[%d] makes %s, which nothing declares", i, o.Out)
		}
	}
}

// forAxes is the hint for a tensor whose number of axes differs from the operation's Index.
func (s Schedule) forAxes(i int) string {
	o := s.Ops[i]
	hint := fmt.Sprintf("Ops[%d] is %q", i, o.Index)
	if o.Index != Linear("", "", "").Index {
		return hint
	}
	var axes []int
	for _, name := range []string{o.In[0], o.In[1], o.Out} {
		t, _ := s.Tensor(name)
		axes = append(axes, len(t.Axes))
	}
	switch {
	case slices.Equal(axes, []int{3, 2, 3}):
		hint += "; schedule.BatchedLinear has an axis of batches"
	case slices.Equal(axes, []int{3, 3, 3}):
		hint += "; no product has a weight for each batch: declare a Linear for each"
	}
	return hint
}

// checkExtents refuses tensors whose number of axes differs from their operations' Index, and axes of one extent that
// are written in several ways.
func (s Schedule) checkExtents(v *validation) {
	short := map[string]bool{}
	for i, t := range s.Tensors {
		for j, o := range s.Ops {
			wanted := s.wantedAxes(o, t.Name)
			k := slices.IndexFunc(wanted, func(n int) bool { return n != len(t.Axes) })
			if k < 0 {
				continue
			}
			short[t.Name] = true
			v.add(fmt.Sprintf("Tensors[%d].Axes", i), s.forAxes(j), "%d axes where %d are needed", len(t.Axes),
				wanted[k])
			break
		}
	}
	list := s.dimensions()
	for i, t := range s.Tensors {
		for j, a := range t.Axes {
			at := axisAt{t.Name, j}
			k := slices.IndexFunc(list, func(d *dimension) bool { return slices.Contains(d.axes, at) })
			if k < 0 || !a.Extent.valid() || short[t.Name] {
				continue
			}
			path := fmt.Sprintf("Tensors[%d].Axes[%d].Extent", i, j)
			first, tensor := s.first(list[k], i, j)
			switch {
			case list[k].letter == ranksLetter && a.Extent != D:
				v.add(path, "use schedule.D", "the mesh has D ranks, not %s", a.Extent)
			case list[k].letter != ranksLetter && first != a.Extent:
				v.add(path, "write the same in both"+s.joined(list[k]), "extent %q where %s has %q",
					a.Extent, tensor, first)
			}
		}
	}
}

// first is the extent of a dimension in the first tensor that has it, up to an axis of a tensor.
func (s Schedule) first(d *dimension, tensor, axis int) (Extent, string) {
	for i, t := range s.Tensors[:tensor+1] {
		for j, a := range t.Axes {
			if (i < tensor || j <= axis) && a.Extent.valid() && slices.Contains(d.axes, axisAt{t.Name, j}) {
				return a.Extent, t.Name
			}
		}
	}
	return "", ""
}

// wantedAxes lists the numbers of axes that an operation's Index has for a tensor, one for each place of the tensor.
func (s Schedule) wantedAxes(o Op, tensor string) (list []int) {
	c, err := s.Contraction(o)
	if err != nil {
		return nil
	}
	for i, in := range o.In {
		if in == tensor {
			list = append(list, len(c.In[i]))
		}
	}
	for _, f := range o.Then {
		for _, operand := range f.Operands() {
			if operand.Tensor == tensor && operand.Lies != "" && !s.ofBlocks(tensor) {
				list = append(list, len(operand.Lies.axes(c.Out)))
			}
		}
	}
	if o.Out == tensor {
		list = append(list, len(c.Out))
	}
	return list
}

// joined names the operations that make several axes one extent; one of their indices may be wrong.
func (s Schedule) joined(d *dimension) string {
	var by []string
	for i, o := range s.Ops {
		of := 0
		for _, name := range append([]string{o.Out}, o.In...) {
			if slices.ContainsFunc(d.axes, func(at axisAt) bool { return at.tensor == name }) {
				of++
			}
		}
		if of > 1 {
			by = append(by, fmt.Sprintf("Ops[%d]", i))
		}
	}
	if len(by) < 2 {
		return ""
	}
	return "; the indices of " + strings.Join(by, ", ") + " make them one"
}
