package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// String is the tree as a formula of the element x: "x/(1 + exp(neg(x)))*Up". An operand that does not lie in place is
// followed by the rule for its element: "x*reciproot(mean(x*x) + 1e-05)*Norm[column]".
func (e Expr) String() string { return e.text(0) }

// text is the formula, in brackets where the operation around it binds as closely.
func (e Expr) text(around int) string {
	d := does[e.Do]
	switch {
	case e.Do == DoX:
		return "x"
	case e.Do == DoNumber:
		return strconv.FormatFloat(float64(float32(e.Number)), 'g', -1, 32)
	case e.Do == DoParam:
		return e.Name
	case d.lies == InPlace:
		return e.Tensor
	case d.lies == OfTable:
		return string(e.Do) + "(" + e.Tensor + ")"
	case d.lies != "":
		return e.Tensor + "[" + strings.TrimPrefix(string(d.lies), "by ") + "]"
	case d.sign != "" && len(e.Of) == 2:
		made := e.Of[0].text(d.binds-1) + d.sign + e.Of[1].text(d.binds)
		if d.binds <= around {
			return "(" + made + ")"
		}
		return made
	}
	var args []string
	for _, x := range e.Of {
		args = append(args, x.text(0))
	}
	switch {
	case e.Do == DoBelow:
		args = append([]string{fmt.Sprintf("%g of %s", e.Number, e.Group)}, args...)
	case e.Group != "":
		args = append(args, string(e.Group))
	}
	return string(e.Do) + "(" + strings.Join(args, ", ") + ")"
}
