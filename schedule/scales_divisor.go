package schedule

import "slices"

// Divisor are formulas that end with the divisor of the last formula, instead of its quotient. ok says that the divisor
// is the same in the whole row, or in each head of a width: then it is the scales of a result of eight bits.
func Divisor(formulas []Expr) (of []Expr, ok bool) {
	last := len(formulas) - 1
	if last < 0 || formulas[last].Do != DoOver || len(formulas[last].Of) != 2 ||
		!formulas[last].Of[1].sameIn(DividesHeads(formulas)) {
		return nil, false
	}
	return append(slices.Clip(formulas[:last]), formulas[last].Of[1]), true
}

// dividedBy lists the operations whose results fit scales of these types, where the scales of codes are not fp32, and
// says how to make such codes. Codes without a NaN take it from their scales.
func (codes Type) dividedBy(scales Type) (by []Do, ends string) {
	switch {
	case scales == E4M3:
		return []Do{DoUp}, "QuantiseFP4(), or divide by what schedule.Up makes"
	case scales == UE8M0 && codes == E2M1:
		return []Do{DoLoud}, "QuantiseMXFP4(), or divide by what schedule.LoudPower makes"
	case scales == UE8M0:
		return []Do{DoPower, DoLoud}, "Quantise(), or divide by what schedule.Power makes"
	}
	return nil, ""
}

// DividesHeads is the width of the heads, each of which the last formula divides by one number; empty: it divides rows.
func DividesHeads(formulas []Expr) (width Extent) {
	last := len(formulas) - 1
	if last < 0 || formulas[last].Do != DoOver || len(formulas[last].Of) != 2 {
		return ""
	}
	for _, n := range Nodes(formulas[last].Of[1]) {
		if does[n.Do].gathers && !does[n.Do].heads {
			return n.Group
		}
	}
	return ""
}

// sameIn reports whether the tree is one number for each row, or for each head of a width.
func (e Expr) sameIn(width Extent) bool {
	d := does[e.Do]
	switch {
	case e.Do == DoNumber, e.Do == DoParam, e.Do == DoColumn:
		return true
	case d.gathers && !d.heads:
		return e.Group == width
	case len(e.Of) == 0, d.gathers, e.Do == DoBelow:
		return false
	}
	return !slices.ContainsFunc(e.Of, func(x Expr) bool { return !x.sameIn(width) })
}
