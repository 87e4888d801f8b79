package record

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
	"ovgen/verify/reading"
)

// operands says how the operand of each word of a key lies.
var operands = map[schedule.Do]schedule.Lies{schedule.DoOf: schedule.InPlace, schedule.DoRow: schedule.ByColumn,
	schedule.DoColumn: schedule.ByRow, schedule.DoHeadRow: schedule.ByHead, schedule.DoCos: schedule.OfTable,
	schedule.DoSin: schedule.OfTable, schedule.DoPairCos: schedule.OfTable, schedule.DoPairSin: schedule.OfTable}

// widthsAt has the words of a key that a width may follow, with the number of other words before the width.
var widthsAt = map[schedule.Do]int{schedule.DoHeadRow: 2, schedule.DoCos: 2, schedule.DoSin: 2, schedule.DoPairCos: 2,
	schedule.DoPairSin: 2, schedule.DoSum: 2, schedule.DoMean: 2, schedule.DoMost: 2, schedule.DoTurn: 2,
	schedule.DoPairs: 2, schedule.DoBelow: 4}

// formulas divides the uses of a kernel among its formulas, one after the other, and reads the numbers of rows and
// heads that a launch passes. The uses of each formula end with its write; the scales of the last formula follow that.
func (l *launch) formulas(o ops.Op, kernel string) (list []ops.Op) {
	keys := strings.Split(l.kernel.Form, kernels.Joint)
	numbers := numbersOf(l.kernel.Form)
	uses := o.Uses
	for i, key := range keys {
		o.Uses, o.Lies, o.Heads, o.Columns = slices.Clip(uses), nil, nil, 0
		if i < len(keys)-1 {
			o.Uses, uses = ops.FirstOf(uses)
		}
		o.LeavesScales = len(o.Writes()) == 2
		formula(&o, kernel, key, numbers, l.words)
		list = append(list, o)
	}
	return list
}

// products divides the uses of a kernel of products among the product and the formulas of its result. The uses of each
// end with its write.
func (l *launch) products(o ops.Op) []ops.Op {
	_, form, makes := strings.Cut(l.kernel.Form, kernels.Joint)
	if !makes {
		return []ops.Op{o}
	}
	product, formulas := ops.FirstOf(o.Uses)
	behind := *l
	behind.kernel.Form = form
	if row, ok := l.kernel.Row.(fewrows.Row); ok {
		behind.words = row.Words(row.Params(unsafe.Pointer(&l.words[0])))
	}
	made := o
	made.Kind, made.Scales, made.Uses = ops.Apply, 0, formulas
	o.Uses = product
	return append([]ops.Op{o}, behind.formulas(made, hostir.ElementsKernel)...)
}

// numbersOf lists the numbers of the Shape in keys.
func numbersOf(form string) (numbers []string) {
	for _, node := range strings.FieldsFunc(form, func(r rune) bool { return r == ';' || r == '|' }) {
		node = strings.TrimSpace(node)
		if strings.HasPrefix(node, string(schedule.DoParam)) && !slices.Contains(numbers, node) {
			numbers = append(numbers, node)
		}
	}
	return numbers
}

// finish notes the formulas of each element of a sum, of which the sum's last reads are operands.
func (l *launch) finish(o *ops.Op) {
	if key := l.kernel.Finish; key != "" && l.kernel.FinishEnd <= len(l.words) {
		formula(o, hostir.ElementsKernel, key, numbersOf(key), l.words[:l.kernel.FinishEnd])
	}
}

// formula notes the contents of one key. The key determines how many numbers end the parameters: the columns of a row,
// the widths of heads, and numbers of the Shape.
func formula(o *ops.Op, kernel, key string, numbers []string, params []uint64) {
	o.Form = key
	var seen, heads []string
	rowed := kernel != hostir.ElementsKernel
	for _, node := range strings.Split(key, "; ") {
		words := strings.Fields(node)
		do := schedule.Do(words[0])
		if lies, ok := operands[do]; ok && !slices.Contains(seen, words[1]) {
			seen, o.Lies = append(seen, words[1]), append(o.Lies, lies)
			rowed = rowed || lies != schedule.InPlace
		}
		if at, ok := widthsAt[do]; ok && len(words) > at && !slices.Contains(heads, words[at]) {
			heads = append(heads, words[at])
		}
	}
	end := len(params) - len(numbers)
	for _, width := range params[end-len(heads) : end] {
		o.Heads = append(o.Heads, int64(width))
	}
	if rowed {
		o.Columns = int64(params[end-len(heads)-1])
	}
	for i, word := range params[end:] {
		_, name, _ := strings.Cut(numbers[i], " ")
		want := reading.Number(name)
		if name == schedule.Epsilon {
			want = float64(epsilon)
		}
		if x := math.Float64frombits(word); x != want {
			o.Form += fmt.Sprintf(", where %s is %g and the shape's is %g", numbers[i], x, want)
		}
	}
}

// epsilon is the epsilon in the shape of all recorded plans.
const epsilon float32 = 0x1p-7
