package emit

import (
	"reflect"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule"
)

// trees are the functions of package schedule that make a tree from the trees of their arguments.
var trees = map[schedule.Do]string{
	schedule.DoOf: "Of", schedule.DoRow: "Row", schedule.DoColumn: "Column", schedule.DoHeadRow: "HeadRow",
	schedule.DoCos: "Cos", schedule.DoSin: "Sin",
	schedule.DoPlus: "Plus", schedule.DoMinus: "Minus", schedule.DoTimes: "Times", schedule.DoOver: "Over",
	schedule.DoGreatest: "Greatest", schedule.DoLeast: "Least", schedule.DoNeg: "Neg", schedule.DoAbs: "Abs",
	schedule.DoExp: "Exp", schedule.DoTanh: "Tanh", schedule.DoErf: "Erf", schedule.DoLog: "Log",
	schedule.DoRoot: "Root", schedule.DoRecipRoot: "RecipRoot", schedule.DoFinite: "Finite",
	schedule.DoPower: "Power", schedule.DoUp: "Up", schedule.DoLoud: "LoudPower",
	schedule.DoSum: "SumOver", schedule.DoMean: "Mean", schedule.DoMost: "Most", schedule.DoTurn: "Turned",
}

// tree is a tree as a person writes it, by the functions of package schedule, or a struct where no function makes it.
func tree(e schedule.Expr) *jen.Statement {
	made, args := trees[e.Do], []jen.Code{}
	for _, of := range e.Of {
		args = append(args, tree(of))
	}
	grouped := false
	switch e.Do {
	case schedule.DoX:
		return jen.Qual(schedulePath, "X")
	case schedule.DoNumber:
		made, args = "Num", []jen.Code{jen.Lit(e.Number)}
	case schedule.DoParam:
		made, args = "Param", []jen.Code{jen.Lit(e.Name)}
	case schedule.DoTurn:
		args = append(args, jen.Lit(string(e.Group)))
	case schedule.DoSum, schedule.DoMean, schedule.DoMost:
		grouped = e.Group != ""
	case schedule.DoBelow:
		below := jen.Qual(schedulePath, "Below").Call(jen.Lit(int(e.Number)), jen.Lit(string(e.Group)))
		made, args = "If", append([]jen.Code{below}, args...)
	default:
		if e.Tensor != "" {
			args = append(args, jen.Lit(e.Tensor))
		}
		if made == "" || e.Group != "" {
			return named(reflect.TypeOf(e)).Add(fieldsOf(reflect.ValueOf(e), inLine))
		}
	}
	s := jen.Qual(schedulePath, made).Call(args...)
	if grouped {
		return s.Dot("InHeads").Call(jen.Lit(string(e.Group)))
	}
	return s
}

// applied is a function as a person writes it: by its constructor, or by its fields without their type.
func applied(f schedule.Func) *jen.Statement {
	c, of, ok := f.Constructor()
	quantise, heads := schedule.Quantise(), schedule.Heads(schedule.Nodes(f.Is))
	if !ok && len(heads) == 1 && reflect.DeepEqual(f, quantise.PerHead(heads[0])) {
		return applied(quantise).Dot("PerHead").Call(jen.Lit(string(heads[0])))
	}
	if !ok {
		return fieldsOf(reflect.ValueOf(f), inLine)
	}
	var args []jen.Code
	for _, tensor := range of {
		args = append(args, jen.Lit(tensor))
	}
	made := jen.Qual(schedulePath, c.Name).Call(args...)
	if f.Epsilon != 0 {
		return made.Dot("WithEpsilon").Call(jen.Lit(f.Epsilon))
	}
	return made
}
