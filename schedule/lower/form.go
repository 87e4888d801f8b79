package lower

import (
	"fmt"
	"regexp"
	"slices"
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

// recognise refuses operations that no program does, or does together.
func recognise(d *draft) error {
	for i, o := range d.schedule.Ops {
		if o.Name() == o.Index {
			return &schedule.FieldError{Path: fmt.Sprintf("Ops[%d].Index", i),
				Msg: fmt.Sprintf("no pass lowers the contraction %q", o.Index), Hint: "use " + contractions()}
		}
	}
	d.single = single(d.schedule)
	return errorsOf(together(d.schedule), batched(d))
}

// single says that all operations are of one form: a copy, a sum, a gradient, or products of one operand.
func single(s schedule.Schedule) bool {
	return !mixed(s) && !ofSeveral(s) && !stays(s) && (len(s.Ops) == 1 || !fetchesWeight(s)) &&
		!slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
			return o.Call != "" || s.Made(o.In[0]) || kind(o.Name()) == copied && len(o.Then) > 0 ||
				slices.ContainsFunc(o.Then, func(f schedule.Func) bool { return f.Cast() || byKernel(o, f) })
		})
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

// mixed says that gradients, or copies of what no product reads, stand among several operations.
func mixed(s schedule.Schedule) bool {
	first := firstProduct(s)
	return len(s.Ops) > 1 && slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
		return kind(o.Name()) == gradient || copies(o) && (first < 0 || o.In[0] != s.Ops[first].In[0])
	})
}

// unapplied is the refusal of a function that no program applies there.
func (d *draft) unapplied(path string, o schedule.Op, i int, k kind) error {
	return &schedule.FieldError{Path: path, Hint: d.behind(o, i),
		Msg: fmt.Sprintf("no pass applies %s to what leaves the %s %s", o.Then[i].Name(), k, o.Out)}
}

// word is a name in a text.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)
