package old

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
)

// kind is the computation of all operations of a schedule together, as the table of
// communications names it.
type kind string

// Kinds.
const (
	linear   kind = "linear"   // C = A * Bᵀ, and further products of the same A
	matmul   kind = "matmul"   // C = A * B, and further products of the same A
	gradient kind = "gradient" // C = Aᵀ * B
	chains   kind = "chain"    // products that read results of earlier products
	copied   kind = "copy"     // C = A
	summedUp kind = "sum"      // C = A, added up over its first axis
)

// form is a schedule with its tensors called by their roles: A, B, Bias, Added and C, with a number
// of further products, and Gathered for a copy of A beside products. Programs are written for
// roles; renamed gives the buffers their own names.
type form struct {
	kind
	roles map[string]string // of tensors
}

// symbols are the axes of each role.
var symbols = map[kind]map[string][]schedule.Extent{
	matmul: {"A": {schedule.M, schedule.K}, "B": {schedule.K, schedule.N}, "Bias": {schedule.N},
		"Added": {schedule.M, schedule.N}, "C": {schedule.M, schedule.N}, "Gathered": {schedule.M, schedule.K}},
	linear: {"A": {schedule.M, schedule.K}, "B": {schedule.N, schedule.K}, "Bias": {schedule.N},
		"Added": {schedule.M, schedule.N}, "C": {schedule.M, schedule.N}, "Gathered": {schedule.M, schedule.K}},
	gradient: {"A": {schedule.M, schedule.N}, "B": {schedule.M, schedule.K}, "C": {schedule.N, schedule.K}},
	summedUp: {"A": {schedule.D, schedule.M, schedule.N}, "C": {schedule.M, schedule.N}},
}

// extents are the axes of a tensor by its role, nil where there is no such role.
func (f form) extents(t schedule.Tensor) []schedule.Extent {
	if f.kind == copied {
		two := []schedule.Extent{schedule.M, schedule.N}
		switch len(t.Axes) {
		case 3:
			return append([]schedule.Extent{schedule.D, schedule.D}, two[:1]...)
		case 4:
			return append([]schedule.Extent{schedule.D, schedule.D}, two...)
		}
		return two
	}
	if e, ok := symbols[f.kind][t.Name]; ok {
		return e
	}
	return symbols[f.kind][strings.TrimRight(t.Name, "0123456789")]
}

// recognise finds the form of the operations, and calls the tensors by their roles.
func recognise(d *draft) error {
	ops := d.schedule.Ops
	for i, o := range ops {
		if o.Name() == o.Index {
			return &schedule.FieldError{Path: fmt.Sprintf("Ops[%d].Index", i),
				Msg: fmt.Sprintf("no pass lowers the contraction %q", o.Index), Hint: "use " + contractions()}
		}
	}
	f := form{roles: map[string]string{}}
	chain := wantsColumns(d.schedule) || slices.ContainsFunc(ops, func(o schedule.Op) bool {
		return o.Call != "" || d.schedule.Made(o.In[0]) || kind(o.Name()) == copied && len(o.Then) > 0 ||
			slices.ContainsFunc(o.Then, func(f schedule.Func) bool { return cast(f) || byKernel(o, f) })
	})
	err := together(d.schedule, chain)
	switch first := ops[0]; {
	case err != nil:
	case len(ops) == 1 && (first.Name() == string(copied) || first.Name() == string(summedUp)) && len(first.Then) == 0:
		f.kind = kind(first.Name())
		err = errorsOf(f.plays("A", first.In[0], "Ops[0].In[0]"), f.plays("C", first.Out, "Ops[0].Out"))
	case chain:
		f.kind = chains
		for _, t := range d.schedule.Tensors {
			f.roles[t.Name] = t.Name
		}
	default:
		f.kind = kind(ops[max(firstProduct(d.schedule), 0)].Name())
		err = f.products(d.schedule)
	}
	if err != nil {
		return err
	}
	d.form = f
	d.schedule.Tensors = slices.Clone(d.schedule.Tensors)
	for i, t := range d.schedule.Tensors {
		t.Name, t.Within = f.roles[t.Name], f.roles[t.Within]
		d.schedule.Tensors[i] = t
	}
	return batched(d)
}

// contractions names the contractions that are lowered.
func contractions() string {
	var list []string
	for _, o := range schedule.Contractions() {
		list = append(list, fmt.Sprintf("%s %q", o.Name(), o.Index))
	}
	return strings.Join(list, ", ")
}

// errorsOf is the first error.
func errorsOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// plays gives a tensor its only role.
func (f form) plays(role, tensor, path string) error {
	if other, ok := f.roles[tensor]; ok && other != role {
		return &schedule.FieldError{Path: path, Msg: fmt.Sprintf("no pass lowers %s in two places", tensor),
			Hint: "declare a tensor for each"}
	}
	f.roles[tensor] = role
	return nil
}

// products gives roles to the tensors of products of one operand, and to a copy of that.
func (f *form) products(s schedule.Schedule) error {
	number := 0
	for i, o := range s.Ops {
		path := fmt.Sprintf("Ops[%d]", i)
		if o.Name() == string(summedUp) && len(o.Then) > 0 {
			return (&draft{schedule: s}).unapplied(path+".Then[0]", o, 0, summedUp)
		}
		if o.Name() != string(copied) {
			number++
			if err := f.product(s, o, path, suffix(number)); err != nil {
				return err
			}
		}
	}
	for i, o := range s.Ops {
		if o.Name() == string(copied) {
			if err := f.plays("Gathered", o.Out, fmt.Sprintf("Ops[%d].Out", i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// suffix numbers products from the second on.
func suffix(number int) string {
	if number == 1 {
		return ""
	}
	return strconv.Itoa(number)
}

// product gives roles to the tensors of one.
func (f *form) product(s schedule.Schedule, o schedule.Op, path, suffix string) error {
	if err := errorsOf(f.plays("A", o.In[0], path+".In[0]"), f.plays("B"+suffix, o.In[1], path+".In[1]"),
		f.plays("C"+suffix, o.Out, path+".Out")); err != nil {
		return err
	}
	for i, then := range o.Then {
		at := fmt.Sprintf("%s.Then[%d]", path, i)
		role := map[string]string{addBias: "Bias", addTensor: "Added"}[do(then)]
		again := slices.ContainsFunc(o.Then[:i], func(before schedule.Func) bool { return do(before) == do(then) })
		if role == "" || again || f.kind == gradient {
			return (&draft{schedule: s}).unapplied(at, o, i, f.kind)
		}
		if err := f.plays(role+suffix, then.Reads()[0], at+".In[0]"); err != nil {
			return err
		}
	}
	return nil
}

// unapplied is the refusal of a function that no program applies there.
func (d *draft) unapplied(path string, o schedule.Op, i int, k kind) error {
	return &schedule.FieldError{Path: path, Hint: d.behind(o, i),
		Msg: fmt.Sprintf("no pass applies %s to what leaves the %s %s", do(o.Then[i]), k, o.Out)}
}

// tensor is the schedule's name of the tensor of a role.
func (f form) tensor(role string) string {
	for name, r := range f.roles {
		if r == role {
			return name
		}
	}
	return role
}

// word is a name in a text.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)

// renamed is a text with the schedule's names of tensors.
func (f form) renamed(text string) string {
	return word.ReplaceAllStringFunc(text, f.tensor)
}

// own is the text of a placement with the tensor's own extents for the symbols of its role.
func (f form) own(text string, t schedule.Tensor) string {
	extents := f.extents(t)
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if i := slices.Index(extents, schedule.Extent(w)); i >= 0 && i < len(t.Axes) && w != string(schedule.D) {
			return string(t.Axes[i].Extent)
		}
		return w
	})
}
