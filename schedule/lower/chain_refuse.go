package lower

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// The refusals of chains. A hint leads to a schedule that is lowered, or to two that are.

// widened says that all columns of a tensor are gathered at the end of a stage.
func (c *chain) widened(name string) bool {
	return slices.ContainsFunc(c.stages, func(s stage) bool { return s.widened == name })
}

// behindColumns refuses an operation that reads all columns of a tensor in the schedule that gathers them.
func (d *draft) behindColumns(path, columns, out string) error {
	return &schedule.FieldError{Path: path, Msg: fmt.Sprintf("no pass goes on with all columns of %s", columns),
		Hint: fmt.Sprintf("end the schedule with %s, and make %s behind its plan", columns, out)}
}

// ofColumns refuses a call whose result the caller wants with all columns, although each rank makes only some.
func (d *draft) ofColumns(path string, o schedule.Op) error {
	hint := fmt.Sprintf("place it as each rank makes it, and gather %s by a schedule of its own", o.Out)
	for _, in := range o.In {
		if m, made := d.schedule.Maker(in); made && kind(m.Name()) == linear {
			hint = fmt.Sprintf("end the schedule with %s %s, and do %s behind its plan", in, schedule.Tensor{
				Axes: undivided([]schedule.Extent{d.rowExtent(in), d.columnsOf(in).Extent})}, o.Call)
		}
	}
	return &schedule.FieldError{Path: path, Hint: hint,
		Msg: fmt.Sprintf("%s makes a rank's columns of %s, and no pass gathers them behind a call", o.Call, o.Out)}
}

// rowExtent is the extent of a tensor's rows.
func (d *draft) rowExtent(name string) schedule.Extent {
	if t, declared := d.schedule.Tensor(name); declared {
		return t.Axes[0].Extent
	}
	o, made := d.schedule.Maker(name)
	if !made {
		return ""
	}
	c, _ := d.schedule.Contraction(o) // Validate has read it
	for i, in := range c.In {
		at := strings.Index(in, c.Out[:1])
		if t, declared := d.schedule.Tensor(o.In[i]); declared && at >= 0 {
			return t.Axes[at].Extent
		}
		if at == 0 {
			return d.rowExtent(o.In[i])
		}
	}
	return ""
}

// takesRows refuses operand i of a call of which each rank has rows of its own.
func (d *draft) takesRows(path string, o schedule.Op, i int) error {
	refused := &schedule.FieldError{Path: fmt.Sprintf("%s.In[%d]", path, i),
		Msg:  fmt.Sprintf("each rank has its own rows of %s, and %s takes all", o.In[i], o.Call),
		Hint: fmt.Sprintf("do %s before the plan, and declare %s as an operand", o.Call, o.Out)}
	if made := slices.IndexFunc(o.In, d.schedule.Made); made >= 0 {
		refused.Hint = fmt.Sprintf("end the schedule with %s, and do %s behind its plan", o.In[made], o.Call)
	}
	return refused
}
