package templates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// Code is a formula as C++, for the templates of elements and of groups.
type Code struct {
	Formulas []string // for a comment
	Of       string   // type of the result: E, the plan's type, or another type
	Fields   []Field  // of the parameters: operands besides x, widths of heads, numbers of the Shape
	Leaves   []Leaf   // operands that the functions take, x included
	Widths   []string // fields with widths of heads
	Numbers  []string // fields with numbers of the Shape
	Once     []string // lines ahead of all passes: values that are equal in the whole group
	Passes   []Pass   // over a group, each for some statistics
	Made     Piece    // the function that makes an element
	Scales   string   // the value by which it divides the row, if it leaves it as a scale
	ScalesIn string   // the type of the scales in memory
	Columns  bool     // the parameters have the elements of a row
	Wide     string   // the field with the columns of a group
	Turns    bool     // an element depends on the element half a head away
	Heads    bool     // groups are heads
	Dst      string   // the field with the address of the result
	Then     []*Code  // functions of the result, and of their results
	stage    int      // the number of functions ahead of it in the kernel
	operands int      // number of operands with letters, here and before
	scalars  int      // number of scalars with numbered names, here and before
}

// Field is a field of a struct.
type Field struct{ Type, Name, Comment string }

// Leaf is an operand of a function: the element at the place of the result's element, or at the place of its partner in
// a pair.
type Leaf struct {
	Name, Field string
	Type        string // E or fp32
	Lies        schedule.Lies
	At          string // the place of the element for column j of the group
	Apart       bool   // eight columns are not adjacent
	Kept        bool   // it stays in registers from the first pass on
	Same        bool   // it is equal in the whole group
	paired      bool   // element k is the element for column k ^ 1
}

// Pass is a pass over a group: statistics of pieces, and then values that are equal in the whole group.
type Pass struct {
	Statistics []Statistic
	Once       []string
	Units      []Leaf // leaves that the pieces take
}

// Statistic adds up a piece over a group.
type Statistic struct {
	Name, Join, From string
	Mean             bool
	Of               Piece
}

// Piece is a function of an element.
type Piece struct {
	Name   string // follows the kernel's name
	Params []string
	Lines  []string
	Result string
	Args   []string // arguments for the unit's element k
	Alone  []string // arguments for the element at
	leaves []string
}

// coder writes a formula.
type coder struct {
	*written
	depth  []int  // nested statistics
	varies []bool // from column to column
	names  map[int]string
	code   *Code
}

// code writes the formula.
func (w written) code() *Code {
	c := &coder{written: &w, names: map[int]string{}, code: &Code{Of: typeOf(w.Result),
		Turns: w.turns == schedule.DoTurn, Columns: w.groups, Wide: "columns", Heads: w.group > 0, Dst: "dst",
		operands: len(w.operands)}}
	if from := w.behind; from != nil {
		c.code.operands += from.operands
		c.code.scalars = from.scalars
		c.code.stage = from.stage + 1
		c.code.Dst = fmt.Sprint("dst", c.code.stage+1)
	}
	for i, x := range w.lines(w.letter) {
		c.code.Formulas = append(c.code.Formulas, strings.Repeat("then ", min(i, 1))+x)
	}
	c.fields()
	if w.group > 0 {
		c.code.Wide = c.code.Widths[w.group-1]
	}
	c.measure()
	c.passes()
	if w.Scales != 0 {
		c.code.ScalesIn, c.code.Scales = "float", c.constant(w.nodes[len(w.nodes)-1].Of[1])
		if w.Scales.Saturates() {
			c.code.ScalesIn = "unsigned char"
			c.code.Scales = fmt.Sprintf("(unsigned char)%s::narrow(%s)", w.Scales, c.code.Scales)
		}
	}
	c.code.scalars += len(c.names)
	return c.code
}

// goOn adds a function of the result: its fields follow the operands, and each number is passed once.
func (c *Code) goOn(then *Code) {
	c.Then = append(c.Then, then)
	at := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Name == "columns" })
	fields := []Field{{"char *", then.Dst, "may be an operand, too"}}
	for _, f := range then.Fields {
		if f.Type == operandField || f.Name == scalesField {
			fields = append(fields, f)
		}
	}
	c.Fields = slices.Insert(c.Fields, at, fields...)
	for _, n := range then.Numbers {
		if !slices.Contains(c.Numbers, n) {
			c.Numbers, c.Fields = append(c.Numbers, n), append(c.Fields, Field{"double ", n, ""})
		}
	}
}

// operandField is the type of an operand's field, scalesField the name of the field of scales.
const operandField, scalesField = "const char *", "scales"

// typeOf is the name of a type in the code.
func typeOf(own driver.Type) string {
	if own == 0 {
		return "E"
	}
	return own.String()
}

// fields adds the parameters besides dst, count and x.
func (c *coder) fields() {
	for _, o := range c.operands {
		comment := map[schedule.Lies]string{schedule.ByColumn: "an element for each column",
			schedule.ByRow: "an element for each row", schedule.ByHead: "an element for each column of a head",
			schedule.OfTable: "of a row for each row: cosines, and then sines"}[o.Lies]
		c.code.Fields = append(c.code.Fields, Field{operandField, c.letter(o.Tensor), comment})
		c.code.Columns = c.code.Columns || o.Lies != schedule.InPlace
	}
	if typ := c.Formula.Scales; typ != 0 {
		c.code.Fields = append(c.code.Fields,
			Field{"char *", scalesField, "what each row is divided by, in " + typeOf(typ)})
	}
	if c.code.Columns {
		c.code.Fields = append(c.code.Fields, Field{"u64 ", "columns", "elements of a row"})
	}
	for i := range c.heads {
		name := "width"
		if i > 0 {
			name += fmt.Sprint(i + 1)
		}
		c.code.Widths = append(c.code.Widths, name)
		c.code.Fields = append(c.code.Fields, Field{"u64 ", name, "columns of a head"})
	}
	for _, p := range c.params {
		c.code.Numbers = append(c.code.Numbers, c.param(p))
		c.code.Fields = append(c.code.Fields, Field{"double ", c.param(p), ""})
	}
}

// param is the field of a number of the Shape.
func (c *coder) param(name string) string {
	first := []rune(name)
	first[0] = unicode.ToLower(first[0])
	taken := []string{"dst", "count", "scales", "columns", "width", "width2"}
	if len(first) == 1 || slices.Contains(taken, string(first)) {
		return string(first) + "_given"
	}
	return string(first)
}

// measure finds the nodes that depend on statistics, and the nodes that depend on the column.
func (c *coder) measure() {
	for _, n := range c.nodes {
		depth, varies := 0, false
		for _, of := range n.Of {
			depth, varies = max(depth, c.depth[of]), varies || c.varies[of]
		}
		switch n.Do {
		case schedule.DoSum, schedule.DoMean, schedule.DoMost:
			depth, varies = depth+1, false
		case schedule.DoNumber, schedule.DoParam:
		case schedule.DoColumn:
			varies = !c.groups
		case schedule.DoTurn, schedule.DoPairs, schedule.DoBelow:
			varies = true
		default:
			varies = varies || len(n.Of) == 0
		}
		c.depth, c.varies = append(c.depth, depth), append(c.varies, varies)
	}
}

// passes writes the passes and the function of an element.
func (c *coder) passes() {
	used := map[string]int{} // number of passes that take a leaf
	take := func(pieces ...Piece) {
		seen := map[string]bool{}
		for _, p := range pieces {
			for _, name := range p.leaves {
				if !seen[name] {
					seen[name] = true
					used[name]++
				}
			}
		}
	}
	c.code.Once = c.once(0)
	last := len(c.nodes) - 1
	for d := 1; d <= slices.Max(c.depth); d++ {
		p := Pass{}
		for i, n := range c.nodes {
			if c.depth[i] == d && len(n.Of) == 1 && c.depth[n.Of[0]] == d-1 && statistic(n.Do) {
				s := c.statistic(i, n)
				p.Statistics = append(p.Statistics, s)
				take(s.Of)
			}
		}
		p.Once = c.once(d)
		c.code.Passes = append(c.code.Passes, p)
	}
	c.code.Made = c.piece(strings.Replace(c.code.Dst, "dst", "made", 1), last)
	take(c.code.Made)
	for i := range c.code.Leaves {
		l := &c.code.Leaves[i]
		l.Kept = !l.Same && (used[l.Name] > 1 || c.code.Turns && l.Lies == schedule.InPlace)
	}
	for i := range c.code.Passes {
		c.code.Passes[i].Units = c.units(c.code.Passes[i].Statistics)
	}
}

func statistic(do schedule.Do) bool {
	return do == schedule.DoSum || do == schedule.DoMean || do == schedule.DoMost
}

// units are the leaves that the statistics take.
func (c *coder) units(list []Statistic) (units []Leaf) {
	for _, l := range c.code.Leaves {
		if slices.ContainsFunc(list, func(s Statistic) bool { return slices.Contains(s.Of.leaves, l.Name) }) {
			units = append(units, l)
		}
	}
	return units
}

// Units are the leaves that the function of an element takes.
func (c *Code) Units() (units []Leaf) {
	for _, l := range c.Leaves {
		if slices.Contains(c.Made.leaves, l.Name) && !l.Same {
			units = append(units, l)
		}
	}
	return units
}

// KeptLeaves are the leaves that stay in registers.
func (c *Code) KeptLeaves() (units []Leaf) {
	return slices.DeleteFunc(slices.Clone(c.Leaves), func(l Leaf) bool { return !l.Kept })
}

// held is the code with all leaves in registers from the first pass on: few rows wait for each load.
func (c *Code) held() *Code {
	x := *c
	hold := func(list []Leaf) []Leaf {
		list = slices.Clone(list)
		for i := range list {
			list[i].Kept = !list[i].Same
		}
		return list
	}
	x.Leaves, x.Passes = hold(x.Leaves), slices.Clone(x.Passes)
	for i, p := range x.Passes {
		x.Passes[i].Units = hold(p.Units)
	}
	return &x
}

// Same are the leaves that are equal in a whole group.
func (c *Code) Same() (units []Leaf) {
	return slices.DeleteFunc(slices.Clone(c.Leaves), func(l Leaf) bool { return !l.Same })
}

// statistic writes a statistic.
func (c *coder) statistic(i int, n schedule.Node) Statistic {
	s := Statistic{Name: c.scalar(i), Join: "f_add", From: "0.0f", Mean: n.Do == schedule.DoMean}
	if n.Do == schedule.DoMost {
		s.Join, s.From = "f_greatest", "__uint_as_float(0xff800000u)" // less than all numbers
	}
	s.Of = c.piece("of_"+s.Name, n.Of[0])
	return s
}

// scalar names a node that is equal in the whole group.
func (c *coder) scalar(i int) string {
	if name, known := c.names[i]; known {
		return name
	}
	word := "s"
	if statistic(c.nodes[i].Do) {
		word = string(c.nodes[i].Do)
	}
	c.names[i] = fmt.Sprintf("%s%d", word, c.code.scalars+len(c.names)+1)
	return c.names[i]
}

// once has the lines of values that are equal in the whole group and depend on statistics of this nesting depth.
func (c *coder) once(depth int) (lines []string) {
	if !c.groups {
		return nil
	}
	for i, n := range c.nodes {
		if c.varies[i] || c.depth[i] != depth || len(n.Of) == 0 || statistic(n.Do) {
			continue
		}
		args := []string{}
		for _, of := range n.Of {
			args = append(args, c.constant(of))
		}
		lines = append(lines, fmt.Sprintf("const float %s = %s;", c.scalar(i), c.operation(n, args)))
	}
	return lines
}

// constant is the C++ of a node that is equal in the whole group.
func (c *coder) constant(i int) string {
	switch n := c.nodes[i]; n.Do {
	case schedule.DoNumber:
		return number(n.Number)
	case schedule.DoParam:
		return c.param(n.Name)
	case schedule.DoColumn:
		return c.leaf(i, false).Name
	}
	return c.scalar(i)
}

// number is a constant in C++: in hexadecimal, where decimals would round.
func number(x float64) string {
	single := float64(float32(x))
	text := strconv.FormatFloat(single, 'f', -1, 32)
	if back, err := strconv.ParseFloat(text, 64); err != nil || back != single || len(text) > 8 {
		return strconv.FormatFloat(single, 'x', -1, 32) + "f"
	}
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text + "f"
}

// operation is the operation of a node, applied to args.
func (w *written) operation(n schedule.Node, args []string) string {
	if n.Do == schedule.DoOver && w.nodes[n.Of[1]].Do == schedule.DoPower {
		return "f_over_power(" + strings.Join(args, ", ") + ")"
	}
	return operation(n.Do, args)
}

// operation is an operation of fp32 in C++.
func operation(do schedule.Do, args []string) string {
	switch do {
	case schedule.DoNeg:
		return negative(args[0])
	case schedule.DoRecipRoot:
		return "f_div(1.0f, f_root(" + args[0] + "))"
	}
	return operations[do] + "(" + strings.Join(args, ", ") + ")"
}

// negative is -x.
func negative(x string) string {
	if strings.HasPrefix(x, "-") {
		return "-(" + x + ")"
	}
	return "-" + x
}

// operations are the functions of device/arith.h, device/scale.h and device/powers.h.
var operations = map[schedule.Do]string{schedule.DoPlus: "f_add", schedule.DoMinus: "f_sub", schedule.DoTimes: "f_mul",
	schedule.DoOver: "f_div", schedule.DoGreatest: "f_greatest", schedule.DoLeast: "f_least", schedule.DoAbs: "f_abs",
	schedule.DoExp: "f_exp", schedule.DoTanh: "f_tanh", schedule.DoErf: "f_erf", schedule.DoLog: "f_log",
	schedule.DoRoot: "f_root", schedule.DoFinite: "f_finite", schedule.DoPower: "f_power", schedule.DoUp: "f_up",
	schedule.DoLoud: "f_loud_power"}
