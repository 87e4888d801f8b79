package templates

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/schedule"
)

// Device is the device code of one package.
type Device struct {
	From  string   // the source of the code: "schedule AllGatherLinear"
	About []string // lines of the .cu's head comment
	Table kernels.Table
	// Formulas are the functions of kernels of elements and of groups, by the functions' names.
	Formulas map[string]*Code
	FewRows  fewrows.Family // the kernels of products of few rows, and of products by weights of eight bits
	Own      []Own          // files of the caller
	Calls    []Call         // kernels in these files
}

// Kernel is one kernel of a Device as its template sees it.
type Kernel struct {
	kernels.Kernel
	Name  string // name of its struct, and its name in PTX without the element type
	Peers int
	Types []driver.Type
	// Tilings are the kernels of a product that share this kernel's code: this kernel, and the others of its kind.
	Tilings []Tiling
	// Padding words end the parameters of a product.
	Padding int
	Code    *Code // of a function
	// Finished is of the function of each element of a sum.
	Finished *Code
	// Early says that the kernel starts before the end of the launch before it, for which it waits first, and lets the
	// next launch start so too: products of the package read their weights ahead.
	Early bool
}

// Host is the data of the file that compiles kernels for the host.
type Host struct {
	Package, From string
	Source        string // Digest of the .cu and of all files that it includes
	Kernels       []HostKernel
}

// HostKernel is a kernel's name in PTX, with the name of its struct.
type HostKernel struct{ Name, Params string }

// Kernels are the kernels of the table.
func (d Device) Kernels() (list []Kernel) {
	for _, k := range d.Table.Kernels {
		one := Kernel{k, k.Base(), d.Table.Peers, d.Table.TypesOf(k), tilings(d.Table, k), d.Table.Padding(k), nil,
			nil, d.Table.StartsEarly(k)}
		if k.Makes() {
			one.Code = d.Formulas[k.Made.Word]
		}
		if one.Holds() {
			one.Code = one.Code.held()
		}
		if k.Finish != nil {
			one.Finished = d.Formulas[k.Finish.Word]
		}
		list = append(list, one)
	}
	return list
}

// any reports whether is holds for at least one kernel.
func (d Device) any(is func(kernels.Kernel) bool) bool {
	return slices.ContainsFunc(d.Table.Kernels, is)
}

// Headers are the headers that the kernels use, in the order in which the .cu includes them. Unused functions of a
// header add nothing to the PTX.
func (d Device) Headers() (names []string) {
	add := func(uses bool, list ...string) {
		if uses {
			names = append(names, list...)
		}
	}
	computes := len(d.Calls) > 0 || len(d.FewRows) > 0 || d.any(kernels.Kernel.Computes)
	add(len(d.Calls) > 0 || len(d.FewRows) > 0 || len(d.Table.Kernels) > 0, "ptx.h")
	add(d.any(kernels.Kernel.Waits), "words.h")
	add(d.any(func(k kernels.Kernel) bool { return k.Signals() && (!k.ByBlocks || k.Multiplies()) }), "blocks.h")
	add(d.any(func(k kernels.Kernel) bool { return k.ByBlocks && !k.Multiplies() }), "byblock.h")
	add(d.any(func(k kernels.Kernel) bool { return k.Copies() || k.Gathers() || k.SendsPlain() }), "bytes.h")
	finishes := d.any(func(k kernels.Kernel) bool { return k.Finish != nil })
	makes := d.any(kernels.Kernel.Makes) || finishes || len(d.functions()) > 0
	widens := d.any(func(k kernels.Kernel) bool { return k.Kind == kernels.Widen })
	for _, t := range d.Table.Types {
		add(computes, t.String()+".h")
	}
	for _, t := range []driver.Type{driver.BF16, driver.FP16} { // fewrows.h names both
		add(len(d.FewRows) > 0 && !slices.Contains(d.Table.Types, t), t.String()+".h")
	}
	add(!slices.Contains(d.Table.Types, driver.FP32) && (widens || d.reads(driver.FP32)), "fp32.h")
	powers := d.reads(driver.UE8M0) || d.makes(schedule.DoLoud)
	eight := powers || d.reads(driver.E4M3) || d.reads(driver.E5M2)
	add(eight || d.Narrow(), "eight.h")
	coded := d.any(func(k kernels.Kernel) bool { return k.Coded != 0 })
	add(makes || coded, "arith.h", "units.h")
	add(eight, "eightunits.h")
	add(powers || d.makes(schedule.DoFinite, schedule.DoPower, schedule.DoUp), "scale.h")
	add(powers, "powers.h")
	add(d.any(func(k kernels.Kernel) bool { return k.Kind == kernels.Elements || k.Finish != nil }),
		"elements.h")
	add(d.any(func(k kernels.Kernel) bool { return k.Kind == kernels.Groups || k.Makes() && k.Lands() }),
		"groups.h")
	add(d.reads(driver.E2M1), "four.h")
	add(computes, "sum.h")
	add(finishes, "finish.h")
	add(coded, "scaledsum.h")
	add(d.any(func(k kernels.Kernel) bool { return k.Lands() && !k.SendsPlain() }), "packets.h")
	add(d.any(kernels.Kernel.SendsRows), "rows.h")
	add(d.Only90(), "tiles.h", "hopper.h")
	add(d.any(kernels.Kernel.Multiplies), "product.h")
	add(len(d.FewRows) > 0 || d.any(d.Table.StartsEarly), "early.h")
	add(len(d.FewRows) > 0, "fewrows.h")
	add(d.Narrow(), "narrow.h")
	add(len(d.Calls) > 0, "blocksum.h", "call.h")
	return names
}

// makes reports whether a function has one of the given operations.
func (d Device) makes(list ...schedule.Do) bool {
	return slices.ContainsFunc(d.made(), func(m kernels.Made) bool {
		return slices.ContainsFunc(strings.Split(m.Form(), "; "), func(node string) bool {
			do, _, _ := strings.Cut(node, " ")
			return slices.Contains(list, schedule.Do(do))
		})
	})
}

// reads reports whether a function reads or makes elements or scales of the given type, whatever the plan's type is.
func (d Device) reads(t driver.Type) bool {
	coded := d.any(func(k kernels.Kernel) bool { return k.Coded == t })
	return coded || slices.ContainsFunc(d.made(), func(m kernels.Made) bool {
		return m.Type == t || m.X.Type == t || t.Saturates() && m.Scales == t ||
			slices.ContainsFunc(m.Operands, func(o kernels.Operand) bool { return o.Type == t })
	})
}

// allMade are all functions of a kernel.
func allMade(k kernels.Kernel) (list []kernels.Made) {
	if k.Finish != nil {
		list = append(list, *k.Finish)
	}
	if k.Makes() {
		list = append(append(list, *k.Made), k.Made.Then...)
	}
	return list
}

// Source are the parts of the .cu.
func (d Device) Source() []Part {
	parts := []Part{{head, d}}
	for _, k := range d.Kernels() {
		if k.first() == k.Name { // the first kernel has the code of all
			parts = append(parts, Part{templateOf(k.Kernel), k})
		}
	}
	return slices.Concat(parts, d.fewRows(), d.own())
}

// Adds reports whether sums and functions have a header for elements of the given type.
func Adds(t driver.Type) bool {
	_, err := fs.Stat(files, "device/"+t.String()+".h")
	return err == nil
}

// works are the templates of kernels by their work; a kind may have a separate template.
var works = map[kernels.Work]string{kernels.Copies: "copies.cu.tmpl", kernels.Sums: "sums.cu.tmpl"}

// templateOf is the template of the kernel's code: the template of its kind, else of its work.
func templateOf(k kernels.Kernel) string {
	own := string(k.Kind) + ".cu.tmpl"
	if _, err := fs.Stat(files, own); err != nil && works[k.Kind.Work()] != "" {
		return works[k.Kind.Work()]
	}
	return own
}

// Host are the kernels with the names of their structs.
func (d Device) Host() (list []HostKernel) {
	for _, k := range d.Kernels() {
		if !k.Computes() {
			list = append(list, HostKernel{k.Name, k.Name})
			continue
		}
		for _, t := range k.Types {
			list = append(list, HostKernel{k.Name + "_" + t.String(), k.first()})
		}
	}
	return slices.Concat(list, d.hostFewRows(), d.hostCalls())
}

// SumField is the field with the address of a sum of landed parts: x if the kernel applies a function to the sum, else
// dst.
func (k Kernel) SumField() string {
	if k.Makes() {
		return "x"
	}
	return "dst"
}

// Goes is a result of a sum of packets that goes to all ranks: the fields of its address, and of the distance of its
// landing. Made: a function makes it of the sum. Unit is the type of what a thread of a kernel of rows sends at once.
type Goes struct {
	Field, Landing string
	Made           bool
	Unit           string
}

// Going are the results that go to all ranks, in order.
func (k Kernel) Going() (list []Goes) {
	if k.SendsRows() {
		return k.goingRows()
	}
	fields := []string{k.SumField()}
	if k.Makes() {
		for _, one := range k.Chain() {
			fields = append(fields, one.Code.Dst)
		}
	}
	for i, field := range fields {
		if k.Spread>>i&1 > 0 {
			list = append(list, Goes{Field: field, Landing: "spread", Made: i > 0})
		}
	}
	for i := range list {
		if len(list) > 1 {
			list[i].Landing = fmt.Sprintf("spread[%d]", i)
		}
	}
	return list
}

// goingRows are the results of a kernel of rows that go to all ranks: four packets at once go of elements, and one of
// scales.
func (k Kernel) goingRows() (list []Goes) {
	var results []Goes
	for _, one := range k.Chain() {
		results = append(results, Goes{Field: one.Code.Dst, Made: true, Unit: "uint4"})
	}
	results = append(results, Goes{Field: scalesField, Made: true, Unit: "unsigned"})
	for i, g := range results {
		if k.Spread>>i&1 > 0 {
			list = append(list, g)
		}
	}
	return list
}

// Behind is the function of each element of all ranks' rows, as a kernel of elements; nil where there is none.
func (k Kernel) Behind() *Kernel {
	if k.Finish == nil || !k.SendsRows() {
		return nil
	}
	k.Name, k.Code = k.Name+"_finish", k.Finished
	return &k
}

// Moved are the lines that move the addresses of a function's tensors to a row, whose first element is at.
func (k Kernel) Moved() (lines []string) {
	for _, l := range append(k.inPlace(), k.lying(schedule.ByRow)...) {
		text := fmt.Sprintf("part.%s += %s * sizeof(typename %s::bits)", l.Field,
			map[bool]string{true: "row", false: "at"}[l.Lies == schedule.ByRow], l.Type)
		if l.Type == driver.E2M1.String() {
			text += " / 2" // two in a byte
		}
		lines = append(lines, text+";")
	}
	return lines
}

// SumSpread is the sum, if it goes to all ranks. MadeSpread are the results that functions make and that do.
func (k Kernel) SumSpread() *Goes {
	if list := k.Going(); len(list) > 0 && !list[0].Made {
		return &list[0]
	}
	return nil
}

func (k Kernel) MadeSpread() []Goes {
	return slices.DeleteFunc(k.Going(), func(g Goes) bool { return !g.Made })
}

// SumOf are the types, as the code names them, of a sum's terms and, if it differs, of its result.
func (k Kernel) SumOf() string {
	if to := typeOf(k.To(0)); to != "E" {
		return "E, " + to
	}
	return "E"
}

// List is the array bound of a field of words: empty for one word.
func (k Kernel) List(n kernels.Words) string {
	if n == kernels.EachPeer {
		return fmt.Sprintf("[%d]", k.Peers)
	}
	return ""
}

// Range is a field of words as arguments: the address of the words, and their number.
func (k Kernel) Range(field string, n kernels.Words) string {
	if n == kernels.EachPeer {
		return "p." + field + ", p.peers"
	}
	return "&p." + field + ", 1"
}

// EachPeer reports whether a field has a word for each peer.
func (k Kernel) EachPeer() bool {
	return slices.Contains([]kernels.Words{k.PrePost, k.PreWait, k.PostPost, k.PostWait}, kernels.EachPeer)
}

// Does is the work of the kernel in words: "posts to every peer, awaits all, and adds up tensors in order and in fp32".
func (k Kernel) Does() string { return does(k.Kernel) }

func does(k kernels.Kernel) string {
	var list []string
	add := func(words kernels.Words, text, each string) {
		switch words {
		case kernels.One:
			list = append(list, text+"a peer")
		case kernels.EachPeer:
			list = append(list, text+each)
		}
	}
	add(k.PrePost, "posts to ", "every peer")
	add(k.PreWait, "awaits ", "all")
	if k.Kind.Work() != kernels.Nothing {
		list = append(list, k.Kind.Does())
	}
	add(k.PostPost, "posts to ", "every peer")
	add(k.PostWait, "awaits ", "all")
	switch last := len(list) - 1; {
	case last == 0:
		return list[0]
	case last == 1:
		return list[0] + " and " + list[1]
	default:
		return strings.Join(list[:last], ", ") + ", and " + list[last]
	}
}

// Summary has a line for each kernel, with the kernel's work.
func Summary(t kernels.Table) (lines []string) {
	width := 0
	for _, k := range t.Kernels {
		width = max(width, len(k.Base()))
	}
	for _, k := range t.Kernels {
		what := does(k)
		if k.Kind.Work() == kernels.Nothing {
			what = k.Kind.Does()
		}
		if k.Makes() {
			what = k.Made.Word + ": " + what
		}
		if k.Finish != nil {
			what += ", then " + k.Finish.Word
		}
		lines = append(lines, fmt.Sprintf("  %-*s  %s", width, k.Base(), what))
	}
	return lines
}

// Checks are the kernels that make and compare results.
var Checks = []HostKernel{{"fill", "run_fill"}, {"compare", "run_compare"}, {"spin", "run_spin"}}

// CheckSource are the parts of the .cu of Checks.
func CheckSource(about Device) []Part {
	return []Part{{head, about}, {"clock.cu.tmpl", nil}, {"check.cu.tmpl", nil}}
}
