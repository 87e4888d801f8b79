package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// checkFP32 refuses a tensor of fp32 where its maker or a reader takes only the plan's type. Functions in separate
// kernels take and make either type, also behind a product, which is rounded to the plan's; and the kernel that adds up
// partial results may keep their sum in fp32.
func (s Schedule) checkFP32(v *validation, path string, t Tensor) {
	hint := fmt.Sprintf("leave it out, and the type of %s is the plan's; or read it in a schedule.Copy with a "+
		"function, such as schedule.Rounded", t.Name)
	if t.Within != "" || slices.ContainsFunc(s.Tensors, func(x Tensor) bool { return x.Within == t.Name }) {
		v.add(path, hint, "no tensor of fp32 lies in the place of another one in plans of other types")
		return
	}
	for _, o := range s.Apart().Ops {
		from := s.MadeFrom(o)
		alone := len(o.In) == 1 && from == 0 && len(o.Then) > 0 && !s.Partial(o)
		reads := func(f Func) bool { return slices.Contains(f.Reads(), t.Name) }
		early := !s.Partial(o) && slices.ContainsFunc(o.Then[:from], reads)
		switch {
		case early || slices.Contains(o.In, t.Name) && !alone:
			v.add(path, hint, "only functions that a kernel of its own makes take a tensor of fp32 in plans of other "+
				"types, and %s is made of %s", o.Out, t.Name)
		case o.Out == t.Name && !alone && !s.Partial(o) && (from == len(o.Then) || o.Call != ""):
			hint = fmt.Sprintf("leave it out, and the type of %s is the plan's; or let %s end with schedule.Rounded",
				t.Name, o.Name())
			v.add(path, hint, "only partial results are added up in fp32 in plans of other types, and the %s of %s "+
				"has none", o.Name(), strings.Join(o.In, " and "))
		default:
			continue
		}
		return
	}
}
