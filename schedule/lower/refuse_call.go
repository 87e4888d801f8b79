package lower

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// callTakes refuses operands of a call that lie otherwise than it takes them; at is where they are. A call on own rows
// takes those of the operands that have rows, and one of summands the rank's part along what it sums over.
func (d *draft) callTakes(path string, o schedule.Op, at []edges.State) error {
	c, _ := d.schedule.Contraction(o) // Validate has read it
	own, rows := d.schedule.OfOwnRows(o), string(c.Rows())
	spread := make([]string, len(at)) // the letters
	for k, x := range at {
		if x.Spread() && x.Axis <= len(c.In[k]) { // else the edges say so
			spread[k] = c.In[k][x.Axis-1 : x.Axis]
		}
		switch l := spread[k]; {
		case own && l == rows:
		case own && strings.Contains(c.In[k], rows):
			return d.unfit(path, o, k, "each rank has all rows of %s, and %s makes each rank's own",
				"let each rank have its own rows of it, or every rank all rows of the result")
		case x.Rows() && (l == rows || d.schedule.Made(o.In[k])):
			return d.takesRows(path, o, k)
		case l != "" && !own && !c.OfRanks() && !strings.Contains(c.Out, l) && undividedMatrix(d.schedule, o.Out):
			return d.unfit(path, o, k, "each rank has a part of the columns of %s, and nothing says which columns of "+
				o.Out+" %s makes of it", "let every rank have all of it")
		case l != "" && (own || c.OfRanks()) && strings.Contains(c.Out, l):
			which := []string{"rows", "columns"}[min(x.Axis-1, 1)]
			return d.unfit(path, o, k, "each rank has a part of the "+which+" of %s, and %s makes all of that axis",
				"let every rank have all of it")
		}
	}
	switch {
	case own && !slices.Contains(spread, rows):
		return refused(path+".Index", "use schedule.Call, or spread the rows of an operand",
			"%s makes each rank's rows, and no operand has some", o.Call)
	case o.Makes == schedule.Summands:
		return d.callSums(path, o, c, strings.Join(spread, ""), spread)
	}
	return nil
}

// callSums refuses a call of summands where ranks make the same summand, or parts that others have too. Its operands
// are spread along some letters.
func (d *draft) callSums(path string, o schedule.Op, c schedule.Contraction, along string, spread []string) error {
	if along == "" {
		return refused(path+".Index", "use schedule.Call, or spread the operands along it",
			"every rank has all of what %s sums over, so that nothing is to be added up", o.Call)
	}
	for k, in := range c.In {
		if spread[k] == "" && strings.Contains(in, along[:1]) {
			return d.unfit(path, o, k, "every rank has all of %s, and %s sums over a part of another operand",
				"spread both along that")
		}
	}
	return nil
}

// unfit refuses operand i of a call; the text is of its name and the call's.
func (d *draft) unfit(path string, o schedule.Op, i int, text, hint string) error {
	return refused(fmt.Sprintf("%s.In[%d]", path, i), hint, text, o.In[i], o.Call)
}

// takesRows refuses operand i of a call where each rank has rows of its own of it.
func (d *draft) takesRows(path string, o schedule.Op, i int) error {
	c, _ := d.schedule.Contraction(o)
	const text = "each rank has its own rows of %s, and %s takes all"
	made := slices.IndexFunc(o.In, d.schedule.Made)
	hint := fmt.Sprintf("do %s before the plan, and declare %s as an operand", o.Call, o.Out)
	switch {
	case c.OfRanks():
		hint = "let every rank have all rows of it"
	case made >= 0:
		hint = fmt.Sprintf("end the schedule with %s, and do %s behind its plan", o.In[made], o.Call)
	}
	if o.Makes == "" && !c.OfRanks() && c.In[i][0] == c.Rows() {
		hint = fmt.Sprintf("use schedule.CallRows, if %s can make each rank's rows of those; or %s", o.Call, hint)
	}
	return d.unfit(path, o, i, text, hint)
}
