package stages

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// recognise refuses operations that no program does, or does together.
func (c *Chain) recognise() error {
	s := c.Schedule
	for i, o := range s.Ops {
		if o.Name() == o.Index {
			var known []string
			for _, x := range schedule.Contractions() {
				known = append(known, fmt.Sprintf("%s %q", x.Name(), x.Index))
			}
			return refused(fmt.Sprintf("Ops[%d].Index", i), "use "+strings.Join(known, ", "),
				"no pass lowers the contraction %q", o.Index)
		}
	}
	if !slices.ContainsFunc(s.Ops, func(o schedule.Op) bool { return o.Call == "" }) {
		if err := callsAlone(s); err != nil {
			return err
		}
	}
	for i, o := range s.Ops {
		maker, made := s.Maker(o.In[0])
		ofSummands := maker.Name() == schedule.CopyWord && c.Tensor(o.In[0]).Summands()
		switch {
		case len(s.Ops) == 1:
		case o.Name() == schedule.SumWord && made && maker.Call == "" && !ofSummands:
			return ofItsOwn(s, i, fmt.Sprintf("no pass adds up %s, which an operation makes", o.In[0]))
		}
	}
	return nil
}

// callsAlone refuses a schedule of calls, of which no result travels but behind a copy, and no operand without other
// work.
func callsAlone(s schedule.Schedule) error {
	o := s.Ops[0]
	list, err := edges.All(s)
	at := slices.IndexFunc(list, func(e edges.Edge) bool { return e.Maker >= 0 })
	switch {
	case err == nil && len(list) > 0 && at < 0: // operands travel, and the stages say why not
		return nil
	case at < 0:
		return refused("Ops[0].Call", "call it without a plan", "nothing travels: %s is the caller's own work", o.Call)
	}
	made := s.Ops[list[at].Maker]
	return refused(fmt.Sprintf("Ops[%d].Call", list[at].Maker), fmt.Sprintf("let it make another tensor, declared "+
		"where its ranks make that, and make %s of it by a schedule.Copy", made.Out),
		"no pass moves what %s makes without an operation", made.Call)
}

// ofItsOwn refuses operation i, which a schedule of its own does.
func ofItsOwn(s schedule.Schedule, i int, why string) error {
	return refused(fmt.Sprintf("Ops[%d]", i), inTwo(s, i), "%s", why)
}

// inTwo says that a schedule of its own makes the result of operation i, and which tensors join the two schedules.
func inTwo(s schedule.Schedule, i int) string {
	o := s.Ops[i]
	var made []string
	for _, in := range o.Operands() {
		if s.Made(in) && !slices.Contains(made, in) {
			made = append(made, in)
		}
	}
	hint := fmt.Sprintf("make %s by a schedule of its own", o.Out)
	if len(made) == 1 {
		hint += ", with " + made[0] + " as an operand"
	} else if len(made) > 1 {
		hint += ", with " + strings.Join(made, " and ") + " as operands"
	}
	if slices.ContainsFunc(s.Ops, func(x schedule.Op) bool { return x.Reads(o.Out) }) {
		hint += ", and declare it as an operand here"
	}
	return hint
}

// columnsAt is the axis of a product's weight that its result has for columns.
func columnsAt(o schedule.Op) int {
	if o.Name() == schedule.LinearWord {
		return 0
	}
	return 1
}

// ofProducts says that an operation other than a call reads a tensor.
func ofProducts(s schedule.Schedule, name string) bool {
	return slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
		return o.Call == "" && o.Reads(name)
	})
}
