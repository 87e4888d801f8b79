package lower

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/scheduletest"
)

// TestOptions: a schedule may choose each option of each way that the help lists for a communication, and each of their
// values. What the help leaves out is refused.
func TestOptions(t *testing.T) {
	for _, n := range needs() {
		for _, l := range doing(n.Need) {
			for _, o := range schedule.Options(l.way) {
				for _, value := range schedule.OptionValues(l.way, o.Field) {
					x, lacks := l.lacked(schedule.Option{Field: o.Field, Value: value})
					lacks = lacks && !x.ofFP32
					way := choosing(l.way, o.Field, value)
					if _, err := Lower("X", withOption(n.Need, way, o.Field)); (err != nil) != lacks {
						t.Errorf("the %s by %+v (%T): lacks %s %s: %v, and %v", n, way, way, o.Field, value, lacks, err)
					}
				}
			}
		}
	}
}

// choosing is a way with an option: two parts, streams or ranks, and a way whose other options have to be there too.
func choosing(w schedule.Way, field, value string) schedule.Way {
	x := reflect.New(reflect.TypeOf(w)).Elem()
	switch f := x.FieldByName(field); f.Kind() {
	case reflect.Int:
		f.SetInt(map[bool]int64{false: 2, true: 128}[field == "Columns"])
	case reflect.Bool:
		f.SetBool(true)
	default:
		f.SetString(value)
	}
	if x.Type() == reflect.TypeFor[schedule.Naive]() {
		x.FieldByName("Copied").SetBool(true)
	}
	return x.Interface().(schedule.Way)
}

// withOption is the example of a communication where an option of its way has something to do: parts of slots go on,
// and owners of rows make functions of whole rows, of sums or of what they send.
func withOption(n need, w schedule.Way, field string) schedule.Schedule {
	s := exampleOf(n, w)
	s.Types = []schedule.Type{schedule.BF16}
	if _, slots := w.(schedule.Slots); slots && field == "Parts" && n == reduce(ofRows) {
		s.Tensors = scheduletest.Tensors("A[M K/D] B[N K/D] C[M/D N] B2[F N] C2[M:D F]")
		s.Ops = append(slices.Clone(s.Ops), schedule.Linear("C2", "C", "B2"))
	}
	if n == gather(ofColumns) { // into memory of the plan, which some ways write at peers
		s.Tensors = scheduletest.Tensors("A[M K] B[N/D K] Norm[N] C[M N]")
		s.Ops = []schedule.Op{schedule.Linear("H", "A", "B"), schedule.Copy("C", "H", schedule.RMSNorm("Norm"))}
		s.Moves[0].Of = "H"
	} else if n.Kind == edges.AllToAll {
		s.Ops = []schedule.Op{schedule.Copy("C", "A", schedule.Scale(.5))}
	}
	if field == "Rows" && !n.Sums() {
		s.Tensors = append(slices.Clone(s.Tensors), scheduletest.Tensors("Norm[K]")...)
		s.Ops = append([]schedule.Op{schedule.Copy("X", "A", schedule.RMSNorm("Norm"))}, s.Ops...)
		s.Ops[1].In = append([]string{"X"}, s.Ops[1].In[1:]...)
		s.Moves[0].Of = "X"
	} else if field == "Rows" {
		s.Tensors = append(slices.Clone(s.Tensors), scheduletest.Tensors("Norm["+
			string(s.Tensors[slices.IndexFunc(s.Tensors, isC)].Axes[1].Extent)+"]")...)
		s.Ops = slices.Clone(s.Ops)
		s.Ops[len(s.Ops)-1].Then = []schedule.Func{schedule.RMSNorm("Norm")}
	}
	return s
}

func isC(t schedule.Tensor) bool { return strings.HasPrefix(t.Name, "C") }
